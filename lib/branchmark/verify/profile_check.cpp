#include "branchmark/verify/profile_check.hpp"

#include <fmt/format.h>

#include <map>

#include "branchmark/base/distance.hpp"
#include "branchmark/verify/checks/checks.hpp"
#include "branchmark/verify/synthetic_adapter.hpp"

namespace branchmark {
namespace {

constexpr std::int64_t kAdapterRank = 16;

std::vector<HiddenRows> all_rows(Model& model, const Request& request) {
  std::vector<HiddenRows> rows;
  for (const auto& full : request.prompts) rows.push_back(model.forward(full.prompt, {.all_rows = true}));
  return rows;
}

// What the cases share: one model at a time, over weights that are loaded once for all profiles.
class Profiles {
 public:
  explicit Profiles(std::shared_ptr<Session> session) : session_(std::move(session)) {}

  const Session& session() const { return *session_; }
  const Request& request(std::size_t index) const { return session_->requests()[index]; }

  Model& model(const Profile& profile) {
    if (model_ == nullptr || model_->profile() != profile) {
      model_.reset();
      forward_digests_.clear();
      model_ = make(profile);
    }
    return *model_;
  }

  // forward of the request's first prompt under the profile, before the first call that is to be refused.
  const std::string& forward_digest(const Profile& profile, std::size_t request_index) {
    auto& of_profile = model(profile);
    auto& digest = forward_digests_[request_index];
    if (digest.empty()) digest = of_profile.forward(request(request_index).prompts.front().prompt).digest();
    return digest;
  }

  // Every row of every prompt under numerics `reference`, by forward.
  const std::vector<HiddenRows>& truth(bool with_adapter, std::size_t request_index) {
    auto& rows = truths_[{with_adapter, request_index}];
    if (rows.empty()) {
      const auto reference = make({.unmerged_adapter = with_adapter, .reference_numerics = true});
      rows = all_rows(*reference, request(request_index));
    }
    return rows;
  }

 private:
  std::unique_ptr<Model> make(const Profile& profile) {
    ModelOptions options;
    options.reference_numerics = profile.reference_numerics;
    options.gdn_fp32 = profile.gdn_fp32;
    if (profile.unmerged_adapter) options.adapter = adapter();
    return session_->make_model(options);
  }
  const Adapter& adapter() {
    if (session_->adapter()) return *session_->adapter();
    if (!synthetic_) synthetic_ = make_synthetic_adapter(session_->config(), kAdapterRank, 1);
    return *synthetic_;
  }

