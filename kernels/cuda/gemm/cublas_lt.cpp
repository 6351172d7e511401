#include "cublas_lt.hpp"

#include <string>

#include "../validate.hpp"

namespace branchmark::cuda {
namespace {

bmk_status status_of(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_ALLOC_FAILED:
      return BMK_OUT_OF_MEMORY;
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return BMK_UNSUPPORTED;
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return BMK_NO_DEVICE;
    default:
      return BMK_FAILED;
  }
}

template <typename T>
void set(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute, T value) {
  check(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value),
        "cublasLtMatmulPreferenceSetAttribute");
}

template <typename T>
void get(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t attribute, T& value) {
  std::size_t written = 0;
  check(cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, sizeof value, &written),
        "cublasLtMatmulAlgoConfigGetAttribute");
}

AlgorithmSettings settings_of(const cublasLtMatmulAlgo_t& algorithm) {
  AlgorithmSettings settings;
  get(algorithm, CUBLASLT_ALGO_CONFIG_ID, settings.id);
  get(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID, settings.tile);
  get(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID, settings.stages);
  get(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, settings.split_k);
  get(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, settings.reduction);
  get(algorithm, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, settings.swizzle);
  get(algorithm, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, settings.custom);
  get(algorithm, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, settings.inner_shape);
  get(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, settings.cluster_shape);
  return settings;
}

// Views begin at multiples of 16 bytes, so that no algorithm may want more.
cublasLtMatmulPreferenceOpaque_t preference_for(SplitK split_k) {
  cublasLtMatmulPreferenceOpaque_t preference{};
  check(cublasLtMatmulPreferenceInit(&preference), "cublasLtMatmulPreferenceInit");
  const std::uint32_t mask =
      split_k == SplitK::kForbidden ? CUBLASLT_REDUCTION_SCHEME_NONE : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  constexpr auto kAlignment = static_cast<std::uint32_t>(kDataAlignmentBytes);
  set(&preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{BMK_GEMM_WORKSPACE_BYTES});
  set(&preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, mask);
  set(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, kAlignment);
  set(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, kAlignment);
  set(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, kAlignment);
  set(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, kAlignment);
  return preference;
}

void init_layout(cublasLtMatrixLayoutOpaque_t& layout, std::int64_t rows, std::int64_t columns,
                 std::int64_t stride) {
  check(cublasLtMatrixLayoutInit(&layout, CUDA_R_16BF, static_cast<std::uint64_t>(rows),
                                 static_cast<std::uint64_t>(columns), stride),
        "cublasLtMatrixLayoutInit");
}

}  // namespace

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  // The runtime's record tells more where the launch itself failed, a lost device among it.
  check(cudaGetLastError(), what);
  fail(status_of(status), std::string(what) + ": " + cublasLtGetStatusName(status) + " (" +
                              cublasLtGetStatusString(status) + ")");
}

LtContext::LtContext() : workspace_(BMK_GEMM_WORKSPACE_BYTES) {
  check(cublasLtCreate(&handle_), "cublasLtCreate");
}

LtContext::~LtContext() {
  static_cast<void>(cublasLtDestroy(handle_));
}

Problem::Problem(const bmk_gemm_shape& shape, std::int64_t rows) : shape_(shape), rows_(rows) {
  check(cublasLtMatmulDescInit(&operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescInit");
  const cublasOperation_t transposed = CUBLAS_OP_T;
  check(cublasLtMatmulDescSetAttribute(&operation_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                       sizeof transposed),
        "cublasLtMatmulDescSetAttribute");
  init_layout(w_, shape.k, shape.n, shape.w_stride);
  init_layout(x_, shape.k, rows, shape.x_stride);
  init_layout(y_, shape.n, rows, shape.y_stride);
}

std::vector<Algorithm> offered_algorithms(const LtContext& context, const Problem& problem, SplitK split_k,
                                          int limit) {
  cublasLtMatmulPreferenceOpaque_t preference = preference_for(split_k);
  std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(limit));
  int count = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(context.handle(), problem.operation(), problem.w(), problem.x(),
                                     problem.y(), problem.y(), &preference, limit, results.data(), &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return {};
  check(status, "cublasLtMatmulAlgoGetHeuristic");
  std::vector<Algorithm> algorithms;
  for (int i = 0; i < count; ++i) {
    const cublasLtMatmulHeuristicResult_t& result = results[static_cast<std::size_t>(i)];
    if (result.state != CUBLAS_STATUS_SUCCESS || result.workspaceSize > std::size_t{BMK_GEMM_WORKSPACE_BYTES})
      continue;
    Algorithm algorithm;
    algorithm.handle = result.algo;
    algorithm.settings = settings_of(result.algo);
    algorithm.fingerprint = fingerprint(algorithm.settings);
    const bool in_float32 = algorithm.settings.reduction == CUBLASLT_REDUCTION_SCHEME_NONE ||
                            algorithm.settings.reduction == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    const bool allowed = split_k == SplitK::kForbidden ? is_unsplit(algorithm.settings) : in_float32;
    if (allowed) algorithms.push_back(std::move(algorithm));
  }
  return algorithms;
}

bool serves(const LtContext& context, const Problem& problem, const cublasLtMatmulAlgo_t& algorithm) {
  cublasLtMatmulHeuristicResult_t result{};
  const cublasStatus_t status =
      cublasLtMatmulAlgoCheck(context.handle(), problem.operation(), problem.w(), problem.x(), problem.y(),
                              problem.y(), &algorithm, &result);
  return status == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= std::size_t{BMK_GEMM_WORKSPACE_BYTES};
}

void multiply(const LtContext& context, const Problem& problem, const cublasLtMatmulAlgo_t& algorithm,
              const void* x, const void* w, void* y, cudaStream_t stream) {
  const float one = 1.0f;
  const float zero = 0.0f;
  const cublasStatus_t status = cublasLtMatmul(
      context.handle(), problem.operation(), &one, w, problem.w(), x, problem.x(), &zero, y, problem.y(), y,
      problem.y(), &algorithm, context.workspace(), std::size_t{BMK_GEMM_WORKSPACE_BYTES}, stream);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED)
    fail(BMK_UNSERVED_SIZE, "the GEMM algorithm cannot serve " + size_text(problem.shape(), problem.rows()) +
                                ": cublasLtMatmul refuses it; nothing ran");
  check(status, "cublasLtMatmul");
}

std::string size_text(const bmk_gemm_shape& shape, std::int64_t rows) {
  return "N = " + std::to_string(shape.n) + ", K = " + std::to_string(shape.k) +
         ", M = " + std::to_string(rows);
}

}  // namespace branchmark::cuda
