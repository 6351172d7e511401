#include "branchmark/model/weights.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "branchmark/base/bf16.hpp"
#include "branchmark/base/digest.hpp"
#include "branchmark/base/error.hpp"
#include "branchmark/model/checkpoint.hpp"
#include "branchmark/model/tensor_list.hpp"
#include "branchmark/model/tensor_sum.hpp"

namespace branchmark {
namespace {

constexpr std::int64_t kStagingBytes = 32 << 20;

// Host memory that copies to the device read from.
class Staging {
 public:
  explicit Staging(std::shared_ptr<Context> context) : context_(std::move(context)) {
    context_->call("memory.allocate_host", context_->table().memory->allocate_host, context_->device(),
                   kStagingBytes, &data_);
  }
  ~Staging() {
    ++context_->counters().calls;
    context_->table().memory->release_host(context_->device(), data_);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  // Sends the first `bytes` bytes and waits, so that the buffer can be filled again.
  void send(void* destination, std::int64_t bytes) {
    context_->copy_to_device(destination, data_, bytes);
    context_->synchronize();
  }

 private:
  std::shared_ptr<Context> context_;
  void* data_ = nullptr;
};

bmk_dtype dtype_of(const Tensor& tensor) {
  return tensor.type == TensorType::bf16 ? BMK_BF16 : BMK_F32;
}

// The stored tensor of a part, with its type and shape checked.
const Tensor& checked(const Checkpoint& checkpoint, const TensorPart& part) {
  const Tensor& tensor = checkpoint.at(part.name);
  if (tensor.type == TensorType::i64)
    throw Error(ErrorCode::usage, fmt::format("tensor \"{}{}\": found type I64, supported: BF16, F32",
                                              checkpoint.prefix(), part.name));
  if (tensor.shape != part.shape)
    throw Error(ErrorCode::usage,
                fmt::format("tensor \"{}{}\": found shape [{}], expected [{}]", checkpoint.prefix(),
                            part.name, fmt::join(tensor.shape, ", "), fmt::join(part.shape, ", ")));
  return tensor;
}

// The type that keeps every part of a stack as it is: f32 as soon as one part is.
bmk_dtype stack_dtype(const Checkpoint& checkpoint, const TensorStack& stack) {
  bmk_dtype dtype = BMK_BF16;
  for (const auto& part : stack.parts)
    if (dtype_of(checked(checkpoint, part)) == BMK_F32) dtype = BMK_F32;
  return dtype;
}

// `count` elements of the tensor from element `first` on, in `dtype`. The source may be unaligned.
void convert(const Tensor& tensor, std::int64_t first, std::int64_t count, bmk_dtype dtype, std::byte* out) {
  const auto stored = dtype_of(tensor);
  const std::byte* source = tensor.data.data() + first * size_of(stored);
  if (stored == dtype) {
    std::memcpy(out, source, static_cast<std::size_t>(count * size_of(dtype)));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint16_t bits;
    std::memcpy(&bits, source + i * 2, sizeof bits);
    const float value = bf16_to_float(bits);
    std::memcpy(out + i * 4, &value, sizeof value);
  }
}

// Copies one part into its rows of the stack; returns the sum of its stored bytes.
std::uint64_t upload(const Tensor& tensor, const bmk_matrix& rows, Staging& staging) {
  const std::int64_t row_bytes = rows.row_stride * size_of(rows.dtype);
  const std::int64_t stored_row_bytes = rows.columns * size_of(dtype_of(tensor));
  const std::int64_t rows_per_block = std::max<std::int64_t>(1, kStagingBytes / row_bytes);
  TensorSum sum(tensor.data);
  for (std::int64_t first = 0; first < rows.rows; first += rows_per_block) {
    const std::int64_t count = std::min(rows_per_block, rows.rows - first);
    if (rows.row_stride == rows.columns) {
      convert(tensor, first * rows.columns, count * rows.columns, rows.dtype, staging.data());
    } else {
      std::memset(staging.data(), 0, static_cast<std::size_t>(count * row_bytes));
      for (std::int64_t i = 0; i < count; ++i)
        convert(tensor, (first + i) * rows.columns, rows.columns, rows.dtype, staging.data() + i * row_bytes);
    }
    sum.advance_to(static_cast<std::size_t>((first + count) * stored_row_bytes));
    staging.send(rows_of(rows, first, count).data, count * row_bytes);
  }
  return sum.finish();
}

}  // namespace

std::int64_t weights_bytes(const ModelConfig& config) {
  std::int64_t bytes = 0;
  for (const auto& stack : tensor_stacks(config)) bytes += stack.bytes(synthetic_dtype(stack));
  return bytes;
}

Weights load_weights(std::shared_ptr<Context> context, const ModelConfig& config,
                     const Checkpoint& checkpoint) {
  const auto stacks = tensor_stacks(config);
  std::vector<bmk_dtype> dtypes;
  for (const auto& stack : stacks) dtypes.push_back(stack_dtype(checkpoint, stack));

  Weights weights;
  weights.layers.resize(config.layers.size());
  Sha256 digest;
  for (const auto& file : checkpoint.files()) {
    digest.update(fmt::format("file {} {} bytes\n", file.file().filename().string(), file.file_bytes()));
    digest.update(file.header());
  }
  Staging staging(context);
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const auto& stack = stacks[i];
    auto& buffer = weights.buffers.emplace_back(context, stack.bytes(dtypes[i]));
    if (stack.has_padding()) context->fill(buffer.data(), 0, buffer.bytes());
    const auto whole = stack.matrix_at(buffer.data(), dtypes[i]);
    for (const auto& part : stack.parts) {
      const Tensor& tensor = checkpoint.at(part.name);
      const auto sum = upload(tensor, rows_of(whole, part.first_row, part.rows), staging);
      digest.update(fmt::format("tensor {} {} [{}] {:016x}\n", part.name, name_of(dtype_of(tensor)),
                                fmt::join(part.shape, ", "), sum));
    }
    stack.slot(weights) = whole;
  }
  weights.digest = digest.hex();
  return weights;
}

}  // namespace branchmark
