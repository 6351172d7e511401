// The readers of what a checkpoint or adapter folder holds: config.json, safetensors files and
// adapter_config.json. One input is given to each.
//
// A safetensors file is made of an input too: the header up to the first NUL byte, the data after it. Its
// length is filled in, because a mutation that also guesses the length right is rare.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "branchmark/model/adapter_settings.hpp"
#include "branchmark/model/checkpoint.hpp"
#include "branchmark/model/config.hpp"
#include "branchmark/model/safetensors_header.hpp"
#include "branchmark/model/weights.hpp"
#include "expectations.hpp"
#include "memory_file.hpp"

using namespace branchmark;

namespace {

// Opens a file and touches what it says that it holds.
void read_safetensors(std::string_view text) {
  const fuzz::MemoryFile file(text);
  fuzz::expect_read_or_refused([&] {
    const Safetensors tensors(file.path());
    for (const std::string& name : tensors.names()) {
      fuzz::expect(tensors.contains(name), "a name of the list is found");
      fuzz::expect_read_or_refused([&] {
        unsigned sum = 0;
        for (const std::byte each : tensors.at(name).data) sum += static_cast<unsigned>(each);
        fuzz::expect(sum < 256 * text.size(), "the data of a tensor lies in its file");
      });
    }
  });
}

void read_header_and_data(std::string_view text) {
  const std::size_t end = std::min(text.find('\0'), text.size());
  const std::string_view header = text.substr(0, end);
  const std::string_view data = text.substr(std::min(end + 1, text.size()));
  // From memory that ends with the header, so that a sanitizer sees a byte read past it.
  const std::vector<char> exact(header.begin(), header.end());
  fuzz::expect_read_or_refused([&] {
    parse_safetensors_header({exact.data(), exact.size()}, data.size(), "input");
  });

  const std::uint64_t length = header.size();
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  read_safetensors(file.append(header).append(data));
}

void read_settings(std::string_view text) {
  const fuzz::MemoryFile file(text);
  fuzz::expect_read_or_refused([&] {
    const AdapterSettings settings = read_adapter_settings(file.path());
    settings.scale_of("base_model.layers.0.linear_attn.in_proj_qkv");
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::expect_read_or_refused([&] {
    fuzz::expect(weights_bytes(parse_config(text, "input")) > 0, "the size of the weights is a number");
  });
  read_safetensors(text);
  read_header_and_data(text);
  read_settings(text);
  return 0;
}
