#include <fmt/format.h>

#include <algorithm>

#include "branchmark/report/html/case_values.hpp"
#include "branchmark/report/html/number_text.hpp"
#include "branchmark/report/html/sections/sections.hpp"

namespace branchmark::html {
namespace {

struct State {
  const CaseRecord* record = nullptr;
  double samples = 0;
  double capped = 0;
  double throttled = 0;
};

std::vector<State> states_of(const Report& report) {
  std::vector<State> states;
  for (const auto& record : report.cases) {
    const auto capped = median_of(record, "power_capped_samples");
    const auto throttled = median_of(record, "throttled_samples");
    if (!capped && !throttled && !median_of(record, "sm_clock_mhz")) continue;
    const auto wall = estimate_of(record, "wall_ns");
    states.push_back({&record, wall ? static_cast<double>(wall->sorted.size()) : 0, capped.value_or(0),
                      throttled.value_or(0)});
  }
  // What spoils samples before what is only told.
  std::stable_sort(states.begin(), states.end(), [](const State& one, const State& other) {
    return std::pair(one.throttled, one.capped) > std::pair(other.throttled, other.capped);
  });
  return states;
}

std::string range_text(const CaseRecord& record, const std::string& metric, std::string_view unit) {
  const auto estimate = estimate_of(record, metric);
  if (!estimate) return "-";
  return fmt::format("{} ({} to {})", value_text(estimate->median, unit),
                     count_text(estimate->sorted.front()), count_text(estimate->sorted.back()));
}

std::string single_text(const CaseRecord& record, const std::string& metric, std::string_view unit) {
  const auto value = median_of(record, metric);
  return value ? value_text(*value, unit) : "-";
}

std::string lead_text(const std::vector<State>& states) {
  const auto count = [&](double State::*member) {
    return std::count_if(states.begin(), states.end(), [&](const State& state) { return state.*member > 0; });
  };
  const auto capped = count(&State::capped);
  const auto throttled = count(&State::throttled);
  return fmt::format(
      "{} {}",
      throttled > 0 ? fmt::format("In {} of {} cases heat or a weak supply held samples back: they are "
                                  "tagged and do not count.",
                                  throttled, states.size())
                    : "No sample was throttled.",
      capped > 0 ? fmt::format("The power limit held the clocks back in {} of {} cases: compare "
                               "with devices of the same limit.",
                               capped, states.size())
                 : "The power limit held nothing back.");
}

std::string counter_text(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    std::string text;
    for (const auto& part : value) text += (text.empty() ? "" : ", ") + counter_text(part);
    return text.empty() ? "none" : text;
  }
  return value.dump();
}

Table counters_table(const Report& report) {
  Table table{.title = "Device before and after",
              .columns = {{"counter", Align::text}, {"before"}, {"after"}},
              .rows = {}};
  const auto before = report.device_before.value_or(Json::object());
  const auto after = report.device_after.value_or(Json::object());
  auto names = before;
  if (names.is_object() && after.is_object()) names.update(after);
  if (!names.is_object()) return table;
  const auto of = [](const Json& counters, const std::string& name) {
    return counters.is_object() && counters.contains(name) ? counter_text(counters.at(name))
                                                           : std::string("-");
  };
  for (const auto& [name, value] : names.items())
    if (name != "null_reasons") table.rows.push_back({name, of(before, name), of(after, name)});
  return table;
}

}  // namespace

std::optional<Section> device_state_section(const Report& report) {
  const auto states = states_of(report);
  if (states.empty()) return std::nullopt;
  Table table{.title = "Clocks, power, memory, by case",
              .columns = {{"case", Align::text},
                          {"throttled"},
                          {"power-capped"},
                          {"clock, MHz"},
                          {"power, W"},
                          {"temperature, \u00b0C"},
                          {"energy a call"},
                          {"peak memory"}},
              .rows = {}};
  for (const auto& state : states)
    table.rows.push_back(
        {state.record->key(), count_text(state.throttled),
         fmt::format("{} of {}", count_text(state.capped), count_text(state.samples + state.throttled)),
         range_text(*state.record, "sm_clock_mhz", ""), range_text(*state.record, "power_w", ""),
         range_text(*state.record, "temperature_celsius", ""),
         single_text(*state.record, "energy_joules", "J"),
         single_text(*state.record, "peak_device_bytes", "bytes")});
  Section section{.title = "The device while it worked", .lead = lead_text(states), .rest = draw(table)};
  const auto counters = counters_table(report);
  if (!counters.rows.empty()) section.rest += draw(counters);
  return section;
}

}  // namespace branchmark::html
