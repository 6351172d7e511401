// What a run leaves when it is cut off or cannot write: everything that had finished, and nothing that could
// be taken for more.

#include <fmt/format.h>
#include <langinfo.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <thread>

#include "cli/process.hpp"
#include "cli/volatile.hpp"

namespace branchmark {
namespace {

using test::expect_exit;

class Durability : public test::CommandLine {
 protected:
  static std::vector<std::string> command(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"qualify", "smoke", "--device", "cpu",
                                          "--level", "quick", "--filter", "^(operators|refusals)"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  // So many cases that their report is longer than their journal, and none that takes long.
  static std::vector<std::string> some(std::vector<std::string> more) {
    auto arguments = command(std::move(more));
    arguments[7] =
        "^(operators/op=(embed|copy_2d|gather_rows|scatter_rows|synthetic_fill|silu_mul)|refusals)";
    return arguments;
  }
  // A few cases.
  static std::vector<std::string> quick(std::vector<std::string> more) {
    auto arguments = command(std::move(more));
    arguments[7] = "^operators/op=(embed|copy_2d)";
    return arguments;
  }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
};

std::map<std::string, Json> cases_of(const Json& report) {
  std::map<std::string, Json> cases;
  for (const auto& one : report.at("cases")) cases[one.at("key").get<std::string>()] = one;
  return cases;
}

// Lines on stderr that announce a finished case.
std::size_t num_announced(const std::string& text) {
  std::size_t count = 0;
  for (auto at = text.find('['); at != std::string::npos; at = text.find("\n[", at + 1)) ++count;
  return count;
}

// K44
TEST_F(Durability, K44AKilledRunKeepsEveryCaseThatHadFinished) {
  const auto begin = std::chrono::steady_clock::now();
  expect_exit(run(command({"--report", "whole.json"})), 0, {});
  const auto length = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto whole = cases_of(test::without_volatile(report("whole.json")));
  constexpr unsigned kSeed = 44;
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<double> moment(0.0, length);
  constexpr int kRuns = 20;
  int with_cases = 0;
  int cut_short = 0;
  for (int i = 0; i < kRuns; ++i) {
    const auto journal = "run " + std::to_string(i) + ".journal.jsonl";
    const auto killed = "run " + std::to_string(i) + ".json";
    const double seconds = moment(random);
    SCOPED_TRACE(fmt::format("seed {}, run {}, killed after {} s", kSeed, i, seconds));
    const auto child = start(command({"--report", killed}));
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    kill(child, SIGKILL);
    const auto ended = wait(child);
    if (ended.code == 0) continue;  // it was quicker this time
    EXPECT_EQ(ended.code, 128 + SIGKILL);
    EXPECT_FALSE(std::filesystem::exists(path(killed))) << "a report of a run that did not end";
    if (!std::filesystem::exists(path(journal)) ||
        test::read_whole(path(journal)).find('\n') == std::string::npos)
      continue;
    ++cut_short;
    const auto rebuilt = "rebuilt " + std::to_string(i) + ".json";
    expect_exit(run({"report", "--from-journal", journal, "--report", rebuilt}), 0, {});
    const auto found = report(rebuilt);
    EXPECT_FALSE(found.at("complete").get<bool>());
    EXPECT_TRUE(found.at("exit").is_null());
    EXPECT_GE(found.at("cases").size(), num_announced(ended.err)) << ended.err;
    for (const auto& [key, one] : cases_of(test::without_volatile(found))) {
      ASSERT_TRUE(whole.contains(key)) << key;
      EXPECT_EQ(one, whole.at(key));
    }
    with_cases += !found.at("cases").empty();
  }
  EXPECT_GT(cut_short, kRuns / 2);
  EXPECT_GT(with_cases, 0);
}

// K43
TEST_F(Durability, K43AFullDeviceIs6AndStaysADevice) {
  ASSERT_TRUE(std::filesystem::is_character_file("/dev/full"));
  const std::vector<std::vector<std::string>> all = {
      {"--report", "/dev/full"},
      {"--report", "a.json", "--journal", "/dev/full"},
      {"--report", "b.json", "--junit", "/dev/full"},
      {"--report", "c.json", "--markdown", "/dev/full"},
      {"--report", "d.json", "--html", "/dev/full"},
  };
  for (const auto& outputs : all) {
    expect_exit(run(quick(outputs)), 6, {"/dev/full"});
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  }
  // Without a journal nothing may run; the other outputs come at the end, and the report says what they met.
  EXPECT_FALSE(std::filesystem::exists(path("a.json")));
  for (const char* name : {"b.json", "c.json", "d.json"}) EXPECT_EQ(report(name).at("exit").at("code"), 6);
}

// K43
TEST_F(Durability, K43AFileSizeLimitIs6AndLeavesNoHalfReport) {
  expect_exit(run(some({"--report", "whole.json"})), 0, {});
  const auto report_bytes = std::filesystem::file_size(path("whole.json"));
  const auto journal_bytes = std::filesystem::file_size(path("whole.journal.jsonl"));
  ASSERT_GT(report_bytes, journal_bytes + 2000);
  static rlim_t limit = 0;
  const auto limited = [] {
    const rlimit bytes = {limit, limit};
    setrlimit(RLIMIT_FSIZE, &bytes);
  };
  // In the middle of the report; that of an earlier run is not left in its place.
  limit = (report_bytes + journal_bytes) / 2;
  folder_.write("r.json", "earlier");
  expect_exit(run(some({"--report", "r.json", "--force"}), {}, limited), 6, {"r.json"});
  EXPECT_FALSE(std::filesystem::exists(path("r.json")));
  EXPECT_FALSE(std::filesystem::exists(path("r.json.partial")));
  // The journal has room, and has it all.
  expect_exit(run({"report", "--from-journal", "r.journal.jsonl", "--report", "rebuilt.json"}), 0, {});
  EXPECT_EQ(cases_of(test::without_volatile(report("rebuilt.json"))),
            cases_of(test::without_volatile(report("whole.json"))));
  // In the journal: what had finished by then may still be reported, as what it is.
  for (const auto bytes : {std::uintmax_t{2000}, journal_bytes / 2, journal_bytes - 100}) {
    limit = bytes;
    expect_exit(run(some({"--report", "r.json", "--force"}), {}, limited), 6, {});
    if (!std::filesystem::exists(path("r.json"))) continue;
    EXPECT_EQ(report("r.json").at("exit").at("code"), 6);
  }
}

// Locales of this machine whose numbers have a decimal comma.
std::vector<std::string> comma_locales() {
  std::vector<std::string> found;
  const std::unique_ptr<FILE, int (*)(FILE*)> list(popen("locale -a 2>/dev/null", "r"), pclose);
  char line[256];
  while (list && std::fgets(line, sizeof line, list.get()) != nullptr) {
    std::string name = line;
    name.erase(name.find_last_not_of('\n') + 1);
    const locale_t locale = newlocale(LC_ALL_MASK, name.c_str(), nullptr);
    if (locale == nullptr) continue;
    if (std::string_view(nl_langinfo_l(RADIXCHAR, locale)) == ",") found.push_back(name);
    freelocale(locale);
  }
  return found;
}

// K42
TEST_F(Durability, K42ADecimalCommaChangesNoByte) {
  const auto with = [&](const std::string& name, const test::Variables& variables, bool inside) {
    auto arguments = quick({"--kernels", BRANCHMARK_PROCESS_FAULTS_MODULE, "--report", name + ".json",
                            "--junit", name + ".xml", "--markdown", name + ".md"});
    if (inside) arguments.push_back("--in-process");
    expect_exit(run(arguments, variables), 0, {});
    return json_text(test::without_volatile(report(name + ".json")));
  };
  const auto plain = with("plain", {}, false);
  // Wherever it runs, the module turns the C++ locale to one with a comma; that of C needs one that is
  // installed.
  EXPECT_EQ(with("worker", {{"BRANCHMARK_TEST_FAULT", "comma_locale"}}, false), plain);
  EXPECT_EQ(with("inside", {{"BRANCHMARK_TEST_FAULT", "comma_locale"}}, true), plain);
  for (const auto& name : {"inside.xml", "inside.md"}) {
    const auto text = test::read_whole(path(name));
    EXPECT_EQ(text.find("time=\"0,"), std::string::npos);
    EXPECT_FALSE(text.empty());
  }
  const auto locales = comma_locales();
  if (locales.empty()) GTEST_SKIP() << "no locale here has a decimal comma: the part with LC_ALL was not run";
  const auto& locale = locales.front();
  EXPECT_EQ(with("variable", {{"LC_ALL", locale}}, false), plain) << locale;
  for (const bool inside : {false, true}) {
    const auto name = fmt::format("c_locale_{}", inside);
    EXPECT_EQ(with(name, {{"LC_ALL", locale}, {"BRANCHMARK_TEST_FAULT", "comma_locale"}}, inside), plain)
        << locale;
  }
}

// Two runs of one scenario differ in the fields that volatile.json lists, and in no other.
TEST_F(Durability, TheSameInputsGiveTheSameBytes) {
  expect_exit(run(command({"--report", "a.json"})), 0, {});
  expect_exit(run(command({"--report", "b.json"})), 0, {});
  EXPECT_EQ(json_text(test::without_volatile(report("a.json"))),
            json_text(test::without_volatile(report("b.json"))));
}

}  // namespace
}  // namespace branchmark
