// The CPU module's fixed GEMM beside a tuned BLAS, on the projections of the 0.8B model.
//
//   gemm_benchmark --benchmark_filter=rows:1024
//
// Both run in turns on the same threads, so that a noisy neighbour slows both. The reported time is the
// module's. Counters, from the median of each side's calls:
//   of_blas            the module's rate over that of the BLAS; 1 is as fast
//   gflops, blas_gflops  2 · M · N · K operations over the time
// The module multiplies bf16 by bf16 and rounds to bf16; the BLAS has no bf16 product of that kind and
// multiplies the same values as float32. OPENBLAS_CORETYPE chooses the BLAS's kernels; the context line
// blas_core says which ran.
#include <benchmark/benchmark.h>
#include <cblas.h>
#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "branchmark/base/bf16.hpp"
#include "branchmark/base/distance.hpp"
#include "branchmark/base/random.hpp"
#include "branchmark/base/statistics.hpp"
#include "branchmark/device/device_buffer.hpp"
#include "branchmark/device/gemm.hpp"
#include "branchmark/verify/gemm_rows.hpp"
#include "branchmark/verify/host_matrix.hpp"

namespace branchmark {
namespace {

constexpr int kThreads = 2;
constexpr std::int64_t kRowCounts[] = {64, 1024};
// bf16 keeps 8 bits: rounding the result alone is a distance of about 2e-3.
constexpr double kLargestDistance = 1e-2;

// A bf16 matrix in the module's memory.
class DeviceMatrix {
 public:
  DeviceMatrix(const std::shared_ptr<Context>& context, const HostMatrix& host)
      : buffer_(context, matrix_bytes(host.rows, host.columns, BMK_BF16)),
        view_(matrix(buffer_.data(), host.rows, host.columns, BMK_BF16)) {
    std::vector<std::uint16_t> bits(static_cast<std::size_t>(view_.rows * view_.row_stride));
    for (std::int64_t row = 0; row < host.rows; ++row)
      for (std::int64_t column = 0; column < host.columns; ++column)
        bits[static_cast<std::size_t>(row * view_.row_stride + column)] = float_to_bf16(host.at(row, column));
    context->copy_to_device(buffer_.data(), bits.data(), buffer_.bytes());
    context->synchronize();
  }

  const bmk_matrix& view() const { return view_; }

  // The values, rows one after another.
  std::vector<float> read(Context& context) const {
    std::vector<std::uint16_t> bits(static_cast<std::size_t>(view_.rows * view_.row_stride));
    context.copy_to_host(bits.data(), buffer_.data(), buffer_.bytes());
    context.synchronize();
    std::vector<float> values;
    for (std::int64_t row = 0; row < view_.rows; ++row)
      for (std::int64_t column = 0; column < view_.columns; ++column)
        values.push_back(bf16_to_float(bits[static_cast<std::size_t>(row * view_.row_stride + column)]));
    return values;
  }

 private:
  DeviceBuffer buffer_;
  bmk_matrix view_;
};

// One product, as the module and as the BLAS compute it: y[M, N] = x[M, K] · w[N, K]ᵀ.
class Product {
 public:
  Product(std::shared_ptr<Context> context, std::int64_t m, std::int64_t n, std::int64_t k)
      : context_(std::move(context)),
        host_x_(random_matrix(random_, m, k, BMK_BF16)),
        host_w_(random_matrix(random_, n, k, BMK_BF16)),
        blas_y_(m, n, BMK_F32),
        x_(context_, host_x_),
        w_(context_, host_w_),
        y_(context_, HostMatrix(m, n, BMK_BF16)),
        gemm_(context_, {.kind = GemmKind::fixed, .trust_cache = false, .cache_file = {}}) {
    gemm_.prepare(shape_of(x_.view(), w_.view(), y_.view()), std::vector{m});
  }

  void run_module() {
    gemm_.run(x_.view(), w_.view(), y_.view());
    context_->synchronize();
  }

  void run_blas() {
    const auto m = static_cast<blasint>(host_x_.rows);
    const auto n = static_cast<blasint>(host_w_.rows);
    const auto k = static_cast<blasint>(host_x_.columns);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1.0f, host_x_.values.data(), k,
                host_w_.values.data(), k, 0.0f, blas_y_.values.data(), n);
  }

  double distance() const { return relative_l2(y_.read(*context_), blas_y_.values); }
  double operations() const {
    return 2.0 * static_cast<double>(host_x_.rows) * static_cast<double>(host_w_.size());
  }

 private:
  std::shared_ptr<Context> context_;
  Random random_{1, "gemm_benchmark"};
  HostMatrix host_x_, host_w_, blas_y_;
  DeviceMatrix x_, w_, y_;
  Gemm gemm_;
};

template <class Function>
double seconds(Function function) {
  const auto start = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void time_product(benchmark::State& state, const std::shared_ptr<Context>& context,
                  const ProjectionShape& shape, std::int64_t rows) {
  Product product(context, rows, shape.n, shape.k);
  product.run_module();
  product.run_blas();
  if (const auto distance = product.distance(); !(distance <= kLargestDistance)) {
    state.SkipWithError(
        fmt::format("relative L2 between the module and the BLAS is {:.1e}, expected at most {:.1e}",
                    distance, kLargestDistance)
            .c_str());
    return;
  }
  std::vector<double> module_seconds, blas_seconds;
  for ([[maybe_unused]] auto each : state) {
    blas_seconds.push_back(seconds([&] { product.run_blas(); }));
    module_seconds.push_back(seconds([&] { product.run_module(); }));
    state.SetIterationTime(module_seconds.back());
  }
  const auto module_time = median(module_seconds);
  const auto blas_time = median(blas_seconds);
  state.counters["of_blas"] = blas_time / module_time;
  state.counters["gflops"] = product.operations() / module_time * 1e-9;
  state.counters["blas_gflops"] = product.operations() / blas_time * 1e-9;
}

void register_products() {
  const auto context = Context::open(KernelLibrary::load_shipped("cpu"), 0, {.num_threads = kThreads});
  for (const auto& shape : projection_shapes(std::span(&preset("qwen3.5-0.8b"), 1)))
    for (const auto rows : kRowCounts)
      benchmark::RegisterBenchmark(
          fmt::format("{}/rows:{}/n:{}/k:{}", shape.projection, rows, shape.n, shape.k).c_str(),
          [context, shape, rows](benchmark::State& state) { time_product(state, context, shape, rows); })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace branchmark

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  openblas_set_num_threads(branchmark::kThreads);
  benchmark::AddCustomContext("blas", openblas_get_config());
  benchmark::AddCustomContext("blas_core", openblas_get_corename());
  benchmark::AddCustomContext("threads", fmt::format("{} each", branchmark::kThreads));
  try {
    branchmark::register_products();
  } catch (const std::exception& error) {
    fmt::print(stderr, "gemm_benchmark: {}\n", error.what());
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
