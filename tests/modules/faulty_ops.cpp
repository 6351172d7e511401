// The CPU module with one fault, for tests that must see a check fail.
//
// The environment variable BRANCHMARK_TEST_FAULT names the fault, and is read at each call, so that a test
// can set it and take it away. Unset or empty, the module behaves as the one it wraps. Faults:
//   zero_gdn_state        gdn_prefill continues from zeros
//   lost_conv_history     conv continues without the newest row of its history
//   shifted_positions     attention_prepare turns the rows of a sequence that continues by one position more
//   default_inside_fixed  a FIXED or CLASS handle runs as DEFAULT
//   unserved_m=<M>        a FIXED or CLASS handle cannot serve M rows
//   norm_without_one      rms_norm and add_rms_norm scale by weight instead of 1 + weight
//   m_dependent_gemm      a FIXED or CLASS handle gives other bits below 64 rows
//   false_class           every algorithm is called a member of the class
//   other_silu_mul        silu_mul gives the first element of each row another lowest bit
//   changing_silu_mul     the same at every second call only
//   missing_silu_mul      silu_mul is unsupported
//   idle_silu_mul         silu_mul says that it ran and writes nothing
//   failing_silu_mul      silu_mul fails from its tenth call on
//   slow_silu_mul=<P>     silu_mul takes P percent longer
//   full_device           1,000 bytes of device memory are free
// Device memory of the CPU module is ordinary memory; each fault waits for the stream before it looks at any.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "branchmark/kernels.h"

