// What the machine and the process are: the parts of a report that no device and no scenario decides.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "branchmark/report/report.hpp"

namespace branchmark {

HostInfo describe_host();

// This build of branchmark.
ToolInfo describe_tool();

// The variables of the process that can change bits or speed, and no other.
std::map<std::string, std::string> recorded_environment();
bool is_recorded_variable(std::string_view name);

// Arguments as a report may hold them: the home folder becomes "~", and the value of anything that is called
// a token, secret, password or key, and what stands before "@" in a URL, becomes "***".
std::vector<std::string> redacted(const std::vector<std::string>& argv);

// RFC 3339, UTC, milliseconds: "2026-01-31T12:00:00.000Z".
std::string utc_now();

}  // namespace branchmark
