// Made-up reports for the tests of pages: every picture has something to show, and much of it is awkward.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "branchmark/report/report.hpp"

namespace branchmark::test {

// What may nowhere be taken for markup.
inline const std::string kHostile = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;\x01]]>";

inline CaseRecord timed(std::string check, Parameters parameters, double device_ns, double noise) {
  CaseRecord record;
  record.check = std::move(check);
  record.parameters = std::move(parameters);
  record.outcome = Outcome::pass;
  std::vector<double> device, wall;
  for (int i = 0; i < 25; ++i) {
    device.push_back(device_ns * (1 + noise * std::sin(2.4 * i)));
    wall.push_back(1.03 * device.back() + 5e4);
  }
  record.metrics["device_ns"] = {.unit = "ns", .better = Better::lower, .samples = std::move(device)};
  record.metrics["wall_ns"] = {.unit = "ns", .better = Better::lower, .samples = std::move(wall)};
  return record;
}

inline void add_work(CaseRecord& record, double run_tokens, double asked_tokens, double device_ns) {
  const auto none = Better::none;
  const double flop = 1.4e10 * run_tokens;
  const double bytes = 1.5e10 + 4e6 * run_tokens;
  record.add_metric("asked_tokens", "tokens", none, asked_tokens);
  record.add_metric("saved_tokens", "tokens", none, asked_tokens - run_tokens);
  record.add_metric("asked_tokens_per_second", "tokens/s", none, asked_tokens / device_ns * 1e9);
  record.add_metric("flop", "1", none, flop);
  record.add_metric("traffic_bytes", "bytes", none, bytes);
  record.add_metric("flop_per_second", "1/s", none, flop / device_ns * 1e9);
  record.add_metric("product_ceiling_share", "1", none, flop / device_ns * 1e9 / 8e14);
  record.add_metric("copy_ceiling_share", "1", none, bytes / device_ns * 1e9 / 4e12);
  record.add_metric("state_bytes", "bytes", none, 1.5e8);
  const double share[] = {0.7, 0.12, 0.08, 0.06, 0.04};
  const char* stage[] = {"gemm", "gdn", "attention", "elementwise", "gaps"};
  for (int i = 0; i < 5; ++i)
    record.add_metric(std::string("stage_") + stage[i] + "_ns", "ns", none, share[i] * device_ns);
  record.add_metric("stage_coverage_ratio", "1", none, 0.96);
  record.add_metric("sm_clock_mhz", "MHz", none, 1500);
  record.add_metric("power_w", "W", none, 690.5);
  record.add_metric("power_capped_samples", "1", none, 25);
  record.add_metric("throttled_samples", "1", none, 0);
}

inline void add_singles(Report& report) {
  for (const int tokens : {38, 64, 256, 1024, 3072, 8192})
    for (const auto& [entry, gemm, graph, factor] :
         {std::tuple{"forward", "default", "off", 1.0}, std::tuple{"forward", "default", "on", 0.95},
          std::tuple{"forward_fixed", "fixed", "off", 1.8},
          std::tuple{"forward_fixed", "class", "off", 1.02}}) {
      const double ns = factor * (4e6 + 2.4e4 * tokens);
      auto record = timed(
          "single", {{"tokens", tokens}, {"entry", entry}, {"gemm", gemm}, {"graph", graph}, {"seed", 1}}, ns,
          0.01 + tokens * 1e-6);
      add_work(record, tokens, tokens, ns);
      if (std::string(gemm) == "class")
        record.add_metric("class_over_default_device_ratio", "1", Better::lower, factor);
      if (tokens == 1024 && std::string(gemm) == "fixed") record.invalid_reasons = {"interval_too_wide"};
      report.cases.push_back(std::move(record));
    }
}

inline void add_shared(Report& report) {
  for (const int prefix : {1024, 3093, 8192})
    for (const int tokens : {38, 128})
      for (const int branches : {1, 8, 32})
        for (const auto* way : {"packed", "per_branch", "alone_forward", "alone_fixed"}) {
          const bool alone = std::string(way).starts_with("alone");
          const double asked = double(branches) * (prefix + tokens);
          const double run = alone ? asked : prefix + double(branches) * tokens;
          const double ns = 2.4e4 * run + 4e6 * (std::string(way) == "packed" ? 2 : branches + 1);
          auto record = timed("shared",
                              {{"prefix", prefix},
                               {"branches", branches},
                               {"branch_tokens", tokens},
                               {"way", way},
                               {"gemm", "class"},
                               {"seed", 1}},
                              ns, 0.008);
          add_work(record, run, asked, ns);
          report.cases.push_back(std::move(record));
        }
}

