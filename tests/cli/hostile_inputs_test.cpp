// K48: whatever stands where a file should, the tool says so and ends: never a crash, a hang or exit 70.

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <algorithm>

#include "cli/process.hpp"

namespace branchmark {
namespace {

namespace fs = std::filesystem;
using test::expect_exit;

class HostileInputs : public test::CommandLine {
 protected:
  // Every way to hand a file to the tool.
  static std::vector<std::vector<std::string>> uses_of(const std::string& file) {
    const auto in_scenario = [&](const std::string& key, const std::string& value) {
      return std::vector<std::string>{"qualify", "smoke", "--device", "cpu", "--set", key + "=" + value};
    };
    auto reference = in_scenario("reference", R"({"file": ")" + file + R"(", "max_relative_l2": 0})");
    reference.insert(reference.end(), {"--set", R"(checks=["reference"])", "--report", "/dev/null"});
    return {{"qualify", file, "--dry-run"},
            {"bench", file, "--dry-run"},
            {"plan", file},
            {"plan", "smoke", "--rates", file},
            {"report", file},
            {"report", "--from-journal", file},
            {"compare", file, file},
            {"qualify", "smoke", "--dry-run", "--checkpoint", file},
            in_scenario("prompts", R"({"file": ")" + file + R"("})"),
            reference};
  }
  void expect_refused(const std::string& file) const {
    for (const auto& arguments : uses_of(file)) {
      std::string command;
      for (const auto& argument : arguments) command += argument + " ";
      SCOPED_TRACE(command);
      const auto ended = run(arguments);
      EXPECT_TRUE(ended.code == 2 || ended.code == 6) << ended.err;
      EXPECT_NE(ended.last_line().find(file), std::string::npos) << ended.err;
    }
  }
};

TEST_F(HostileInputs, K48OfEveryKindOfFileAreRefused) {
  fs::create_directory(folder_.path() / "folder.json");
  fs::create_symlink("loop.json", folder_.path() / "loop.json");
  fs::create_symlink("nowhere", folder_.path() / "dangling.json");
  folder_.write("empty.json", "");
  folder_.write("blank.json", " \n\t");
  folder_.write("nul.json", std::string(64, '\0'));
  folder_.write("binary.json",
                "\x7f"
                "ELF\x02\x01\x01");
  for (const char* file :
       {"folder.json", "loop.json", "dangling.json", "empty.json", "blank.json", "nul.json", "binary.json",
        "empty.json/x.json", "missing.json", "/dev/null", "/proc/self/mem"})
    expect_refused(file);
}

TEST_F(HostileInputs, K48WithoutLeaveToReadAre6) {
  folder_.write("secret.json", "{}");
  ASSERT_EQ(chmod((folder_.path() / "secret.json").c_str(), 0), 0);
  // Not even root's: the new process has no right to pass over a file's mode.
  const auto as_anyone = [] {
    prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE);
    prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH);
  };
  for (const auto& arguments : uses_of("secret.json")) {
    if (std::find(arguments.begin(), arguments.end(), "--checkpoint") != arguments.end()) continue;
    expect_exit(run(arguments, {}, as_anyone), 6, {"secret.json", "Permission denied"});
  }
}

TEST_F(HostileInputs, K48ScenariosAreRefusedWithTheirPlace) {
  struct Wrong {
    std::string text;
    std::vector<std::string> parts;
  };
  const std::string begin = R"({"schema_version": "1.0", "name": "s", "model": {"preset": "qwen3.5-smoke")";
  const auto layers = [&](const std::string& value) { return begin + R"(, "layers": )" + value + "}}"; };
  const std::vector<Wrong> all = {
      {"", {"empty"}},
      {"null", {"at the root", "found null", "an object"}},
      {std::string(100'000, '['), {"nested deeper than 64"}},
      {"\xef\xbb\xbf" + begin + "}}", {"byte order mark"}},
      {layers("9223372036854775808"), {"/model/layers", "found 9223372036854775808", "from 1 to"}},
      {layers("-9223372036854775808"), {"/model/layers", "found -9223372036854775808"}},
      {layers("18446744073709551616"), {"/model/layers", "from 1 to"}},
      {layers("1e400"), {"/model/layers", "line 1"}},
      {layers("NaN"), {"/model/layers", "line 1"}},
      {layers("2.5"), {"/model/layers", "found 2.5"}},
      {layers("2") + "{}", {"line 1", "end of input"}},
      {begin + R"(, "preset": "x"}})", {"/model/preset", "duplicate key"}},
      {begin + R"(}, "n\u0061me": "t"})", {"/name", "duplicate key"}},
      {begin + R"(}, "description": ")" + "\xc0\xaf" + "\"}", {"/description", "UTF-8"}},
      {begin + R"(}, "description": "\ud800"})", {"/description", "surrogate"}},
      {begin + R"(}, "Checks": []})", {"/Checks", "unknown key"}},
  };
  for (const auto& wrong : all) {
    folder_.write("wrong.json", wrong.text);
    auto parts = wrong.parts;
    parts.push_back("wrong.json");
    expect_exit(run({"qualify", "wrong.json", "--dry-run"}), 2, parts);
  }
}

}  // namespace
}  // namespace branchmark
