// What a person sees on stderr while cases run: on a terminal one line that follows the running case, and a
// line that stays for each case that did not pass; elsewhere a line for each case.
#pragma once

#include <cstdint>
#include <string>

#include "branchmark/report/human.hpp"

namespace branchmark::app {

class Progress {
 public:
  Progress(bool quiet, Colour colour);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void opened(std::int64_t num_cases, const std::string& note);
  void begins(const CaseRecord& named);
  void ended(const CaseRecord& record);

 private:
  void clear();

  bool quiet_;
  bool follows_;  // the running case, on a terminal
  Colour colour_;
  std::int64_t num_cases_ = 0;
  std::int64_t number_ = 0;
  bool shown_ = false;
};

// Writes to stderr; what cannot be written there is lost.
void say(const std::string& text);

}  // namespace branchmark::app
