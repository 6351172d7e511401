// `--keep-outputs` as a person uses it: every output of a run is there under its digest, and `compare` says
// how far apart those of two runs are.

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "branchmark/base/digest.hpp"
#include "cli/process.hpp"

namespace branchmark {
namespace {

namespace fs = std::filesystem;
using test::expect_exit;

constexpr auto kOneRequest = "^shared_equals_fixed/prefix=70,.*,gemm=fixed,packing=packed$";
const test::Variables kOtherRounding = {{"BRANCHMARK_TEST_FAULT", "other_silu_mul"}};

class KeptOutputsCommand : public test::CommandLine {
 protected:
  void SetUp() override { write_scenario("small.json", "[70]"); }

  test::Ended qualify(const std::string& side, const std::string& filter = kOneRequest,
                      const test::Variables& variables = {},
                      const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {
        "qualify",        "small.json",     "--device",  "cpu",
        "--level",        "quick",          "--filter",  filter,
        "--report",       side + "/r.json", "--kernels", BRANCHMARK_FAULTY_MODULE,
        "--keep-outputs", side + "/outputs"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, variables);
  }
  test::Ended bench(const std::vector<std::string>& more, const test::Variables& variables = {}) const {
    std::vector<std::string> arguments = {"bench", "bench-smoke", "--device", "cpu", "--no-cache"};
    for (const auto* setting : {"bench.target_interval=1", "bench.min_samples=6"})
      arguments.insert(arguments.end(), {"--set", setting});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, variables);
  }
  fs::path path(const std::string& name) const { return folder_.path() / name; }

  // The distinct digests of a report.
  std::set<std::string> digests(const std::string& name) const {
    std::set<std::string> found;
    for (const auto& one : cases(name))
      for (const auto& digest : one.at("digests")) found.insert(digest.get<std::string>());
    return found;
  }
  // Each digest of the report has a file, each file is of one, and each holds what its name says.
  void expect_all_kept(const std::string& name, const std::string& folder) const {
    std::set<std::string> kept;
    for (const auto& entry : fs::directory_iterator(path(folder))) {
      const auto type = entry.path().extension();
      EXPECT_TRUE(type == ".bf16" || type == ".f32") << entry;
      EXPECT_EQ(sha256_hex(test::read_whole(entry.path())), entry.path().stem()) << entry;
      kept.insert(entry.path().stem());
    }
    EXPECT_EQ(kept, digests(name));
    EXPECT_FALSE(kept.empty());
  }
  // The values of a digest that was kept as bf16.
  std::vector<float> values(const std::string& folder, const std::string& digest) const {
    const auto bytes = test::read_whole(path(folder) / (digest + ".bf16"));
    std::vector<float> values;
    for (std::size_t i = 0; i + 1 < bytes.size(); i += 2)
      values.push_back(
          std::bit_cast<float>(static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i + 1])) << 24 |
                               static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << 16));
    return values;
  }
};

TEST_F(KeptOutputsCommand, EveryDigestOfAReportHasItsFile) {
  expect_exit(qualify("a", "^[^og]", {}, {"--set", "model.layers=4"}), 0, {});
  expect_all_kept("a/r.json", "a/outputs");
  EXPECT_EQ(report("a/r.json").at("kept_outputs"), Json({{"folder", "outputs"}}));
  std::set<std::string> checks;
  for (const auto& one : cases("a/r.json"))
    if (!one.at("digests").empty())
      checks.insert(one.at("key").get<std::string>().substr(0, one.at("key").get<std::string>().find('/')));
  EXPECT_GE(checks.size(), 9u) << "checks that record digests";

  expect_exit(bench({"--filter", "tokens=128|prefix=64", "--report", "b/r.json", "--keep-outputs", "b/kept"}),
              0, {});
  expect_all_kept("b/r.json", "b/kept");
  expect_exit(bench({"--ops", "--filter", "name=(silu_mul|gdn_prefill|conv),", "--report", "c/r.json",
                     "--keep-outputs", "c/kept", "--against", BRANCHMARK_FAULTY_MODULE},
                    kOtherRounding),
              1, {"silu_mul"});
  expect_all_kept("c/r.json", "c/kept");
  expect_exit(run({"profile-check", "profile-check", "--device", "cpu", "--filter", "forward$", "--report",
                   "d/r.json", "--keep-outputs", "d/kept"}),
              0, {});
  expect_all_kept("d/r.json", "d/kept");
}

