// The frame of a page: one document that needs nothing else, not even a script.
#pragma once

#include <string>
#include <vector>

#include "branchmark/report/exit_code.hpp"
#include "branchmark/report/html/table.hpp"

namespace branchmark::html {

// A number that a reader should take home.
struct Tile {
  std::string value;
  std::string text;
};

struct Section {
  std::string title;
  std::string lead = {};  // a sentence or two; may be empty
  std::vector<Markup> figures = {};
  Markup rest = {};  // tables and the like
};

struct Page {
  std::string title;
  std::string subtitle;
  Tone tone = Tone::quiet;
  std::string symbol;
  std::string verdict;  // a word
  std::string reason;
  std::vector<Tile> tiles = {};
  std::vector<Section> sections = {};
};

// The document. The same page gives the same bytes.
std::string document(const Page& page);

// How an end looks; empty: it did not end.
Tone tone_of(const std::optional<Exit>& exit);
std::string symbol_of(Tone tone);

// page.css, compiled in.
std::string_view page_style();

}  // namespace branchmark::html