  std::shared_ptr<Session> session_;
  std::optional<Adapter> synthetic_;
  std::unique_ptr<Model> model_;
  std::map<std::size_t, std::string> forward_digests_;  // of model_, by request
  std::map<std::pair<bool, std::size_t>, std::vector<HiddenRows>> truths_;
};

struct Cell {
  Profile profile;
  const EntryPoint* entry_point = nullptr;
  std::size_t request_index = 0;
};

void add_error(CaseRecord& record, const Cell& cell, const char* id, const std::string& what,
               const char* suggestion) {
  record.findings.push_back(
      {.id = id,
       .severity = Severity::error,
       .message = fmt::format("{} under {}: {}", cell.entry_point->name, cell.profile.describe(), what),
       .suggestion = suggestion});
}

HiddenRows last_row(const HiddenRows& rows) {
  return {rows.columns, rows.activation, {rows.values.end() - rows.columns, rows.values.end()}};
}

// Rows of all prompts, one after another, and as many of the last ones of each prompt's truth.
void add_distance(CaseRecord& record, const std::vector<HiddenRows>& found,
                  const std::vector<HiddenRows>& truth) {
  std::vector<float> left, right;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& rows = found[i].values;
    left.insert(left.end(), rows.begin(), rows.end());
    right.insert(right.end(), truth[i].values.end() - std::ssize(rows), truth[i].values.end());
  }
  record.add_metric("relative_l2", "1", Better::lower, relative_l2(left, right));
  record.add_metric("max_ulp_bf16", "ulp", Better::lower, static_cast<double>(max_ulp_bf16(left, right)));
}

void run_admitted(CaseRecord& record, Profiles& profiles, const Cell& cell, const Attempt& found) {
  if (found.refused()) {
    add_error(record, cell, "not_admitted",
              fmt::format("was refused (\"{}\"), expected to run", found.error->what()),
              "the guard stands in an entry point that admits every profile");
    return;
  }
  if (found.error) throw Error(*found.error);
  if (found.module_calls == 0)
    add_error(record, cell, "no_module_call", "ran without a module call, so the calls are not counted",
              "every call into the module must pass Context::call");
  witness(record, "entry_points_admitted", 1, 1);
  for (const auto& rows : found.rows)
    record.digests.push_back(profiles.session().recorded_digest(last_row(rows)));
  add_distance(record, found.rows, profiles.truth(cell.profile.unmerged_adapter, cell.request_index));
  const bool is_the_truth = cell.profile.reference_numerics && cell.entry_point->name == "forward";
  if (is_the_truth && record.metrics.at("relative_l2").samples.front() != 0)
    add_error(record, cell, "bits_differ", "rows differ from those of another model of numerics reference",
              "gdn fp32 changes nothing under numerics reference, and a call gives the same bits twice");
}

// The control of a refusal is a call that is admitted: it reaches the module, and gives the bits of before.
void run_refused(CaseRecord& record, Profiles& profiles, const Cell& cell, const Attempt& found,
                 const std::string& before) {
  const auto fault = fault_of_refusal(found, *cell.entry_point, cell.profile);
  if (fault.empty())
    witness(record, "entry_points_refused", 1, 1);
  else
    add_error(record, cell, "not_refused", fault, "the guard must come first in that entry point");
  auto& model = profiles.model(cell.profile);
  const auto calls = model.context().counters().calls;
  const auto& prompt = profiles.request(cell.request_index).prompts.front().prompt;
  if (model.forward(prompt).digest() != before)
    add_error(record, cell, "bits_differ", "forward gives other bits after the refusal than before it",
              "a refusal must leave the model as it was");
  witness(record, "controls_caught", 1, model.context().counters().calls > calls ? 1 : 0);
  if (fault.empty())
    record.findings.push_back(
        {.id = "refused", .severity = Severity::note, .message = found.error->what(), .suggestion = ""});
}

void run_cell(CaseRecord& record, Profiles& profiles, const Cell& cell) {
  const bool admits = cell.entry_point->admits(cell.profile);
  const auto before = admits ? std::string() : profiles.forward_digest(cell.profile, cell.request_index);
  const auto found =
      attempt(*cell.entry_point, profiles.model(cell.profile), profiles.request(cell.request_index));
  witness(record, "entry_points_tried", 1, 1);
  record.add_metric("module_calls", "1", Better::none, static_cast<double>(found.module_calls));
  record.add_metric("buffers_left", "1", Better::none, static_cast<double>(found.buffers_left));
  if (admits)
    run_admitted(record, profiles, cell, found);
  else
    run_refused(record, profiles, cell, found, before);
  settle(record);
}

}  // namespace

std::vector<Case> profile_cases(const std::shared_ptr<Session>& session,
                                const std::vector<EntryPoint>& table) {
  if (session->requests().empty())
    throw Error(ErrorCode::usage, "/prompts: missing; profile-check runs each entry point on them");
  if (session->scenario().model.merge)
    throw Error(ErrorCode::usage,
                "/model/merge: found true; profile-check runs the adapter unmerged, expected no such key");
  const auto profiles = std::make_shared<Profiles>(session);
  const auto shared_table = std::make_shared<const std::vector<EntryPoint>>(table);
  std::vector<Case> cases;
  // Profile by profile, so that each model is made once.
  for (int bits = 0; bits < 8; ++bits)
    for (std::size_t r = 0; r < session->requests().size(); ++r)
      for (const auto& entry_point : *shared_table) {
        const Profile profile{(bits & 4) != 0, (bits & 2) != 0, (bits & 1) != 0};
        cases.push_back(
            {.check = "profile",
             .parameters = with(session->requests()[r].parameters,
                                {{"adapter", profile.unmerged_adapter ? "unmerged" : "none"},
                                 {"numerics", profile.reference_numerics ? "reference" : "default"},
                                 {"gdn", profile.gdn_fp32 ? "fp32" : "default"},
                                 {"entry", entry_point.name}}),
             .skip_reason = "",
             .run = [profiles, shared_table, cell = Cell{profile, &entry_point, r}](CaseRecord& record) {
               run_cell(record, *profiles, cell);
             }});
      }
  return cases;
}

}  // namespace branchmark
