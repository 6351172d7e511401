#include "progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace branchmark::app {
namespace {

bool is_terminal() {
  const char* kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
}

std::size_t terminal_columns() {
  winsize size{};
  constexpr std::size_t kUsual = 80;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

}  // namespace

Progress::Progress(bool quiet, Colour colour) : quiet_(quiet), follows_(is_terminal()), colour_(colour) {}

void Progress::opened(std::int64_t num_cases, const std::string& note) {
  num_cases_ = num_cases;
  if (!quiet_ && !note.empty()) say(fmt::format("device: {}\n", note));
}

void Progress::begins(const CaseRecord& named) {
  if (quiet_ || !follows_) return;
  auto line = fmt::format("[{}/{}] {}", number_ + 1, num_cases_, named.key());
  if (const auto columns = terminal_columns(); line.size() >= columns) line.resize(columns - 1);
  clear();
  say(line);
  shown_ = true;
}

void Progress::ended(const CaseRecord& record) {
  ++number_;
  clear();
  if (quiet_ || (follows_ && record.outcome == Outcome::pass)) return;
  say(case_line(record, number_, num_cases_, colour_) + "\n");
}

void Progress::clear() {
  if (shown_) say("\r\x1b[K");
  shown_ = false;
}

void say(const std::string& text) {
  std::fputs(text.c_str(), stderr);
}

}  // namespace branchmark::app
