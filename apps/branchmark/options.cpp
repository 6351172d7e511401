#include "options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <limits>

#include <CLI/CLI.hpp>

#include "branchmark/device/select.hpp"

namespace branchmark::app {
namespace {

// A number of seconds, as text: above 0, at most ten years.
std::string check_seconds(const std::string& text) {
  double seconds = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  if (error == std::errc() && stop == end && seconds > 0 && seconds <= 3e8) return "";
  return fmt::format("found \"{}\", expected a number of seconds above 0", text);
}

std::string check_seed(const std::string& text) {
  std::int64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seed);
  if (error == std::errc() && stop == end && seed >= 0) return "";
  return fmt::format("found \"{}\", expected a whole number from 0 to {}", text,
                     std::numeric_limits<std::int64_t>::max());
}

// A word as a shell takes it.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_-./=:,+@%") == std::string::npos;
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

void add_run_options(CLI::App& command, RunOptions& options) {
  command
      .add_option("scenario", options.scenarios,
                  "Scenario files, or names of shipped ones (smoke, qualify-4b, ...)")
      ->required()
      ->type_name("SCENARIO");
  command
      .add_option("--device", options.device,
                  "auto (the first eligible CUDA device, else the CPU), cpu, cuda, cuda:N or a UUID")
      ->capture_default_str()
      ->check(check_device_name)
      ->type_name("DEVICE");
  command.add_option("--kernels", options.kernels, "Another build of the kernel module")
      ->type_name("LIBRARY");
  command
      .add_option("--checkpoint", options.overrides.checkpoint,
                  "Replaces the scenario's model by a checkpoint")
      ->type_name("DIR");
  command.add_option("--model", options.overrides.preset, "Replaces the scenario's model by a preset")
      ->type_name("PRESET");
  command
      .add_option("--set", options.overrides.set,
                  "Changes one scenario key before it is checked: a.b.0=VALUE, VALUE as JSON or else as text")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--seed", options.overrides.seed, "Replaces prompts.seed and model.seed")
      ->check(check_seed)
      ->type_name("N");
  command
      .add_option("--filter", options.filter, "Only cases whose key holds a match of this regular expression")
      ->type_name("REGEX");
  command.add_flag("--list", options.list, "Print the keys of the selected cases and stop");
  command.add_flag("--dry-run", options.dry_run,
                   "Check scenario and outputs, say what would run, touch no device");
  command.add_option("--level", options.level, "quick (fewer sizes, one repeat), medium, long (300 repeats)")
      ->capture_default_str()
      ->check(CLI::IsMember({"quick", "medium", "long"}))
      ->type_name("LEVEL");
  command
      .add_option("--report", options.outputs.report,
                  "Where the report goes [branchmark-out/<run-id>/report.json]")
      ->type_name("FILE");
  command.add_option("--journal", options.outputs.journal, "Where the journal goes [beside the report]")
      ->type_name("FILE");
  add_rendering_options(command, options.outputs, options.force);
  command
      .add_option("--case-timeout", options.case_timeout_s,
                  "A case that takes longer is killed and is a timeout; opening the device and the model may "
                  "take ten times as long [30 times the planned time, which is that of the longest case so "
                  "far, and at least 120]")
      ->check(check_seconds)
      ->type_name("S");
  command
      .add_option("--time-budget", options.time_budget_s,
                  "No case begins after so many seconds; what is left makes the run inconclusive")
      ->check(check_seconds)
      ->type_name("S");
  command.add_flag("--in-process", options.in_process,
                   "Run the cases in this process, for a debugger: no timeout, and a crash ends the run");
  command.add_option("--cache", options.cache, "Where proven GEMM tables are kept [the user's cache folder]")
      ->type_name("DIR");
  command.add_flag("--no-cache", options.no_cache, "Keep no GEMM tables");
  add_terminal_options(command, options.quiet, options.no_color);
}

void add_keep_outputs(CLI::App& command, RunOutputs& outputs) {
  command
      .add_option("--keep-outputs", outputs.kept_outputs,
                  "Also keep every output whose digest is in the report, as a file of this folder, so that "
                  "compare can say how far apart two are")
      ->type_name("DIR");
}

void add_rendering_options(CLI::App& command, RunOutputs& outputs, bool& force) {
  command.add_option("--junit", outputs.junit, "Also write JUnit XML; - is stdout")->type_name("FILE");
  command.add_option("--markdown", outputs.markdown, "Also write Markdown; - is stdout")->type_name("FILE");
  command.add_option("--html", outputs.html, "Also write a page with pictures; - is stdout")
      ->type_name("FILE");
  command
      .add_option_function<std::string>(
          "--annotations", [&outputs](const std::string&) { outputs.annotations = "-"; },
          "Also write findings to stdout as a CI server shows them beside the code: github")
      ->check(CLI::IsMember({"github"}))
      ->type_name("FORM");
  command.add_flag("--force", force, "Replace existing outputs");
}

void add_terminal_options(CLI::App& command, bool& quiet, bool& no_color) {
  command.add_flag("--quiet", quiet, "No line per case, only the verdict");
  command.add_flag("--no-color", no_color, "No colours (also with NO_COLOR set)");
}

Level level_of(const RunOptions& options) {
  return options.level == "quick" ? Level::quick : options.level == "long" ? Level::full : Level::medium;
}

Colour colour_for(bool no_color) {
  const char* variable = std::getenv("NO_COLOR");
  const bool wanted = !no_color && (variable == nullptr || *variable == '\0') && isatty(STDERR_FILENO) != 0;
  return wanted ? Colour::ansi : Colour::none;
}

std::string repeat_command(const std::string& command, const std::string& scenario,
                           const RunOptions& options) {
  auto text = fmt::format("branchmark {} {}", command, quoted(scenario));
  const auto add = [&](const char* flag, const std::string& value) {
    text += fmt::format(" {} {}", flag, quoted(value));
  };
  if (options.device != "auto") add("--device", options.device);
  if (options.kernels) add("--kernels", *options.kernels);
  if (options.against) add("--against", *options.against);
  if (options.ops) text += " --ops";
  if (options.overrides.checkpoint) add("--checkpoint", *options.overrides.checkpoint);
  if (options.overrides.preset) add("--model", *options.overrides.preset);
  for (const auto& change : options.overrides.set) add("--set", change);
  if (options.overrides.seed) add("--seed", std::to_string(*options.overrides.seed));
  if (options.level != "medium") add("--level", options.level);
  return text;
}

std::filesystem::path gemm_cache_file(const RunOptions& options) {
  if (options.no_cache) return {};
  if (options.cache) return std::filesystem::path(*options.cache) / "gemm-classes.json";
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0')
    return std::filesystem::path(cache) / "branchmark/gemm-classes.json";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return {};
  return std::filesystem::path(home) / ".cache/branchmark/gemm-classes.json";
}

}  // namespace branchmark::app
