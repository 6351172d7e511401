// Runs the binary as a person would: a process of its own in a folder of its own, with what it printed and
// how it ended.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "branchmark/base/json.hpp"
#include "lib/model/folder.hpp"

namespace branchmark::test {

struct Ended {
  int code = -1;  // of the process; 128 + n where a signal ended it
  std::string out;
  std::string err;

  // The line that names the code and the reason.
  std::string last_line() const {
    const auto end = err.find_last_not_of('\n');
    if (end == std::string::npos) return "";
    const auto begin = err.find_last_of('\n', end);
    return err.substr(begin == std::string::npos ? 0 : begin + 1,
                      end - (begin == std::string::npos ? 0 : begin + 1) + 1);
  }
};

using Variables = std::vector<std::pair<std::string, std::string>>;

class CommandLine : public testing::Test {
 protected:
  // Neither the caller's settings nor the caller's caches reach the run; its own go to the folder. `prepare`
  // is called in the new process, before the binary takes it over.
  pid_t start(const std::vector<std::string>& arguments, const Variables& variables = {},
              void (*prepare)() = nullptr) const {
    const pid_t child = ::fork();
    if (child != 0) return child;
    redirect(out_file().c_str(), STDOUT_FILENO);
    redirect(err_file().c_str(), STDERR_FILENO);
    for (const char* name : {"BRANCHMARK_THREADS", "BRANCHMARK_CPU_ISA", "BRANCHMARK_TEST_FAULT", "NO_COLOR"})
      ::unsetenv(name);
    ::setenv("XDG_CACHE_HOME", (folder_.path() / "cache").c_str(), 1);
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> argv = {const_cast<char*>("branchmark")};
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    if (prepare != nullptr) prepare();
    if (::chdir(folder_.path().c_str()) == 0) ::execv(BRANCHMARK_APP, argv.data());
    ::_exit(127);
  }

  Ended wait(pid_t child) const {
    int status = 0;
    ::waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_whole(out_file()),
            read_whole(err_file())};
  }

  Ended run(const std::vector<std::string>& arguments, const Variables& variables = {},
            void (*prepare)() = nullptr) const {
    return wait(start(arguments, variables, prepare));
  }

  std::filesystem::path out_file() const { return folder_.path() / "stdout.txt"; }
  std::filesystem::path err_file() const { return folder_.path() / "stderr.txt"; }

  Json report(const std::string& name = "report.json") const {
    return parse_json(read_whole(folder_.path() / name), name);
  }

  Json cases(const std::string& name = "report.json") const { return report(name).at("cases"); }

  // A small scenario in the folder: a request of two prompts for each prefix, states where it is long enough.
  void write_scenario(const std::string& name = "small.json", const std::string& prefixes = "[0, 70]") const {
    folder_.write(name, R"({"schema_version": "1.0", "name": "small",
      "model": {"preset": "qwen3.5-smoke", "layers": 4},
      "prompts": {"request_prefix_tokens": )" +
                            prefixes + R"(,
        "groupings": [{"name": "g", "groups": [{"prefix_tokens": 10, "branch_tokens": [3, 40]}]}]},
      "execution": {"packing": ["packed", "per_branch"]}})");
  }

  Folder folder_;

 private:
  static void redirect(const char* file, int descriptor) {
    const int fd = ::open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ::dup2(fd, descriptor) < 0) ::_exit(126);
    ::close(fd);
  }
};

// Ends with this code, and says so and why in its last line.
inline void expect_exit(const Ended& ended, int code, const std::vector<std::string>& parts) {
  EXPECT_EQ(ended.code, code) << ended.err;
  const auto line = ended.last_line();
  EXPECT_EQ(line.find("branchmark: exit " + std::to_string(code) + " ("), 0u) << ended.err;
  for (const auto& part : parts)
    EXPECT_NE(line.find(part), std::string::npos) << "last line: " << line << "\nexpected in it: " << part;
}

}  // namespace branchmark::test
