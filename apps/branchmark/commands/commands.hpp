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

Command add_qualify(CLI::App& app);
Command add_parity(CLI::App& app);

}  // namespace branchmark::app