// What `compare` says of outputs, found here by other means.
struct Distance {
  double relative_l2 = 0;
  std::int64_t max_ulp_bf16 = 0;
  std::int64_t different = 0;
  std::int64_t elements = 0;

  void add(const std::vector<float>& a, const std::vector<float>& b) {
    double squares = 0;
    double length = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      squares += std::pow(static_cast<double>(b[i]) - static_cast<double>(a[i]), 2);
      length += std::pow(static_cast<double>(a[i]), 2);
      max_ulp_bf16 = std::max(max_ulp_bf16, std::abs(place(b[i]) - place(a[i])));
      different += std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i]) ? 1 : 0;
      ++elements;
    }
    relative_l2 = std::max(relative_l2, std::sqrt(squares / length));
  }

 private:
  // Among all values of bf16 in ascending order.
  static std::int64_t place(float value) {
    const auto bits = static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(value) >> 16);
    return bits >= 0x8000 ? 0x8000 - bits : bits;
  }
};

TEST_F(KeptOutputsCommand, CompareSaysHowFarApart) {
  expect_exit(qualify("a"), 0, {});
  expect_exit(qualify("b", kOneRequest, kOtherRounding), 0, {});
  const auto ended = run({"compare", "a/r.json", "b/r.json", "--report", "c.json"});
  expect_exit(ended, 1, {"changed outputs"});

  const auto of_a = cases("a/r.json").at(0).at("digests");
  const auto of_b = cases("b/r.json").at(0).at("digests");
  ASSERT_EQ(of_a.size(), 2u);
  Distance expected;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    ASSERT_NE(of_a[i], of_b[i]);
    expected.add(values("a/outputs", of_a[i]), values("b/outputs", of_b[i]));
  }
  EXPECT_GT(expected.elements, 100);
  const auto found = report("c.json").at("cases").at(0).at("outputs");
  EXPECT_EQ(found.at("equal"), 0);
  const auto& distance = found.at("distance");
  EXPECT_EQ(distance.at("outputs"), 2);
  EXPECT_NEAR(distance.at("relative_l2").get<double>(), expected.relative_l2, 1e-5 * expected.relative_l2);
  EXPECT_EQ(distance.at("max_ulp_bf16"), expected.max_ulp_bf16);
  EXPECT_EQ(distance.at("different_elements"), expected.different);
  EXPECT_EQ(distance.at("elements"), expected.elements);
  const auto told =
      fmt::format("relative_l2 {:.3g}, at most {} ulp of bf16, {} of {} elements differ",
                  expected.relative_l2, expected.max_ulp_bf16, expected.different, expected.elements);
  EXPECT_NE(ended.err.find(told), std::string::npos) << ended.err;
}

TEST_F(KeptOutputsCommand, AreFoundFromAReportThatWasMovedOrRebuilt) {
  expect_exit(qualify("a"), 0, {});
  expect_exit(qualify("b", kOneRequest, kOtherRounding), 0, {});
  const auto compared = [&](const std::string& a, const std::string& b) {
    expect_exit(run({"compare", a, b, "--report", "c.json", "--quiet", "--force"}), 1, {"changed outputs"});
    return report("c.json").at("cases").at(0).at("outputs");
  };
  const auto found = compared("a/r.json", "b/r.json");
  EXPECT_TRUE(found.contains("distance"));
  fs::create_directories(path("elsewhere"));
  fs::rename(path("a"), path("elsewhere/a"));
  EXPECT_EQ(compared("elsewhere/a/r.json", "b/r.json"), found);
  expect_exit(run({"report", "--from-journal", "b/r.journal.jsonl", "--report", "rebuilt/r.json"}), 0, {});
  EXPECT_EQ(report("rebuilt/r.json").at("kept_outputs").at("folder"), "../b/outputs");
  EXPECT_EQ(compared("elsewhere/a/r.json", "rebuilt/r.json"), found);
}

