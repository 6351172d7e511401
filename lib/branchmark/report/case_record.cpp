#include "branchmark/report/case_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "branchmark/base/error.hpp"
#include "branchmark/base/json.hpp"
#include "branchmark/base/json_view.hpp"
#include "branchmark/base/statistics.hpp"
#include "branchmark/report/read.hpp"

namespace branchmark {
namespace {

constexpr std::array<std::string_view, 8> kOutcomes = {"pass",         "fail",    "error",   "skipped",
                                                       "not_eligible", "vacuous", "timeout", "interrupted"};
constexpr std::array<std::string_view, 3> kSeverities = {"error", "warning", "note"};
constexpr std::array<std::string_view, 3> kBetter = {"lower", "higher", "none"};
constexpr std::array<std::string_view, 2> kValidity = {"valid", "invalid"};

// Text in a key is percent-encoded where it would be taken for the key's own punctuation or not be seen.
std::string key_value(const Json& value) {
  if (!value.is_string()) return json_text(value, JsonStyle::compact);
  std::string out;
  for (const char c : valid_utf8(value.get_ref<const std::string&>())) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7f || c == ',' || c == '=' || c == '%')
      out += fmt::format("%{:02x}", byte);
    else
      out += c;
  }
  return out;
}

Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

Json metric_to_json(const Metric& metric) {
  Json json = {{"unit", metric.unit},
               {"better", kBetter[static_cast<std::size_t>(metric.better)]},
               {"n", metric.samples.size()},
               {"samples", Json::array()},
               {"median", nullptr}};
  std::vector<double> sorted;
  for (const double sample : metric.samples) {
    json["samples"].push_back(number_or_null(sample));
    if (std::isfinite(sample)) sorted.push_back(sample);
  }
  if (metric.derived) json["derived"] = true;
  const std::size_t missing = metric.samples.size() - sorted.size();
  if (metric.samples.empty()) {
    json["null_reasons"] = {{"median", "no samples"}};
  } else if (missing > 0) {
    const std::string reason = fmt::format("{} of {} samples are not finite", missing, metric.samples.size());
    json["null_reasons"] = {{"median", reason}, {"samples", reason}};
  } else {
    std::sort(sorted.begin(), sorted.end());
    json["median"] = quantile(sorted, 0.5);
    if (sorted.size() > 1) {
      json["p10"] = quantile(sorted, 0.1);
      json["p90"] = quantile(sorted, 0.9);
    }
    if (const auto interval = median_interval(sorted))
      json["interval"] = {{"low", interval->low}, {"high", interval->high}};
  }
  return json;
}

Metric metric_from_json(const JsonView& view) {
  Metric metric;
  metric.unit = view.at("unit").label();
  metric.better = static_cast<Better>(view.at("better").word(kBetter));
  for (const JsonView& sample : view.at("samples").items())
    metric.samples.push_back(sample.is_null() ? NAN : sample.real());
  const JsonView n = view.at("n");
  if (n.integer(0, INT64_MAX) != static_cast<std::int64_t>(metric.samples.size()))
    n.refuse(fmt::format("{}, the number of samples", metric.samples.size()));
  if (const JsonView median = view.at("median"); !median.is_null()) median.real();
  for (const char* name : {"p10", "p90"})
    if (const auto percentile = view.find(name)) percentile->real();
  if (const auto interval = view.find("interval"))
    for (const char* name : {"low", "high"}) interval->at(name).real();
  if (const auto derived = view.find("derived")) metric.derived = derived->boolean();
  if (const auto reasons = view.find("null_reasons"))
    for (const std::string& name : reasons->keys()) reasons->at(name).string();
  return metric;
}

// The parameters in the order in which the key names them: an object does not keep theirs.
Parameters ordered_parameters(const JsonView& view, std::string_view rest, const JsonView& key) {
  const Json& object = view.value();
  Parameters parameters;
  while (!rest.empty()) {
    const std::string name(rest.substr(0, rest.find('=')));
    const auto found = object.find(name);
    const std::string text = found == object.end() ? "" : name + "=" + key_value(*found);
    if (found == object.end() || !rest.starts_with(text) ||
        (rest.size() > text.size() && rest[text.size()] != ','))
      key.refuse("the check and its parameters as \"check/name=value,...\"");
    parameters.emplace_back(name, *found);
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
  }
  if (parameters.size() != object.size()) key.refuse("every parameter in the key, once");
  return parameters;
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  return kOutcomes[static_cast<std::size_t>(outcome)];
}
std::string_view name_of(Severity severity) {
  return kSeverities[static_cast<std::size_t>(severity)];
}

