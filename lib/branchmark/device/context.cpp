#include "branchmark/device/context.hpp"

#include <fmt/format.h>

namespace branchmark {
namespace {

ErrorCode code_of(bmk_status status) {
  switch (status) {
    case BMK_OUT_OF_MEMORY:
    case BMK_NO_DEVICE:
      return ErrorCode::not_eligible;
    case BMK_DEVICE_LOST:
      return ErrorCode::hardware_fault;
    case BMK_UNSERVED_SIZE:
      return ErrorCode::unserved_size;
    default:
      return ErrorCode::kernel;
  }
}

const char* name_of(bmk_status status) {
  switch (status) {
    case BMK_OK:
      return "ok";
    case BMK_INVALID_ARGUMENT:
      return "invalid argument";
    case BMK_UNSUPPORTED:
      return "unsupported";
    case BMK_OUT_OF_MEMORY:
      return "out of memory";
    case BMK_NO_DEVICE:
      return "no device";
    case BMK_UNSERVED_SIZE:
      return "unserved size";
    case BMK_DEVICE_LOST:
      return "device lost";
    default:
      return "failed";
  }
}

void check_status(const bmk_kernels& table, std::string_view what, bmk_status status) {
  if (status == BMK_OK) return;
  const char* detail = table.last_error();
  throw Error(code_of(status),
              fmt::format("{} module, {}: {}: {}", table.name, what, name_of(status),
                          detail != nullptr && *detail != '\0' ? detail : "no detail given"));
}

}  // namespace

std::int64_t Context::count(const KernelLibrary& library) {
  std::int64_t count = 0;
  check_status(library.table(), "device.count", library.table().device->count(&count));
  return count;
}

bmk_device_info Context::describe(const KernelLibrary& library, std::int64_t index) {
  bmk_device_info info{};
  info.struct_size = sizeof info;
  check_status(library.table(), "device.describe", library.table().device->describe(index, &info));
  return info;
}

std::shared_ptr<Context> Context::open(std::shared_ptr<const KernelLibrary> library, std::int64_t index,
                                       const DeviceOptions& options) {
  const auto info = describe(*library, index);
  if (info.ineligible_reason[0] != '\0')
    throw Error(ErrorCode::not_eligible, fmt::format("device {} ({}): {}", index, info.name,
                                                     static_cast<const char*>(info.ineligible_reason)));
  const bmk_device_options device_options{.struct_size = sizeof(bmk_device_options),
                                          .num_threads = options.num_threads};
  bmk_device* device = nullptr;
  const auto& table = library->table();
  check_status(table, "device.open", table.device->open(index, &device_options, &device));
  std::shared_ptr<Context> context(new Context(std::move(library), device, info));
  check_status(table, "stream.create", table.stream->create(device, &context->stream_));
  return context;
}

Context::~Context() {
  table().stream->destroy(stream_);
  table().device->close(device_);
}

void Context::check(std::string_view what, bmk_status status) {
  try {
    check_status(table(), what, status);
  } catch (...) {
    synchronize_quietly();
    throw;
  }
}

void Context::synchronize() {
  call("stream.synchronize", table().stream->synchronize, stream_);
}

void Context::synchronize_quietly() noexcept {
  ++counters_.calls;
  static_cast<void>(table().stream->synchronize(stream_));
}

void Context::copy_to_device(void* destination, const void* host_source, std::int64_t bytes) {
  call("memory.copy_to_device", table().memory->copy_to_device, stream_, destination, host_source, bytes);
}

void Context::copy_to_host(void* host_destination, const void* source, std::int64_t bytes) {
  call("memory.copy_to_host", table().memory->copy_to_host, stream_, host_destination, source, bytes);
}

void Context::copy_on_device(void* destination, const void* source, std::int64_t bytes) {
  call("memory.copy_on_device", table().memory->copy_on_device, stream_, destination, source, bytes);
}

void Context::fill(void* data, int value, std::int64_t bytes) {
  call("memory.fill", table().memory->fill, stream_, data, static_cast<std::int32_t>(value), bytes);
}

std::int64_t Context::free_bytes() {
  std::int64_t free = 0;
  std::int64_t total = 0;
  call("device.memory_info", table().device->memory_info, device_, &free, &total);
  return free;
}

}  // namespace branchmark
