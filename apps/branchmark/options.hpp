// The options that every running command shares. CLI11's description of them is the one table: parsing, help
// and reference are made from it. Parsing touches nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "branchmark/report/human.hpp"
#include "branchmark/report/run_writer.hpp"
#include "branchmark/scenario/load.hpp"
#include "branchmark/verify/session.hpp"

// Its header takes as long to compile as all the rest; who adds options includes it.
namespace CLI {
class App;
}

namespace branchmark::app {

struct RunOptions {
  std::vector<std::string> scenarios;
  std::string device = "auto";
  std::optional<std::string> kernels;
  std::optional<std::string> against;  // of bench: see add_bench
  bool ops = false;                    // of bench
  ScenarioOverrides overrides;
  std::optional<std::string> filter;
  bool list = false;
  bool dry_run = false;
  std::string level = "medium";
  RunOutputs outputs;
  bool force = false;
  std::optional<std::string> cache;
  bool no_cache = false;
  std::optional<double> case_timeout_s;  // absent: see CaseLimits
  std::optional<double> time_budget_s;
  bool in_process = false;
  bool quiet = false;
  bool no_color = false;
};

// Adds the scenarios and every shared option to a command.
void add_run_options(CLI::App& command, RunOptions& options);
// --keep-outputs, for a command whose report has digests.
void add_keep_outputs(CLI::App& command, RunOutputs& outputs);
// Where renderings of a report go, and --force.
void add_rendering_options(CLI::App& command, RunOutputs& outputs, bool& force);
// --quiet and --no-color.
void add_terminal_options(CLI::App& command, bool& quiet, bool& no_color);

Level level_of(const RunOptions& options);
// For stderr: none with --no-color or NO_COLOR, nor where stderr is no terminal.
Colour colour_for(bool no_color);
// The command line again, without what selects cases and places outputs: --filter and a key may be added to
// it.
std::string repeat_command(const std::string& command, const std::string& scenario,
                           const RunOptions& options);
// The GEMM table's place: --cache, else below XDG_CACHE_HOME or ~/.cache; empty with --no-cache.
std::filesystem::path gemm_cache_file(const RunOptions& options);

}  // namespace branchmark::app
