#include <array>

#include "../ops/ops.hpp"
#include "class_proof.hpp"
#include "mirror_columns.hpp"

namespace branchmark::cuda {
namespace {

constexpr std::int64_t kElementBytes = 2;

// value = mean + s · 2^exponent, s of standard deviation 37,837: synthetic_fill.
struct Distribution {
  std::uint64_t key;
  std::int32_t exponent;
  float mean;
};

struct Operands {
  Distribution x;
  Distribution w;
};

// Activations of order one with weights of order 0.03; the same with means, so that sums drift and their last
// bits depend on the order; a wider spread; and the first again, to be made to cancel.
constexpr std::array<Operands, ProvingGround::kNumKinds> kOperands = {{
    {{0x6272616E63680001, -15, 0.0f}, {0x6272616E63680002, -20, 0.0f}},
    {{0x6272616E63680003, -15, 0.5f}, {0x6272616E63680004, -20, 0.0078125f}},
    {{0x6272616E63680005, -12, 0.0f}, {0x6272616E63680006, -17, 0.0f}},
    {{0x6272616E63680007, -15, 0.0f}, {0x6272616E63680008, -20, 0.0f}},
}};

void fill_matrix(bmk_stream* stream, const Distribution& distribution, void* data, std::int64_t rows,
                 std::int64_t columns, std::int64_t stride) {
  bmk_synthetic_fill_args args{};
  args.struct_size = sizeof args;
  args.key = distribution.key;
  args.exponent = distribution.exponent;
  args.mean = distribution.mean;
  args.out = {data, rows, columns, stride, BMK_BF16, 0};
  const bmk_status status = synthetic_fill(stream, &args);
  if (status != BMK_OK) fail(status, last_error());
}

}  // namespace

ProvingGround::ProvingGround(const LtContext& context, const bmk_gemm_shape& shape, bmk_stream* stream)
    : context_(context), shape_(shape), stream_(stream), flush_bytes_(2 * stream->device->l2_bytes) {
  for (std::int64_t rows = kMaxRows;; rows /= 2) {
    try {
      allocate(rows);
      return;
    } catch (const Failure& failure) {
      if (failure.status() != BMK_OUT_OF_MEMORY || rows <= kMinRows) throw;
    }
  }
}

void ProvingGround::allocate(std::int64_t rows) {
  DeviceBuffer x(rows * shape_.x_stride * kElementBytes);
  DeviceBuffer w(shape_.n * shape_.w_stride * kElementBytes);
  DeviceBuffer y(rows * shape_.y_stride * kElementBytes);
  DeviceBuffer flush(flush_bytes_ > 0 ? flush_bytes_ : kElementBytes);
  x_ = std::move(x);
  w_ = std::move(w);
  y_ = std::move(y);
  flush_ = std::move(flush);
  max_rows_ = rows;
}

void* ProvingGround::output() const noexcept {
  return static_cast<char*>(y_.data()) + max_proof_rows() * shape_.y_stride * kElementBytes;
}

void ProvingGround::fill(int kind) {
  const Operands& operands = kOperands[static_cast<std::size_t>(kind)];
  fill_matrix(stream_, operands.x, x_.data(), max_rows_, shape_.k, shape_.x_stride);
  fill_matrix(stream_, operands.w, w_.data(), shape_.n, shape_.k, shape_.w_stride);
  if (kind != kCancelling) return;
  mirror_columns(x_.data(), max_rows_, shape_.k, shape_.x_stride, MirrorSign::kSame, stream_->handle);
  mirror_columns(w_.data(), shape_.n, shape_.k, shape_.w_stride, MirrorSign::kTurned, stream_->handle);
}

void ProvingGround::multiply(const Problem& problem, const Algorithm& algorithm, void* y) {
  cuda::multiply(context_, problem, algorithm, x_.data(), w_.data(), y, stream_->handle);
}

void ProvingGround::flush_cache() {
  if (flush_bytes_ <= 0) return;
  check(cudaMemsetAsync(flush_.data(), 0, static_cast<std::size_t>(flush_bytes_), stream_->handle),
        "cudaMemsetAsync");
}

}  // namespace branchmark::cuda
