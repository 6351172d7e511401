// main() of a fuzzer that only runs inputs that are known: every file in the folders and files that it is
// given. For compilers without libFuzzer, and for each run of the tests.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "branchmark/base/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void run_file(const std::filesystem::path& file) {
  // Read before it is run, so that the name of the one that crashes is the last line.
  const std::string text = branchmark::read_file(file);
  std::printf("%s\n", file.c_str());
  std::fflush(stdout);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

}  // namespace

int main(int argc, char** argv) {
  int count = 0;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      run_file(argv[i]);
      ++count;
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (!entry.is_regular_file()) continue;
      run_file(entry.path());
      ++count;
    }
  }
  if (count == 0) {
    std::fprintf(stderr, "no input was found, expected files or folders that hold some\n");
    return 1;
  }
  return 0;
}
