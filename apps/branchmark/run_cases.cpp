#include "run_cases.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <regex>

#include "branchmark/device/select.hpp"
#include "branchmark/report/describe.hpp"
#include "branchmark/report/human.hpp"
#include "branchmark/verify/run_case.hpp"

namespace branchmark::app {
namespace {

void say(const std::string& text) {
  std::fputs(text.c_str(), stderr);
}

std::int64_t threads_wanted() {
  const char* text = std::getenv("BRANCHMARK_THREADS");
  if (text == nullptr || *text == '\0') return 0;
  char* end = nullptr;
  const auto value = std::strtol(text, &end, 10);
  if (*end != '\0' || value < 0 || value > 4096)
    throw Error(ErrorCode::usage,
                fmt::format("BRANCHMARK_THREADS: found \"{}\", expected 0 (all) to 4096", text));
  return value;
}

DeviceChoice choose_device(const RunOptions& options, const std::optional<ScenarioPath>& kernels,
                           const std::optional<std::string>& device) {
  std::optional<std::filesystem::path> library;
  if (options.kernels) library = *options.kernels;
  if (kernels) library = kernels->resolved;
  return select_device(device.value_or(options.device), library);
}

std::shared_ptr<Context> open_device(const DeviceChoice& choice) {
  return Context::open(choice.library, choice.index, {.num_threads = threads_wanted()});
}

std::vector<Case> selected(std::vector<Case> cases, const RunOptions& options) {
  if (options.filter) {
    std::regex pattern;
    try {
      pattern = std::regex(*options.filter, std::regex::ECMAScript);
    } catch (const std::regex_error& error) {
      throw Error(ErrorCode::usage,
                  fmt::format("--filter \"{}\": no regular expression: {}", *options.filter, error.what()));
    }
    std::erase_if(cases, [&](const Case& each) { return !std::regex_search(each.key(), pattern); });
  }
  if (cases.empty())
    throw Error(ErrorCode::usage,
                options.filter
                    ? fmt::format("--filter \"{}\" matches no case; --list shows the keys", *options.filter)
                    : std::string("the scenario selects no case"));
  return cases;
}

class ScenarioRun {
 public:
  ScenarioRun(const CaseCommand& command, const RunOptions& options, const std::string& scenario_name,
              const std::vector<std::string>& argv)
      : command_(command),
        options_(options),
        argv_(argv),
        scenario_(load_scenario(scenario_name, options.overrides)),
        session_options_{.level = level_of(options),
                         .command = repeat_command(command.name, scenario_name, options),
                         .open_context = {},
                         .on_cpu = options.device == "cpu",
                         .gemm = {.trust_cache = false, .cache_file = gemm_cache_file(options)}},
        listing_(std::make_shared<Session>(scenario_, session_options_)),
        keys_(selected(command.cases(listing_), options)) {}

  void list() const {
    for (const auto& each : keys_) fmt::print("{}\n", each.key());
  }

  Exit dry_run() const {
    say(fmt::format("{} would run {} cases of scenario {}; no device was touched\n", command_.name,
                    keys_.size(), scenario_.name));
    return make_exit(kExitOk, "dry run");
  }

  Exit run() {
    auto report = begin_report(command_.name, scenario_.name, argv_);
    report.level = options_.level;
    report.scenario = describe_scenario(scenario_);
    auto outputs = options_.outputs;
    outputs.replace = options_.force ? Replace::replace : Replace::refuse;
    RunWriter writer(std::move(report), outputs);
    try {
      run_cases(writer);
    } catch (const std::exception& error) {
      writer.verdict().add(error);
      return finish(writer, false);
    }
    for (const auto& reason : vacuous_checks(writer.report().cases))
      writer.verdict().add(kExitInconclusive, reason);
    return finish(writer, true);
  }

 private:
  void run_cases(RunWriter& writer) {
    const auto own = choose_device(options_, std::nullopt, std::nullopt);
    if (!own.note.empty() && !options_.quiet) say(fmt::format("device: {}\n", own.note));
    session_options_.on_cpu = Context::describe(*own.library, own.index).is_cpu != 0;
    session_options_.open_context = [this, own](const auto& kernels, const auto& device) {
      return open_device(kernels || device ? choose_device(options_, kernels, device) : own);
    };
    const auto session = std::make_shared<Session>(scenario_, session_options_);
    const auto& context = session->context();
    writer.report().device = describe_device(context->info());
    writer.report().kernels = describe_kernels(context->library());
    const auto& model = session->model();
    writer.report().model =
        describe_model(scenario_, session->config(), model.weights().digest, model.profile().describe());
    writer.update();
    const auto cases = selected(command_.cases(session), options_);
    const auto colour = wants_colour(options_) ? Colour::ansi : Colour::none;
    std::int64_t number = 0;
    for (const auto& each : cases) {
      auto record = run_case(each);
      const auto line = case_line(record, ++number, static_cast<std::int64_t>(cases.size()), colour);
      writer.record(std::move(record));
      if (!options_.quiet) say(line + "\n");
    }
    for (const auto& [kind, text] : session->model().gemms().describe())
      writer.report().gemm[kind] =
          parse_json(text, fmt::format("the module's description of the {} GEMM handle", kind));
  }

  Exit finish(RunWriter& writer, bool ran_to_end) {
    const auto exit = writer.finish(ran_to_end);
    say(verdict_text(writer.report(), writer.report_path(),
                     wants_colour(options_) ? Colour::ansi : Colour::none));
    return exit;
  }

  const CaseCommand& command_;
  const RunOptions& options_;
  const std::vector<std::string>& argv_;
  Scenario scenario_;
  SessionOptions session_options_;
  std::shared_ptr<Session> listing_;
  std::vector<Case> keys_;
};

}  // namespace

Exit run_scenarios(const CaseCommand& command, RunOptions options, const std::vector<std::string>& argv) {
  const bool one_path =
      options.outputs.report || options.outputs.journal || options.outputs.junit || options.outputs.markdown;
  if (options.scenarios.size() > 1 && one_path)
    throw Error(ErrorCode::usage,
                "--report, --journal, --junit and --markdown name one file; give one scenario at a time");
  ExitDecision worst;
  Exit only;
  for (const auto& name : options.scenarios) {
    ScenarioRun run(command, options, name, argv);
    if (options.list) {
      run.list();
      only = make_exit(kExitOk, "listed");
      continue;
    }
    only = options.dry_run ? run.dry_run() : run.run();
    if (options.scenarios.size() > 1) say(exit_line(only) + "\n\n");
    worst.add(only.code, fmt::format("{}: {}", name, only.reason));
  }
  return options.scenarios.size() == 1 || options.list ? only : worst.decide();
}

}  // namespace branchmark::app
