// The parser's own description of the commands is the one table: what is printed from it, and what the README
// says.

#include <regex>
#include <set>

#include "cli/process.hpp"

namespace branchmark {
namespace {

using test::expect_exit;

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  std::set<std::string> found;
  const std::regex regex(pattern);
  for (auto match = std::sregex_iterator(text.begin(), text.end(), regex); match != std::sregex_iterator();
       ++match)
    found.insert((*match)[1]);
  return found;
}

class Reference : public test::CommandLine {};

TEST_F(Reference, TheReadmeListsExactlyTheCommands) {
  const auto ended = run({"reference", "markdown"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto commands = matches(ended.out, "\n## branchmark ([a-z-]+)\n");
  EXPECT_TRUE(commands.contains("qualify"));
  EXPECT_FALSE(commands.contains("reference")) << "it is for those who make documents";
  const auto readme = test::read_whole(BRANCHMARK_SOURCE_DIR "/README.md");
  EXPECT_EQ(matches(readme, "\n\\| `branchmark ([a-z-]+)"), commands);
}

TEST_F(Reference, EveryOptionOfACommandIsInItsHelp) {
  const auto markdown = run({"reference", "markdown"}).out;
  for (const auto& command : matches(markdown, "\n## branchmark ([a-z-]+)\n")) {
    const auto begin = markdown.find("\n## branchmark " + command + "\n");
    const auto section = markdown.substr(begin, markdown.find("\n## ", begin + 1) - begin);
    const auto help = run({command, "--help"});
    EXPECT_EQ(help.code, 0);
    const auto options = matches(section, "\n\\| `(?:-[a-z], )?(--[a-z-]+)");
    EXPECT_TRUE(options.contains("--help"));
    for (const auto& option : options)
      EXPECT_NE(help.out.find(option), std::string::npos) << command << option;
    EXPECT_NE(section.find("Example: branchmark " + command), std::string::npos) << section;
  }
}

TEST_F(Reference, TheCompletionIsAScript) {
  const auto ended = run({"reference", "bash"});
  EXPECT_EQ(ended.code, 0);
  folder_.write("completion", ended.out);
  // As the shell does at a TAB: it calls what `complete` names, with the words so far.
  folder_.write("script", R"(
    set -eu
    source "$1"
    [[ $(complete -p branchmark) == *"-F _branchmark branchmark" ]]
    completes() {
      local expected=$1
      shift
      COMP_WORDS=("$@")
      COMP_CWORD=$(($# - 1))
      _branchmark || true  # 1 where nothing matches
      if [[ "${COMPREPLY[*]-}" != "$expected" ]]; then
        echo "$*: found ${COMPREPLY[*]-}, expected $expected" >&2
        exit 1
      fi
    }
    completes qualify branchmark qual
    completes "--help" branchmark --h
    completes "--case-timeout --cache" branchmark qualify --ca
    completes "--from-journal" branchmark report --fr
    completes "" branchmark qualify smo
    completes "" branchmark frobnicate --x
  )");
  const auto folder = folder_.path().string();
  EXPECT_EQ(std::system(("bash '" + folder + "/script' '" + folder + "/completion'").c_str()), 0);
}

// Where it differs: branchmark reference markdown > apps/branchmark/REFERENCE.md
TEST_F(Reference, TheCommittedOneIsThis) {
  EXPECT_EQ(test::read_whole(BRANCHMARK_SOURCE_DIR "/apps/branchmark/REFERENCE.md"),
            run({"reference", "markdown"}).out);
}

}  // namespace
}  // namespace branchmark
