// Samples on their way from a device to the record of a case: what every kind of series shares.
#pragma once

#include <string>
#include <vector>

#include "branchmark/bench/rounds.hpp"
#include "branchmark/device/telemetry.hpp"
#include "branchmark/report/case_record.hpp"

namespace branchmark {

// A sample taken in this state of the device, tagged where the state spoils it.
Sample make_sample(const Telemetry& state, double deciding_ns, double other_ns);

// Which of a sample's times is which: a CPU's deciding time is the wall's, another device's its own.
using SampleTime = double Sample::*;
constexpr SampleTime wall_time(bool is_cpu) {
  return is_cpu ? &Sample::deciding_ns : &Sample::other_ns;
}
constexpr SampleTime device_time(bool is_cpu) {
  return is_cpu ? &Sample::other_ns : &Sample::deciding_ns;
}
// Of kept samples, in the order in which they were taken.
std::vector<double> kept_times(const Series& series, SampleTime time);

// A metric of all samples, each multiplied by `factor` and then derived unless that is 1.
void add_samples(CaseRecord& record, const std::string& name, std::string unit, Better better,
                 std::vector<double> samples, double factor);

// Clocks, temperatures and powers of the samples, and how many were tagged. What the device does not tell is
// left out; the report's device_before says why.
void add_device_state(CaseRecord& record, const Series& series);

}  // namespace branchmark
