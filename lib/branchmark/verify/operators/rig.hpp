// What the operator checks drive a module with: matrices in device memory inside poisoned surroundings,
// device arrays, packed sequences, and the call of an op.
//
// Everything here waits for the stream, so host arguments may end their life at once. Used by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "branchmark/device/device_buffer.hpp"
#include "branchmark/verify/host_matrix.hpp"
#include "branchmark/verify/operators/verdict.hpp"

namespace branchmark::operators {

// The module answered BMK_UNSUPPORTED: the case is skipped, with the reason op_unsupported.
struct OpUnsupported {};

// Queues an op and waits. Context::op cannot be used: it reports an unsupported op as a failure.
template <class Args>
void run_op(Context& context, const char* what, bmk_status (*function)(bmk_stream*, const Args*),
            const Args& args) {
  ++context.counters().ops;
  ++context.counters().calls;
  const auto status = function(context.stream(), &args);
  if (status == BMK_UNSUPPORTED) throw OpUnsupported{};
  context.check(what, status);
  context.synchronize();
}

// Bytes of workspace by the query that stands beside an op.
template <class Args>
std::int64_t workspace_bytes(Context& context, const char* what,
                             bmk_status (*query)(bmk_device*, const Args*, std::int64_t*), const Args& args) {
  std::int64_t bytes = 0;
  ++context.counters().calls;
  const auto status = query(context.device(), &args, &bytes);
  if (status == BMK_UNSUPPORTED) throw OpUnsupported{};
  context.check(what, status);
  return bytes;
}

// A buffer filled with 0xFF: NaN in either type.
DeviceBuffer poisoned_buffer(const std::shared_ptr<Context>& context, std::int64_t bytes);

// What lies in a buffer behind a matrix's rows, where a tile that reads past the end finds it.
enum class Stale { nan, zeros, large };

// The row stride of a matrix: padded by eight elements more than needed, or none, as keys, values, histories
// and convolution weights must lie.
enum class Stride { padded, tight };

// A matrix in its own buffer, with 64 rows of stale data behind the last and stale data in the row padding.
class DeviceMatrix {
 public:
  DeviceMatrix(std::shared_ptr<Context> context, const HostMatrix& host, Stride stride = Stride::padded,
               Stale stale = Stale::nan);
  // An output: every byte 0xFF.
  DeviceMatrix(std::shared_ptr<Context> context, std::int64_t rows, std::int64_t columns, bmk_dtype dtype,
               Stride stride = Stride::padded);

  const bmk_matrix& view() const { return view_; }
  void* data() const { return view_.data; }
  // Reads the matrix back; `verdict` hears of a byte outside of it that is not as it was left. `name` as in
  // findings: "out".
  HostMatrix download(Verdict& verdict, const std::string& name) const;

 private:
  std::shared_ptr<Context> context_;
  DeviceBuffer buffer_;
  bmk_matrix view_{};
  std::vector<unsigned char> surroundings_;  // the whole buffer as it was left
};

// A constant array in device memory.
template <class T>
class DeviceArray {
 public:
  DeviceArray(const std::shared_ptr<Context>& context, std::span<const T> values)
      : buffer_(context, static_cast<std::int64_t>(values.size_bytes())) {
    if (values.empty()) return;
    context->copy_to_device(buffer_.data(), values.data(), buffer_.bytes());
    context->synchronize();
  }
  DeviceArray(const std::shared_ptr<Context>& context, const std::vector<T>& values)
      : DeviceArray(context, std::span<const T>(values)) {}
  T* data() const { return buffer_.as<T>(); }

 private:
  DeviceBuffer buffer_;
};

struct SequenceSpan {
  std::int64_t rows = 0;
  std::int64_t first_position = 0;  // a multiple of 64
};

// The packed rows of several sequences, as ops take them.
class Sequences {
 public:
  Sequences(const std::shared_ptr<Context>& context, std::span<const SequenceSpan> spans);

  const bmk_sequences& view() const { return view_; }
  std::int64_t first_row(std::int64_t sequence) const {
    return row_offsets_[static_cast<std::size_t>(sequence)];
  }

 private:
  std::vector<std::int64_t> row_offsets_;
  std::vector<std::int64_t> first_position_;
  std::vector<DeviceBuffer> buffers_;
  bmk_sequences view_{};
};

// "default", "gdn_fp32", "reference".
const char* numerics_name(bmk_numerics numerics);
// Storage type of activations that goes with numerics.
bmk_dtype activation_of(bmk_numerics numerics);

}  // namespace branchmark::operators
