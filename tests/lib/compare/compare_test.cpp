// Whole reports against each other: verdicts, outputs, counters, renderings.
#include <algorithm>
#include <ctime>

#include "branchmark/compare/comparison_annotations.hpp"
#include "branchmark/compare/comparison_json.hpp"
#include "branchmark/compare/comparison_markdown.hpp"
#include "branchmark/compare/comparison_text.hpp"
#include "branchmark/compare/gates.hpp"
#include "lib/compare/compare_fixture.hpp"
#include "lib/model/folder.hpp"

namespace branchmark {
namespace {

using test::bench_report;
using test::expect_error;
using test::timed_case;
using Compare = test::Compare;

TEST_F(Compare, AReportAgainstItselfIsTheSameEverywhere) {
  auto one = report("r1");
  one.cases[1].invalid_reasons = {"throttled"};
  one.cases.push_back(timed_case(8, {5}));
  CaseRecord failed = timed_case(16, samples());
  failed.outcome = Outcome::fail;
  CaseRecord untimed = timed_case(32, {});
  untimed.metrics.clear();
  CaseRecord skipped;
  skipped.check = "graph";
  skipped.outcome = Outcome::skipped;
  skipped.skip_reason = "graph_unsupported";
  one.cases.insert(one.cases.end(), {failed, untimed, skipped});
  const auto comparison = of(one, one);
  EXPECT_EQ(comparison.exit.code, kExitOk) << comparison.exit.reason;
  for (const auto& each : comparison.cases) {
    EXPECT_EQ(each.verdict, CaseVerdict::same) << each.key << each.reason;
    EXPECT_FALSE(each.newly_failing) << each.key;
  }
  EXPECT_TRUE(comparison.differences.empty());
  EXPECT_EQ(comparison.outputs().num_equal, comparison.outputs().num_prompts);
}

TEST_F(Compare, ASlowerCaseIsNamedAndNoOther) {
  const auto comparison = of(report("a"), report("b", 1.05));
  EXPECT_EQ(comparison.exit.code, kExitCheckFailed);
  EXPECT_EQ(comparison.exit.reason.find("1 case slower, first single/tokens=2,gemm=class (device_ns 1.05"),
            0u)
      << comparison.exit.reason;
  EXPECT_EQ(row(comparison, "tokens=2").verdict, CaseVerdict::slower);
  EXPECT_EQ(row(comparison, "tokens=1,").verdict, CaseVerdict::same);
  EXPECT_EQ(row(comparison, "tokens=4").verdict, CaseVerdict::same);
  EXPECT_EQ(comparison.worst_first().front()->key, "single/tokens=2,gemm=class");
  CompareOptions told;
  told.fail_on = {};
  EXPECT_EQ(of(report("a"), report("b", 1.05), told).exit.code, kExitOk);
}

TEST_F(Compare, ExchangingTheSidesFlipsEveryVerdict) {
  auto a = report("a", 1.05);
  auto b = report("b");
  b.cases.erase(b.cases.begin());
  b.cases.push_back(timed_case(8, samples(3e6, 0.3)));
  a.cases.push_back(timed_case(8, samples(3e6, 0.3)));
  b.cases.push_back(timed_case(16, samples()));
  const auto forth = of(a, b);
  const auto back = of(b, a);
  ASSERT_EQ(forth.cases.size(), back.cases.size());
  for (std::size_t i = 0; i < forth.cases.size(); ++i) {
    EXPECT_EQ(forth.cases[i].key, back.cases[i].key);
    EXPECT_EQ(forth.cases[i].verdict, flipped(back.cases[i].verdict)) << forth.cases[i].key;
  }
  EXPECT_EQ(row(forth, "tokens=2").verdict, CaseVerdict::faster);
  EXPECT_EQ(row(forth, "tokens=8").verdict, CaseVerdict::inconclusive);
}

TEST_F(Compare, OrderOfCasesDecidesNothingAndSameInputsGiveTheSameBytes) {
  const auto a = report("a");
  auto b = report("b", 1.03);
  const auto text = json_text(to_json(of(a, b)));
  EXPECT_EQ(json_text(to_json(of(a, b))), text);
  std::reverse(b.cases.begin(), b.cases.end());
  EXPECT_EQ(json_text(to_json(of(a, b))), text);
}

TEST_F(Compare, AMissingCaseFailsAndANewOneIsListed) {
  auto b = report("b");
  b.cases.erase(b.cases.begin());
  b.cases.push_back(timed_case(8, samples()));
  b.cases.back().check = "shared";
  const auto comparison = of(report("a"), b);
  EXPECT_EQ(comparison.exit.code, kExitCheckFailed);
  EXPECT_NE(comparison.exit.reason.find(
                "1 case missing or newly failing, first single/tokens=1,gemm=class (missing)"),
            std::string::npos)
      << comparison.exit.reason;
  EXPECT_EQ(comparison.removed, std::vector<std::string>{"single/tokens=1,gemm=class"});
  EXPECT_EQ(comparison.added, std::vector<std::string>{"shared/tokens=8,gemm=class"});
  EXPECT_TRUE(comparison.renamed.empty());
}

TEST_F(Compare, ACaseWithOneMoreParameterWasRenamed) {
  auto b = report("b", 1.05);
  b.cases[1].parameters.emplace_back("seed", 1);
  auto comparison = of(report("a"), b);
  ASSERT_EQ(comparison.renamed.size(), 1u);
  EXPECT_EQ(comparison.renamed[0].from, "single/tokens=2,gemm=class");
  EXPECT_EQ(comparison.renamed[0].to, "single/tokens=2,gemm=class,seed=1");
  EXPECT_EQ(row(comparison, "seed=1").verdict, CaseVerdict::slower) << "it is compared";
  // Two that could be meant, or other outputs: missing and new.
  b.cases.push_back(timed_case(2, samples()));
  b.cases.back().parameters.emplace_back("seed", 2);
  comparison = of(report("a"), b);
  EXPECT_TRUE(comparison.renamed.empty());
  EXPECT_EQ(comparison.added.size(), 2u);
  b.cases.pop_back();
  b.cases[1].digests[0] = "other";
  EXPECT_TRUE(of(report("a"), b).renamed.empty());
}

TEST_F(Compare, ANewlyFailingCaseFails) {
  auto a = report("a");
  auto b = report("b");
  b.cases[0].outcome = Outcome::timeout;
  b.cases[0].digests.clear();
  auto comparison = of(a, b);
  EXPECT_EQ(comparison.exit.code, kExitCheckFailed);
  EXPECT_NE(comparison.exit.reason.find("single/tokens=1,gemm=class (timeout)"), std::string::npos)
      << comparison.exit.reason;
  EXPECT_EQ(row(comparison, "tokens=1,").verdict, CaseVerdict::not_comparable);
  EXPECT_FALSE(row(comparison, "tokens=1,").outputs);
  a.cases[0].outcome = Outcome::fail;
  EXPECT_EQ(of(a, b).exit.code, kExitOk) << "it failed before";
  b.cases[0].outcome = Outcome::skipped;
  a.cases[0].outcome = Outcome::pass;
  EXPECT_TRUE(row(of(a, b), "tokens=1,").newly_failing) << "it no longer runs";
}

TEST_F(Compare, ChangedOutputsAreCountedByPrompt) {
  auto b = report("b");
  b.cases[2].digests[1] = "other";
  const auto comparison = of(report("a"), b);
  EXPECT_EQ(comparison.exit.code, kExitCheckFailed);
  EXPECT_NE(comparison.exit.reason.find("single/tokens=4,gemm=class (equal 1 of 2); outputs equal 5 of 6"),
            std::string::npos)
      << comparison.exit.reason;
  EXPECT_EQ(row(comparison, "tokens=4").verdict, CaseVerdict::same) << "its time is";
  CompareOptions told;
  told.fail_on = gates_from({"slower", "counters", "missing"});
  EXPECT_EQ(of(report("a"), b, told).exit.code, kExitOk);
  b.cases[2].digests = {"d0"};
  EXPECT_EQ(row(of(report("a"), b), "tokens=4").outputs->num_equal, 1) << "a prompt less is a change";
}

TEST_F(Compare, CountersAreExact) {
  auto b = report("b");
  b.cases[0].add_metric("op_launches", "1", Better::lower, 149);
  b.cases[1].witness["allocations"] = {0, 3};
  b.cases[2].witness["prompts_compared"] = {1, 1};
  const auto comparison = of(report("a"), b);
  EXPECT_EQ(comparison.exit.code, kExitCheckFailed);
  EXPECT_NE(comparison.exit.reason.find("2 cases with changed counters, first single/tokens=1,gemm=class "
                                        "(op_launches 150 to 149)"),
            std::string::npos)
      << comparison.exit.reason;
  ASSERT_EQ(row(comparison, "tokens=2").counters.size(), 1u);
  EXPECT_EQ(row(comparison, "tokens=2").counters[0].name, "witness.allocations");
  EXPECT_TRUE(row(comparison, "tokens=4").counters.empty()) << "evidence is no cost";
  EXPECT_EQ(row(comparison, "tokens=4").num_counters, 2);
}

TEST_F(Compare, WithoutAnyVerdictItIsInconclusive) {
  auto a = report("a");
  auto b = report("b");
  for (auto& record : b.cases) record.invalid_reasons = {"throttled"};
  auto comparison = of(a, b);
  EXPECT_EQ(comparison.exit.code, kExitInconclusive);
  EXPECT_EQ(comparison.cases[0].reason, "B: invalid: throttled");
  b = report("b");
  b.cases[0] = timed_case(1, samples(1e6, 0.5));
  comparison = of(a, b);
  EXPECT_EQ(row(comparison, "tokens=1,").verdict, CaseVerdict::inconclusive);
  EXPECT_EQ(comparison.exit.code, kExitOk) << "the others have one";
  EXPECT_NE(
      row(comparison, "tokens=1,")
          .times[0]
          .suggestion.find(
              "branchmark bench bench-9b --filter '^single/tokens=1,gemm=class$' --set bench.min_samples="),
      std::string::npos)
      << row(comparison, "tokens=1,").times[0].suggestion;
  CompareOptions strict;
  strict.fail_on = gates_from({"inconclusive"});
  EXPECT_EQ(of(a, b, strict).exit.code, kExitInconclusive);
  a.cases.clear();
  b.cases.clear();
  expect_error(ErrorCode::usage, {"no case"}, [&] { of(a, b); });
  CompareOptions filtered;
  filtered.filter = "nothing";
  expect_error(ErrorCode::usage, {"--filter"}, [&] { of(report("a"), report("b"), filtered); });
}

TEST_F(Compare, PartsOfATimeAndWarmUpsAreNotCompared) {
  auto a = report("a");
  auto b = report("b");
  for (auto* side : {&a, &b})
    for (auto& record : side->cases) {
      const double ns = side == &a ? 1e5 : 2e5;
      record.metrics["stage_gemm_ns"] = {.unit = "ns", .better = Better::lower, .samples = samples(ns)};
      record.metrics["warm_up_wall_ns"] = {.unit = "ns", .better = Better::none, .samples = samples(ns)};
    }
  const auto comparison = of(a, b);
  EXPECT_EQ(comparison.exit.code, kExitOk) << comparison.exit.reason;
  EXPECT_EQ(comparison.cases[0].times.size(), 1u);
}

TEST_F(Compare, AnotherTimeOfACaseCanBeWhatIsSlower) {
  auto a = report("a");
  auto b = report("b");
  for (auto* side : {&a, &b})
    for (auto& record : side->cases)
      record.metrics["wall_ns"] = {.unit = "ns", .better = Better::lower, .samples = samples(5e6)};
  b.cases[0].metrics["wall_ns"].samples = samples(6e6);
  const auto comparison = of(a, b);
  EXPECT_EQ(row(comparison, "tokens=1,").verdict, CaseVerdict::slower);
  EXPECT_EQ(row(comparison, "tokens=1,").deciding_time()->metric, "wall_ns");
  EXPECT_EQ(row(comparison, "tokens=2").deciding_time()->metric, "device_ns");
}

TEST_F(Compare, MarkdownAndAnnotationsStartWithTheWorstAndStaySmall) {
  std::vector<CaseRecord> of_a, of_b;
  for (int i = 1; i <= 600; ++i) {
    of_a.push_back(timed_case(i, samples()));
    of_b.push_back(timed_case(i, samples(i == 300 ? 1.2e6 : i % 2 == 0 ? 1.1e6 : 1e6)));
    of_a.back().parameters.emplace_back("note", "a | b <c>");
    of_b.back().parameters.emplace_back("note", "a | b <c>");
  }
  const auto comparison = of(bench_report("a", of_a), bench_report("b", of_b));
  const auto text = markdown_text(comparison);
  EXPECT_LT(text.size(), 65536u);
  const auto table = text.find("| --- |");
  EXPECT_NE(text.find("tokens=300,", table), std::string::npos);
  EXPECT_LT(text.find("tokens=300,", table), text.find("tokens=2,", table));
  EXPECT_NE(text.find("more rows are in the JSON"), std::string::npos);
  EXPECT_EQ(text.find("<c>"), std::string::npos);
  const auto commands = github_annotations(comparison);
  EXPECT_EQ(commands.find("::error title=branchmark compare%2C slower::single/tokens=300"), 0u) << commands;
  EXPECT_EQ(std::count(commands.begin(), commands.end(), '\n'), 10);
  const auto screen = comparison_text(comparison, Colour::none);
  EXPECT_LT(std::count(screen.begin(), screen.end(), '\n'), 60);
}

TEST_F(Compare, ThreeHundredCasesOfAHundredSamplesTakeLessThanTwoSeconds) {
  std::vector<CaseRecord> of_a, of_b;
  for (int i = 1; i <= 300; ++i)
    for (auto* cases : {&of_a, &of_b}) {
      cases->push_back(timed_case(i, test::simulated_run(random_, 100, 1e6, {})));
      cases->back().metrics["wall_ns"] = {
          .unit = "ns", .better = Better::lower, .samples = test::simulated_run(random_, 100, 2e6, {})};
    }
  auto a = bench_report("a", std::move(of_a));
  auto b = bench_report("b", std::move(of_b));
  const auto begin = std::clock();  // of this process, however busy the machine is
  const auto comparison = of(std::move(a), std::move(b));
  const auto seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_EQ(comparison.cases.size(), 300u);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(seconds, 2);
#endif
}

TEST(Gates, WordsAreChecked) {
  EXPECT_EQ(gates_from({"slower", "changed", "missing"}),
            (std::vector{Gate::slower, Gate::outputs, Gate::counters, Gate::missing}));
  EXPECT_TRUE(gates_from({"none"}).empty());
  expect_error(ErrorCode::usage, {"faster", "slower, changed"}, [] { gates_from({"faster"}); });
}

}  // namespace
}  // namespace branchmark
