// A plan as a table for people and as JSON for programs.
//
//   {"schema":{"name":"branchmark-plan","version":"1.0"},"source":...,"model":{...},"packing":...,
//    "requests":[{"params":{...},"prompts":..,"tokens_asked":..,"tokens_run":..,"tokens_saved":..,"passes":..,
//    "runs":..,"levels":..,"states_captured":..,"states_resumed":..,"max_pass_rows":..,"state_bytes":..,
//    "scratch_bytes":..,"device_bytes":..,"shared_prefixes":[{"path":..,"tokens":..,"captured_tokens":..,
//    "prompts":..}],"shared_ns":..,"alone_ns":..}],"rates":...}
//
// What is not known is null, with the reason under `null_reasons`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan_summary.hpp"

namespace branchmark::app {

struct PlanText {
  std::string source;
  std::string packing;
  std::string model;
  std::string model_note;
  std::int64_t weight_bytes = 0;
  std::optional<std::string> rates_basis;
  std::vector<RequestPlan> requests;
};

std::string plan_table(const PlanText& plan);
std::string plan_json(const PlanText& plan);
// One line: what sharing saves over all requests.
std::string plan_verdict(const PlanText& plan);

}  // namespace branchmark::app
