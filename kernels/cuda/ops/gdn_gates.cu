// The two gates of the gated delta net.
//
//   beta[r, h] = round(sigmoid(b[r, h]))
//   g[r, h] = −(exp(A_log[h]) · softplus(a[r, h] + dt_bias[h]))
//   softplus(x) = x above 20, else log1p(exp(x))
//
// a, b: [rows, value heads], bf16 or f32; A_log, dt_bias: [1, value heads], bf16 or f32 as stored; g, beta:
// [rows, value heads], f32. Float32 inside with accurate exp and log1p under all numerics. Both factors of g
// are positive or zero, so that a decay exp(g) never grows.
//
// Elementwise, so rows are independent. Bound by the latency of a launch: the largest is a few ten thousand
// elements.
#include "common.cuh"
#include "ops.hpp"

namespace branchmark::cuda {
namespace {

struct GdnGatesConfig {
  static constexpr int kThreads = 128;
};

__device__ __forceinline__ float load_stored(const bmk_matrix& vector, std::int64_t i) {
  return vector.dtype == BMK_BF16 ? to_float(static_cast<const __nv_bfloat16*>(vector.data)[i])
                                  : static_cast<const float*>(vector.data)[i];
}

__device__ __forceinline__ float softplus(float x) {
  return x > 20.0f ? x : log1pf(expf(x));
}

template <typename T>
__global__ void __launch_bounds__(GdnGatesConfig::kThreads)
    gdn_gates_kernel(const __grid_constant__ bmk_gdn_gates_args args) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * GdnGatesConfig::kThreads + threadIdx.x;
  const std::int64_t row = i / args.g.columns;
  const std::int64_t head = i % args.g.columns;
  if (row >= args.g.rows) return;
  const float a = to_float(static_cast<const T*>(args.a.data)[row * args.a.row_stride + head]);
  const float b = to_float(static_cast<const T*>(args.b.data)[row * args.b.row_stride + head]);
  const float rate = expf(load_stored(args.a_log, head));
  const float step = softplus(a + load_stored(args.dt_bias, head));
  static_cast<float*>(args.g.data)[row * args.g.row_stride + head] = -(rate * step);
  static_cast<float*>(args.beta.data)[row * args.beta.row_stride + head] = round_to<T>(sigmoid<float>(b));
}

}  // namespace

bmk_status gdn_gates(bmk_stream* stream, const bmk_gdn_gates_args* args) {
  return guarded([&] {
    const cudaStream_t queue = activate(stream);
    require_args(args, "gdn_gates");
    require_numerics(args->numerics, args->a.dtype, "gdn_gates");
    const std::int64_t rows = args->g.rows;
    const std::int64_t heads = args->g.columns;
    require_matrix(args->g, "gdn_gates: g", rows, heads, BMK_F32);
    require_matrix(args->beta, "gdn_gates: beta", rows, heads, BMK_F32);
    require_matrix(args->a, "gdn_gates: a", rows, heads, args->a.dtype);
    require_matrix(args->b, "gdn_gates: b", rows, heads, args->a.dtype);
    require_weight(args->a_log, "gdn_gates: a_log", 1, heads);
    require_weight(args->dt_bias, "gdn_gates: dt_bias", 1, heads);
    if (rows == 0 || heads == 0) return;
    const unsigned blocks = grid_of(ceil_div(rows * heads, GdnGatesConfig::kThreads), "gdn_gates");
    for_dtype(args->a.dtype, [&](auto* activation) {
      gdn_gates_kernel<pointee<decltype(activation)>><<<blocks, GdnGatesConfig::kThreads, 0, queue>>>(*args);
    });
    check_launch("gdn_gates");
  });
}

}  // namespace branchmark::cuda
