// What comparing two sides found: the struct from which JSON (results-schema/comparison.schema.json),
// Markdown, annotations and the text for a terminal are made. Plain data; nothing in it depends on when or
// where the comparison was made.
//
// Side A is what is compared with (the baseline), side B what is judged. Ratios are B over A.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "branchmark/base/statistics.hpp"
#include "branchmark/compare/compared_run.hpp"
#include "branchmark/compare/samples.hpp"
#include "branchmark/report/case_record.hpp"
#include "branchmark/report/exit_code.hpp"

namespace branchmark {

inline constexpr std::string_view kComparisonSchema = "branchmark-comparison";

// Worst first: the order in which people read rows.
enum class CaseVerdict {
  slower,
  missing,         // in A alone
  not_comparable,  // a side has no number that counts
  inconclusive,    // the samples allow neither "differs" nor "does not"
  added,           // in B alone; called "new"
  faster,
  same,  // the interval lies inside the band
};
inline constexpr int kNumCaseVerdicts = 7;
std::string_view name_of(CaseVerdict verdict);
// The verdict with the sides exchanged.
CaseVerdict flipped(CaseVerdict verdict);

// What makes a comparison fail, as --fail-on names it; "changed" stands for outputs and counters.
enum class Gate { slower, outputs, counters, missing, added, inconclusive };
std::string_view name_of(Gate gate);

// Something about the runs, beside their cases, in which they differ.
struct SideDifference {
  std::string what;  // "driver", "CUBLAS_WORKSPACE_CONFIG", ...
  std::string a;
  std::string b;
  std::string why;  // it matters
  // Forbids the comparison without --cross, or would have.
  bool refused = false;
};

struct TimeSide {
  Samples samples;
  double median_ns = 0;
};

// Held in natural logarithms, where exchanging the sides changes signs and nothing else.
struct TimeComparison {
  std::string metric;
  TimeSide a;
  TimeSide b;
  double effect = 0;  // the smallest that counts: 0.02 for 2%; the band is [1/(1 + effect), 1 + effect]
  double log_ratio = 0;
  std::optional<Interval> log_interval;  // 95%; empty for too few samples
  std::optional<double> p_value;         // after Holm's correction; empty where no test is sharp enough
  CaseVerdict verdict = CaseVerdict::inconclusive;
  // Where inconclusive: why, the shift that would be found four times out of five, how many samples a run
  // would settle it where a reasonable number does, and what to do.
  std::string reason;
  std::optional<double> smallest_detectable_effect;
  std::optional<std::int64_t> samples_to_settle;
  std::string suggestion;

  double ratio() const;
  std::optional<Interval> interval() const;  // of the ratio
};

// Of outputs that are not the same bytes, where both sides kept theirs. Of several the largest.
struct OutputDistance {
  std::int64_t num_outputs = 0;       // that were measured
  std::optional<double> relative_l2;  // |B - A| / |A|; empty where that is not finite
  std::int64_t max_ulp_bf16 = 0;      // in values of bf16, also of float32 outputs
  std::int64_t num_different = 0;     // elements with other bits, of all measured outputs
  std::int64_t num_elements = 0;
};

struct OutputComparison {
  std::int64_t num_prompts = 0;
  std::int64_t num_equal = 0;
  // Whether a side's own runs differ.
  bool a_unstable = false;
  bool b_unstable = false;
  std::optional<OutputDistance> distance;
  std::string reason;      // why an output that changed has no distance
  std::string suggestion;  // how to get one, where a side kept none
};

// A counter that is not the same on both sides: the values found, ascending, one unless a side's runs differ.
struct CounterChange {
  std::string name;
  std::vector<double> a;
  std::vector<double> b;
};

// A case on one side, over all of that side's runs.
struct CaseState {
  Outcome outcome = Outcome::pass;           // the first run's that did not pass, else pass
  std::vector<std::string> invalid_reasons;  // only where no run was valid
};

struct CaseComparison {
  std::string key;                          // as B names it, where B has it
  std::optional<std::string> renamed_from;  // A's name for it
  std::string check;
  Parameters parameters;
  std::optional<CaseState> a;
  std::optional<CaseState> b;
  // By time: that of times[deciding]. A case without times is `same` where all else is.
  CaseVerdict verdict = CaseVerdict::not_comparable;
  std::string reason;          // of a verdict that no time gave
  bool newly_failing = false;  // does not pass, and did in A or was not there
  std::vector<TimeComparison> times;
  std::size_t deciding = 0;
  std::optional<OutputComparison> outputs;  // empty: a side has none
  std::int64_t num_counters = 0;            // that were compared
  std::vector<CounterChange> counters;      // that changed
  std::vector<Gate> gates;                  // of those asked for, the ones that it does not pass

  bool outputs_changed() const { return outputs && outputs->num_equal < outputs->num_prompts; }
  // The time that gave the verdict; null where there is none.
  const TimeComparison* deciding_time() const { return times.empty() ? nullptr : &times[deciding]; }
};

struct RenamedCase {
  std::string from;
  std::string to;
};

struct Comparison {
  std::vector<ComparedRun> a;
  std::vector<ComparedRun> b;
  double min_effect = 0;
  std::optional<double> noise_floor;  // of identical code; single cases may have a larger one
  std::vector<Gate> fail_on;
  bool cross = false;
  std::optional<std::string> filter;

  std::vector<SideDifference> differences;
  std::vector<CaseComparison> cases;  // by key
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::vector<RenamedCase> renamed;
  Exit exit;

  std::int64_t count(CaseVerdict verdict) const;
  std::int64_t count(Gate gate) const;
  // Over all cases.
  OutputComparison outputs() const;
  // The cases, those first that a reader should see first: failed gates, then by verdict, then the largest
  // ratio.
  std::vector<const CaseComparison*> worst_first() const;
};

}  // namespace branchmark
