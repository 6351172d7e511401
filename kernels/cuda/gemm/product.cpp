#include "product.hpp"

#include "few_rows.hpp"

namespace branchmark::cuda {

bool serves(const LtContext& context, const Problem& problem, const Algorithm& algorithm) {
  if (algorithm.few_rows) return serves(*algorithm.few_rows, problem.shape().k, problem.rows());
  return serves(context, problem, algorithm.handle);
}

void multiply(const LtContext& context, const Problem& problem, const Algorithm& algorithm, const void* x,
              const void* w, void* y, cudaStream_t stream) {
  if (!algorithm.few_rows) return multiply(context, problem, algorithm.handle, x, w, y, stream);
  if (!serves(context, problem, algorithm))
    fail(BMK_UNSERVED_SIZE, "the GEMM algorithm (" + algorithm.fingerprint + ") cannot serve " +
                                size_text(problem.shape(), problem.rows()) + "; nothing ran");
  few_rows_multiply(*algorithm.few_rows, {problem.shape(), problem.rows(), x, w, y}, stream);
}

}  // namespace branchmark::cuda
