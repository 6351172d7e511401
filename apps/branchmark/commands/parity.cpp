#include "branchmark/verify/parity.hpp"

#include <fmt/format.h>

#include <memory>

#include "commands/commands.hpp"
#include "run_cases.hpp"

namespace branchmark::app {

Command add_parity(CLI::App& app) {
  const auto options = std::make_shared<RunOptions>();
  auto* parser = app.add_subcommand(
      "parity",
      "Compares two ways of computing the same prompts, layer by layer: two entry points, kernel modules, "
      "devices or\n"
      "numerics, or a recorded reference. The scenario's `parity` and `reference` say which.\n\n"
      "Example: branchmark parity my-scenario.json --device cpu");
  add_run_options(*parser, *options);
  return {parser, [options](const std::vector<std::string>& argv) {
            const auto cases = [](const std::shared_ptr<Session>& session) {
              if (!session->scenario().parity)
                throw Error(
                    ErrorCode::usage,
                    fmt::format("scenario {}: /parity: missing; expected what parity is to compare, an "
                                "object with left and, unless the scenario has a reference, right",
                                session->scenario().name));
              return parity_cases(session);
            };
            return run_scenarios({"parity", cases}, *options, argv);
          }};
}

}  // namespace branchmark::app
