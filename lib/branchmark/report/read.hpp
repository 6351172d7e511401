// Reading of parts that more than one reader meets.
#pragma once

#include <filesystem>

#include "branchmark/base/json_view.hpp"
#include "branchmark/report/case_record.hpp"
#include "branchmark/report/report.hpp"

namespace branchmark {

CaseRecord read_case_record(const JsonView& view);
// All but the cases.
Report report_header_from_json(const JsonView& view);

// Says where the kept outputs of a report that was read from `file` lie.
void resolve_kept_outputs(Report& report, const std::filesystem::path& file);

// Refuses another schema than `name` and another major version than ours; a newer minor one is accepted.
void check_schema(const JsonView& schema, std::string_view name);

}  // namespace branchmark
