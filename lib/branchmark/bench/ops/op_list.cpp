#include "branchmark/bench/ops/op_list.hpp"

#include <algorithm>

namespace branchmark::ops {
namespace {

constexpr std::int64_t kUsualRowCounts[] = {64, 1024, 3072};  // of a scenario without single passes

void sort_distinct(std::vector<std::int64_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// For each prefix, the most branches of the fewest tokens: the shape that packing is for.
std::vector<SequencesShape> branches_of(const BenchSharedGrid& grid) {
  std::vector<SequencesShape> shapes;
  for (const auto prefix : grid.prefix_tokens)
    if (const auto captured = prefix / BMK_CHUNK_TOKENS * BMK_CHUNK_TOKENS; captured > 0)
      shapes.push_back({*std::max_element(grid.branches.begin(), grid.branches.end()), captured,
                        *std::min_element(grid.branch_tokens.begin(), grid.branch_tokens.end())});
  return shapes;
}

}  // namespace

OpList::OpList(const Scenario& scenario, std::uint64_t seed)
    : row_counts_(scenario.bench->single_tokens), handles_{GemmKind::default_choice}, seed_(seed) {
  if (row_counts_.empty()) row_counts_.assign(std::begin(kUsualRowCounts), std::end(kUsualRowCounts));
  sort_distinct(row_counts_);
  for (const auto rows : row_counts_) shapes_.push_back({1, 0, rows});
  if (scenario.bench->shared)
    for (const auto& shape : branches_of(*scenario.bench->shared)) shapes_.push_back(shape);
  handles_.insert(handles_.end(), scenario.execution.gemm.begin(), scenario.execution.gemm.end());
}

void OpList::add_rows(const std::string& name, const Parameters& more, const std::string& block,
                      const std::function<OpWork(Operands&, std::int64_t rows)>& make) {
  for (const auto rows : row_counts_) {
    Parameters parameters{{"name", name}};
    parameters.insert(parameters.end(), more.begin(), more.end());
    parameters.emplace_back("tokens", rows);
    parameters.emplace_back("seed", seed_);
    specs_.push_back(
        {block, std::move(parameters), [make, rows](Operands& operands) { return make(operands, rows); }});
  }
}

void OpList::add_shape(const std::string& name, const SequencesShape& shape,
                       const std::function<OpWork(Operands&, const SequencesShape&)>& make) {
  specs_.push_back({name,
                    {{"name", name},
                     {"prefix", shape.prefix_tokens},
                     {"sequences", shape.sequences},
                     {"tokens", shape.tokens},
                     {"seed", seed_}},
                    [make, shape](Operands& operands) { return make(operands, shape); }});
}

std::vector<OpSpec> op_specs(const Scenario& scenario, std::uint64_t seed) {
  OpList list(scenario, seed);
  add_row_moves(list);
  add_norms(list);
  add_activations(list);
  add_projections(list);
  add_sequence_mixers(list);
  add_attention(list);
  return list.take();
}

}  // namespace branchmark::ops
