#include "branchmark/bench/bench_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "branchmark/base/statistics.hpp"

namespace branchmark {
namespace {

std::string parameter(const CaseRecord& record, std::string_view name) {
  for (const auto& [key, value] : record.parameters)
    if (key == name) return value.is_string() ? value.get<std::string>() : value.dump();
  return "";
}

std::int64_t number(const CaseRecord& record, std::string_view name) {
  for (const auto& [key, value] : record.parameters)
    if (key == name && value.is_number_integer()) return value.get<std::int64_t>();
  return 0;
}

std::optional<double> value_of(const CaseRecord* record, const std::string& metric) {
  if (record == nullptr) return std::nullopt;
  const auto found = record->metrics.find(metric);
  if (found == record->metrics.end() || found->second.samples.empty()) return std::nullopt;
  const auto& samples = found->second.samples;
  if (!std::all_of(samples.begin(), samples.end(), [](double sample) { return std::isfinite(sample); }))
    return std::nullopt;
  return median(samples);
}

// "12.34 ±0.5%", in milliseconds.
std::string time_text(const CaseRecord* record, const std::string& metric) {
  const auto middle = value_of(record, metric);
  if (!middle) return "-";
  auto sorted = record->metrics.at(metric).samples;
  std::sort(sorted.begin(), sorted.end());
  const auto width = relative_half_width(sorted);
  const double ms = *middle / 1e6;
  return fmt::format("{:.{}f}{}{}", ms,
                     ms < 10    ? 3
                     : ms < 100 ? 2
                                : 1,
                     width ? fmt::format(" ±{:.1f}%", 100 * *width) : "",
                     record->invalid_reasons.empty() ? "" : "!");
}

std::string ratio_text(const std::optional<double>& ratio) {
  return ratio ? fmt::format("{:.2f}", *ratio) : "-";
}

// Pads to a width in characters: "±" is two bytes.
std::string padded(const std::string& text, std::size_t width) {
  const auto characters = static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
  return std::string(characters < width ? width - characters : 0, ' ') + text;
}

std::string row_text(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string row;
  for (std::size_t i = 0; i < cells.size(); ++i) row += padded(cells[i], widths[i]);
  return row + "\n";
}

struct SingleRow {
  const CaseRecord* eager = nullptr;
  const CaseRecord* graph = nullptr;
  const CaseRecord* fixed = nullptr;
  const CaseRecord* of_class = nullptr;
};
using SingleRows = std::map<std::int64_t, SingleRow>;

struct SharedRow {
  const CaseRecord* packed = nullptr;
  const CaseRecord* per_branch = nullptr;
  const CaseRecord* alone = nullptr;
};
using SharedKey = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // prefix, branches, branch tokens
using SharedRows = std::map<SharedKey, SharedRow>;

SingleRows single_rows(const Report& report) {
  SingleRows rows;
  for (const auto& record : report.cases) {
    if (record.check != "single" || record.outcome == Outcome::skipped) continue;
    auto& row = rows[number(record, "tokens")];
    const auto gemm = parameter(record, "gemm");
    if (gemm == "default") (parameter(record, "graph") == "on" ? row.graph : row.eager) = &record;
    if (gemm == "fixed") row.fixed = &record;
    if (gemm == "class") row.of_class = &record;
  }
  return rows;
}

SharedRows shared_rows(const Report& report) {
  SharedRows rows;
  for (const auto& record : report.cases) {
    if (record.check != "shared") continue;
    auto& row = rows[{number(record, "prefix"), number(record, "branches"), number(record, "branch_tokens")}];
    const auto way = parameter(record, "way");
    if (way == "packed") row.packed = &record;
    if (way == "per_branch") row.per_branch = &record;
    if (way == "alone_forward") row.alone = &record;
  }
  return rows;
}

std::string power_text(const Report& report) {
  std::int64_t timed = 0, capped = 0;
  for (const auto& record : report.cases) {
    const auto samples = value_of(&record, "power_capped_samples");
    if (!samples) continue;
    ++timed;
    if (*samples > 0) ++capped;
  }
  return capped == 0 ? ""
                     : fmt::format(
                           "The power limit held the clocks back in {} of {} cases: compare with devices of "
                           "the same limit.\n",
                           capped, timed);
}

// Whether the weights of the model can lie in the L2 cache from one call to the next.
std::string cache_text(const Report& report) {
  for (const auto& record : report.cases) {
    const auto weights = value_of(&record, "weights_bytes");
    if (!weights || !report.device || report.device->is_cpu || !report.device->l2_bytes) continue;
    const auto cache = static_cast<double>(*report.device->l2_bytes);
    return *weights > 2 * cache ? fmt::format(
                                      "Weights are cold: {:.1f} GB, and {:.0f} MB of L2 cache. Inputs, "
                                      "scratch and pooled states are warm.\n",
                                      *weights / 1e9, cache / 1e6)
                                : fmt::format("Weights may be warm: {:.1f} MB, and {:.0f} MB of L2 cache.\n",
                                              *weights / 1e6, cache / 1e6);
  }
  return "";
}

std::string single_table(const SingleRows& rows) {
  if (rows.empty()) return "";
  const std::vector<std::size_t> widths = {8, 16, 16, 16, 16, 16, 8, 8};
  std::string text =
      "\nOne pass: milliseconds of the device; what a caller of forward waits, eager and with a graph; times "
      "the "
      "default's\n";
  text +=
      row_text({"tokens", "forward", "fixed", "class", "waits", "with graph", "x fixed", "x class"}, widths);
  for (const auto& [tokens, row] : rows)
    text += row_text(
        {std::to_string(tokens), time_text(row.eager, "device_ns"), time_text(row.fixed, "device_ns"),
         time_text(row.of_class, "device_ns"), time_text(row.eager, "wall_ns"),
         time_text(row.graph, "wall_ns"), ratio_text(value_of(row.fixed, "fixed_over_default_device_ratio")),
         ratio_text(value_of(row.of_class, "class_over_default_device_ratio"))},
        widths);
  return text;
}

std::optional<double> inverse(const std::optional<double>& ratio) {
  return ratio && *ratio > 0 ? std::optional(1 / *ratio) : std::nullopt;
}

std::string saved_text(const CaseRecord* packed) {
  const auto saved = value_of(packed, "saved_tokens");
  const auto asked = value_of(packed, "asked_tokens");
  return saved && asked ? fmt::format("{:.0f}%", 100 * *saved / *asked) : "-";
}

std::string shared_table(const SharedRows& rows) {
  if (rows.empty()) return "";
  const std::vector<std::size_t> widths = {10, 14, 16, 16, 16, 15, 12, 8};
  std::string text =
      "\nShared prefix, class: milliseconds that a caller waits; how many times as fast packed is\n";
  text += row_text(
      {"prefix", "branches", "packed", "per branch", "alone", "x per branch", "x alone", "saved"}, widths);
  for (const auto& [key, row] : rows)
    text += row_text(
        {std::to_string(std::get<0>(key)), fmt::format("{} x {}", std::get<1>(key), std::get<2>(key)),
         time_text(row.packed, "wall_ns"), time_text(row.per_branch, "wall_ns"),
         time_text(row.alone, "wall_ns"),
         ratio_text(inverse(value_of(row.packed, "packed_over_per_branch_wall_ratio"))),
         ratio_text(inverse(value_of(row.packed, "packed_over_alone_wall_ratio"))), saved_text(row.packed)},
        widths);
  return text;
}

std::string sharing_sentence(const SharedRows& rows) {
  const std::pair<const SharedKey, SharedRow>* best = nullptr;
  double gain = 0;
  for (const auto& row : rows)
    if (const auto found = inverse(value_of(row.second.packed, "packed_over_alone_wall_ratio"));
        found && *found > gain) {
      best = &row;
      gain = *found;
    }
  if (best == nullptr) return "";
  const auto per_branch = inverse(value_of(best->second.packed, "packed_over_per_branch_wall_ratio"));
  return fmt::format(
      "Sharing gains most at {} branches of {} tokens behind {}: packed is {:.1f} times as fast as every "
      "prompt "
      "alone{}, and runs {} fewer tokens.\n",
      std::get<1>(best->first), std::get<2>(best->first), std::get<0>(best->first), gain,
      per_branch ? fmt::format(" and {:.2f} times as fast as one pass a branch", *per_branch) : "",
      saved_text(best->second.packed));
}

std::string range_text(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return fmt::format("{:.2f} to {:.2f}", *low, *high);
}

std::string exactness_sentence(const SingleRows& rows) {
  std::vector<double> fixed, of_class;
  for (const auto& [tokens, row] : rows) {
    if (const auto ratio = value_of(row.fixed, "fixed_over_default_device_ratio")) fixed.push_back(*ratio);
    if (const auto ratio = value_of(row.of_class, "class_over_default_device_ratio"))
      of_class.push_back(*ratio);
  }
  if (of_class.empty()) return "";
  return fmt::format("Exactness costs: class takes {} of the default's time{}.\n", range_text(of_class),
                     fixed.empty() ? "" : fmt::format(", fixed {}", range_text(fixed)));
}

std::string stages_text(const CaseRecord* record) {
  constexpr std::array<const char*, 5> kParts = {"gemm", "gdn", "attention", "elementwise", "gaps"};
  double whole = 0;
  for (const auto* part : kParts) whole += value_of(record, fmt::format("stage_{}_ns", part)).value_or(0);
  if (whole <= 0) return "";
  std::string text;
  for (const auto* part : kParts)
    text += fmt::format("{}{} {:.0f}%", text.empty() ? "" : ", ", part,
                        100 * value_of(record, fmt::format("stage_{}_ns", part)).value_or(0) / whole);
  return text;
}

std::string roofline_sentence(const SingleRows& rows) {
  const auto* smallest = rows.empty() ? nullptr : rows.begin()->second.of_class;
  const auto* largest = rows.empty() ? nullptr : rows.rbegin()->second.of_class;
  const auto flop = value_of(largest, "product_ceiling_share");
  const auto bytes = value_of(smallest, "copy_ceiling_share");
  if (!flop || !bytes) return "";
  const auto stages = stages_text(largest);
  return fmt::format(
      "Of what this device was measured to reach, {} tokens use {:.0f}% of the product and {} tokens {:.0f}% "
      "of "
      "the copy{}.\n",
      rows.rbegin()->first, 100 * *flop, rows.begin()->first, 100 * *bytes,
      stages.empty() ? "" : fmt::format("; the time of {} tokens is {}", rows.rbegin()->first, stages));
}

}  // namespace

std::string bench_text(const Report& report) {
  const auto singles = single_rows(report);
  const auto shared = shared_rows(report);
  std::string text = single_table(singles) + shared_table(shared);
  const auto sentences = sharing_sentence(shared) + exactness_sentence(singles) + roofline_sentence(singles);
  if (!sentences.empty()) text += "\n" + sentences + cache_text(report) + power_text(report);
  return text;
}

}  // namespace branchmark
