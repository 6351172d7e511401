#include "branchmark/report/html/page.hpp"

namespace branchmark::html {
namespace {

Markup tile(const Tile& tile) {
  return element("li", {}, element("strong", {}, tile.value) + " " + element("span", {}, tile.text));
}

Markup header(const Page& page) {
  auto out = element("h1", {}, page.title) + element("p", {{"class", "subtitle"}}, page.subtitle) +
             element("p", {{"class", "verdict"}},
                     badge(page.tone, page.symbol, page.verdict) + " " + element("span", {}, page.reason));
  if (!page.tiles.empty()) {
    Markup tiles;
    for (const auto& each : page.tiles) tiles += tile(each);
    out += element("ul", {{"class", "tiles"}}, tiles);
  }
  return element("header", {}, out) + "\n";
}

Markup section(const Section& section) {
  auto out = element("h2", {}, section.title);
  if (!section.lead.empty()) out += element("p", {{"class", "lead"}}, section.lead);
  if (!section.figures.empty()) {
    Markup figures;
    for (const auto& each : section.figures) figures += each;
    out += element("div", {{"class", "figures"}}, figures);
  }
  return element("section", {}, out + section.rest) + "\n";
}

}  // namespace

std::string document(const Page& page) {
  // The policy is the browser's promise that nothing is fetched and nothing runs, whatever a report holds.
  const auto head =
      element("meta", {{"charset", "utf-8"}}) +
      element("meta", {{"http-equiv", "Content-Security-Policy"},
                       {"content", "default-src 'none'; style-src 'unsafe-inline'"}}) +
      element("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}}) +
      element("meta", {{"name", "color-scheme"}, {"content", "light dark"}}) +
      element("title", {}, page.title + ": " + page.verdict) + style_element(page_style());
  Markup body = header(page);
  for (const auto& each : page.sections) body += section(each);
  return "<!DOCTYPE html>\n" +
         element("html", {{"lang", "en"}, {"xmlns", "http://www.w3.org/1999/xhtml"}},
                 element("head", {}, head) + "\n" + element("body", {}, element("main", {}, body)))
             .str() +
         "\n";
}

Tone tone_of(const std::optional<Exit>& exit) {
  if (!exit) return Tone::doubtful;
  switch (exit->code) {
    case kExitOk:
      return Tone::good;
    case kExitInconclusive:
    case kExitNotEligible:
      return Tone::doubtful;
    default:
      return Tone::bad;
  }
}

std::string symbol_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "\u2713";
    case Tone::bad:
      return "\u2717";
    case Tone::doubtful:
      return "?";
    case Tone::quiet:
      break;
  }
  return "\u2013";
}

}  // namespace branchmark::html
