#include "branchmark/device/kernel_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "branchmark/base/error.hpp"

namespace branchmark {
namespace {

std::filesystem::path executable_folder() {
  std::error_code error;
  const auto executable = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::current_path() : executable.parent_path();
}

}  // namespace

std::shared_ptr<const KernelLibrary> KernelLibrary::load(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    throw Error(ErrorCode::not_eligible, fmt::format("kernel module {}: no such file", file.string()));
  const auto path = std::filesystem::absolute(file);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw Error(ErrorCode::not_eligible, fmt::format("kernel module {}: {}", path.string(), dlerror()));
  void* symbol = dlsym(handle, BMK_ENTRY_POINT);
  if (symbol == nullptr)
    throw Error(ErrorCode::not_eligible,
                fmt::format("{} is no kernel module: it does not export {}", path.string(), BMK_ENTRY_POINT));
  const bmk_kernels* table = reinterpret_cast<bmk_entry_point>(symbol)();
  if (table == nullptr)
    throw Error(ErrorCode::not_eligible, fmt::format("kernel module {}: its table is empty", path.string()));
  if (table->abi_version != BMK_ABI_VERSION)
    throw Error(ErrorCode::not_eligible,
                fmt::format("kernel module {}: ABI version {}, this program needs {}; rebuild the module",
                            path.string(), table->abi_version, BMK_ABI_VERSION));
  if (table->struct_size < sizeof(bmk_kernels))
    throw Error(
        ErrorCode::not_eligible,
        fmt::format("kernel module {}: its table has {} bytes, this program needs {}; rebuild the module",
                    path.string(), table->struct_size, sizeof(bmk_kernels)));
  return std::shared_ptr<const KernelLibrary>(new KernelLibrary(path, table));
}

std::vector<std::filesystem::path> KernelLibrary::shipped_paths(const std::string& name) {
  const auto folder = executable_folder();
  const auto file = fmt::format("libbranchmark-kernels-{}.so", name);
  return {folder / file, (folder / "../lib/branchmark" / file).lexically_normal()};
}

std::shared_ptr<const KernelLibrary> KernelLibrary::load_shipped(const std::string& name) {
  const auto paths = shipped_paths(name);
  for (const auto& path : paths) {
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) return load(path);
  }
  throw Error(ErrorCode::not_eligible,
              fmt::format("kernel module \"{}\" not found, expected {} or {}; build it, or name another with "
                          "--kernels",
                          name, paths[0].string(), paths[1].string()));
}

}  // namespace branchmark
