#include "case_loop.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <regex>

#include "branchmark/device/select.hpp"
#include "branchmark/report/describe.hpp"
#include "branchmark/verify/run_case.hpp"

namespace branchmark::app {
namespace {

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

SessionOptions session_options(const CaseCommand& command, const RunOptions& options,
                               const std::string& scenario_name) {
  std::optional<KeptOutputs> kept;
  if (options.outputs.kept_outputs) kept.emplace(*options.outputs.kept_outputs);
  return {.level = level_of(options),
          .command = repeat_command(command.name, scenario_name, options),
          .open_context = {},
          .on_cpu = options.device == "cpu",
          .gemm = {.trust_cache = false, .cache_file = gemm_cache_file(options)},
          .kept_outputs = std::move(kept)};
}

// A device without counters (a CPU) has none in its report.
void add_counters(Report& facts, std::optional<Json>& counters, TelemetrySource& telemetry) {
  if (facts.device->is_cpu) return;
  counters = describe_counters(telemetry);
  const auto& limit = counters->at("power_limit_w");
  if (limit.is_number()) facts.device->power_limit_w = limit.get<double>();
}

}  // namespace

std::shared_ptr<Session> make_listing(const CaseCommand& command, const RunOptions& options,
                                      const Scenario& scenario, const std::string& scenario_name) {
  return std::make_shared<Session>(scenario, session_options(command, options, scenario_name));
}

std::vector<Case> select_cases(std::vector<Case> cases, const RunOptions& options) {
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

void run_case_loop(const CaseCommand& command, const RunOptions& options, const Scenario& scenario,
                   const std::string& scenario_name, std::int64_t first, RunEvents& events) {
  const auto own = choose_device(options, std::nullopt, std::nullopt);
  auto opening = session_options(command, options, scenario_name);
  opening.on_cpu = Context::describe(*own.library, own.index).is_cpu != 0;
  opening.open_context = [&options, own](const auto& kernels, const auto& device) {
    return open_device(kernels || device ? choose_device(options, kernels, device) : own);
  };
  const auto session = std::make_shared<Session>(scenario, std::move(opening));
  const auto& context = session->context();
  auto facts = begin_report(command.name, scenario.name, {});
  facts.device = describe_device(context->info());
  facts.kernels = describe_kernels(context->library());
  if (options.against) facts.kernels_against = describe_kernels(*KernelLibrary::load(*options.against));
  const auto telemetry = open_telemetry(context->info());
  add_counters(facts, facts.device_before, *telemetry);
  const auto& model = session->model();
  facts.model =
      describe_model(scenario, session->config(), model.weights().digest, model.profile().describe());

  const auto cases = select_cases(command.cases(session), options);
  const auto num_cases = static_cast<std::int64_t>(cases.size());
  events.opened(facts, num_cases, own.note);
  for (auto index = first; index < num_cases; ++index) {
    const auto& each = cases[static_cast<std::size_t>(index)];
    CaseRecord named;
    named.check = each.check;
    named.parameters = each.parameters;
    if (!events.begins(named, each.planned_s ? each.planned_s() : 0)) break;
    events.ended(run_case(each));
  }
  for (const auto& [kind, text] : session->model().gemms().describe())
    facts.gemm[kind] = parse_json(text, fmt::format("the module's description of the {} GEMM handle", kind));
  add_counters(facts, facts.device_after, *telemetry);
  events.closing(facts);
}

}  // namespace branchmark::app
