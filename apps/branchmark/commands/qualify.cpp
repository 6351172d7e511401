#include <memory>

#include "commands/commands.hpp"
#include "run_cases.hpp"

namespace branchmark::app {

Command add_qualify(CLI::App& app) {
  const auto options = std::make_shared<RunOptions>();
  auto* parser = app.add_subcommand(
      "qualify",
      "Proves on this machine that shared-prefix execution gives the bits of the unshared pass.\n\n"
      "Example: branchmark qualify smoke --device cpu");
  add_run_options(*parser, *options);
  return {parser, [options](const std::vector<std::string>& argv) {
            return run_scenarios({"qualify", qualify_cases}, *options, argv);
          }};
}

}  // namespace branchmark::app
