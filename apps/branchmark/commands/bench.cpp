#include <unistd.h>

#include <cstdio>
#include <memory>

#include "branchmark/bench/against_text.hpp"
#include "branchmark/bench/bench_cases.hpp"
#include "branchmark/bench/bench_text.hpp"
#include "branchmark/bench/ops/op_cases.hpp"
#include "branchmark/bench/ops/ops_text.hpp"
#include "branchmark/report/one_side.hpp"
#include "commands/commands.hpp"
#include "run_cases.hpp"

namespace branchmark::app {
namespace {

// On a terminal, in place of the line that follows the running case.
void say_over(const std::string& text) {
  std::fputs(((isatty(STDERR_FILENO) != 0 ? "\r\x1b[K" : "") + text + "\n").c_str(), stderr);
}

std::string text_of(const Report& report) {
  const auto own = one_side(report, "a");
  return bench_text(own) + ops_text(own) + against_text(report);
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
  add_keep_outputs(*parser, options->outputs);
  parser->add_flag("--ops", options->ops,
                   "Time the ops of the kernel module one by one instead, at the model's sizes");
  parser
      ->add_option(
          "--against", options->against,
          "Another build of the kernel module, measured in the same process by turns with the first; "
          "outputs are compared")
      ->type_name("LIBRARY");
  return {parser, [options](const std::vector<std::string>& argv) {
            BenchOptions bench;
            if (options->against) bench.against = *options->against;
            if (!options->quiet) bench.progress = [](const std::string& text) { say_over(text); };
            const auto cases = [bench, ops = options->ops](const std::shared_ptr<Session>& session) {
              return ops ? op_cases(session, bench) : bench_cases(session, bench);
            };
            return run_scenarios({"bench", cases, text_of}, *options, argv);
          }};
}

}  // namespace branchmark::app
