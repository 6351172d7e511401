#include "branchmark/report/one_side.hpp"

#include <algorithm>

namespace branchmark {

std::string parameter_text(const CaseRecord& record, std::string_view name) {
  for (const auto& [key, value] : record.parameters)
    if (key == name) return value.is_string() ? value.get<std::string>() : value.dump();
  return "";
}

Report one_side(const Report& report, std::string_view side) {
  auto alone = report;
  if (!report.kernels_against) return alone;
  if (side == "b") alone.kernels = report.kernels_against;
  alone.kernels_against.reset();
  std::erase_if(alone.cases,
                [&](const CaseRecord& record) { return parameter_text(record, "side") != side; });
  for (auto& record : alone.cases)
    std::erase_if(record.parameters, [](const auto& parameter) { return parameter.first == "side"; });
  return alone;
}

}  // namespace branchmark
