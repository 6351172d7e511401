#include "branchmark/verify/profile_check.hpp"

#include <memory>

#include "commands/commands.hpp"
#include "run_cases.hpp"

namespace branchmark::app {

Command add_profile_check(CLI::App& app) {
  const auto options = std::make_shared<RunOptions>();
  auto* parser = app.add_subcommand(
      "profile-check",
      "Tries every execution profile (unmerged LoRA adapter, numerics reference, gdn fp32, alone and "
      "together) at "
      "every\n"
      "entry point, whatever the scenario says of them. What is admitted runs and is compared with numerics\n"
      "reference; what is not must be refused before any module call and any allocation.\n\n"
      "Example: branchmark profile-check profile-check --device cpu");
  add_run_options(*parser, *options);
  add_keep_outputs(*parser, options->outputs);
  return {parser, [options](const std::vector<std::string>& argv) {
            const auto cases = [](const std::shared_ptr<Session>& session) { return profile_cases(session); };
            return run_scenarios({"profile-check", cases, profile_text}, *options, argv);
          }};
}

}  // namespace branchmark::app
