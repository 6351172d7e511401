// The A/A noise floor: how far the times of identical code lie apart from run to run. It is measured with
// `compare --aa` on repeated runs of one commit, can be kept in a file
// (results-schema/noise_floor.schema.json), and no effect below it counts.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "branchmark/base/json.hpp"
#include "branchmark/compare/side.hpp"

namespace branchmark {

inline constexpr std::string_view kNoiseFloorSchema = "branchmark-noise-floor";

struct NoiseFloor {
  std::vector<ComparedRun> runs;
  // 95% of the ratios between two runs' medians, over all times of all cases, are no larger: 0.01 for 1%.
  double effect = 0;
  // The largest ratio seen of each time: by case, then by metric.
  std::map<std::string, std::map<std::string, double>> cases;

  // For one time: its own or the common one, whichever is larger; the common one for a case not seen.
  double effect_of(const std::string& key, const std::string& metric) const;
};

// Throws usage for fewer than two runs and for runs without a time that all of them hold.
NoiseFloor measure_noise_floor(const Side& runs);

Json to_json(const NoiseFloor& floor);
NoiseFloor noise_floor_from_json(const Json& value, const std::string& origin);
// A table for a person, the noisiest cases first.
std::string noise_floor_text(const NoiseFloor& floor);

}  // namespace branchmark
