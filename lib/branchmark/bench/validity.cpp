#include "branchmark/bench/validity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "branchmark/base/statistics.hpp"
#include "branchmark/verify/checks/checks.hpp"

namespace branchmark {
namespace {

constexpr std::array<InvalidReason, 5> kInvalidReasons = {{
    {"parity_failed", "the timed calls gave other bits than forward_fixed, or than each other"},
    {"device_busy", "something else kept the device at work before the first sample"},
    {"throttled", "samples were taken while the device was too hot or short of power, and too few others"},
    {"no_samples", "no sample was kept"},
    {"interval_too_wide", "the budget ended before the median's interval was as narrow as was asked"},
}};

// Within this the stages add up to the whole; what they lack is named gaps, so only an excess is a fault.
constexpr double kCoverageBound = 1.05;
// Clocks further apart than this within one case make two modes of its times.
constexpr double kClockSpread = 0.05;

class Judge {
 public:
  Judge(CaseRecord& record, const Series& series, const BenchDevice& device, const ScenarioBench& bench)
      : record_(record), series_(series), device_(device), bench_(bench) {}

  void run() {
    settle(record_);
    device();
    samples();
    clocks();
    // What makes the case invalid comes first: the run's last line names a case by its first finding.
    std::stable_partition(record_.findings.begin(), record_.findings.end(), [&](const Finding& finding) {
      const auto& reasons = record_.invalid_reasons;
      return std::find(reasons.begin(), reasons.end(), finding.id) != reasons.end();
    });
  }

 private:
  void invalid(std::string reason, std::string message, std::string suggestion) {
    warn(reason, std::move(message), std::move(suggestion));
    record_.invalid_reasons.push_back(std::move(reason));
  }

  void warn(std::string id, std::string message, std::string suggestion) {
    record_.findings.push_back({std::move(id), Severity::warning, std::move(message), std::move(suggestion)});
  }

  void device() {
    if (const auto& busy = device_.disturbance(); !busy.empty())
      invalid("device_busy", busy, "end what else runs on this device, or choose another with --device");
  }

  void samples() {
    const auto kept = series_.num_kept();
    const auto tagged = std::ssize(series_.samples) - kept;
    const auto* first = first_tagged();
    if (tagged > 0) {
      const auto message =
          fmt::format("{} of {} samples were taken while the device held its clocks back ({})", tagged,
                      series_.samples.size(), first->tag);
      const auto* suggestion = "let it cool, look at its fans and supply, or lower its power limit";
      if (kept < bench_.min_samples)
        invalid("throttled", message, suggestion);
      else
        warn("throttled_samples", message + "; they are left out", suggestion);
    }
    if (kept == 0)
      invalid("no_samples", "no sample was kept", "look at the other findings of this case");
    else
      intervals();
  }

  const Sample* first_tagged() const {
    const auto found = std::find_if(series_.samples.begin(), series_.samples.end(),
                                    [](const Sample& sample) { return !sample.tag.empty(); });
    return found == series_.samples.end() ? nullptr : &*found;
  }

  std::optional<double> width(double Sample::*time) const {
    std::vector<double> sorted;
    for (const auto& sample : series_.samples)
      if (sample.tag.empty()) sorted.push_back(sample.*time);
    std::sort(sorted.begin(), sorted.end());
    return relative_half_width(sorted);
  }

  void intervals() {
    const auto text = [&](const std::optional<double>& found) {
      return found ? fmt::format("{} samples give ±{:.2f}%, asked were at least {} and ±{:.2g}%",
                                 series_.num_kept(), 100 * *found, bench_.min_samples,
                                 100 * bench_.target_interval)
                   : fmt::format("{} samples are too few for an interval", series_.num_kept());
    };
    if (series_.stop != Stop::narrow)
      invalid("interval_too_wide", text(width(&Sample::deciding_ns)),
              fmt::format("give it more time, --set bench.case_budget_s={:g}, or a quieter machine",
                          4 * bench_.case_budget_s));
    else if (const auto other = width(&Sample::other_ns);
             !device_.is_cpu() && (!other || *other > bench_.target_interval))
      warn("wall_time_noisy", "wall time: " + text(other),
           "the host is busy or slow to answer; the device's time is not affected");
  }

  void clocks() {
    std::int64_t capped = 0;
    std::vector<double> clocks;
    for (const auto& sample : series_.samples) {
      if (sample.power_capped) ++capped;
      if (sample.tag.empty() && sample.clock_mhz) clocks.push_back(*sample.clock_mhz);
    }
    if (capped > 0)
      record_.findings.push_back(
          {.id = "power_capped",
           .severity = Severity::note,
           .message = fmt::format("the power limit held the clocks back in {} of {} samples", capped,
                                  series_.samples.size()),
           .suggestion = "compare with reports of devices with the same power limit only"});
    if (clocks.empty()) return;
    const auto [lowest, highest] = std::minmax_element(clocks.begin(), clocks.end());
    if (*highest - *lowest > kClockSpread * *highest)
      record_.findings.push_back(
          {.id = "clock_moved",
           .severity = Severity::note,
           .message = fmt::format("the clock was between {:.0f} and {:.0f} MHz", *lowest, *highest),
           .suggestion = "lock it for comparisons (nvidia-smi --lock-gpu-clocks)"});
  }

  CaseRecord& record_;
  const Series& series_;
  const BenchDevice& device_;
  const ScenarioBench& bench_;
};

void judge_parity(CaseRecord& record, const Measured& measured) {
  if (measured.parity_passed()) return;
  const auto& found = measured.parity();
  add_parity_failure(record, measured.num_unstable() > 0
                                 ? fmt::format("{} of {} calls gave other bits than the first one",
                                               measured.num_unstable(), measured.num_calls())
                                 : fmt::format("{} prompts differ from forward_fixed, relative L2 {:.3e}",
                                               found.num_different, found.relative_l2));
}

void judge_breakdown(CaseRecord& record, const Measured& measured) {
  if (!measured.inspection() || measured.stage_coverage() <= kCoverageBound) return;
  record.findings.push_back(
      {.id = "stages_exceed_whole",
       .severity = Severity::warning,
       .message = fmt::format("the stages add up to {:.1f}% of the time of a call that is not observed",
                              100 * measured.stage_coverage()),
       .suggestion = "read the breakdown of this case as shares, not as times"});
}

}  // namespace

std::span<const InvalidReason> invalid_reasons() {
  return kInvalidReasons;
}

void add_parity_failure(CaseRecord& record, std::string message) {
  record.invalid_reasons.emplace_back("parity_failed");
  record.findings.push_back({.id = "parity_failed",
                             .severity = Severity::error,
                             .message = std::move(message),
                             .suggestion = "run qualify: a time means nothing while the answers are wrong"});
}

void judge_samples(CaseRecord& record, const Series& series, const BenchDevice& device,
                   const ScenarioBench& bench) {
  Judge(record, series, device, bench).run();
}

void judge(CaseRecord& record, const Measured& measured, const Scenario& scenario) {
  judge_parity(record, measured);
  judge_samples(record, measured.series(), measured.device(), *scenario.bench);
  judge_breakdown(record, measured);
}

}  // namespace branchmark
