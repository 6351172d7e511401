#include <fmt/format.h>

#include <memory>

#include "branchmark/scenario/checks.hpp"
#include "commands/commands.hpp"
#include "run_cases.hpp"

namespace branchmark::app {
namespace {

std::string list_of_checks() {
  std::string text = "The checks, and what holds where one passes:\n";
  for (const auto& check : check_table()) text += fmt::format("  {:<26}{}\n", check.name, check.holds_when);
  return text;
}

}  // namespace

Command add_qualify(CLI::App& app) {
  const auto options = std::make_shared<RunOptions>();
  auto* parser = app.add_subcommand(
      "qualify",
      "Proves on this machine that shared-prefix execution gives the bits of the unshared pass.\n\n"
      "Example: branchmark qualify smoke --device cpu");
  add_run_options(*parser, *options);
  add_keep_outputs(*parser, options->outputs);
  parser->footer(list_of_checks() + "\n" + app.get_footer());
  return {parser, [options](const std::vector<std::string>& argv) {
            return run_scenarios({"qualify", qualify_cases}, *options, argv);
          }};
}

}  // namespace branchmark::app
