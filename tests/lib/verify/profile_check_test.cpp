// The table of profiles by entry points: it holds for the model, and a missing, late, nameless or needless
// guard in any one entry point is found and named. The entry points with a fault are this file's own; none is
// in the product.

#include "branchmark/verify/profile_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "branchmark/scenario/load.hpp"
#include "branchmark/verify/run_case.hpp"
#include "lib/model/folder.hpp"
#include "lib/verify/module_under_test.hpp"

namespace branchmark {
namespace {

constexpr std::string_view kScenario = R"({"schema_version": "1.0", "name": "profiles",
  "model": {"preset": "qwen3.5-smoke"},
  "prompts": {"request_prefix_tokens": [64],
    "groupings": [{"name": "g", "groups": [{"prefix_tokens": 6, "branch_tokens": [2, 30]}]}]}})";

std::shared_ptr<Session> session_over(const std::string& setting = "",
                                      const std::filesystem::path& folder = {},
                                      const char* module = BRANCHMARK_CPU_MODULE) {
  ScenarioOverrides overrides;
  if (!setting.empty()) overrides.set = {setting};
  const auto open = [module](const auto&, const auto&) {
    return Context::open(KernelLibrary::load(module), 0);
  };
  return std::make_shared<Session>(parse_scenario(kScenario, "test", folder, overrides),
                                   SessionOptions{.level = Level::medium,
                                                  .command = "branchmark profile-check x",
                                                  .open_context = open,
                                                  .on_cpu = true,
                                                  .gemm = {}});
}

std::vector<CaseRecord> records_of(const std::vector<Case>& cases, std::string_view part = "") {
  std::vector<CaseRecord> records;
  for (const auto& each : cases)
    if (each.key().find(part) != std::string::npos) records.push_back(run_case(each));
  return records;
}

double metric(const CaseRecord& record, const std::string& name) {
  const auto found = record.metrics.find(name);
  return found == record.metrics.end() ? std::nan("") : found->second.samples.at(0);
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

const EntryPoint& entry_point(std::string_view name) {
  const auto& table = entry_points();
  return *std::find_if(table.begin(), table.end(), [&](const auto& each) { return each.name == name; });
}

// The table with one entry point replaced.
std::vector<EntryPoint> table_with(const EntryPoint& faulty) {
  auto table = entry_points();
  for (auto& each : table)
    if (each.name == faulty.name) each = faulty;
  return table;
}

TEST(ProfileCheck, TheWholeTableHolds) {
  const auto records = records_of(profile_cases(session_over()));
  ASSERT_EQ(records.size(), 8u * 5u);
  std::size_t admitted = 0, refused = 0;
  for (const auto& record : records) {
    EXPECT_EQ(record.outcome, Outcome::pass) << test::told(record);
    const bool is_default = holds(record.key(), "adapter=none,numerics=default,gdn=default");
    const bool is_forward = holds(record.key(), "entry=forward,") ||
                            record.key().ends_with("entry=forward") ||
                            holds(record.key(), "entry=forward_batch");
    if (is_default || is_forward) {
      ++admitted;
      EXPECT_EQ(record.digests.size(), 2u) << record.key();
      EXPECT_GT(metric(record, "module_calls"), 0) << record.key();
      const auto distance = metric(record, "relative_l2");
      EXPECT_LE(distance, 0.1) << record.key();
      if (holds(record.key(), "numerics=reference"))
        EXPECT_LE(distance, 1e-5) << record.key();
      else
        EXPECT_GE(distance, 1e-4) << record.key();
    } else {
      ++refused;
      EXPECT_TRUE(record.digests.empty()) << record.key();
      EXPECT_FALSE(record.metrics.contains("relative_l2")) << record.key();
      EXPECT_EQ(metric(record, "module_calls"), 0) << record.key();
      EXPECT_EQ(metric(record, "buffers_left"), 0) << record.key();
      ASSERT_EQ(record.findings.size(), 1u) << test::told(record);
      EXPECT_EQ(record.findings[0].severity, Severity::note);
    }
  }
  EXPECT_EQ(admitted, 2u * 8u + 3u);
  EXPECT_EQ(refused, 3u * 7u);
}

TEST(ProfileCheck, AnEntryPointWithoutItsGuardIsNamedInEveryProfile) {
  for (const auto* name : {"forward_fixed", "forward_shared", "forward_window"}) {
    SCOPED_TRACE(name);
    const EntryPoint unguarded{name, false, entry_point("forward_batch").call};
    const auto records = records_of(profile_cases(session_over(), table_with(unguarded)));
    std::set<std::string> named;
    for (const auto& record : records) {
      const bool faulty = holds(record.key(), fmt::format("entry={}", name)) &&
                          !holds(record.key(), "adapter=none,numerics=default,gdn=default");
      EXPECT_EQ(record.outcome, faulty ? Outcome::fail : Outcome::pass) << test::told(record);
      if (!faulty) continue;
      EXPECT_EQ(record.findings.at(0).id, "not_refused");
      EXPECT_TRUE(holds(record.findings[0].message, "was admitted")) << record.findings[0].message;
      EXPECT_TRUE(record.findings[0].message.starts_with(fmt::format("{} under ", name)));
      named.insert(record.findings[0].message);
    }
    EXPECT_EQ(named.size(), 7u) << "each profile is named";
  }
}

TEST(ProfileCheck, AGuardThatComesTooLateIsFound) {
  for (const auto* name : {"forward_fixed", "forward_shared", "forward_window"}) {
    const auto& guarded = entry_point(name);
    const EntryPoint late{name, false, [&guarded](Model& model, const Request& request) {
                            model.context().synchronize();
                            return guarded.call(model, request);
                          }};
    const auto records = records_of(profile_cases(session_over(), table_with(late)),
                                    fmt::format("adapter=none,numerics=default,gdn=fp32,entry={}", name));
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].outcome, Outcome::fail);
    EXPECT_TRUE(holds(test::told(records[0]), "made 1 module calls before it was refused"))
        << test::told(records[0]);
    EXPECT_EQ(metric(records[0], "module_calls"), 1);
  }
}

