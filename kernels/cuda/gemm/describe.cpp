#include "describe.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "../validate.hpp"
#include "class_proof.hpp"

namespace branchmark::cuda {
namespace {

using Json = nlohmann::ordered_json;

// The choice as ranges: each entry holds from its row count to the next one's. Bounds between which the
// choice does not change are left out. Of kind DEFAULT nothing is known between the row counts that were
// asked for.
Json describe_table(bmk_gemm_kind kind, const ShapePlan& plan) {
  Json table = Json::array();
  if (kind == BMK_GEMM_DEFAULT && !plan.is_reference()) return table;
  if (plan.table().empty()) table.push_back({{"rows_from", 1}, {"algorithm", 0}});
  std::int64_t rows_from = 1;
  std::int64_t last = -1;
  for (const RowEntry& row : plan.table()) {
    if (row.algorithm != last) table.push_back({{"rows_from", rows_from}, {"algorithm", row.algorithm}});
    last = row.algorithm;
    rows_from = row.rows + 1;
  }
  return table;
}

// The row counts that a DEFAULT handle was asked for so far.
Json describe_default_choices(const ShapePlan& plan) {
  Json choices = Json::array();
  for (const auto& [rows, choice] : plan.default_choices())
    choices.push_back({{"rows", rows}, {"algorithm", choice.index}});
  return choices;
}

Json describe_class(const PreparedShape& shape) {
  const auto candidates = shape.plan.candidates();
  Json bounds = Json::array();
  for (const RowEntry& row : shape.plan.table()) bounds.push_back(row.rows);
  return {{"num_members", std::count_if(candidates.begin(), candidates.end(),
                                        [](const Algorithm& algorithm) { return algorithm.in_class; })},
          {"fixed_is_row_independent", shape.fixed_holds},
          {"from_cache", shape.from_cache},
          {"num_data_kinds", ProvingGround::kNumKinds},
          {"timed_rows", bounds},
          {"num_fallbacks", shape.plan.num_fallbacks()}};
}

Json describe_shape(bmk_gemm_kind kind, const PreparedShape& shape) {
  const bmk_gemm_shape& sizes = shape.plan.shape();
  Json algorithms = Json::array();
  for (const Algorithm& algorithm : shape.plan.algorithms())
    algorithms.push_back({{"fingerprint", algorithm.fingerprint},
                          {"split_k", is_unsplit(algorithm.settings) ? 1 : algorithm.settings.split_k},
                          {"in_class", algorithm.in_class}});
  Json json = {{"n", sizes.n},
               {"k", sizes.k},
               {"x_stride", sizes.x_stride},
               {"w_stride", sizes.w_stride},
               {"y_stride", sizes.y_stride},
               {"x_dtype", name_of(sizes.x_dtype)},
               {"w_dtype", name_of(sizes.w_dtype)},
               {"y_dtype", name_of(sizes.y_dtype)},
               {"row_counts", shape.row_counts},
               {"prepare_ms", shape.prepare_ms},
               {"num_candidates", shape.plan.candidates().size()},
               {"class_digest", shape.proven ? Json(shape.class_digest) : Json()},
               {"algorithms", algorithms},
               {"table", describe_table(kind, shape.plan)}};
  if (kind == BMK_GEMM_DEFAULT) json["choices"] = describe_default_choices(shape.plan);
  if (shape.proven) json["class"] = describe_class(shape);
  return json;
}

}  // namespace

std::string describe_gemm(const bmk_gemm& gemm) {
  Json shapes = Json::array();
  for (const auto& [key, shape] : gemm.shapes) shapes.push_back(describe_shape(gemm.kind, shape));
  return Json{{"kind", name_of_kind(gemm.kind)},
              {"device", gemm.info.name},
              {"library", "cuBLASLt"},
              {"library_version", gemm.info.blas_version},
              {"driver_version", gemm.info.driver_version},
              {"workspace_bytes", BMK_GEMM_WORKSPACE_BYTES},
              {"cache_file", gemm.cache_file},
              {"cache_problem", gemm.cache_problem},
              {"shapes", shapes}}
      .dump();
}

const char* name_of_kind(bmk_gemm_kind kind) {
  switch (kind) {
    case BMK_GEMM_DEFAULT:
      return "default";
    case BMK_GEMM_FIXED:
      return "fixed";
    case BMK_GEMM_CLASS:
      return "class";
    default:
      return "unknown kind";
  }
}

}  // namespace branchmark::cuda
