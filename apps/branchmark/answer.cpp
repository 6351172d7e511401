#include "answer.hpp"

#include <csignal>

#include "branchmark/report/output_file.hpp"

namespace branchmark::app {

void answer(std::string_view text) {
  auto out = OutputFile::open("-", OutputKind::whole, Replace::refuse);
  const auto ignored = std::signal(SIGPIPE, SIG_DFL);
  out.write(text);
  out.commit();
  std::signal(SIGPIPE, ignored);
}

}  // namespace branchmark::app
