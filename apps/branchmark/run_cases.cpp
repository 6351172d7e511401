#include "run_cases.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "answer.hpp"
#include "branchmark/report/describe.hpp"
#include "branchmark/verify/run_case.hpp"
#include "case_loop.hpp"
#include "progress.hpp"
#include "supervisor.hpp"

namespace branchmark::app {
namespace {

using Clock = std::chrono::steady_clock;

// Takes what running cases tells into the outputs, and says when to stop.
class Recorder : public RunEvents {
 public:
  Recorder(RunWriter& writer, const RunOptions& options, const StopSignals& signals,
           Clock::time_point deadline)
      : writer_(writer),
        signals_(signals),
        deadline_(deadline),
        progress_(options.quiet, colour_for(options.no_color)) {}

  void opened(const Report& facts, std::int64_t num_cases, const std::string& note) override {
    num_cases_ = num_cases;
    writer_.report().device = facts.device;
    writer_.report().kernels = facts.kernels;
    writer_.report().kernels_against = facts.kernels_against;
    writer_.report().model = facts.model;
    writer_.report().device_before = facts.device_before;
    writer_.update();
    progress_.opened(num_cases, note);
  }
  bool begins(const CaseRecord& named, double) override {
    if (signals_.received() != 0 || Clock::now() >= deadline_) return false;
    progress_.begins(named);
    return true;
  }
  void ended(CaseRecord record) override {
    writer_.record(std::move(record));
    progress_.ended(writer_.report().cases.back());
  }
  void closing(const Report& facts) override {
    writer_.report().gemm = facts.gemm;
    writer_.report().device_after = facts.device_after;
  }

  std::int64_t num_cases() const { return num_cases_; }
  std::int64_t num_left() const {
    return num_cases_ - static_cast<std::int64_t>(writer_.report().cases.size());
  }

 private:
  RunWriter& writer_;
  const StopSignals& signals_;
  Clock::time_point deadline_;
  Progress progress_;
  std::int64_t num_cases_ = 0;
};

class ScenarioRun {
 public:
  ScenarioRun(const CaseCommand& command, const RunOptions& options, const std::string& scenario_name)
      : command_(command),
        options_(options),
        scenario_name_(scenario_name),
        scenario_(load_scenario(scenario_name, options.overrides)),
        listing_(make_listing(command, options, scenario_, scenario_name)),
        cases_(select_cases(command.cases(listing_), options)) {}

  void list() const {
    std::string keys;
    for (const auto& each : cases_) keys += each.key() + "\n";
    answer(keys);
  }

  Exit dry_run() const {
    for (const auto& path : {options_.outputs.report, options_.outputs.journal, options_.outputs.junit,
                             options_.outputs.markdown, options_.outputs.html})
      if (path) check_output(*path, options_.force ? Replace::replace : Replace::refuse);
    if (options_.outputs.kept_outputs) check_output_folder(*options_.outputs.kept_outputs);
    say(fmt::format("{} would run {} cases of scenario {}; no device was touched\n", command_.name,
                    cases_.size(), scenario_.name));
    return make_exit(kExitOk, "dry run");
  }

  Exit run(const std::vector<std::string>& argv, const StopSignals& signals) {
    auto report = begin_report(command_.name, scenario_.name, argv);
    report.level = options_.level;
    report.scenario = describe_scenario(scenario_);
    auto outputs = options_.outputs;
    outputs.replace = options_.force ? Replace::replace : Replace::refuse;
    RunWriter writer(std::move(report), outputs);
    if (!options_.quiet)
      say(fmt::format("{} {}: {} cases; opening the device and loading the model\n", command_.name,
                      scenario_.name, cases_.size()));
    bool complete = false;
    try {
      complete = run_cases(writer, argv, signals);
    } catch (const std::exception& error) {
      writer.verdict().add(error);
    }
    if (const int number = signals.received(); number != 0) {
      complete = false;
      writer.verdict().add(kExitSignal + number, signal_name(number));
    }
    if (complete)
      for (const auto& reason : vacuous_checks(writer.report().cases))
        writer.verdict().add(kExitInconclusive, reason);
    auto exit = writer.finish(complete);
    if (command_.text && !options_.quiet) say(command_.text(writer.report()));
    say(verdict_text(writer.report(), writer.report_path(), colour_for(options_.no_color)));
    return exit;
  }

 private:
  // True where every selected case has its record.
  bool run_cases(RunWriter& writer, const std::vector<std::string>& argv, const StopSignals& signals) const {
    auto deadline = Clock::time_point::max();
    if (options_.time_budget_s)
      deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(*options_.time_budget_s));
    Recorder recorder(writer, options_, signals, deadline);
    if (options_.in_process) {
      run_case_loop(command_, options_, scenario_, scenario_name_, 0, recorder);
    } else {
      WorkerJob job{scenario_name_, scenario_.expanded(), std::filesystem::path(scenario_name_).parent_path(),
                    0, deadline};
      const auto repeat = [this](const std::string& key) { return listing_->command_for(key); };
      Supervisor supervisor({argv, std::move(job), options_.case_timeout_s, repeat}, signals, recorder);
      if (const auto exit = supervisor.run()) {
        writer.verdict().add(exit->code, exit->reason);
        return recorder.num_cases() > 0 && recorder.num_left() == 0;
      }
    }
    if (recorder.num_left() == 0) return true;
    if (signals.received() == 0)
      writer.verdict().add(kExitInconclusive,
                           fmt::format("the time budget of {} s ended with {} of {} cases not begun",
                                       *options_.time_budget_s, recorder.num_left(), recorder.num_cases()));
    return false;
  }

  const CaseCommand& command_;
  const RunOptions& options_;
  const std::string& scenario_name_;
  Scenario scenario_;
  std::shared_ptr<Session> listing_;
  std::vector<Case> cases_;
};

}  // namespace

Exit run_scenarios(const CaseCommand& command, const RunOptions& options,
                   const std::vector<std::string>& argv) {
  if (is_worker()) return run_worker(command, options);
  const auto& outputs = options.outputs;
  const bool one_path =
      outputs.report || outputs.journal || outputs.junit || outputs.markdown || outputs.html;
  if (options.scenarios.size() > 1 && one_path)
    throw Error(
        ErrorCode::usage,
        "--report, --journal, --junit, --markdown and --html name one file; give one scenario at a time");
  std::optional<StopSignals> signals;
  ExitDecision worst;
  Exit only;
  bool all_ok = true;
  for (const auto& name : options.scenarios) {
    ScenarioRun run(command, options, name);
    if (options.list) {
      run.list();
      only = make_exit(kExitOk, "listed");
      continue;
    }
    if (!signals) signals.emplace();
    only = options.dry_run ? run.dry_run() : run.run(argv, *signals);
    if (options.scenarios.size() > 1) say(exit_line(only) + "\n\n");
    worst.add(only.code, fmt::format("{}: {}", name, only.reason));
    all_ok = all_ok && only.code == kExitOk;
    if (signals->received() != 0) break;
  }
  if (options.scenarios.size() == 1 || options.list) return only;
  return all_ok ? make_exit(kExitOk, fmt::format("{} scenarios passed", options.scenarios.size()))
                : worst.decide();
}

}  // namespace branchmark::app
