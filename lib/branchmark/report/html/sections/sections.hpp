// The sections of a report's page. Each is empty where the report holds nothing for it.
#pragma once

#include <optional>
#include <vector>

#include "branchmark/report/html/page.hpp"
#include "branchmark/report/report.hpp"

namespace branchmark::html {

// Of `bench`; `report` is one side's.
std::optional<Section> single_passes_section(const Report& report);
std::optional<Section> shared_prefix_section(const Report& report);
std::optional<Section> stages_section(const Report& report);
std::optional<Section> sample_spread_section(const Report& report);
std::optional<Section> roofline_section(const Report& report);
std::optional<Section> device_state_section(const Report& report);
// What a reader should take home of the above.
std::vector<Tile> bench_tiles(const Report& report);

// Of `bench --against`: both sides.
std::optional<Section> against_section(const Report& report);

// Of any command.
std::optional<Section> findings_section(const Report& report);
std::optional<Section> cases_section(const Report& report);
Section run_facts_section(const Report& report);

}  // namespace branchmark::html