// All the profile's deviations and the entry point itself must be in the message, and nothing else.
TEST(ProfileCheck, ARefusalThatNamesSomethingElseIsFound) {
  const auto says = [](const std::string& message) {
    return EntryPoint{"forward_fixed", false, [message](Model& model, const Request& request) {
                        if (model.profile() != Profile{}) throw Error(ErrorCode::refused, message);
                        return entry_point("forward_fixed").call(model, request);
                      }};
  };
  const auto outcome = [&](const std::string& message) {
    return records_of(profile_cases(session_over(), table_with(says(message))),
                      "adapter=unmerged,numerics=default,gdn=fp32,entry=forward_fixed")
        .at(0)
        .outcome;
  };
  EXPECT_EQ(outcome("forward_fixed: refused: unmerged LoRA adapter, gdn fp32"), Outcome::pass);
  EXPECT_EQ(outcome("forward_fixed: refused: unmerged LoRA adapter"), Outcome::fail);
  EXPECT_EQ(outcome("forward_fixed: refused: gdn fp32"), Outcome::fail);
  EXPECT_EQ(outcome("forward_fixed: refused: unmerged LoRA adapter, numerics reference, gdn fp32"),
            Outcome::fail);
  EXPECT_EQ(outcome("forward_shared: refused: unmerged LoRA adapter, gdn fp32"), Outcome::fail);
}

TEST(ProfileCheck, AGuardWhereNoneBelongsIsFound) {
  for (const auto* name : {"forward", "forward_batch"}) {
    const EntryPoint guarded{name, true, [name](Model& model, const Request& request) {
                               require_shareable(model.profile(), name);
                               return entry_point(name).call(model, request);
                             }};
    const auto records =
        records_of(profile_cases(session_over(), table_with(guarded)),
                   fmt::format("adapter=unmerged,numerics=default,gdn=default,entry={}", name));
    EXPECT_EQ(records.at(0).outcome, Outcome::fail);
    EXPECT_EQ(records[0].findings.at(0).id, "not_admitted");
    EXPECT_TRUE(
        records[0].findings[0].message.starts_with(fmt::format("{} under unmerged LoRA adapter", name)));
  }
}

// The controls: counting that does not count, a refusal that changes the model, a reference that is none.
TEST(ProfileCheck, ACallThatIsNotCountedIsFound) {
  const EntryPoint idle{"forward_batch", true, [](Model& model, const Request& request) {
                          const HiddenRows row{
                              model.config().hidden, model.profile().activation(),
                              std::vector<float>(static_cast<std::size_t>(model.config().hidden))};
                          return std::vector<HiddenRows>(request.prompts.size(), row);
                        }};
  const auto records = records_of(profile_cases(session_over(), table_with(idle)), "entry=forward_batch");
  ASSERT_EQ(records.size(), 8u);
  for (const auto& record : records) {
    EXPECT_EQ(record.outcome, Outcome::fail);
    EXPECT_EQ(record.findings.at(0).id, "no_module_call");
  }
}

