#include "branchmark/model/gemm_set.hpp"

#include <algorithm>
#include <cstring>

namespace branchmark {

GemmSet::GemmSet(std::shared_ptr<Context> context, std::vector<bmk_gemm_shape> shapes, GemmSetOptions options)
    : context_(std::move(context)), shapes_(std::move(shapes)), options_(std::move(options)) {}

Gemm& GemmSet::ready(GemmKind kind, std::span<const std::int64_t> row_counts) {
  auto& handle = handles_[static_cast<std::size_t>(kind)];
  if (!handle.gemm)
    handle.gemm.emplace(context_, GemmOptions{kind, options_.trust_cache,
                                              kind == GemmKind::fastest_of_class ? options_.cache_file
                                                                                 : std::filesystem::path()});
  std::vector<std::int64_t> fresh;
  std::copy_if(row_counts.begin(), row_counts.end(), std::back_inserter(fresh),
               [&](std::int64_t rows) { return !handle.rows_ready.contains(rows); });
  if (fresh.empty()) return *handle.gemm;
  for (const auto& shape : shapes_) handle.gemm->prepare(shape, fresh);
  handle.rows_ready.insert(fresh.begin(), fresh.end());
  return *handle.gemm;
}

std::vector<std::pair<std::string, std::string>> GemmSet::describe() {
  std::vector<std::pair<std::string, std::string>> descriptions;
  for (auto& handle : handles_)
    if (handle.gemm) descriptions.emplace_back(name_of(handle.gemm->kind()), handle.gemm->describe());
  return descriptions;
}

std::vector<bmk_gemm_shape> gemm_shapes(const ModelConfig& config, const Weights& weights,
                                        bmk_dtype activation) {
  std::vector<bmk_gemm_shape> shapes;
  const auto add = [&](const bmk_matrix& w, std::int64_t x_columns) {
    const auto x = matrix(nullptr, 0, x_columns, activation);
    const auto shape = shape_of(x, w, matrix(nullptr, 0, w.rows, activation));
    const auto same = [&](const bmk_gemm_shape& other) {
      return std::memcmp(&other, &shape, sizeof shape) == 0;
    };
    if (std::none_of(shapes.begin(), shapes.end(), same)) shapes.push_back(shape);
  };
  for (std::size_t i = 0; i < weights.layers.size(); ++i) {
    const auto& layer = weights.layers[i];
    add(layer.mixer_input, config.hidden);
    add(layer.mixer_output, config.layers[i] == LayerKind::gdn ? config.value_width() : config.query_width());
    add(layer.gate_up, config.hidden);
    add(layer.down, config.ffn);
  }
  return shapes;
}

}  // namespace branchmark