TEST_F(KeptOutputsCommand, CompareOfOneReportOfTwoBuilds) {
  expect_exit(bench({"--ops", "--filter", "name=silu_mul,tokens=128", "--report", "r.json", "--keep-outputs",
                     "kept", "--against", BRANCHMARK_FAULTY_MODULE},
                    kOtherRounding),
              1, {});
  expect_exit(run({"compare", "r.json", "--report", "c.json", "--fail-on", "outputs"}), 1,
              {"1 case with changed outputs"});
  const auto distance = report("c.json").at("cases").at(0).at("outputs").at("distance");
  EXPECT_EQ(distance.at("max_ulp_bf16"), 1) << "the fault changes the lowest bit of each row's first element";
  EXPECT_EQ(distance.at("different_elements"), 128);
}

TEST_F(KeptOutputsCommand, ChangedAndMissingFilesAreTold) {
  expect_exit(qualify("a"), 0, {});
  expect_exit(qualify("b", kOneRequest, kOtherRounding), 0, {});
  const auto digest = cases("b/r.json").at(0).at("digests").at(0).get<std::string>();
  const auto file = path("b/outputs") / (digest + ".bf16");
  const auto bytes = test::read_whole(file);
  auto changed = bytes;
  changed[7] = static_cast<char>(changed[7] ^ 1);
  for (const auto& other : {changed, bytes.substr(0, 100), bytes + "xx", std::string()}) {
    folder_.write("b/outputs/" + digest + ".bf16", other);
    expect_exit(run({"compare", "a/r.json", "b/r.json", "--report", "c.json"}), 2,
                {digest + ".bf16", "sha256"});
    EXPECT_FALSE(fs::exists(path("c.json")));
  }
  fs::remove(file);
  expect_exit(run({"compare", "a/r.json", "b/r.json", "--report", "c.json"}), 1, {"changed outputs"});
  const auto outputs = report("c.json").at("cases").at(0).at("outputs");
  EXPECT_EQ(outputs.at("distance").at("outputs"), 1) << "the other is measured";
  EXPECT_EQ(outputs.at("reason"), "B's output " + digest + " is not in b/outputs");
  EXPECT_FALSE(outputs.contains("suggestion"));
  // A run of that side keeps it again.
  expect_exit(qualify("b", kOneRequest, kOtherRounding, {"--force"}), 0, {});
  EXPECT_EQ(test::read_whole(file), bytes);
}

TEST_F(KeptOutputsCommand, RunsShareAFolderAndLeaveWhatIsThere) {
  expect_exit(qualify("a"), 0, {});
  std::map<std::string, std::pair<ino_t, std::int64_t>> before;
  for (const auto& entry : fs::directory_iterator(path("a/outputs"))) {
    struct stat status {};
    ASSERT_EQ(stat(entry.path().c_str(), &status), 0);
    before[entry.path()] = {status.st_ino, status.st_mtim.tv_nsec};
  }
  std::vector<std::string> again = {"qualify",        "small.json", "--device",  "cpu",
                                    "--filter",       kOneRequest,  "--kernels", BRANCHMARK_FAULTY_MODULE,
                                    "--keep-outputs", "a/outputs",  "--report",  "b.json"};
  expect_exit(run(again), 0, {});
  again.back() = "c.json";
  expect_exit(run(again, kOtherRounding), 0, {});
  EXPECT_EQ(report("b.json").at("kept_outputs").at("folder"), "a/outputs");
  EXPECT_EQ(std::distance(fs::directory_iterator(path("a/outputs")), {}), std::ssize(before) * 2);
  for (const auto& [file, identity] : before) {
    struct stat status {};
    ASSERT_EQ(stat(file.c_str(), &status), 0);
    EXPECT_EQ((std::pair<ino_t, std::int64_t>(status.st_ino, status.st_mtim.tv_nsec)), identity) << file;
  }
  expect_exit(run({"compare", "a/r.json", "c.json", "--report", "-"}), 1, {});
}