TEST(ProfileCheck, ARefusalThatChangesTheModelIsFound) {
  std::optional<test::Fault> fault;
  const EntryPoint harmful{"forward_shared", false, [&fault](Model& model, const Request& request) {
                             fault.emplace("norm_without_one");
                             return entry_point("forward_shared").call(model, request);
                           }};
  const auto records =
      records_of(profile_cases(session_over("", {}, BRANCHMARK_FAULTY_MODULE), table_with(harmful)),
                 "adapter=none,numerics=reference,gdn=default,entry=forward_shared");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].outcome, Outcome::fail);
  EXPECT_TRUE(holds(test::told(records[0]), "other bits after the refusal")) << test::told(records[0]);
}

TEST(ProfileCheck, ReferenceNumericsAreOneProfileWhateverGdnSays) {
  const EntryPoint rounded{"forward", true, [](Model& model, const Request& request) {
                             auto rows = entry_point("forward").call(model, request);
                             rows.back().values.front() *= 1 + 1e-6f;
                             return rows;
                           }};
  for (const auto* gdn : {"default", "fp32"}) {
    const auto key = fmt::format("adapter=none,numerics=reference,gdn={},entry=forward", gdn);
    const auto records = records_of(profile_cases(session_over(), table_with(rounded)), key);
    EXPECT_EQ(records.at(0).findings.at(0).id, "bits_differ") << test::told(records.at(0));
  }
}

// An adapter that adds nothing shows which one ran: the scenario's, not the synthetic one.
TEST(ProfileCheck, RunsTheAdapterThatTheScenarioNames) {
  const test::Folder folder;
  folder.write("adapter_config.json", R"({"peft_type": "LORA", "r": 1, "lora_alpha": 1})");
  const std::string module = "base_model.model.layers.0.mlp.up_proj";
  const std::vector<float> a(256, 1.0f), b(512, 0.0f);
  folder.write("adapter_model.safetensors",
               test::safetensors_text({{module + ".lora_A.weight", "F32", {1, 256}, test::bytes_of(a)},
                                       {module + ".lora_B.weight", "F32", {512, 1}, test::bytes_of(b)}}));
  const auto digests = [&](const std::string& setting, const std::string& adapter) {
    return records_of(profile_cases(session_over(setting, folder.path())),
                      fmt::format("adapter={},numerics=reference,gdn=default,entry=forward_batch", adapter))
        .at(0)
        .digests;
  };
  const auto plain = digests("", "none");
  EXPECT_EQ(digests("model.adapter=.", "unmerged"), plain);
  EXPECT_NE(digests("", "unmerged"), plain);
}

TEST(ProfileCheck, RefusesScenariosThatItCannotTry) {
  const auto no_prompts = parse_scenario(
      R"({"schema_version": "1.0", "name": "bare", "model": {"preset": "qwen3.5-smoke"}})", "test", {}, {});
  test::expect_error(ErrorCode::usage, {"/prompts", "missing"},
                     [&] { profile_cases(std::make_shared<Session>(no_prompts, SessionOptions{})); });
}

TEST(ProfileText, ShowsDistancesRefusalsAndFaults) {
  EXPECT_EQ(profile_text({}), "");
  Report report;
  const auto add = [&](const char* gdn, const char* entry, Outcome outcome, std::optional<double> distance) {
    CaseRecord record;
    record.check = "profile";
    record.parameters = {{"adapter", "none"}, {"numerics", "default"}, {"gdn", gdn}, {"entry", entry}};
    record.outcome = outcome;
    if (distance) record.add_metric("relative_l2", "1", Better::lower, *distance);
    report.cases.push_back(record);
  };
  add("default", "forward", Outcome::pass, 0.02);
  add("default", "forward_fixed", Outcome::pass, 0.021);
  add("fp32", "forward", Outcome::pass, 0.004);
  add("fp32", "forward", Outcome::pass, 0.005);
  add("fp32", "forward_fixed", Outcome::fail, 0.006);
  const auto text = profile_text(report);
  EXPECT_TRUE(holds(text, "none      default    default         2.00e-02        2.10e-02\n")) << text;
  EXPECT_TRUE(holds(text, "none      default    fp32            5.00e-03            FAIL\n")) << text;
  EXPECT_TRUE(
      holds(text, "with gdn fp32 is 5.00e-03 from the reference, with gdn default 2.00e-02: 0.25 times"))
      << text;
  add("fp32", "forward_window", Outcome::pass, std::nullopt);
  EXPECT_TRUE(holds(profile_text(report), "2.10e-02               -\n")) << "what was not tried";
  report.cases.pop_back();
  report.cases.back().metrics.clear();
  report.cases.back().outcome = Outcome::pass;
  EXPECT_TRUE(holds(profile_text(report), "5.00e-03         refused\n")) << profile_text(report);
}

}  // namespace
}  // namespace branchmark
