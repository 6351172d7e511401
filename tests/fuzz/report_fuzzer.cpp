// The readers of reports and journals, and the renderings of what they accept. A report that was read and
// written is read as the same one.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "branchmark/report/annotations.hpp"
#include "branchmark/report/human.hpp"
#include "branchmark/report/journal.hpp"
#include "branchmark/report/junit.hpp"
#include "branchmark/report/markdown.hpp"
#include "branchmark/report/report.hpp"
#include "expectations.hpp"
#include "memory_file.hpp"

using namespace branchmark;

namespace {

void expect_valid(std::string_view text) {
  fuzz::expect(valid_utf8(text) == text, "a rendering is valid UTF-8");
}

void use(const Report& report) {
  const std::string written = json_text(to_json(report));
  std::string again;
  try {
    again = json_text(to_json(report_from_json(parse_json(written, "written"), "written")));
  } catch (const Error& error) {
    fuzz::expect(false, error.what());
  }
  fuzz::expect(again == written, "a written report is read as itself");
  std::string streamed;
  write_report(report, [&](std::string_view piece) { streamed += piece; });
  fuzz::expect(parse_json(streamed, "streamed") == parse_json(written, "written"),
               "a report written case by case is the report written whole");
  expect_valid(markdown_text(report));
  expect_valid(junit_text(report));
  expect_valid(github_annotations(report));
  expect_valid(verdict_text(report, "report.json", Colour::none));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::expect_read_or_refused([&] { use(report_from_json(parse_json(text, "input"), "input")); });
  const fuzz::MemoryFile file(text);
  fuzz::expect_read_or_refused([&] { use(read_journal(file.path())); });
  return 0;
}
