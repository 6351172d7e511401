// The one place where outcomes become an exit code.
//
//   128+n signal > 70 internal > 5 hardware_fault > 7 hang > 6 io > 1 check_failed > 4 not_eligible
//   > 3 inconclusive > 0 ok; 2 usage only before the first case.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "branchmark/base/error.hpp"
#include "branchmark/report/case_record.hpp"

namespace branchmark {

// The codes below 128; a run ended by signal n exits with 128 + n.
enum ExitCode : int {
  kExitOk = 0,
  kExitCheckFailed = 1,
  kExitUsage = 2,
  kExitInconclusive = 3,
  kExitNotEligible = 4,
  kExitHardwareFault = 5,
  kExitIo = 6,
  kExitHang = 7,
  kExitInternal = 70,
  kExitSignal = 128,
};

std::string_view exit_name(int code);

// What the process returns, the report holds and the last line on stderr says.
struct Exit {
  int code = kExitOk;
  std::string name = "ok";
  std::string reason;

  bool operator==(const Exit&) const = default;
};

Exit make_exit(int code, std::string reason);
// "branchmark: exit 1 (check_failed): ..."; one line whatever the reason holds.
std::string exit_line(const Exit& exit);

// For an exception that ended a command before its first case (also: any command without cases).
Exit exit_for(const std::exception& error);

// Turns an Error thrown by a case into its outcome and a finding with the id name_of(code).
void add_error(CaseRecord& record, const std::exception& error);

// Reasons for which a case may be skipped without costing the verdict: the closed list, and a line on each.
struct SkipReason {
  std::string_view name;
  std::string_view meaning;
};
std::span<const SkipReason> skip_reasons();
bool is_allowed_skip(std::string_view reason);

// Gathers what happened in a run of cases; the verdict may be asked for at any time.
class ExitDecision {
 public:
  // `level` of the run, named in the reason; empty: not named.
  explicit ExitDecision(std::string level = {}) : level_(std::move(level)) {}

  void add(const CaseRecord& record);
  // Something beside the cases: a signal (kExitSignal + n), an output that failed, a vacuous check, ...
  void add(int code, std::string reason);
  void add(const std::exception& error);

  Exit decide() const;

 private:
  struct Cause {
    std::int64_t count = 0;
    std::string first;  // what was added first
  };
  std::string tally() const;
  std::string describe(int code) const;

  std::string level_;
  std::int64_t num_cases_ = 0;
  std::int64_t num_passed_ = 0;
  std::int64_t num_invalid_ = 0;  // passed, but not valid
  std::map<Outcome, std::int64_t> outcomes_;
  std::map<std::string, std::int64_t> skips_;
  std::map<int, Cause> case_causes_;
  std::map<int, Cause> event_causes_;
};

}  // namespace branchmark
