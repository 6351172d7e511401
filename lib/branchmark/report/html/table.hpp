// Tables that open and close, and scroll by themselves where a screen is narrow.
#pragma once

#include <string>
#include <vector>

#include "branchmark/report/html/markup.hpp"
#include "branchmark/report/report.hpp"

namespace branchmark::html {

enum class Align { text, number };

struct Column {
  std::string title;
  Align align = Align::number;
};

struct Table {
  std::string title;
  std::vector<Column> columns;            // the first names the row
  std::vector<std::vector<Markup>> rows;  // as many cells as columns
  bool open = false;
};

Markup draw(const Table& table);

// A word with a symbol and a colour, of which the word alone would do.
enum class Tone { good, bad, doubtful, quiet };
Markup badge(Tone tone, const std::string& symbol, const std::string& word);
Markup status_badge(const CaseRecord& record);

}  // namespace branchmark::html