// The grid of a bench of a large model, on a made-up device.
inline Report bench_report(double slower = 1) {
  Report report;
  report.run_id = slower == 1 ? "20260101T000000Z-fixture-00000001" : "20260102T000000Z-fixture-00000002";
  report.command = "bench";
  report.complete = true;
  report.started_at = "2026-01-01T00:00:00.000Z";
  report.ended_at = "2026-01-01T00:05:00.000Z";
  report.exit = make_exit(kExitInconclusive, "6 cases without a verdict");
  report.tool = {"0.0.0", slower == 1 ? std::string(40, 'a') : std::string(40, 'b'), false, "a compiler",
                 "Release"};
  report.argv = {"branchmark", "bench", "fixture"};
  report.device = DeviceInfo{};
  report.device->name = "A device";
  report.device->architecture = "sm_00";
  report.device_before = Json{{"sm_clock_mhz", 1980.0}, {"throttle_reasons", Json::array()}};
  report.device_after = Json{{"sm_clock_mhz", 1500.0}, {"throttle_reasons", {"power_cap"}}};
  report.model = ModelInfo{
      .name = "a-model", .source = "preset", .weights_digest = std::string(64, 'c'), .profile = "default"};
  report.scenario = ScenarioInfo{"fixture", std::string(64, 'd'), "{}\n"};
  CaseRecord product = timed("ceiling", {{"kind", "product"}}, 1.4e6, 0.002);
  product.add_metric("flop_per_second", "1/s", Better::higher, 8e14);
  CaseRecord copy = timed("ceiling", {{"kind", "copy"}}, 1e6, 0.002);
  copy.add_metric("bytes_per_second", "bytes/s", Better::higher, 4e12);
  report.cases = {product, copy};
  add_singles(report);
  add_shared(report);
  for (auto& record : report.cases) {
    record.digests = {std::string(64, 'e')};
    for (auto& sample : record.metrics.at("device_ns").samples)
      if (record.check == "single") sample *= slower;
  }
  return report;
}

// The same with everything that a page must bear: markup in texts, numbers that are none, cases without any.
inline Report awkward_report() {
  auto report = bench_report();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  report.scenario->name = kHostile;
  report.device->name = kHostile;
  report.exit = make_exit(kExitCheckFailed, kHostile);
  report.argv.push_back(kHostile);
  report.environment[kHostile] = kHostile;
  report.device_after = Json{{kHostile, kHostile}, {"power_w", nullptr}};
  const auto add = [&](CaseRecord record) { report.cases.push_back(std::move(record)); };
  const auto single = [](int tokens, double ns) {
    return timed("single", {{"tokens", tokens}, {"entry", "forward"}, {"gemm", kHostile}, {"graph", "off"}},
                 ns, 0.01);
  };
  auto hostile = single(16, 1e6);
  hostile.findings = {{kHostile, Severity::error, kHostile, kHostile}};
  hostile.outcome = Outcome::fail;
  hostile.invalid_reasons = {kHostile};
  add(std::move(hostile));
  for (const double bad : {nan, infinity, -infinity, 0.0, -1.0, 1e-300, 1e300}) {
    auto record = single(int(report.cases.size()), 1e6);
    for (auto& [name, metric] : record.metrics) metric.samples.assign(8, bad);
    add_work(record, bad, bad, bad);
    add(std::move(record));
  }
  auto no_samples = single(9999, 1e6);
  for (auto& [name, metric] : no_samples.metrics) metric.samples.clear();
  add(std::move(no_samples));
  CaseRecord skipped;
  skipped.check = "single";
  skipped.parameters = {{"tokens", kHostile}};
  skipped.outcome = Outcome::skipped;
  skipped.skip_reason = "graph_unsupported";
  add(std::move(skipped));
  CaseRecord bare;
  bare.check = kHostile;
  bare.outcome = Outcome::timeout;
  bare.duration_ns = nan;
  add(std::move(bare));
  return report;
}

}  // namespace branchmark::test
