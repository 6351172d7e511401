#include "branchmark/compare/differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "branchmark/base/error.hpp"
#include "branchmark/compare/run_facts.hpp"

namespace branchmark {
namespace {

constexpr double kClockTolerance = 0.02;

// Distinct values in order of appearance.
class Values {
 public:
  void add(const std::string& value) {
    if (std::find(values_.begin(), values_.end(), value) == values_.end()) values_.push_back(value);
  }
  std::string text() const {
    std::string text;
    for (const auto& value : values_) text += (text.empty() ? "" : " / ") + value;
    return text;
  }
  bool operator==(const Values&) const = default;
  bool one() const { return values_.size() == 1; }

 private:
  std::vector<std::string> values_;
};

void add_facts(std::vector<SideDifference>& found, const Side& a, const Side& b) {
  // A report without a device has fewer facts; the longest list names them all.
  std::vector<RunFact> kinds;
  for (const auto* side : {&a, &b})
    for (const auto& [file, report] : side->reports())
      if (auto facts = run_facts(report); facts.size() > kinds.size()) kinds = std::move(facts);
  for (const auto& kind : kinds) {
    const auto values_of = [&](const Side& side) {
      Values values;
      for (const auto& [file, report] : side.reports())
        for (const auto& fact : run_facts(report))
          if (fact.what == kind.what) values.add(fact.value);
      return values;
    };
    const auto of_a = values_of(a);
    const auto of_b = values_of(b);
    if (!(of_a.one() && of_a == of_b))
      found.push_back({kind.what, of_a.text(), of_b.text(), kind.why, kind.refused});
  }
}

void add_environment(std::vector<SideDifference>& found, const Side& a, const Side& b) {
  std::set<std::string> names;
  for (const auto* side : {&a, &b})
    for (const auto& [file, report] : side->reports())
      for (const auto& [name, value] : report.environment)
        // What the build was told of its revision changes neither bits nor speed.
        if (!name.starts_with("BRANCHMARK_GIT_")) names.insert(name);
  for (const auto& name : names) {
    const auto values_of = [&](const Side& side) {
      Values values;
      for (const auto& [file, report] : side.reports()) {
        const auto entry = report.environment.find(name);
        values.add(entry == report.environment.end() ? "not set" : fmt::format("\"{}\"", entry->second));
      }
      return values;
    };
    const auto of_a = values_of(a);
    const auto of_b = values_of(b);
    if (!(of_a.one() && of_a == of_b))
      found.push_back(
          {"environment variable " + name, of_a.text(), of_b.text(), "it can change bits or speed"});
  }
}

void add_commits(std::vector<SideDifference>& found, const Side& a, const Side& b) {
  const auto commits_of = [](const Side& side) {
    Values values;
    for (const auto& [file, report] : side.reports())
      values.add(fmt::format("{}{}", report.tool.git_sha.value_or("not known"),
                             report.tool.dirty.value_or(false) ? " with changes" : ""));
    return values;
  };
  const auto of_a = commits_of(a);
  const auto of_b = commits_of(b);
  const auto refuse = [&](std::string what, std::string why) {
    found.push_back({std::move(what), of_a.text(), of_b.text(), std::move(why), true});
  };
  if (!of_a.one() || !of_b.one()) refuse("commit", "one side holds several");
  for (const auto& [file, report] : a.reports())
    if (!report.tool.git_sha) {
      refuse("commit", "a baseline has to say what it is a baseline of");
      break;
    }
}

// The median over cases of the clock at which they ran.
std::optional<double> clock_of(const Side& side) {
  std::vector<double> clocks;
  for (const auto& [key, merged] : side.cases())
    for (const auto* record : merged.records) {
      const auto found = record->metrics.find("sm_clock_mhz");
      if (found == record->metrics.end()) continue;
      std::vector<double> finite = found->second.samples;
      std::erase_if(finite, [](double sample) { return !std::isfinite(sample); });
      if (!finite.empty()) clocks.push_back(median(finite));
    }
  return clocks.empty() ? std::nullopt : std::optional(median(clocks));
}

void add_clock(std::vector<SideDifference>& found, const Side& a, const Side& b) {
  const auto of_a = clock_of(a);
  const auto of_b = clock_of(b);
  if (!of_a || !of_b || std::abs(*of_b - *of_a) <= kClockTolerance * std::min(*of_a, *of_b)) return;
  found.push_back({"clock while cases ran", fmt::format("{} MHz", *of_a), fmt::format("{} MHz", *of_b),
                   "times follow it"});
}

}  // namespace

std::vector<SideDifference> find_differences(const Side& a, const Side& b) {
  std::vector<SideDifference> found;
  add_facts(found, a, b);
  add_commits(found, a, b);
  add_clock(found, a, b);
  add_environment(found, a, b);
  std::stable_partition(found.begin(), found.end(),
                        [](const SideDifference& difference) { return difference.refused; });
  return found;
}

std::vector<SideDifference> find_differences(const Side& side) {
  return find_differences(side, side);
}

std::string text_of(const SideDifference& difference) {
  return fmt::format("{}: A {}, B {} ({})", difference.what, difference.a, difference.b, difference.why);
}

void require_comparable(const std::vector<SideDifference>& differences) {
  std::string refused;
  for (const auto& difference : differences)
    if (difference.refused) refused += (refused.empty() ? "" : "; ") + text_of(difference);
  if (!refused.empty())
    throw Error(ErrorCode::usage,
                fmt::format("cannot be compared: {}; --cross compares all the same", refused));
}

}  // namespace branchmark
