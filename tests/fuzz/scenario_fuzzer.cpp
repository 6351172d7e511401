// The scenario reader. An accepted scenario, written with its defaults filled in, is read as the same one.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "branchmark/scenario/load.hpp"
#include "expectations.hpp"

using namespace branchmark;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::expect_read_or_refused([&] {
    const std::string expanded = parse_scenario(text, "input", "folder").expanded();
    std::string again;
    try {
      again = parse_scenario(expanded, "expanded", "folder").expanded();
    } catch (const Error& error) {
      fuzz::expect(false, error.what());
    }
    fuzz::expect(again == expanded, "an expanded scenario is read as itself");
  });
  return 0;
}
