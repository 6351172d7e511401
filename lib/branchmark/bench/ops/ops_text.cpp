#include "branchmark/bench/ops/ops_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "branchmark/base/statistics.hpp"
#include "branchmark/report/one_side.hpp"

namespace branchmark {
namespace {

std::optional<double> value_of(const CaseRecord& record, const std::string& metric) {
  const auto found = record.metrics.find(metric);
  if (found == record.metrics.end() || found->second.samples.empty()) return std::nullopt;
  return median(found->second.samples);
}

// "gemm gate_up class", "conv".
std::string op_name(const CaseRecord& record) {
  auto name = parameter_text(record, "name");
  for (const auto* part : {"projection", "gemm"})
    if (const auto text = parameter_text(record, part); !text.empty()) name += " " + text;
  return name;
}

// "3072", "32 x 38 behind 3072".
std::string shape_text(const CaseRecord& record) {
  auto text = parameter_text(record, "tokens");
  const auto sequences = parameter_text(record, "sequences");
  const auto prefix = parameter_text(record, "prefix");
  if (!sequences.empty() && sequences != "1") text = fmt::format("{} x {}", sequences, text);
  if (!prefix.empty() && prefix != "0") text += " behind " + prefix;
  return text;
}

std::string time_text(const CaseRecord& record) {
  auto sorted = record.metrics.at("device_ns").samples;
  std::sort(sorted.begin(), sorted.end());
  const auto width = relative_half_width(sorted);
  return fmt::format("{:.1f}{}{}", quantile(sorted, 0.5) / 1e3,
                     width ? fmt::format(" ±{:.1f}%", 100 * *width) : "",
                     record.invalid_reasons.empty() ? "" : "!");
}

std::string share_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.0f}%", 100 * *share) : "-";
}

}  // namespace

std::string ops_text(const Report& report) {
  std::vector<std::string> names;
  std::map<std::string, const CaseRecord*> longest;
  std::size_t cases = 0;
  for (const auto& record : report.cases) {
    const auto time = value_of(record, "device_ns");
    if (record.check != "op" || !time) continue;
    ++cases;
    const auto name = op_name(record);
    auto& kept = longest[name];
    if (kept == nullptr) names.push_back(name);
    if (kept == nullptr || *time > *value_of(*kept, "device_ns")) kept = &record;
  }
  if (names.empty()) return "";
  auto text = fmt::format(
      "\nOps, the longest of each ({} cases in all): microseconds of the device for one launch; share of the "
      "copy and of the product that this device was measured to reach. Operands are warm where a cache holds "
      "them, and a copy out of a cache is faster than that.\n{:<32}{:>22}{:>20}{:>8}{:>9}\n",
      cases, "op", "tokens", "time", "copy", "product");
  for (const auto& name : names) {
    const auto& record = *longest[name];
    text += fmt::format("{:<32}{:>22}{:>20}{:>8}{:>9}\n", name, shape_text(record), time_text(record),
                        share_text(value_of(record, "copy_ceiling_share")),
                        share_text(value_of(record, "product_ceiling_share")));
  }
  return text;
}

}  // namespace branchmark