TEST_F(KeptOutputsCommand, AFolderThatCannotBeUsedEndsTheRunBeforeTheDevice) {
  folder_.write("file", "old");
  const auto refused = [&](const std::string& folder, int code, const std::vector<std::string>& parts,
                           const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"qualify",        "small.json", "--device",  "cpu",
                                          "--report",       "r.json",     "--kernels", "no-such-module",
                                          "--keep-outputs", folder};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_exit(run(arguments), code, parts);
    EXPECT_FALSE(fs::exists(path("r.json")));
    EXPECT_FALSE(fs::exists(path("r.journal.jsonl")));
  };
  refused("file", 2, {"file", "expected a folder"});
  refused("file", 2, {"file", "expected a folder"}, {"--dry-run"});
  refused("new", 0, {"dry run"}, {"--dry-run"});
  EXPECT_FALSE(fs::exists(path("new")));
  refused("r.json", 2, {"r.json", "two outputs"});
  refused("-", 2, {"expected a folder"});
  refused("file/below", 6, {"file/below"});
  refused("/proc/below", 6, {"/proc/below"});
  refused("/proc", 6, {"/proc/"});
  EXPECT_EQ(test::read_whole(path("file")), "old");
  // What writes no digests has no such option.
  expect_exit(run({"parity", "small.json", "--keep-outputs", "kept"}), 2, {"--keep-outputs"});
}

// K43
TEST_F(KeptOutputsCommand, K43AnOutputThatDoesNotFitIs6) {
  const auto limited = [] {
    const rlimit bytes = {100'000, 100'000};
    setrlimit(RLIMIT_FSIZE, &bytes);
  };
  std::vector<std::string> arguments = {"bench",          "bench-smoke",
                                        "--device",       "cpu",
                                        "--no-cache",     "--ops",
                                        "--filter",       "name=silu_mul,tokens=384",
                                        "--set",          "bench.min_samples=6",
                                        "--set",          "bench.target_interval=1",
                                        "--report",       "r.json",
                                        "--keep-outputs", "kept"};
  expect_exit(run(arguments, {}, limited), 6, {"silu_mul"});
  EXPECT_TRUE(fs::is_empty(path("kept"))) << "no part of it is left";
  EXPECT_EQ(report("r.json").at("exit").at("code"), 6);
  const auto findings = cases("r.json").at(0).at("findings");
  EXPECT_NE(findings.at(0).at("message").get<std::string>().find("kept/"), std::string::npos) << findings;
  arguments.emplace_back("--force");
  expect_exit(run(arguments), 0, {});
  expect_all_kept("r.json", "kept");
}

TEST_F(KeptOutputsCommand, WithoutThemCompareSaysHowToKeepThem) {
  expect_exit(qualify("a"), 0, {});
  expect_exit(run({"qualify", "small.json", "--device", "cpu", "--filter", kOneRequest, "--kernels",
                   BRANCHMARK_FAULTY_MODULE, "--report", "b.json"},
                  kOtherRounding),
              0, {});
  EXPECT_FALSE(report("b.json").contains("kept_outputs"));
  const auto ended = run({"compare", "a/r.json", "b.json", "--report", "c.json"});
  expect_exit(ended, 1, {"changed outputs"});
  EXPECT_NE(
      ended.err.find("-> to see how far apart, on both sides: branchmark qualify small.json --device cpu"),
      std::string::npos)
      << ended.err;
  EXPECT_NE(ended.err.find("packing=packed$' --keep-outputs DIR"), std::string::npos) << ended.err;
  const auto outputs = report("c.json").at("cases").at(0).at("outputs");
  EXPECT_EQ(outputs.at("reason"), "B kept no outputs");
  EXPECT_FALSE(outputs.contains("distance"));
}

}  // namespace
}  // namespace branchmark
