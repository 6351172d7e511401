// `plan`: what sharing saves, without a device.

#include <chrono>
#include <cmath>
#include <random>

#include "cli/process.hpp"

namespace branchmark {
namespace {

using test::expect_exit;

class Plan : public test::CommandLine {
 protected:
  Json plan(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "plan");
    arguments.insert(arguments.end(), {"--json", "-"});
    const auto ended = run(arguments);
    expect_exit(ended, 0, {});
    return parse_json(ended.out, "stdout");
  }
  // Prompts of `count` tokens: the first `shared` the same in all.
  static std::string prompts(int number, int count, int shared, int first_shared = 7) {
    std::string text;
    for (int i = 0; i < number; ++i) {
      text += "[";
      for (int t = 0; t < count; ++t)
        text +=
            (t == 0 ? "" : ",") + std::to_string(t < shared ? first_shared + t : 1000 * (i + 1) + t % 1000);
      text += "]\n";
    }
    return text;
  }
};

TEST_F(Plan, FindsThePrefixesOfAFlatList) {
  folder_.write("p.jsonl", prompts(5, 200, 150));
  const auto found = plan({"p.jsonl"});
  EXPECT_EQ(found.at("schema").at("name"), "branchmark-plan");
  EXPECT_EQ(found.at("model").at("name"), "qwen3.5-4b");
  ASSERT_EQ(found.at("requests").size(), 1u);
  const auto& one = found.at("requests")[0];
  EXPECT_EQ(one.at("prompts"), 5);
  EXPECT_EQ(one.at("tokens_asked"), 1000);
  // 128 of the 150 shared tokens run once: state is captured at a multiple of 64.
  EXPECT_EQ(one.at("tokens_run"), 128 + 5 * 72);
  EXPECT_EQ(one.at("tokens_saved"), 1000 - 128 - 5 * 72);
  EXPECT_EQ(one.at("passes"), 2);
  EXPECT_EQ(one.at("levels"), 2);
  EXPECT_EQ(one.at("states_captured"), 1);
  EXPECT_EQ(one.at("states_resumed"), 5);
  ASSERT_EQ(one.at("shared_prefixes").size(), 1u);
  EXPECT_EQ(one.at("shared_prefixes")[0].at("tokens"), 150);
  EXPECT_EQ(one.at("shared_prefixes")[0].at("captured_tokens"), 128);
  EXPECT_EQ(one.at("shared_prefixes")[0].at("prompts"), 5);
  // 50 MiB, and 32 KiB a position held in steps of at least 128.
  EXPECT_GE(one.at("state_bytes").get<std::int64_t>(), 50 * (1 << 20) + 128 * (32 << 10));
  EXPECT_GT(one.at("scratch_bytes").get<std::int64_t>(), 0);
  EXPECT_EQ(one.at("device_bytes").get<std::int64_t>(),
            found.at("model").at("weight_bytes").get<std::int64_t>() +
                one.at("state_bytes").get<std::int64_t>() + one.at("scratch_bytes").get<std::int64_t>());
  EXPECT_EQ(plan({"p.jsonl", "--packing", "per_branch"}).at("requests")[0].at("passes"), 6);
}

// K11
TEST_F(Plan, K11NothingSharedIsSaid) {
  folder_.write("p.jsonl", prompts(3, 100, 63));
  expect_exit(run({"plan", "p.jsonl"}), 0, {"nothing is shared", "300"});
  EXPECT_EQ(plan({"p.jsonl"}).at("requests")[0].at("tokens_saved"), 0);
}

TEST_F(Plan, AScenarioHasAPlanForEachRequest) {
  write_scenario();
  const auto found = plan({"small.json"});
  EXPECT_EQ(found.at("model").at("name"), "qwen3.5-smoke");
  ASSERT_EQ(found.at("requests").size(), 2u);
  EXPECT_EQ(found.at("requests")[1].at("params").at("prefix"), 70);
  EXPECT_EQ(found.at("requests")[1].at("tokens_asked"), 2 * (70 + 10) + 3 + 40);
  EXPECT_EQ(found.at("requests")[1].at("tokens_saved"), 64);
  EXPECT_EQ(plan({"qualify-9b"}).at("model").at("name"), "qwen3.5-9b");
  EXPECT_EQ(plan({"small.json", "--model", "qwen3.5-2b"}).at("model").at("name"), "qwen3.5-2b");
  // The bench grid is planned too.
  EXPECT_GT(plan({"bench-smoke"}).at("requests").size(), 0u);
}

TEST_F(Plan, TimeIsNullWithTheReasonOrComesFromABenchReport) {
  folder_.write("p.jsonl", prompts(3, 200, 150));
  auto found = plan({"p.jsonl", "--model", "qwen3.5-smoke"});
  EXPECT_TRUE(found.at("requests")[0].at("shared_ns").is_null());
  EXPECT_NE(found.at("requests")[0].at("null_reasons").at("shared_ns").get<std::string>().find("--rates"),
            std::string::npos);

  expect_exit(
      run({"qualify", "smoke", "--device", "cpu", "--filter", "^operators/op=embed", "--report", "q.json"}),
      0, {});
  expect_exit(run({"plan", "p.jsonl", "--model", "qwen3.5-smoke", "--rates", "q.json"}), 2,
              {"q.json", "bench"});
  expect_exit(run({"plan", "p.jsonl", "--model", "qwen3.5-2b", "--rates", "q.json"}), 2, {"another model"});

  // A report as bench writes it: passes of 100 and 300 tokens.
  auto rates = report("q.json");
  const auto single = [](int tokens, double ns) {
    return Json{
        {"key", "single/tokens=" + std::to_string(tokens) + ",entry=forward_fixed,gemm=class,graph=off"},
        {"params", {{"tokens", tokens}, {"entry", "forward_fixed"}, {"gemm", "class"}, {"graph", "off"}}},
        {"outcome", "pass"},
        {"validity", "valid"},
        {"invalid_reasons", Json::array()},
        {"metrics",
         {{"wall_ns", {{"unit", "ns"}, {"better", "lower"}, {"n", 1}, {"samples", {ns}}, {"median", ns}}}}},
        {"witness", Json::object()},
        {"digests", Json::array()},
        {"findings", Json::array()},
        {"duration_ns", 1.0}};
  };
  rates["cases"] = {single(300, 3e6), single(100, 2e6)};
  folder_.write("rates.json", json_text(rates));
  found = plan({"p.jsonl", "--model", "qwen3.5-smoke", "--rates", "rates.json"});
  // Passes of 128 and of 216 rows.
  const double shared = (2e6 + 1e6 * 28 / 200) + (2e6 + 1e6 * 116 / 200);
  EXPECT_NEAR(found.at("requests")[0].at("shared_ns").get<double>(), shared, 1);
  EXPECT_NEAR(found.at("requests")[0].at("alone_ns").get<double>(), 3 * 2.5e6, 1);
  EXPECT_FALSE(found.at("rates").get<std::string>().empty());
}

TEST_F(Plan, WhatCannotBePlannedIs2) {
  write_scenario();
  folder_.write("empty.jsonl", "");
  folder_.write("odd.jsonl", "[1, 2]\n[3, -4]\n");
  folder_.write("large.jsonl", "[1, 248320]\n");
  folder_.write("bare.json", R"({"schema_version": "1.0", "name": "b", "model": {"preset": "qwen3.5-4b"}})");
  expect_exit(run({"plan"}), 2, {"source"});
  expect_exit(run({"plan", "empty.jsonl"}), 2, {"empty.jsonl", "no prompts"});
  expect_exit(run({"plan", "odd.jsonl"}), 2, {"line 2", "-4"});
  expect_exit(run({"plan", "large.jsonl"}), 2, {"248320", "vocabulary"});
  expect_exit(run({"plan", "bare.json"}), 2, {"/prompts"});
  expect_exit(run({"plan", "no-such-scenario"}), 2, {"no-such-scenario", "smoke"});
  expect_exit(run({"plan", "missing.jsonl"}), 6, {"missing.jsonl"});
  expect_exit(run({"plan", "odd.jsonl", "--model", "qwen3.5-5b"}), 2, {"qwen3.5-5b"});
  expect_exit(run({"plan", "odd.jsonl", "--set", "name=x"}), 2, {"--set"});
  expect_exit(run({"plan", "small.json", "--json", "/dev/full"}), 6, {"/dev/full"});
  expect_exit(run({"plan", "small.json", "--json", "small.json"}), 2, {"--force"});
}

// 1,000 prompts of 2,000 tokens in under 2 s.
TEST_F(Plan, AThousandLongPromptsTakeASecond) {
  std::mt19937 random(1);
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += "[1";
    for (int t = 1; t < 2000; ++t)
      text += "," + std::to_string(t < 1500 ? t : t < 1800 ? 5000 + i % 10 : random() % 200000);
    text += "]\n";
  }
  folder_.write("many.jsonl", text);
  const auto begin = std::chrono::steady_clock::now();
  const auto found = plan({"many.jsonl"});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const auto& one = found.at("requests")[0];
  EXPECT_EQ(one.at("tokens_asked"), 2'000'000);
  // One prefix of 1472 tokens, ten that continue it to 1792, a thousand that continue those.
  EXPECT_EQ(one.at("tokens_run"), 1472 + 10 * (1792 - 1472) + 1000 * (2000 - 1792));
  EXPECT_EQ(one.at("shared_prefixes").size(), 11u);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(seconds.count(), 2);
#endif
}

}  // namespace
}  // namespace branchmark
