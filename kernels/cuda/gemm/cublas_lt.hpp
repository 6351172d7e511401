// What the module uses of cuBLASLt: its handle, the descriptors of y = x · wᵀ, the search for algorithms, and
// the product itself.
//
// The library is column-major, where a row-major matrix is its own transpose: yᵀ[N, M] = w[N, K] · xᵀ[K, M].
// Its A is thus w, stored as [K, N] and transposed; its B is x, stored as [K, M]; its D is y, stored as [N,
// M].
#pragma once

#include <cublasLt.h>

#include <vector>

#include "../memory.hpp"
#include "algorithm.hpp"

namespace branchmark::cuda {

// Throws a Failure that names `what` unless `status` is success.
void check(cublasStatus_t status, const char* what);

// A handle and its scratch memory, of the device that is current when it is made. Products of one handle
// share the scratch memory, so that they belong on one stream at a time.
class LtContext {
 public:
  LtContext();
  ~LtContext();
  LtContext(const LtContext&) = delete;
  LtContext& operator=(const LtContext&) = delete;

  cublasLtHandle_t handle() const noexcept { return handle_; }
  void* workspace() const noexcept { return workspace_.data(); }

 private:
  DeviceBuffer workspace_;
  cublasLtHandle_t handle_ = nullptr;
};

// The descriptors of one product of `rows` rows. Allocates nothing.
class Problem {
 public:
  Problem(const bmk_gemm_shape& shape, std::int64_t rows);

  // The library's functions take pointers to mutable descriptors and leave them as they are.
  cublasLtMatmulDesc_t operation() const noexcept { return &operation_; }
  cublasLtMatrixLayout_t x() const noexcept { return &x_; }
  cublasLtMatrixLayout_t w() const noexcept { return &w_; }
  cublasLtMatrixLayout_t y() const noexcept { return &y_; }
  const bmk_gemm_shape& shape() const noexcept { return shape_; }
  std::int64_t rows() const noexcept { return rows_; }

 private:
  bmk_gemm_shape shape_;
  std::int64_t rows_;
  mutable cublasLtMatmulDescOpaque_t operation_{};
  mutable cublasLtMatrixLayoutOpaque_t x_{};
  mutable cublasLtMatrixLayoutOpaque_t w_{};
  mutable cublasLtMatrixLayoutOpaque_t y_{};
};

// Whether a search may offer algorithms that cut K into parts and add the parts in float32 afterwards. Adding
// in place, in the order of arrival, and adding parts that were rounded to bf16 are never among the offers.
enum class SplitK { kForbidden, kAllowed };

// At most `limit` algorithms that the library's heuristics offer, best first; none where it has none.
std::vector<Algorithm> offered_algorithms(const LtContext& context, const Problem& problem, SplitK split_k,
                                          int limit);

// Whether the algorithm can serve the problem within the handle's scratch memory. Host only.
bool serves(const LtContext& context, const Problem& problem, const cublasLtMatmulAlgo_t& algorithm);

// Queues the product. A size that the algorithm cannot serve after all is BMK_UNSERVED_SIZE.
void multiply(const LtContext& context, const Problem& problem, const cublasLtMatmulAlgo_t& algorithm,
              const void* x, const void* w, void* y, cudaStream_t stream);

// "N = 1024, K = 2048, M = 17"
std::string size_text(const bmk_gemm_shape& shape, std::int64_t rows);

}  // namespace branchmark::cuda