std::string case_key(const std::string& check, const Parameters& parameters) {
  std::string key = check;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    key += (i == 0 ? "/" : ",") + parameters[i].first + "=" + key_value(parameters[i].second);
  return key;
}

std::string CaseRecord::key() const {
  return case_key(check, parameters);
}

Json to_json(const CaseRecord& record) {
  Json json = {{"key", record.key()},
               {"params", Json::object()},
               {"outcome", name_of(record.outcome)},
               {"validity", kValidity[record.invalid_reasons.empty() ? 0 : 1]},
               {"invalid_reasons", record.invalid_reasons},
               {"metrics", Json::object()},
               {"witness", Json::object()},
               {"digests", record.digests},
               {"findings", Json::array()},
               {"duration_ns", number_or_null(record.duration_ns)}};
  for (const auto& [name, value] : record.parameters) json["params"][name] = value;
  if (!record.skip_reason.empty()) json["skip_reason"] = record.skip_reason;
  for (const auto& [name, metric] : record.metrics) json["metrics"][name] = metric_to_json(metric);
  for (const auto& [name, counter] : record.witness)
    json["witness"][name] = {{"planned", counter.planned}, {"found", counter.found}};
  for (const Finding& finding : record.findings)
    json["findings"].push_back({{"id", finding.id},
                                {"severity", name_of(finding.severity)},
                                {"message", finding.message},
                                {"suggestion", finding.suggestion}});
  if (!std::isfinite(record.duration_ns)) json["null_reasons"] = {{"duration_ns", "not finite"}};
  return json;
}

CaseRecord read_case_record(const JsonView& view) {
  CaseRecord record;
  const JsonView key = view.at("key");
  const std::string text = key.label();
  const auto slash = std::min(text.find('/'), text.size());
  record.check = text.substr(0, slash);
  const JsonView params = view.at("params");
  params.require_object();
  for (const std::string& name : params.keys()) {
    const JsonView parameter = params.at(name);
    if (parameter.value().is_object() || parameter.value().is_null())
      parameter.refuse("a string, number, Boolean or array");
  }
  record.parameters =
      ordered_parameters(params, std::string_view(text).substr(std::min(slash + 1, text.size())), key);
  record.outcome = static_cast<Outcome>(view.at("outcome").word(kOutcomes));
  if (const auto reason = view.find("skip_reason")) record.skip_reason = reason->label();
  for (const JsonView& reason : view.at("invalid_reasons").items())
    record.invalid_reasons.push_back(reason.label());
  const JsonView validity = view.at("validity");
  const bool valid = validity.word(kValidity) == 0;
  if (valid != record.invalid_reasons.empty()) validity.refuse("\"invalid\" exactly where there are reasons");
  const JsonView metrics = view.at("metrics");
  for (const std::string& name : metrics.keys()) record.metrics[name] = metric_from_json(metrics.at(name));
  const JsonView witness = view.at("witness");
  for (const std::string& name : witness.keys()) {
    const JsonView counter = witness.at(name);
    record.witness[name] = {counter.at("planned").integer(INT64_MIN, INT64_MAX),
                            counter.at("found").integer(INT64_MIN, INT64_MAX)};
  }
  for (const JsonView& digest : view.at("digests").items()) record.digests.push_back(digest.label());
  for (const JsonView& finding : view.at("findings").items())
    record.findings.push_back({finding.at("id").label(),
                               static_cast<Severity>(finding.at("severity").word(kSeverities)),
                               finding.at("message").string(), finding.at("suggestion").string()});
  const JsonView duration = view.at("duration_ns");
  record.duration_ns = duration.is_null() ? NAN : duration.real();
  return record;
}

CaseRecord case_record_from_json(const Json& value) {
  return read_case_record(JsonView(value, "case"));
}

}  // namespace branchmark
