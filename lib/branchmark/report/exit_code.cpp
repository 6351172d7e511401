#include "branchmark/report/exit_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <new>

#include "branchmark/base/json.hpp"

namespace branchmark {
namespace {

constexpr std::array<SkipReason, 2> kSkipReasons = {{
    {"graph_unsupported", "the device has no graphs"},
    {"op_unsupported", "the kernel module does not have this operator or form of it"},
}};

// Worst first; signals come before all of these.
constexpr std::array<int, 7> kPrecedence = {kExitInternal,    kExitHardwareFault, kExitHang,        kExitIo,
                                            kExitCheckFailed, kExitNotEligible,   kExitInconclusive};

bool has_finding(const CaseRecord& record, ErrorCode code) {
  return std::any_of(record.findings.begin(), record.findings.end(),
                     [&](const Finding& finding) { return finding.id == name_of(code); });
}

// The code that a case asks for; 0 also where it was rightly skipped.
int code_of(const CaseRecord& record) {
  switch (record.outcome) {
    case Outcome::pass:
      return record.invalid_reasons.empty() ? kExitOk : kExitInconclusive;
    case Outcome::skipped:
      return is_allowed_skip(record.skip_reason) ? kExitOk : kExitInconclusive;
    case Outcome::fail:
      return kExitCheckFailed;
    case Outcome::error:
      if (has_finding(record, ErrorCode::hardware_fault)) return kExitHardwareFault;
      return has_finding(record, ErrorCode::io) ? kExitIo : kExitCheckFailed;
    case Outcome::vacuous:
      return kExitInconclusive;
    case Outcome::not_eligible:
      return kExitNotEligible;
    case Outcome::timeout:
      return kExitHang;
    case Outcome::interrupted:
      return kExitSignal + SIGINT;
  }
  return kExitInternal;
}

int code_of(const std::exception& exception) {
  if (dynamic_cast<const std::bad_alloc*>(&exception)) return kExitNotEligible;
  const auto* error = dynamic_cast<const Error*>(&exception);
  if (!error) return kExitInternal;
  switch (error->code()) {
    case ErrorCode::usage:
    case ErrorCode::refused:
      return kExitUsage;
    case ErrorCode::not_eligible:
      return kExitNotEligible;
    case ErrorCode::hardware_fault:
      return kExitHardwareFault;
    case ErrorCode::io:
      return kExitIo;
    case ErrorCode::kernel:
    case ErrorCode::unserved_size:
    case ErrorCode::non_finite:
      return kExitCheckFailed;
    case ErrorCode::internal:
      return kExitInternal;
  }
  return kExitInternal;
}

std::string_view what_happened(int code) {
  switch (code) {
    case kExitHardwareFault:
      return "met a fault of the device";
    case kExitHang:
      return "outlived the timeout";
    case kExitIo:
      return "could not read or write";
    case kExitCheckFailed:
      return "failed";
    case kExitNotEligible:
      return "not eligible";
    case kExitInconclusive:
      return "without a verdict";
    default:
      return "interrupted";
  }
}

std::string message_of(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) ? "too little host memory" : error.what();
}

}  // namespace

std::string_view exit_name(int code) {
  switch (code) {
    case kExitOk:
      return "ok";
    case kExitCheckFailed:
      return "check_failed";
    case kExitUsage:
      return "usage";
    case kExitInconclusive:
      return "inconclusive";
    case kExitNotEligible:
      return "not_eligible";
    case kExitHardwareFault:
      return "hardware_fault";
    case kExitIo:
      return "io";
    case kExitHang:
      return "hang";
    case kExitInternal:
      return "internal";
    default:
      return code > kExitSignal ? "signal" : "internal";
  }
}

Exit make_exit(int code, std::string reason) {
  return {code, std::string(exit_name(code)), std::move(reason)};
}

std::string exit_line(const Exit& exit) {
  std::string line =
      fmt::format("branchmark: exit {} ({}): {}", exit.code, exit.name, valid_utf8(exit.reason));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return line;
}

Exit exit_for(const std::exception& error) {
  return make_exit(code_of(error), message_of(error));
}

