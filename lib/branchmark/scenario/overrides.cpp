#include <fmt/format.h>

#include <charconv>

#include "branchmark/base/error.hpp"
#include "branchmark/scenario/parse.hpp"

namespace branchmark {
namespace {

[[noreturn]] void refuse(const std::string& setting, const std::string& message) {
  throw Error(ErrorCode::usage, fmt::format("--set {}: {}", setting, message));
}

// The member of an object, made where it is missing, or the element of an array; one past the last appends.
Json& step(Json& parent, const std::string& token, const std::string& setting) {
  if (parent.is_null()) parent = Json::object();
  if (parent.is_object()) return parent[token];
  if (!parent.is_array())
    refuse(setting, fmt::format("\"{}\" lies inside {}, expected an object or an array", token,
                                json_text(parent, JsonStyle::compact)));
  std::size_t index = 0;
  const char* end = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), end, index);
  if (error != std::errc() || stop != end || index > parent.size())
    refuse(setting,
           fmt::format("found index \"{}\", expected a whole number from 0 to {}", token, parent.size()));
  if (index == parent.size()) parent.push_back(nullptr);
  return parent[index];
}

void apply_setting(Json& document, const std::string& setting) {
  const auto equals = setting.find('=');
  if (equals == std::string::npos || equals == 0)
    refuse(setting, "found no path and value, expected a.b.0=VALUE");
  const std::string path = setting.substr(0, equals);
  const std::string text = setting.substr(equals + 1);
  if (!document.is_object()) refuse(setting, "the scenario is no object");
  Json* place = &document;
  std::size_t from = 0;
  while (from <= path.size()) {
    const std::size_t dot = std::min(path.find('.', from), path.size());
    if (dot == from)
      refuse(setting, fmt::format("found an empty name in \"{}\", expected a.b.0=VALUE", path));
    place = &step(*place, path.substr(from, dot - from), setting);
    from = dot + 1;
  }
  *place = Json::accept(text) ? parse_json(text, "--set " + path) : Json(text);
}

}  // namespace

void apply_overrides(Json& document, const ScenarioOverrides& overrides) {
  if (document.is_object()) {
    if (overrides.preset || overrides.checkpoint) {
      Json& model = document["model"];
      if (model.is_null()) model = Json::object();
      if (model.is_object()) {
        for (const char* key : {"preset", "checkpoint", "weights"}) model.erase(key);
        if (overrides.preset) model["preset"] = *overrides.preset;
        if (overrides.checkpoint) model["checkpoint"] = *overrides.checkpoint;
      }
    }
    if (overrides.seed)
      for (const char* key : {"model", "prompts"})
        if (const auto found = document.find(key); found != document.end() && found->is_object())
          (*found)["seed"] = *overrides.seed;
  }
  for (const std::string& setting : overrides.set) apply_setting(document, setting);
}

}  // namespace branchmark
