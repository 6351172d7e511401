// The commands, one file each. `add_*` describes a command to the parser and returns what carries it out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "branchmark/report/exit_code.hpp"

namespace branchmark::app {

struct Command {
  CLI::App* parser = nullptr;
  std::function<Exit(const std::vector<std::string>& argv)> run;
};

Command add_bench(CLI::App& app);
Command add_compare(CLI::App& app);
Command add_devices(CLI::App& app);
Command add_parity(CLI::App& app);
Command add_plan(CLI::App& app);
Command add_profile_check(CLI::App& app);
Command add_qualify(CLI::App& app);
// Prints what the parser knows of `app`; call it after the other commands were added.
Command add_reference(CLI::App& app);
Command add_report(CLI::App& app);

}  // namespace branchmark::app
