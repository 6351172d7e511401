#include "branchmark/compare/noise_floor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "branchmark/base/error.hpp"
#include "branchmark/base/json_view.hpp"
#include "branchmark/compare/case_times.hpp"
#include "branchmark/compare/samples.hpp"
#include "branchmark/report/read.hpp"

namespace branchmark {
namespace {

constexpr double kShareBelow = 0.95;
// Nothing is a thousand times as noisy; a file that says so is none of ours.
constexpr double kLargest = 1e3;

}  // namespace

double NoiseFloor::effect_of(const std::string& key, const std::string& metric) const {
  const auto times = cases.find(key);
  if (times == cases.end()) return effect;
  const auto own = times->second.find(metric);
  return own == times->second.end() ? effect : std::max(effect, own->second);
}

NoiseFloor measure_noise_floor(const Side& runs) {
  if (runs.reports().size() < 2)
    throw Error(ErrorCode::usage, "--aa: found one report, expected at least two runs of one commit");
  NoiseFloor floor;
  floor.runs = runs.runs();
  std::vector<double> distances;
  for (const auto& [key, merged] : runs.cases())
    for (auto& [metric, samples] : times_of(merged)) {
      if (samples.size() < 2) continue;
      const auto logs = Samples(samples).log_medians();
      for (std::size_t i = 0; i < logs.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) distances.push_back(std::abs(logs[i] - logs[j]));
      const auto [low, high] = std::minmax_element(logs.begin(), logs.end());
      floor.cases[key][metric] = std::expm1(*high - *low);
    }
  if (distances.empty())
    throw Error(ErrorCode::usage,
                "--aa: found no case with valid times in two of the runs, expected at least "
                "one");
  std::sort(distances.begin(), distances.end());
  floor.effect = std::expm1(quantile(distances, kShareBelow));
  return floor;
}

Json to_json(const NoiseFloor& floor) {
  Json json = {{"schema", schema_json(kNoiseFloorSchema)},
               {"runs", runs_json(floor.runs)},
               {"effect", rounded(floor.effect)},
               {"cases", Json::object()}};
  for (const auto& [key, times] : floor.cases)
    for (const auto& [metric, effect] : times) json["cases"][key][metric] = rounded(effect);
  return json;
}

NoiseFloor noise_floor_from_json(const Json& value, const std::string& origin) {
  const JsonView view(value, origin);
  check_schema(view.at("schema"), kNoiseFloorSchema);
  NoiseFloor floor;
  floor.runs = runs_from_json(view.at("runs"));
  floor.effect = view.at("effect").number(0, kLargest);
  const auto cases = view.at("cases");
  for (const auto& key : cases.keys()) {
    const auto times = cases.at(key);
    for (const auto& metric : times.keys()) floor.cases[key][metric] = times.at(metric).number(0, kLargest);
  }
  return floor;
}

std::string noise_floor_text(const NoiseFloor& floor) {
  constexpr std::size_t kMaxNoisiest = 12;
  std::vector<std::pair<double, std::string>> rows;
  for (const auto& [key, times] : floor.cases)
    for (const auto& [metric, effect] : times) rows.emplace_back(-effect, fmt::format("{} {}", key, metric));
  std::sort(rows.begin(), rows.end());
  auto text = fmt::format(
      "\nNoise floor of {} runs: 95% of all ratios between two of them are within {:.2f}%; the noisiest "
      "times:\n",
      floor.runs.size(), 100 * floor.effect);
  for (std::size_t i = 0; i < std::min(rows.size(), kMaxNoisiest); ++i)
    text += fmt::format("  {:6.2f}%  {}\n", -100 * rows[i].first, rows[i].second);
  if (rows.size() > kMaxNoisiest) text += fmt::format("  {} more\n", rows.size() - kMaxNoisiest);
  return text;
}

}  // namespace branchmark