void add_error(CaseRecord& record, const std::exception& exception) {
  const auto* error = dynamic_cast<const Error*>(&exception);
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&exception) != nullptr;
  const bool not_eligible = no_memory || (error && error->code() == ErrorCode::not_eligible);
  record.outcome = not_eligible ? Outcome::not_eligible : Outcome::error;
  const auto id = no_memory ? "out_of_memory" : name_of(error ? error->code() : ErrorCode::internal);
  record.findings.push_back({std::string(id), Severity::error, message_of(exception), ""});
}

std::span<const SkipReason> skip_reasons() {
  return kSkipReasons;
}

bool is_allowed_skip(std::string_view reason) {
  return std::any_of(kSkipReasons.begin(), kSkipReasons.end(),
                     [&](const SkipReason& known) { return known.name == reason; });
}

void ExitDecision::add(const CaseRecord& record) {
  ++num_cases_;
  if (record.outcome == Outcome::pass && !record.invalid_reasons.empty())
    ++num_invalid_;
  else
    ++outcomes_[record.outcome];
  if (record.outcome == Outcome::skipped) ++skips_[record.skip_reason];
  const int code = code_of(record);
  if (code == kExitOk) {
    if (record.outcome == Outcome::pass) ++num_passed_;
    return;
  }
  Cause& cause = case_causes_[code];
  if (cause.count++ > 0) return;
  cause.first = record.key();
  if (!record.findings.empty()) cause.first += ": " + record.findings.front().id;
}

void ExitDecision::add(int code, std::string reason) {
  if (code == kExitOk) return;
  Cause& cause = event_causes_[code];
  if (cause.count++ == 0) cause.first = std::move(reason);
}

void ExitDecision::add(const std::exception& error) {
  add(code_of(error), message_of(error));
}

std::string ExitDecision::tally() const {
  std::string text;
  for (const auto& [outcome, count] : outcomes_) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count,
                        outcome == Outcome::pass   ? "passed"
                        : outcome == Outcome::fail ? "failed"
                                                   : name_of(outcome));
    if (outcome != Outcome::skipped) continue;
    std::string reasons;
    for (const auto& [reason, skipped] : skips_)
      reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", reason, skipped);
    text += " (" + reasons + ")";
  }
  if (num_invalid_ > 0) text += fmt::format("{}{} invalid", text.empty() ? "" : ", ", num_invalid_);
  if (!level_.empty()) text += fmt::format("{}level {}", text.empty() ? "" : "; ", level_);
  return text;
}

std::string ExitDecision::describe(int code) const {
  std::string text;
  if (const auto found = event_causes_.find(code); found != event_causes_.end()) text = found->second.first;
  if (const auto found = case_causes_.find(code); found != case_causes_.end())
    text +=
        fmt::format("{}{} {} {}, first {}", text.empty() ? "" : "; ", found->second.count,
                    found->second.count == 1 ? "case" : "cases", what_happened(code), found->second.first);
  const std::string counts = tally();
  if (!counts.empty()) text += (text.empty() ? "" : "; ") + counts;
  return text;
}

Exit ExitDecision::decide() const {
  const auto happened = [&](int code) { return event_causes_.contains(code) || case_causes_.contains(code); };
  const auto exit_with = [&](int code) { return make_exit(code, describe(code)); };

  // A signal that the run itself saw names its number; an interrupted case alone does not.
  if (const auto last = event_causes_.rbegin(); last != event_causes_.rend() && last->first > kExitSignal)
    return exit_with(last->first);
  if (happened(kExitSignal + SIGINT)) return exit_with(kExitSignal + SIGINT);
  const auto usage = event_causes_.find(kExitUsage);
  for (const int code : kPrecedence) {
    // Wrong usage found before the first case says why nothing ran; found later it is a failed check.
    if (code == kExitCheckFailed && usage != event_causes_.end()) {
      if (num_cases_ == 0) return exit_with(kExitUsage);
      return make_exit(kExitCheckFailed, describe(kExitUsage));
    }
    if (happened(code)) return exit_with(code);
  }
  if (num_cases_ == 0) return make_exit(kExitUsage, "no case was selected, so nothing was shown");
  if (num_passed_ == 0) return make_exit(kExitInconclusive, "no case passed; " + tally());
  return make_exit(kExitOk, tally());
}

}  // namespace branchmark
