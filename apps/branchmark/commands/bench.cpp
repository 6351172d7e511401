#include <unistd.h>

#include <cstdio>
#include <memory>

#include "branchmark/bench/bench_cases.hpp"
#include "branchmark/bench/bench_text.hpp"
#include "commands/commands.hpp"
#include "run_cases.hpp"

namespace branchmark::app {
namespace {

// On a terminal, in place of the line that follows the running case.
void say_over(const std::string& text) {
  std::fputs(((isatty(STDERR_FILENO) != 0 ? "\r\x1b[K" : "") + text + "\n").c_str(), stderr);
}

}  // namespace

Command add_bench(CLI::App& app) {
  const auto options = std::make_shared<RunOptions>();
  auto* parser = app.add_subcommand(
      "bench",
      "Times a scenario: single passes, and prompts that share a prefix packed, one pass a branch and "
      "alone.\n"
      "A number counts only with a passing comparison of its outputs with forward_fixed in the same run.\n\n"
      "Example: branchmark bench bench-smoke --device cpu");
  add_run_options(*parser, *options);
  return {parser, [options](const std::vector<std::string>& argv) {
            BenchOptions bench;
            if (!options->quiet) bench.progress = [](const std::string& text) { say_over(text); };
            const auto cases = [bench](const std::shared_ptr<Session>& session) {
              return bench_cases(session, bench);
            };
            return run_scenarios({"bench", cases, bench_text}, *options, argv);
          }};
}

}  // namespace branchmark::app
