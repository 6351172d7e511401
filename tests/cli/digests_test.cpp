// One digest per prompt, however it was computed: packing, handle, process, threads, instruction set.

#include <map>
#include <set>

#include "cli/process.hpp"

namespace branchmark {
namespace {

class Digests : public test::CommandLine {
 protected:
  // The digests of each request (its prefix) in one run; every case of a request must have the same ones.
  std::map<std::int64_t, Json> digests(const std::string& filter, const test::Variables& variables = {}) {
    const auto name = "report " + std::to_string(++num_runs_) + ".json";
    test::expect_exit(
        run({"qualify", "small.json", "--device", "cpu", "--report", name, "--filter", filter}, variables), 0,
        {});
    std::map<std::int64_t, Json> found;
    for (const auto& one : cases(name)) {
      const auto [place, is_new] = found.emplace(one.at("params").at("prefix"), one.at("digests"));
      EXPECT_EQ(place->second, one.at("digests")) << one.at("key");
      EXPECT_EQ(one.at("digests").size(), 2u);
      ++num_cases_;
    }
    return found;
  }

  void SetUp() override { write_scenario(); }

  int num_runs_ = 0;
  int num_cases_ = 0;
};

constexpr auto kShared = "^shared_equals_fixed";

TEST_F(Digests, DoNotDependOnPackingHandleOrCheck) {
  const auto shared = digests(kShared);
  EXPECT_EQ(num_cases_, 2 * 2 * 2);
  std::set<std::string> distinct;
  for (const auto& [prefix, list] : shared)
    for (const auto& digest : list) distinct.insert(digest.get<std::string>());
  EXPECT_EQ(distinct.size(), 4u) << "other prompts, other digests";
  EXPECT_EQ(digests("^batch_equals_alone"), shared);
  EXPECT_EQ(digests("^packed_equals_per_branch"), shared);
}

TEST_F(Digests, DoNotDependOnProcessThreadsOrInstructionSet) {
  const auto first = digests(kShared);
  EXPECT_EQ(digests(kShared), first);
  for (const char* threads : {"1", "2"})
    for (const char* isa : {"baseline", ""})
      EXPECT_EQ(digests(kShared, {{"BRANCHMARK_THREADS", threads}, {"BRANCHMARK_CPU_ISA", isa}}), first)
          << threads << " " << isa;
}

// The two variables are read: what they cannot mean is refused.
TEST_F(Digests, AnUnknownInstructionSetOrThreadCountIsRefused) {
  const std::vector<std::string> command = {"qualify", "small.json", "--device", "cpu", "--filter", kShared};
  const auto unknown = run(command, {{"BRANCHMARK_CPU_ISA", "abacus"}});
  EXPECT_NE(unknown.code, 0);
  EXPECT_NE(unknown.last_line().find("abacus"), std::string::npos) << unknown.err;
  test::expect_exit(run(command, {{"BRANCHMARK_THREADS", "two"}}), 2, {"BRANCHMARK_THREADS", "two"});
}

TEST_F(Digests, DependOnTheSeeds) {
  const auto first = digests(kShared);
  const std::string name = "seeded.json";
  test::expect_exit(run({"qualify", "small.json", "--device", "cpu", "--report", name, "--seed", "2",
                         "--filter", "^shared_equals_fixed/prefix=70.*fixed.*packed$"}),
                    0, {});
  EXPECT_NE(cases(name)[0].at("digests"), first.at(70));
}

}  // namespace
}  // namespace branchmark
