#include "branchmark/device/select.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "branchmark/base/error.hpp"

namespace branchmark {
namespace {

struct Wanted {
  bool automatic = false;
  bool cpu = false;
  std::optional<std::int64_t> index;  // of a CUDA device
  std::string uuid;
};

std::optional<Wanted> parse(const std::string& text) {
  if (text == "auto") return Wanted{.automatic = true, .cpu = false, .index = std::nullopt, .uuid = {}};
  if (text == "cpu") return Wanted{.automatic = false, .cpu = true, .index = std::nullopt, .uuid = {}};
  if (text == "cuda") return Wanted{.automatic = false, .cpu = false, .index = 0, .uuid = {}};
  if (text.starts_with("cuda:")) {
    std::int64_t index = -1;
    const auto* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + 5, end, index);
    if (error == std::errc() && rest == end && index >= 0)
      return Wanted{.automatic = false, .cpu = false, .index = index, .uuid = {}};
  }
  if (text.starts_with("GPU-") || text.starts_with("MIG-"))
    return Wanted{.automatic = false, .cpu = false, .index = std::nullopt, .uuid = text};
  return std::nullopt;
}

std::string reason_of(const bmk_device_info& info) {
  return static_cast<const char*>(info.ineligible_reason);
}

std::optional<std::int64_t> first_eligible(const KernelLibrary& library, std::string& why_not) {
  const auto count = Context::count(library);
  why_not = "the module sees no device";
  for (std::int64_t index = 0; index < count; ++index) {
    const auto info = Context::describe(library, index);
    why_not = reason_of(info);
    if (why_not.empty()) return index;
  }
  return std::nullopt;
}

std::int64_t index_of_uuid(const KernelLibrary& library, const std::string& uuid) {
  const auto count = Context::count(library);
  for (std::int64_t index = 0; index < count; ++index)
    if (uuid == static_cast<const char*>(Context::describe(library, index).uuid)) return index;
  throw Error(ErrorCode::not_eligible,
              fmt::format("no device has the UUID {} ({} devices are visible)", uuid, count));
}

DeviceChoice on(std::shared_ptr<const KernelLibrary> library, const Wanted& wanted) {
  if (!wanted.uuid.empty()) {
    const auto index = index_of_uuid(*library, wanted.uuid);
    return {std::move(library), index, ""};
  }
  const auto count = Context::count(*library);
  const auto index = wanted.index.value_or(0);
  if (index >= count)
    throw Error(ErrorCode::not_eligible,
                fmt::format("device {}: the {} module sees {} devices{}", index, library->table().name, count,
                            count == 0 ? fmt::format(" ({})", library->table().last_error()) : ""));
  return {std::move(library), index, ""};
}

DeviceChoice automatic() {
  std::string why_not;
  try {
    auto cuda = KernelLibrary::load_shipped("cuda");
    if (const auto index = first_eligible(*cuda, why_not)) {
      const auto note = fmt::format("CUDA device {}, {}", *index,
                                    static_cast<const char*>(Context::describe(*cuda, *index).name));
      return {std::move(cuda), *index, note};
    }
  } catch (const Error& error) {
    why_not = error.what();
  }
  return {KernelLibrary::load_shipped("cpu"), 0, fmt::format("the CPU (no CUDA device: {})", why_not)};
}

}  // namespace

std::string check_device_name(const std::string& text) {
  if (parse(text)) return "";
  return fmt::format("found \"{}\", expected auto, cpu, cuda, cuda:N or a device's UUID", text);
}

DeviceChoice select_device(const std::string& text, const std::optional<std::filesystem::path>& kernels) {
  const auto wanted = parse(text);
  if (!wanted) throw Error(ErrorCode::usage, "--device: " + check_device_name(text));
  if (kernels) return on(KernelLibrary::load(*kernels), *wanted);
  if (wanted->automatic) return automatic();
  return on(KernelLibrary::load_shipped(wanted->cpu ? "cpu" : "cuda"), *wanted);
}

}  // namespace branchmark
