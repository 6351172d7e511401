// `bench` of the smoke scenario as a person runs it. Samples are few: how fast this machine is decides
// nothing.
#pragma once

#include <string>
#include <vector>

#include "cli/process.hpp"

namespace branchmark::test {

class BenchCommand : public CommandLine {
 protected:
  Ended bench(const std::vector<std::string>& more, const Variables& variables = {}) {
    std::vector<std::string> arguments = {"bench",      "bench-smoke", "--device",   "cpu",
                                          "--no-cache", "--report",    "report.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    for (const auto* setting : {"bench.target_interval=1", "bench.min_samples=6"}) {
      arguments.emplace_back("--set");
      arguments.emplace_back(setting);
    }
    return run(arguments, variables);
  }
};

}  // namespace branchmark::test
