#include "branchmark/compare/values_text.hpp"

#include <fmt/format.h>

namespace branchmark {
namespace {

void append(std::string& text, const std::string& part) {
  if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
}

std::string values_text(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += fmt::format("{}{:.15g}", text.empty() ? "" : " or ", value);
  return text;
}

// Times beside the deciding one that say something else.
std::string other_times(const CaseComparison& row) {
  std::string text;
  for (const auto& time : row.times)
    if (&time != row.deciding_time() && time.verdict != row.verdict)
      append(text, fmt::format("{} {}, {}", time.metric, name_of(time.verdict), ratio_text(time)));
  return text;
}

std::string changed_outputs(const OutputComparison& outputs) {
  auto text =
      fmt::format("outputs equal {} of {}{}", outputs.num_equal, outputs.num_prompts,
                  outputs.a_unstable || outputs.b_unstable ? ", not the same in all runs of a side" : "");
  if (outputs.distance) append(text, distance_text(*outputs.distance));
  // With a suggestion it is that one was not kept, which the suggestion says too.
  if (outputs.suggestion.empty()) append(text, outputs.reason);
  return text;
}

}  // namespace

std::string ratio_text(const TimeComparison& time) {
  const auto interval = time.interval();
  return interval ? fmt::format("{:.3f} [{:.3f}, {:.3f}]", time.ratio(), interval->low, interval->high)
                  : fmt::format("{:.3f}", time.ratio());
}

std::string verdict_text(const CaseComparison& row) {
  const bool changed = row.outputs_changed() || !row.counters.empty();
  return fmt::format("{}{}", name_of(row.verdict), changed ? ", changed" : "");
}

std::string milliseconds_text(double ns) {
  return fmt::format("{:#.4g}", ns / 1e6);
}

std::string counter_text(const CounterChange& change) {
  return fmt::format("{} {} to {}", change.name, values_text(change.a), values_text(change.b));
}

std::string distance_text(const OutputDistance& distance) {
  auto text = distance.relative_l2 ? fmt::format("relative_l2 {:.3g}", *distance.relative_l2)
                                   : std::string("relative_l2 not finite");
  text += fmt::format(", at most {} ulp of bf16, {} of {} elements differ", distance.max_ulp_bf16,
                      distance.num_different, distance.num_elements);
  if (distance.num_outputs > 1) text += fmt::format(" in {} outputs", distance.num_outputs);
  return text;
}

std::string side_text(const std::vector<ComparedRun>& runs) {
  const auto& first = runs.front();
  auto text = fmt::format("{}{}", first.scenario ? *first.scenario + " " : "",
                          first.git_sha ? first.git_sha->substr(0, 12) : "commit not known");
  if (first.dirty.value_or(false)) text += ", with changes";
  if (first.device) text += ", " + *first.device;
  if (runs.size() > 1) text += fmt::format(", {} runs", runs.size());
  return text;
}

std::string remark_text(const CaseComparison& row) {
  auto text = row.reason;
  if (row.newly_failing)
    append(text,
           row.reason.empty() ? fmt::format("newly failing: {}", name_of(row.b->outcome)) : "newly failing");
  if (row.renamed_from) append(text, "was " + *row.renamed_from);
  if (row.outputs_changed()) append(text, changed_outputs(*row.outputs));
  for (const auto& change : row.counters) append(text, counter_text(change));
  if (const auto* time = row.deciding_time(); time != nullptr && !time->reason.empty()) {
    append(text, time->reason);
    if (time->smallest_detectable_effect)
      append(text, fmt::format("a shift of {:.1f}% would be found", 100 * *time->smallest_detectable_effect));
  }
  append(text, other_times(row));
  return text;
}

}  // namespace branchmark
