// The CUDA module at its boundary. Runs with and without a GPU: what needs one is skipped by name where there
// is none, and what a machine without one must show is skipped where there is one.
//
// BRANCHMARK_CUDA_MODULE is the module's path, BRANCHMARK_NM the program nm.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "branchmark/kernels.h"

namespace branchmark::test {
namespace {

const bmk_kernels& cuda_module() {
  static const bmk_kernels* const kernels = [] {
    void* library = dlopen(BRANCHMARK_CUDA_MODULE, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    return reinterpret_cast<bmk_entry_point>(dlsym(library, BMK_ENTRY_POINT))();
  }();
  return *kernels;
}

std::string last_error() {
  return cuda_module().last_error();
}

std::int64_t num_devices() {
  std::int64_t count = -1;
  EXPECT_EQ(cuda_module().device->count(&count), BMK_OK) << last_error();
  return count;
}

template <typename Table>
bool is_complete(const Table* table) {
  void* const* functions = reinterpret_cast<void* const*>(table);
  for (std::size_t i = 1; i < sizeof(Table) / sizeof(void*); ++i)
    if (functions[i] == nullptr) return false;
  return table->struct_size == static_cast<std::int64_t>(sizeof(Table));
}

TEST(CudaModule, ExportsOneSymbol) {
  const std::string command = BRANCHMARK_NM " -D --defined-only '" BRANCHMARK_CUDA_MODULE "'";
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::vector<std::string> names;
  char address[64], kind[8], name[512];
  while (std::fscanf(pipe, "%63s %7s %511s", address, kind, name) == 3) names.push_back(name);
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_EQ(names, std::vector<std::string>{BMK_ENTRY_POINT});
}

TEST(CudaModule, LoadsAndItsTableIsComplete) {
  const bmk_kernels& kernels = cuda_module();
  EXPECT_EQ(kernels.abi_version, BMK_ABI_VERSION);
  EXPECT_EQ(kernels.struct_size, sizeof(bmk_kernels));
  EXPECT_STREQ(kernels.name, "cuda");
  EXPECT_NE(std::string(kernels.build_id).find("nvcc"), std::string::npos) << kernels.build_id;
  EXPECT_TRUE(is_complete(kernels.device));
  EXPECT_TRUE(is_complete(kernels.memory));
  EXPECT_TRUE(is_complete(kernels.stream));
  EXPECT_TRUE(is_complete(kernels.event));
  EXPECT_TRUE(is_complete(kernels.graph));
  EXPECT_TRUE(is_complete(kernels.gemm));
  EXPECT_TRUE(is_complete(kernels.ops));
}

TEST(CudaModule, WithoutAGpuCountsNoneAndSaysWhy) {
  if (num_devices() > 0) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(num_devices(), 0);
  EXPECT_NE(last_error(), "");
}

TEST(CudaModule, WithoutAGpuOpensNone) {
  if (num_devices() > 0) GTEST_SKIP() << "this machine has a GPU";
  int marker = 0;
  bmk_device* device = reinterpret_cast<bmk_device*>(&marker);
  EXPECT_EQ(cuda_module().device->open(0, nullptr, &device), BMK_NO_DEVICE);
  EXPECT_EQ(device, nullptr);
  EXPECT_NE(last_error().find("device 0 does not exist"), std::string::npos) << last_error();
  bmk_device_info info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(cuda_module().device->describe(0, &info), BMK_NO_DEVICE);
}

TEST(CudaModule, RefusesADevicePastTheLast) {
  bmk_device* device = nullptr;
  EXPECT_EQ(cuda_module().device->open(num_devices(), nullptr, &device), BMK_NO_DEVICE);
  EXPECT_EQ(cuda_module().device->open(-1, nullptr, &device), BMK_NO_DEVICE);
  EXPECT_EQ(device, nullptr);
}

TEST(CudaModule, DescribesEachGpuWithinTheCallersRoom) {
  if (num_devices() == 0) GTEST_SKIP() << "this machine has no GPU";
  bmk_device_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(cuda_module().device->describe(0, &info), BMK_OK) << last_error();
  EXPECT_NE(std::string(info.name), "");
  EXPECT_EQ(std::string(info.architecture).rfind("sm_", 0), 0u);
  EXPECT_EQ(info.is_cpu, 0);

  bmk_device_info cut;
  std::memset(&cut, 0x5A, sizeof cut);
  cut.struct_size = offsetof(bmk_device_info, uuid);
  ASSERT_EQ(cuda_module().device->describe(0, &cut), BMK_OK) << last_error();
  EXPECT_EQ(std::string(cut.name), info.name);
  EXPECT_EQ(cut.uuid[0], 0x5A);
}

TEST(CudaModule, NullObjectsAreRefusedAndNullIsDestroyedSilently) {
  const bmk_kernels& kernels = cuda_module();
  kernels.device->close(nullptr);
  kernels.stream->destroy(nullptr);
  kernels.event->destroy(nullptr);
  kernels.graph->destroy(nullptr);
  kernels.gemm->destroy(nullptr);
  kernels.memory->release(nullptr, nullptr);
  kernels.memory->release_host(nullptr, nullptr);
  EXPECT_EQ(kernels.device->count(nullptr), BMK_INVALID_ARGUMENT);
  EXPECT_EQ(kernels.device->synchronize(nullptr), BMK_INVALID_ARGUMENT);
  EXPECT_EQ(kernels.stream->synchronize(nullptr), BMK_INVALID_ARGUMENT);
  EXPECT_EQ(kernels.graph->begin(nullptr), BMK_INVALID_ARGUMENT);
  EXPECT_EQ(kernels.gemm->run(nullptr, nullptr, nullptr), BMK_INVALID_ARGUMENT);
  EXPECT_EQ(kernels.ops->silu_mul(nullptr, nullptr), BMK_INVALID_ARGUMENT);
  EXPECT_NE(last_error(), "");
}

TEST(CudaModule, ErrorsBelongToTheirThread) {
  ASSERT_EQ(cuda_module().device->synchronize(nullptr), BMK_INVALID_ARGUMENT);
  std::string elsewhere = "unset";
  std::thread([&] { elsewhere = last_error(); }).join();
  EXPECT_EQ(elsewhere, "");
  EXPECT_NE(last_error(), "");
}

}  // namespace
}  // namespace branchmark::test
