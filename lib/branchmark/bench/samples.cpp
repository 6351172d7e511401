#include "branchmark/bench/samples.hpp"

#include <utility>

namespace branchmark {

Sample make_sample(const Telemetry& state, double deciding_ns, double other_ns) {
  Sample sample;
  sample.deciding_ns = deciding_ns;
  sample.other_ns = other_ns;
  sample.clock_mhz = state.sm_clock_mhz;
  sample.temperature_celsius = state.temperature_celsius;
  sample.power_w = state.power_w;
  sample.power_capped = is_power_capped(state);
  sample.tag = spoiling_reason(state);
  return sample;
}

std::vector<double> kept_times(const Series& series, SampleTime time) {
  std::vector<double> times;
  for (const auto& sample : series.samples)
    if (sample.tag.empty()) times.push_back(sample.*time);
  return times;
}

void add_samples(CaseRecord& record, const std::string& name, std::string unit, Better better,
                 std::vector<double> samples, double factor) {
  for (auto& sample : samples) sample *= factor;
  record.metrics[name] = {
      .unit = std::move(unit), .better = better, .samples = std::move(samples), .derived = factor != 1};
}

void add_device_state(CaseRecord& record, const Series& series) {
  std::vector<double> clocks, temperatures, powers;
  std::int64_t capped = 0;
  for (const auto& sample : series.samples) {
    if (sample.clock_mhz) clocks.push_back(*sample.clock_mhz);
    if (sample.temperature_celsius) temperatures.push_back(*sample.temperature_celsius);
    if (sample.power_w) powers.push_back(*sample.power_w);
    if (sample.power_capped) ++capped;
  }
  if (!clocks.empty()) add_samples(record, "sm_clock_mhz", "MHz", Better::none, std::move(clocks), 1);
  if (!temperatures.empty())
    add_samples(record, "temperature_celsius", "degC", Better::none, std::move(temperatures), 1);
  if (!powers.empty()) add_samples(record, "power_w", "W", Better::none, std::move(powers), 1);
  const auto tagged = std::ssize(series.samples) - series.num_kept();
  record.add_metric("throttled_samples", "1", Better::lower, static_cast<double>(tagged));
  record.add_metric("power_capped_samples", "1", Better::none, static_cast<double>(capped));
}

}  // namespace branchmark
