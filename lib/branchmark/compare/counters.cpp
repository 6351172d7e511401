#include "branchmark/compare/counters.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace branchmark {
namespace {

constexpr std::array<std::string_view, 9> kMetrics = {"op_launches",   "gemm_launches", "passes",
                                                      "run_tokens",    "state_bytes",   "flop",
                                                      "traffic_bytes", "weights_bytes", "peak_device_bytes"};
constexpr std::array<std::string_view, 9> kWitnesses = {
    "allocations",    "passes",          "passes_per_branch", "tokens_run",          "states_captured",
    "states_resumed", "graphs_captured", "graphs_replayed",   "captures_and_replays"};

}  // namespace

std::map<std::string, std::vector<double>> counters_of(const SideCase& merged) {
  std::map<std::string, std::set<double>> found;
  for (const auto* record : merged.records) {
    if (record->outcome != Outcome::pass) continue;
    for (const auto name : kMetrics) {
      const auto metric = record->metrics.find(std::string(name));
      if (metric != record->metrics.end() && metric->second.samples.size() == 1 &&
          std::isfinite(metric->second.samples.front()))
        found[metric->first].insert(metric->second.samples.front());
    }
    for (const auto name : kWitnesses) {
      const auto witness = record->witness.find(std::string(name));
      if (witness != record->witness.end())
        found["witness." + witness->first].insert(static_cast<double>(witness->second.found));
    }
  }
  std::map<std::string, std::vector<double>> counters;
  for (const auto& [name, values] : found) counters.emplace(name, std::vector(values.begin(), values.end()));
  return counters;
}

}  // namespace branchmark