namespace {

const bmk_kernels* real() {
  static const bmk_kernels* const table = []() -> const bmk_kernels* {
    void* library = dlopen(BRANCHMARK_CPU_MODULE, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    void* symbol = dlsym(library, BMK_ENTRY_POINT);
    return symbol == nullptr ? nullptr : reinterpret_cast<bmk_entry_point>(symbol)();
  }();
  return table;
}

std::string_view fault() {
  const char* name = std::getenv("BRANCHMARK_TEST_FAULT");
  return name == nullptr ? "" : name;
}

thread_local std::string own_error;
thread_local bool own_error_is_last = false;

const char* last_error() {
  return own_error_is_last ? own_error.c_str() : real()->last_error();
}

// Remembers that the wrapped module spoke last.
bmk_status passed_on(bmk_status status) {
  own_error_is_last = false;
  return status;
}

bmk_status refuse(bmk_status status, std::string message) {
  own_error = std::move(message);
  own_error_is_last = true;
  return status;
}

void wait(bmk_stream* stream) {
  static_cast<void>(real()->stream->synchronize(stream));
}

// ----------------------------------------------------------------------------------------------- sequences

bmk_status gdn_prefill(bmk_stream* stream, const bmk_gdn_prefill_args* args) {
  if (fault() != "zero_gdn_state") return passed_on(real()->ops->gdn_prefill(stream, args));
  const std::vector<const float*> nothing(static_cast<std::size_t>(args->sequences.num_sequences), nullptr);
  auto faulty = *args;
  faulty.state_in = nothing.data();
  const auto status = real()->ops->gdn_prefill(stream, &faulty);
  wait(stream);
  return passed_on(status);
}

bmk_status conv(bmk_stream* stream, const bmk_conv_args* args) {
  if (fault() != "lost_conv_history") return passed_on(real()->ops->conv(stream, args));
  wait(stream);
  const auto element = static_cast<std::size_t>(args->x.dtype == BMK_BF16 ? 2 : 4);
  const auto row_bytes = static_cast<std::size_t>(args->x.columns) * element;
  const auto count = static_cast<std::size_t>(args->sequences.num_sequences);
  std::vector<std::vector<char>> histories(count);
  std::vector<const void*> history_in(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (args->history_in[i] == nullptr) continue;
    histories[i].resize(BMK_CONV_HISTORY * row_bytes);  // the newest row stays zero
    std::memcpy(histories[i].data(), args->history_in[i], (BMK_CONV_HISTORY - 1) * row_bytes);
    history_in[i] = histories[i].data();
  }
  auto faulty = *args;
  faulty.history_in = history_in.data();
  const auto status = real()->ops->conv(stream, &faulty);
  wait(stream);
  return passed_on(status);
}

bmk_status attention_prepare(bmk_stream* stream, const bmk_attention_prepare_args* args) {
  if (fault() != "shifted_positions") return passed_on(real()->ops->attention_prepare(stream, args));
  wait(stream);
  const auto& sequences = args->sequences;
  std::vector<std::int32_t> positions(args->positions, args->positions + 3 * sequences.num_rows);
  const auto last = static_cast<std::int32_t>(args->cosines.rows - 1);
  for (std::int64_t s = 0; s < sequences.num_sequences; ++s) {
    if (sequences.host_first_position[s] == 0) continue;
    for (auto row = sequences.host_row_offsets[s]; row < sequences.host_row_offsets[s + 1]; ++row)
      for (std::int64_t axis = 0; axis < 3; ++axis) {
        auto& position = positions[static_cast<std::size_t>(axis * sequences.num_rows + row)];
        position = std::min(position + 1, last);
      }
  }
  auto faulty = *args;
  faulty.positions = positions.data();
  const auto status = real()->ops->attention_prepare(stream, &faulty);
  wait(stream);
  return passed_on(status);
}

// --------------------------------------------------------------------------------------------------- norms

float to_float(const bmk_matrix& matrix, std::int64_t column) {
  if (matrix.dtype == BMK_F32) return static_cast<const float*>(matrix.data)[column];
  const auto bits = std::uint32_t{static_cast<const std::uint16_t*>(matrix.data)[column]} << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// A norm whose weight is one less, so that 1 + weight is what the weight was.
template <class Args>
bmk_status norm(bmk_stream* stream, const Args* args, bmk_status (*op)(bmk_stream*, const Args*)) {
  if (fault() != "norm_without_one") return passed_on(op(stream, args));
  wait(stream);
  constexpr std::size_t kAlignment = 64;
  const auto columns = static_cast<std::size_t>(args->weight.columns);
  const auto bytes = (columns * sizeof(float) / kAlignment + 1) * kAlignment;
  auto* weight = static_cast<float*>(std::aligned_alloc(kAlignment, bytes));
  for (std::size_t i = 0; i < columns; ++i)
    weight[i] = to_float(args->weight, static_cast<std::int64_t>(i)) - 1.0f;
  auto faulty = *args;
  faulty.weight.data = weight;
  faulty.weight.dtype = BMK_F32;
  faulty.weight.row_stride = (args->weight.columns + 7) / 8 * 8;
  const auto status = op(stream, &faulty);
  wait(stream);
  std::free(weight);
  return passed_on(status);
}

bmk_status rms_norm(bmk_stream* stream, const bmk_rms_norm_args* args) {
  return norm(stream, args, real()->ops->rms_norm);
}
bmk_status add_rms_norm(bmk_stream* stream, const bmk_add_rms_norm_args* args) {
  return norm(stream, args, real()->ops->add_rms_norm);
}

// ---------------------------------------------------------------------------------------------- activations

// Flips the lowest bit of the first element of each row.
void disturb(const bmk_matrix& y) {
  for (std::int64_t row = 0; row < y.rows; ++row) {
    const auto element = row * y.row_stride;
    if (y.dtype == BMK_BF16)
      static_cast<std::uint16_t*>(y.data)[element] ^= 1u;
    else
      static_cast<std::uint32_t*>(y.data)[element] ^= 1u;
  }
}

// The number behind "name=" where that is the fault; else 0.
double fault_number(std::string_view name) {
  const auto found = fault();
  if (found.size() <= name.size() || found.substr(0, name.size()) != name || found[name.size()] != '=')
    return 0;
  return std::strtod(found.data() + name.size() + 1, nullptr);
}

bmk_status silu_mul(bmk_stream* stream, const bmk_silu_mul_args* args) {
  using Clock = std::chrono::steady_clock;
  static std::atomic<std::int64_t> calls = 0;
  const auto name = fault();
  const auto call = ++calls;
  if (name == "missing_silu_mul") return refuse(BMK_UNSUPPORTED, "no silu_mul");
  if (name == "idle_silu_mul") return BMK_OK;
  if (name == "failing_silu_mul" && call >= 10) return refuse(BMK_FAILED, "silu_mul broke");
  const auto begin = Clock::now();
  const auto status = real()->ops->silu_mul(stream, args);
  const double percent = fault_number("slow_silu_mul");
  if (percent > 0) {
    wait(stream);
    const auto took = Clock::now() - begin;
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(took * percent / 100);
    while (Clock::now() < until) continue;
  }
  if (name == "other_silu_mul" || (name == "changing_silu_mul" && call % 2 == 0)) {
    wait(stream);
    disturb(args->out);
  }
  return passed_on(status);
}

// ---------------------------------------------------------------------------------------------------- GEMM

// FIXED and CLASS handles, each with the DEFAULT handle that may run in its place.
class RowIndependentHandles {
 public:
  void add(bmk_gemm* gemm, bmk_gemm* in_its_place) {
    const std::scoped_lock lock(mutex_);
    handles_[gemm] = in_its_place;
  }
  bmk_gemm* take(bmk_gemm* gemm) {
    const std::scoped_lock lock(mutex_);
    const auto found = handles_.find(gemm);
    if (found == handles_.end()) return nullptr;
    auto* in_its_place = found->second;
    handles_.erase(found);
    return in_its_place;
  }
  // NULL for a DEFAULT handle.
  bmk_gemm* in_place_of(bmk_gemm* gemm) {
    const std::scoped_lock lock(mutex_);
    const auto found = handles_.find(gemm);
    return found == handles_.end() ? nullptr : found->second;
  }

 private:
  std::mutex mutex_;
  std::map<bmk_gemm*, bmk_gemm*> handles_;
};

RowIndependentHandles& handles() {
  static RowIndependentHandles all;
  return all;
}

bmk_status gemm_create(bmk_device* device, const bmk_gemm_options* options, bmk_gemm** gemm) {
  const auto status = real()->gemm->create(device, options, gemm);
  if (status != BMK_OK || options->kind == BMK_GEMM_DEFAULT) return passed_on(status);
  const bmk_gemm_options other{sizeof(bmk_gemm_options), BMK_GEMM_DEFAULT, 0, nullptr};
  bmk_gemm* in_its_place = nullptr;
  const auto other_status = real()->gemm->create(device, &other, &in_its_place);
  if (other_status == BMK_OK) handles().add(*gemm, in_its_place);
  return passed_on(other_status);
}

void gemm_destroy(bmk_gemm* gemm) {
  real()->gemm->destroy(handles().take(gemm));
  real()->gemm->destroy(gemm);
}

bool is_unserved(bmk_gemm* gemm, std::int64_t rows) {
  constexpr std::string_view kName = "unserved_m=";
  const auto name = fault();
  return name.substr(0, kName.size()) == kName && name.substr(kName.size()) == std::to_string(rows) &&
         handles().in_place_of(gemm) != nullptr;
}

bmk_status refuse_rows(std::int64_t n, std::int64_t k, std::int64_t m) {
  return refuse(BMK_UNSERVED_SIZE, "the fixed algorithm cannot serve N=" + std::to_string(n) +
                                       ", K=" + std::to_string(k) + ", M=" + std::to_string(m));
}

bmk_status gemm_prepare(bmk_gemm* gemm, bmk_stream* stream, const bmk_gemm_shape* shape,
                        const std::int64_t* row_counts, std::int64_t num_row_counts) {
  for (std::int64_t i = 0; i < num_row_counts; ++i)
    if (is_unserved(gemm, row_counts[i])) return refuse_rows(shape->n, shape->k, row_counts[i]);
  return passed_on(real()->gemm->prepare(gemm, stream, shape, row_counts, num_row_counts));
}

bmk_status gemm_run(bmk_gemm* gemm, bmk_stream* stream, const bmk_gemm_args* args) {
  constexpr std::int64_t kFewRows = 64;
  if (is_unserved(gemm, args->x.rows)) return refuse_rows(args->w.rows, args->w.columns, args->x.rows);
  auto* in_its_place = handles().in_place_of(gemm);
  if (in_its_place != nullptr && fault() == "default_inside_fixed")
    return passed_on(real()->gemm->run(in_its_place, stream, args));
  const auto status = real()->gemm->run(gemm, stream, args);
  if (in_its_place != nullptr && fault() == "m_dependent_gemm" && args->x.rows < kFewRows) {
    wait(stream);
    disturb(args->y);
  }
  return passed_on(status);
}

bmk_status gemm_describe_algorithm(bmk_gemm* gemm, const bmk_gemm_shape* shape, std::int64_t index,
                                   bmk_gemm_algorithm* algorithm) {
  const auto status = real()->gemm->describe_algorithm(gemm, shape, index, algorithm);
  if (status == BMK_OK && fault() == "false_class") algorithm->in_class = 1;
  return passed_on(status);
}

// -------------------------------------------------------------------------------------------------- device

bmk_status memory_info(bmk_device* device, std::int64_t* free_bytes, std::int64_t* total_bytes) {
  const auto status = real()->device->memory_info(device, free_bytes, total_bytes);
  if (status == BMK_OK && fault() == "full_device") *free_bytes = 1000;
  return passed_on(status);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const bmk_kernels* branchmark_kernels(void) {
  if (real() == nullptr) return nullptr;
  static const bmk_gemm_api gemm = [] {
    auto api = *real()->gemm;
    api.create = gemm_create;
    api.destroy = gemm_destroy;
    api.prepare = gemm_prepare;
    api.run = gemm_run;
    api.describe_algorithm = gemm_describe_algorithm;
    return api;
  }();
  static const bmk_ops_api ops = [] {
    auto api = *real()->ops;
    api.gdn_prefill = gdn_prefill;
    api.conv = conv;
    api.attention_prepare = attention_prepare;
    api.rms_norm = rms_norm;
    api.add_rms_norm = add_rms_norm;
    api.silu_mul = silu_mul;
    return api;
  }();
  static const bmk_device_api device = [] {
    auto api = *real()->device;
    api.memory_info = memory_info;
    return api;
  }();
  static const bmk_kernels table = [] {
    auto faulty = *real();
    faulty.name = "cpu-faulty";
    faulty.last_error = last_error;
    faulty.device = &device;
    faulty.gemm = &gemm;
    faulty.ops = &ops;
    return faulty;
  }();
  return &table;
}
