// What one case of a run found. This struct is the report's `cases` entry and the journal's record: its JSON
// form is in report/case_record.cpp and results-schema/.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace branchmark {

enum class Outcome { pass, fail, error, skipped, not_eligible, vacuous, timeout, interrupted };
std::string_view name_of(Outcome outcome);

enum class Severity { error, warning, note };
std::string_view name_of(Severity severity);

// Which direction is an improvement; `none` for plain facts.
enum class Better { lower, higher, none };

// Samples of one quantity. A single-valued metric has one sample, which is its median.
struct Metric {
  std::string unit;  // "1" for a ratio, "ns", "bytes", "tokens", "ulp"
  Better better = Better::none;
  std::vector<double> samples;  // finite or not; what is not finite is written as null, with a reason
  bool derived = false;         // computed from samples of something else
};

// Something that a person should read: what was found, and what to do.
struct Finding {
  std::string id;  // stable, lower_snake: "bits_differ", "non_finite", "module_error"
  Severity severity = Severity::error;
  std::string message;
  std::string suggestion;
};

// A counter that shows that the path under test ran: derived from the plan, and observed.
struct WitnessCounter {
  std::int64_t planned = 0;
  std::int64_t found = 0;
};

// Case parameters in schema order; the key is made of them.
using Parameters = std::vector<std::pair<std::string, nlohmann::json>>;

struct CaseRecord {
  std::string check;
  Parameters parameters;
  Outcome outcome = Outcome::error;
  std::string skip_reason;                   // with Outcome::skipped: one of the closed list
  std::vector<std::string> invalid_reasons;  // empty: valid
  std::map<std::string, Metric> metrics;
  std::map<std::string, WitnessCounter> witness;
  std::vector<std::string> digests;  // per prompt, sha256 of the result row
  std::vector<Finding> findings;
  double duration_ns = 0;  // volatile

  // "check/name=value,..." : stable across commits, devices and counters.
  std::string key() const;

  void add_metric(const std::string& name, std::string unit, Better better, double value) {
    metrics[name] = Metric{std::move(unit), better, {value}};
  }
};

std::string case_key(const std::string& check, const Parameters& parameters);

nlohmann::json to_json(const CaseRecord& record);
// Throws usage for a record that the schema would refuse. Unknown keys are ignored (newer minor versions).
CaseRecord case_record_from_json(const nlohmann::json& value);

}  // namespace branchmark
