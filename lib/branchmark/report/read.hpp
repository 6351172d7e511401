// Reading of parts that more than one reader meets.
#pragma once

#include "branchmark/base/json_view.hpp"
#include "branchmark/report/case_record.hpp"
#include "branchmark/report/report.hpp"

namespace branchmark {

CaseRecord read_case_record(const JsonView& view);
// All but the cases.
Report report_header_from_json(const JsonView& view);

// Refuses another schema than `name` and another major version than ours; a newer minor one is accepted.
void check_schema(const JsonView& schema, std::string_view name);

}  // namespace branchmark
