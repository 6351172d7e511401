#include "plan_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "branchmark/base/statistics.hpp"
#include "branchmark/kernels.h"
#include "branchmark/model/prefix_state.hpp"
#include "branchmark/model/scratch.hpp"
#include "branchmark/model/tensor_list.hpp"
#include "branchmark/report/describe.hpp"

namespace branchmark::app {
namespace {

// Adds the inner nodes of a subtree that have more than one prompt below them; returns how many prompts those
// of `node` are.
std::int64_t collect(const PrefixNode& node, const std::string& path, std::int64_t above,
                     std::vector<SharedPrefix>& prefixes) {
  if (node.ends_prompt) return 1;
  const auto length = above + static_cast<std::int64_t>(node.tokens.size());
  const auto own = prefixes.size();
  prefixes.push_back({path, length, length / BMK_CHUNK_TOKENS * BMK_CHUNK_TOKENS, 0});
  std::int64_t prompts = 0;
  for (std::size_t i = 0; i < node.children.size(); ++i)
    prompts += collect(node.children[i], child_path(path, node.children[i], i), length, prefixes);
  prefixes[own].prompts = prompts;
  if (node.tokens.empty() || prompts < 2) prefixes.erase(prefixes.begin() + static_cast<std::ptrdiff_t>(own));
  return prompts;
}

Json shape_of(const ModelConfig& config) {
  return describe_model({}, config, "", "").shape;
}

}  // namespace

PassRates PassRates::from_report(const Report& report, const ModelConfig& config, const std::string& origin) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::usage, fmt::format("rates {}: {}", origin, why));
  };
  if (!report.model) refuse("the report names no model");
  if (report.model->shape != shape_of(config))
    refuse(fmt::format("measured with another model, {}; expected the shape of {}", report.model->name,
                       config.name));
  PassRates rates;
  for (const auto& record : report.cases) {
    const Json parameters(std::map<std::string, Json>(record.parameters.begin(), record.parameters.end()));
    const auto wall = record.metrics.find("wall_ns");
    if (record.check != "single" || parameters.value("entry", "") != "forward_fixed" ||
        parameters.value("gemm", "") != "class" || parameters.value("graph", "") != "off" ||
        record.outcome != Outcome::pass || !record.invalid_reasons.empty() || wall == record.metrics.end())
      continue;
    auto samples = wall->second.samples;
    std::erase_if(samples, [](double sample) { return !std::isfinite(sample); });
    if (samples.empty()) continue;
    rates.points_.push_back({parameters.value("tokens", 0.0), median(samples)});
  }
  if (rates.points_.empty())
    refuse(
        "found no valid case single/...,entry=forward_fixed,gemm=class,graph=off with wall_ns; expected a "
        "report of branchmark bench");
  std::sort(rates.points_.begin(), rates.points_.end(),
            [](const Point& a, const Point& b) { return a.rows < b.rows; });
  rates.basis_ =
      fmt::format("{} sizes of forward_fixed, class, graph off, in run {} on {}", rates.points_.size(),
                  report.run_id, report.device ? report.device->name : "an unknown device");
  return rates;
}

double PassRates::pass_ns(std::int64_t rows) const {
  const auto wanted = static_cast<double>(rows);
  if (wanted >= points_.back().rows) return points_.back().ns * wanted / points_.back().rows;
  const auto above =
      std::find_if(points_.begin(), points_.end(), [&](const Point& point) { return point.rows >= wanted; });
  if (above == points_.begin()) return above->ns;
  const auto below = above - 1;
  return below->ns + (above->ns - below->ns) * (wanted - below->rows) / (above->rows - below->rows);
}

RequestPlan summarize_plan(const PrefixTree& tree, Parameters parameters, const ModelConfig& config,
                           bmk_dtype activation, Packing packing, const std::optional<PassRates>& rates) {
  PlanOptions options;
  options.packing = packing;
  options.state_cost = StateLayout(config).cost();
  const auto plan = plan_execution(tree, options);
  RequestPlan summary;
  summary.parameters = std::move(parameters);
  summary.num_prompts = plan.num_prompts;
  summary.tokens_asked = plan.tokens_asked;
  summary.tokens_run = plan.tokens_run;
  summary.num_passes = std::ssize(plan.passes);
  summary.num_runs = std::ssize(plan.runs);
  summary.num_levels = plan.num_levels;
  summary.states_captured = plan.states_captured;
  summary.states_resumed = plan.states_resumed;
  summary.max_pass_rows = plan.max_rows;
  summary.state_bytes = plan.peak_state_bytes;
  summary.scratch_bytes = Scratch(nullptr, config, activation).missing_bytes(plan.max_rows);
  collect(tree.root, root_path(tree), 0, summary.shared_prefixes);
  if (!rates) return summary;
  double shared = 0;
  for (const auto& pass : plan.passes) {
    std::int64_t rows = 0;
    for (const auto run : pass.runs) rows += plan.runs[static_cast<std::size_t>(run)].rows();
    shared += rates->pass_ns(rows);
  }
  double alone = 0;
  for (const auto& run : plan.runs)
    if (run.prompt >= 0) alone += rates->pass_ns(run.last);
  summary.shared_ns = shared;
  summary.alone_ns = alone;
  return summary;
}

std::int64_t weight_bytes(const ModelConfig& config) {
  std::int64_t bytes = 0;
  for (const auto& stack : tensor_stacks(config)) bytes += stack.bytes(synthetic_dtype(stack));
  return bytes;
}

}  // namespace branchmark::app
