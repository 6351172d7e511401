// The CPU module at its boundary: what it exports, what it refuses, and what stands around the ops.
#include "cpu_module.hpp"

#include <cstdio>
#include <thread>

namespace branchmark::test {
namespace {

TEST(CpuModule, ExportsOneSymbol) {
  const std::string command = BRANCHMARK_NM " -D --defined-only '" BRANCHMARK_CPU_MODULE "'";
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::vector<std::string> names;
  char address[64], kind[8], name[512];
  while (std::fscanf(pipe, "%63s %7s %511s", address, kind, name) == 3) names.push_back(name);
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_EQ(names, std::vector<std::string>{BMK_ENTRY_POINT});
}

TEST(CpuModule, TableIsComplete) {
  EXPECT_EQ(module().abi_version, BMK_ABI_VERSION);
  EXPECT_EQ(module().struct_size, sizeof(bmk_kernels));
  EXPECT_EQ(std::string(module().name), "cpu");
  const auto all_set = [](const auto* table) {
    void* const* functions = reinterpret_cast<void* const*>(table);
    for (std::size_t i = 1; i < sizeof(*table) / sizeof(void*); ++i) {
      if (functions[i] == nullptr) return false;
    }
    return table->struct_size == static_cast<int64_t>(sizeof(*table));
  };
  EXPECT_TRUE(all_set(module().device));
  EXPECT_TRUE(all_set(module().memory));
  EXPECT_TRUE(all_set(module().stream));
  EXPECT_TRUE(all_set(module().event));
  EXPECT_TRUE(all_set(module().graph));
  EXPECT_TRUE(all_set(module().gemm));
  EXPECT_TRUE(all_set(module().ops));
}

TEST(CpuModule, HasOneDevice) {
  int64_t count = 0;
  expect_ok(module().device->count(&count));
  EXPECT_EQ(count, 1);
  bmk_device_info info{};
  info.struct_size = sizeof info;
  expect_ok(module().device->describe(0, &info));
  EXPECT_NE(std::string(info.name), "");
  EXPECT_EQ(std::string(info.ineligible_reason), "");
  EXPECT_EQ(info.is_cpu, 1);
  EXPECT_EQ(info.supports_graphs, 0);
  EXPECT_GT(info.memory_bytes, 0);
  expect_failure(module().device->describe(1, &info), BMK_NO_DEVICE, "device index is 1, wanted 0");
  bmk_device* device = nullptr;
  expect_failure(module().device->open(-1, nullptr, &device), BMK_NO_DEVICE, "wanted 0");
  const bmk_device_options options{sizeof options, -1};
  expect_failure(module().device->open(0, &options, &device), BMK_INVALID_ARGUMENT, "num_threads is -1");
}

TEST(CpuModule, WritesOnlyAsMuchOfTheInfoAsTheCallerHas) {
  bmk_device_info info;
  memset(&info, 0x5A, sizeof info);
  info.struct_size = offsetof(bmk_device_info, uuid);
  expect_ok(module().device->describe(0, &info));
  EXPECT_EQ(info.uuid[0], 0x5A);
  EXPECT_NE(info.name[0], 0x5A);
}

TEST(CpuModule, InstructionSetIsChosenByName) {
  const Device unknown("z80");
  expect_failure(unknown.status(), BMK_INVALID_ARGUMENT, "BRANCHMARK_CPU_ISA=z80, wanted one of ");
  EXPECT_EQ(Device("baseline").status(), BMK_OK);
  for (const char* isa : {"x86_64_v3", "x86_64_v4"}) {
    const bmk_status status = Device(isa).status();
    EXPECT_TRUE(status == BMK_OK || status == BMK_UNSUPPORTED || status == BMK_INVALID_ARGUMENT) << isa;
  }
}

TEST(CpuModule, MemoryIsAlignedCopiedAndFilled) {
  const Device device;
  void* data = nullptr;
  expect_ok(module().memory->allocate(device.device(), 1000, &data));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 256, 0u);
  expect_ok(module().memory->fill(device.stream(), data, 0xAB, 1000));
  unsigned char copy[1000] = {};
  expect_ok(module().memory->copy_to_host(device.stream(), copy, data, 1000));
  EXPECT_EQ(copy[999], 0xAB);
  expect_failure(module().memory->fill(device.stream(), data, 256, 1000), BMK_INVALID_ARGUMENT,
                 "value is 256");
  expect_failure(module().memory->copy_to_device(device.stream(), data, nullptr, 1), BMK_INVALID_ARGUMENT,
                 "source is NULL");
  module().memory->release(device.device(), data);
  expect_failure(module().memory->allocate(device.device(), 0, &data), BMK_INVALID_ARGUMENT, "bytes is 0");
  expect_failure(module().memory->allocate(device.device(), int64_t{1} << 60, &data), BMK_OUT_OF_MEMORY,
                 "cannot allocate");
  int64_t free_bytes = 0, total_bytes = 0;
  expect_ok(module().device->memory_info(device.device(), &free_bytes, &total_bytes));
  EXPECT_GT(free_bytes, 0);
  EXPECT_LE(free_bytes, total_bytes);
}

TEST(CpuModule, EventsMeasureTime) {
  const Device device;
  bmk_event *from = nullptr, *to = nullptr;
  expect_ok(module().event->create(device.device(), &from));
  expect_ok(module().event->create(device.device(), &to));
  double nanoseconds = -1.0;
  expect_ok(module().event->record(from, device.stream()));
  expect_failure(module().event->elapsed_ns(from, to, &nanoseconds), BMK_INVALID_ARGUMENT, "never recorded");
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  expect_ok(module().event->record(to, device.stream()));
  expect_ok(module().stream->wait_event(device.stream(), to));
  expect_ok(module().event->elapsed_ns(from, to, &nanoseconds));
  EXPECT_GE(nanoseconds, 2e6);
  module().event->destroy(from);
  module().event->destroy(to);
}

TEST(CpuModule, GraphsAreUnsupported) {
  const Device device;
  expect_failure(module().graph->begin(device.stream()), BMK_UNSUPPORTED, "no graphs");
  int anything = 0;
  auto* graph = reinterpret_cast<bmk_graph*>(&anything);
  expect_failure(module().graph->end(device.stream(), &graph), BMK_UNSUPPORTED, "no graphs");
  EXPECT_EQ(graph, nullptr);
}

TEST(CpuModule, ErrorsBelongToTheirThread) {
  EXPECT_EQ(module().device->count(nullptr), BMK_INVALID_ARGUMENT);
  std::thread([] {
    EXPECT_EQ(std::string(module().last_error()), "");
    int64_t bytes = 0;
    EXPECT_EQ(module().device->memory_info(nullptr, &bytes, &bytes), BMK_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(module().last_error()), "device is NULL");
  }).join();
  EXPECT_EQ(std::string(module().last_error()), "count is NULL");
}

TEST(CpuModule, DestroyingNothingDoesNothing) {
  module().device->close(nullptr);
  module().stream->destroy(nullptr);
  module().event->destroy(nullptr);
  module().graph->destroy(nullptr);
  module().gemm->destroy(nullptr);
  module().memory->release(nullptr, nullptr);
}

// Each case spoils one thing about valid arguments.
TEST(CpuModule, RefusesMatricesThatBreakTheConventions) {
  Device device;
  Matrix x(device, 4, 64, BMK_BF16), weight(device, 1, 64, BMK_BF16), out(device, 4, 64, BMK_BF16);
  x.fill(1);
  weight.fill(2);
  const bmk_rms_norm_args valid{sizeof valid, 0, 1e-6f, x.view(), weight.view(), out.view()};
  expect_ok(module().ops->rms_norm(device.stream(), &valid));
  const auto refused = [&](auto spoil, bmk_status status, const char* part) {
    bmk_rms_norm_args args = valid;
    spoil(args);
    expect_failure(module().ops->rms_norm(device.stream(), &args), status, part);
  };
  using Args = bmk_rms_norm_args;
  refused([](Args& a) { a.struct_size = 8; }, BMK_INVALID_ARGUMENT, "rms_norm.struct_size is 8");
  refused([](Args& a) { a.x.data = nullptr; }, BMK_INVALID_ARGUMENT, "rms_norm: x.data is NULL");
  refused([](Args& a) { a.x.data = static_cast<char*>(a.x.data) + 8; }, BMK_INVALID_ARGUMENT,
          "rms_norm: x.data does not begin at a multiple of 16 bytes");
  refused([](Args& a) { a.x.row_stride = 68; }, BMK_INVALID_ARGUMENT,
          "x.row_stride is 68, wanted a multiple of 8 and at least its 64 columns");
  refused([](Args& a) { a.out.row_stride = 56; }, BMK_INVALID_ARGUMENT, "out.row_stride is 56");
  refused([](Args& a) { a.out.dtype = 7; }, BMK_INVALID_ARGUMENT, "out.dtype is 7");
  refused([](Args& a) { a.out.rows = 3; }, BMK_INVALID_ARGUMENT, "out is [3, 64], wanted [4, 64]");
  refused([](Args& a) { a.weight.columns = 63; }, BMK_INVALID_ARGUMENT, "weight is [1, 63], wanted [1, 64]");
  refused([](Args& a) { a.eps = NAN; }, BMK_INVALID_ARGUMENT, "eps is nan");
  refused([](Args& a) { a.numerics = 9; }, BMK_INVALID_ARGUMENT, "numerics is 9");
  refused([](Args& a) { a.numerics = BMK_NUMERICS_REFERENCE; }, BMK_UNSUPPORTED,
          "x is bf16, but activations under reference numerics are f32");
  expect_failure(module().ops->rms_norm(nullptr, &valid), BMK_INVALID_ARGUMENT, "stream is NULL");
  expect_failure(module().ops->rms_norm(device.stream(), nullptr), BMK_INVALID_ARGUMENT, "args is NULL");
}

TEST(CpuModule, RefusesSequencesThatDoNotAgree) {
  Device device;
  Matrix x(device, 70, 8, BMK_BF16), out(device, 70, 8, BMK_BF16), taps(device, 1, 32, BMK_BF16);
  x.fill(1);
  taps.fill(2);
  const bmk_matrix weight{taps.view().data, 8, 4, 4, BMK_BF16, 0};
  const int64_t offsets[] = {0, 65, 70}, positions[] = {64, 0}, chunks[] = {0, 2, 3}, at[] = {65, 5};
  int32_t owner[70] = {};
  std::fill(owner + 65, owner + 70, 1);
  const void* history_in[2] = {};
  void* history_out[2] = {};
  const bmk_conv_args valid{
      sizeof valid, 0,      0,          {2, 70, 3, 65, offsets, positions, chunks, owner, offsets, positions},
      x.view(),     weight, out.view(), history_in,
      history_out,  at};
  expect_ok(module().ops->conv(device.stream(), &valid));
  const auto refused = [&](auto spoil, const char* part) {
    bmk_conv_args args = valid;
    spoil(args);
    expect_failure(module().ops->conv(device.stream(), &args), BMK_INVALID_ARGUMENT, part);
  };
  const int64_t off_grid[] = {63, 0}, backwards[] = {0, 71, 70};
  refused([](bmk_conv_args& a) { a.sequences.num_chunks = 2; }, "sequences.num_chunks is 2, wanted 3");
  refused([](bmk_conv_args& a) { a.sequences.max_rows = 70; }, "sequences.max_rows is 70, wanted 65");
  refused([](bmk_conv_args& a) { a.sequences.row_offsets = nullptr; }, "sequences.row_offsets is NULL");
  refused([&](bmk_conv_args& a) { a.sequences.host_first_position = off_grid; },
          "sequences.host_first_position[0] is 63, wanted a multiple of 64");
  refused([&](bmk_conv_args& a) { a.sequences.host_row_offsets = backwards; }, "rows of sequence 1 is -1");
  refused([](bmk_conv_args& a) { a.weight.row_stride = 8; }, "conv: weight.row_stride is 8, wanted 4");
}

}  // namespace
}  // namespace branchmark::test
