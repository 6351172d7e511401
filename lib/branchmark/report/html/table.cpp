#include "branchmark/report/html/table.hpp"

#include <fmt/format.h>

#include <array>

namespace branchmark::html {
namespace {

std::string class_of(const Column& column) {
  return column.align == Align::number ? "number" : "text";
}

}  // namespace

Markup draw(const Table& table) {
  Markup heads;
  for (const auto& column : table.columns)
    heads += element("th", {{"scope", "col"}, {"class", class_of(column)}}, column.title);
  Markup rows;
  for (const auto& row : table.rows) {
    Markup cells;
    for (std::size_t i = 0; i < row.size(); ++i)
      cells += i == 0 ? element("th", {{"scope", "row"}, {"class", class_of(table.columns[i])}}, row[i])
                      : element("td", {{"class", class_of(table.columns[i])}}, row[i]);
    rows += element("tr", {}, cells) + "\n";
  }
  const auto inside =
      element("table", {}, element("thead", {}, element("tr", {}, heads)) + element("tbody", {}, rows));
  Attributes attributes;
  if (table.open) attributes.emplace_back("open", "open");
  return element("details", attributes,
                 element("summary", {},
                         Markup(table.title) + " " +
                             element("span", {{"class", "count"}}, fmt::format("{}", table.rows.size()))) +
                     // Reachable by keyboard, as what scrolls must be.
                     element("div",
                             {{"class", "scroll"},
                              {"tabindex", "0"},
                              {"role", "region"},
                              {"aria-label", table.title}},
                             inside)) +
         "\n";
}

Markup badge(Tone tone, const std::string& symbol, const std::string& word) {
  constexpr std::array<std::string_view, 4> kClasses = {"good", "bad", "doubtful", "quiet"};
  return element("span", {{"class", "badge " + std::string(kClasses.at(static_cast<std::size_t>(tone)))}},
                 element("span", {{"aria-hidden", "true"}}, symbol) + " " + word);
}

Markup status_badge(const CaseRecord& record) {
  const std::string word(name_of(record.outcome));
  switch (record.outcome) {
    case Outcome::pass:
      return record.invalid_reasons.empty() ? badge(Tone::good, "\u2713", word)
                                            : badge(Tone::doubtful, "!", "invalid");
    case Outcome::skipped:
      return badge(Tone::quiet, "\u2013", word);
    case Outcome::vacuous:
    case Outcome::not_eligible:
    case Outcome::interrupted:
      return badge(Tone::doubtful, "?", word);
    default:
      return badge(Tone::bad, "\u2717", word);
  }
}

}  // namespace branchmark::html
