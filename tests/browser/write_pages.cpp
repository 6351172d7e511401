// write_pages FOLDER: the pages that the Python tests beside this file read.

#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "branchmark/compare/compare.hpp"
#include "branchmark/compare/comparison_html.hpp"
#include "branchmark/report/html/report_page.hpp"
#include "lib/report/page_fixture.hpp"

namespace {

using namespace branchmark;

std::string comparison(Report a, Report b) {
  std::vector<NamedReport> on_a, on_b;
  on_a.push_back({"a.json", std::move(a)});
  on_b.push_back({"b.json", std::move(b)});
  return html_text(compare(Side(std::move(on_a)), Side(std::move(on_b)), {}));
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  if (!out.flush()) throw std::runtime_error("could not write " + file.string());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_pages FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  write(folder / "bench.html", html_text(test::bench_report()));
  write(folder / "awkward.html", html_text(test::awkward_report()));
  auto empty = test::bench_report();
  empty.cases.clear();
  write(folder / "empty.html", html_text(empty));
  write(folder / "compare.html", comparison(test::bench_report(), test::bench_report(1.05)));
  write(folder / "awkward_compare.html", comparison(test::awkward_report(), test::awkward_report()));
  return 0;
}
