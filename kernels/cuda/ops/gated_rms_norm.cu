// Per value head of 128: n = round(o · rsqrt(mean(o²) + eps)); m = round(weight · n); out = round(m ·
// silu(z)).
//
// o, z, out: [rows, value heads · 128], bf16 or f32; weight: [1, 128], bf16 or f32 as stored. Sixteen lanes
// hold a head, eight elements each, added in order; a butterfly adds the lanes. A head depends on itself
// alone. Bound by memory.
#include "common.cuh"
#include "ops.hpp"

namespace branchmark::cuda {
namespace {

struct GatedRmsConfig {
  static constexpr int kThreads = 256;
  static constexpr int kLanes = BMK_GDN_HEAD_DIM / kVector;  // of one head
  static constexpr int kHeads = kThreads / kLanes;           // of one block
  static_assert(kLanes <= kWarpThreads && kWarpThreads % kLanes == 0, "a warp holds whole heads");
};

template <typename T, typename W>
__global__ void __launch_bounds__(GatedRmsConfig::kThreads)
    gated_rms_norm_kernel(const T* o, std::int64_t o_stride, const T* z, std::int64_t z_stride,
                          const W* weight, float eps, int value_heads, unsigned blocks_per_row, T* out,
                          std::int64_t out_stride) {
  const std::int64_t row = blockIdx.x / blocks_per_row;
  const int head = static_cast<int>(blockIdx.x % blocks_per_row) * GatedRmsConfig::kHeads +
                   static_cast<int>(threadIdx.x) / GatedRmsConfig::kLanes;
  const int within = static_cast<int>(threadIdx.x) % GatedRmsConfig::kLanes * kVector;
  const bool present = head < value_heads;  // the others take part in the shuffles
  const std::int64_t column = static_cast<std::int64_t>(head) * BMK_GDN_HEAD_DIM + within;

  Float8 x{};
  Float8 gate{};
  if (present) {
    x = load8(o + row * o_stride + column);
    gate = load8(z + row * z_stride + column);
  }
  const Float8 scale = load8(weight + within);
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < kVector; ++i) sum = fmaf(x.element[i], x.element[i], sum);
  const float mean = warp_sum<GatedRmsConfig::kLanes>(sum) / static_cast<float>(BMK_GDN_HEAD_DIM);
  const float inverse = reciprocal_sqrt(mean + eps);
  if (!present) return;

  Float8 y;
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    const float normed = round_to<T>(x.element[i] * inverse);
    y.element[i] = round_to<T>(scale.element[i] * normed) * silu<T>(gate.element[i]);
  }
  store8(out + row * out_stride + column, y);
}

}  // namespace

bmk_status gated_rms_norm(bmk_stream* stream, const bmk_gated_rms_norm_args* args) {
  return guarded([&] {
    const cudaStream_t queue = activate(stream);
    require_args(args, "gated_rms_norm");
    const bmk_matrix& o = args->o;
    const bmk_matrix& z = args->z;
    const bmk_matrix& out = args->out;
    require_matrix(o, "gated_rms_norm: o");
    require_numerics(args->numerics, o.dtype, "gated_rms_norm");
    require_epsilon(args->eps, "gated_rms_norm: eps");
    require_at_least(args->value_heads, 1, "gated_rms_norm: value_heads");
    require_equal(o.columns, args->value_heads * BMK_GDN_HEAD_DIM, "gated_rms_norm: o.columns");
    require_matrix(z, "gated_rms_norm: z", o.rows, o.columns, o.dtype);
    require_matrix(out, "gated_rms_norm: out", o.rows, o.columns, o.dtype);
    require_weight(args->weight, "gated_rms_norm: weight", 1, BMK_GDN_HEAD_DIM);
    if (o.rows == 0) return;
    const std::int64_t blocks_per_row = ceil_div(args->value_heads, GatedRmsConfig::kHeads);
    const unsigned blocks = grid_of(o.rows * blocks_per_row, "gated_rms_norm");
    for_dtype(o.dtype, [&](auto* type) {
      for_dtype(args->weight.dtype, [&](auto* weight_type) {
        using T = pointee<decltype(type)>;
        using W = pointee<decltype(weight_type)>;
        gated_rms_norm_kernel<T, W><<<blocks, GatedRmsConfig::kThreads, 0, queue>>>(
            static_cast<const T*>(o.data), o.row_stride, static_cast<const T*>(z.data), z.row_stride,
            static_cast<const W*>(args->weight.data), args->eps, static_cast<int>(args->value_heads),
            static_cast<unsigned>(blocks_per_row), static_cast<T*>(out.data), out.row_stride);
      });
    });
    check_launch("gated_rms_norm");
  });
}

}  // namespace branchmark::cuda
