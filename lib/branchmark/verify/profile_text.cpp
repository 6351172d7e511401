#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>

#include "branchmark/verify/profile_check.hpp"

namespace branchmark {
namespace {

constexpr std::size_t kCellWidth = 16;

std::string parameter(const CaseRecord& record, std::string_view name) {
  for (const auto& [key, value] : record.parameters)
    if (key == name && value.is_string()) return value.get<std::string>();
  return "";
}

std::optional<double> distance_of(const CaseRecord& record) {
  const auto found = record.metrics.find("relative_l2");
  if (found == record.metrics.end() || found->second.samples.empty()) return std::nullopt;
  return found->second.samples.front();
}

// One profile at one entry point, over all requests.
struct CellText {
  std::optional<Outcome> other_than_pass;  // of the first request that did not pass
  std::optional<double> distance;          // the largest

  void add(const CaseRecord& record) {
    if (record.outcome != Outcome::pass && !other_than_pass) other_than_pass = record.outcome;
    if (const auto found = distance_of(record)) distance = std::max(distance.value_or(0), *found);
  }
  std::string text() const {
    if (other_than_pass) {
      std::string word(name_of(*other_than_pass));
      std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::toupper(c); });
      return word;
    }
    return distance ? fmt::format("{:.2e}", *distance) : "refused";
  }
};

struct Row {
  std::string adapter, numerics, gdn;
  std::map<std::string, CellText> cells;  // by entry point

  bool same_profile(const Row& other) const {
    return adapter == other.adapter && numerics == other.numerics && gdn == other.gdn;
  }
};

struct Table {
  std::vector<std::string> entry_points;  // in order of appearance, as are the rows
  std::vector<Row> rows;

  explicit Table(const Report& report) {
    for (const auto& record : report.cases)
      if (record.check == "profile") add(record);
  }

  std::optional<double> forward_distance(std::string_view gdn) const {
    for (const auto& row : rows)
      if (row.adapter == "none" && row.numerics == "default" && row.gdn == gdn)
        if (const auto cell = row.cells.find("forward"); cell != row.cells.end())
          return cell->second.distance;
    return std::nullopt;
  }

 private:
  void add(const CaseRecord& record) {
    const auto entry_point = parameter(record, "entry");
    if (std::find(entry_points.begin(), entry_points.end(), entry_point) == entry_points.end())
      entry_points.push_back(entry_point);
    const Row wanted{
        parameter(record, "adapter"), parameter(record, "numerics"), parameter(record, "gdn"), {}};
    auto row =
        std::find_if(rows.begin(), rows.end(), [&](const Row& each) { return each.same_profile(wanted); });
    if (row == rows.end()) row = rows.insert(rows.end(), wanted);
    row->cells[entry_point].add(record);
  }
};

std::string profile_columns(std::string_view adapter, std::string_view numerics, std::string_view gdn) {
  return fmt::format("{:<10}{:<11}{:<8}", adapter, numerics, gdn);
}

std::string gdn_sentence(const Table& table) {
  const auto rounded = table.forward_distance("default");
  const auto fp32 = table.forward_distance("fp32");
  if (!rounded || !fp32 || *rounded == 0) return "";
  return fmt::format(
      "\nforward with gdn fp32 is {:.2e} from the reference, with gdn default {:.2e}: {:.2f} times as far.\n",
      *fp32, *rounded, *fp32 / *rounded);
}

}  // namespace

std::string profile_text(const Report& report) {
  const Table table(report);
  if (table.rows.empty()) return "";
  std::string text =
      "\nRelative L2 to numerics reference with the same adapter, where an entry point admits the profile\n" +
      profile_columns("adapter", "numerics", "gdn");
  for (const auto& name : table.entry_points) text += fmt::format("{:>{}}", name, kCellWidth);
  text += '\n';
  for (const auto& row : table.rows) {
    text += profile_columns(row.adapter, row.numerics, row.gdn);
    for (const auto& name : table.entry_points) {
      const auto cell = row.cells.find(name);
      text += fmt::format("{:>{}}", cell == row.cells.end() ? "-" : cell->second.text(), kCellWidth);
    }
    text += '\n';
  }
  return text + gdn_sentence(table);
}

}  // namespace branchmark
