#include "branchmark/verify/operators/case_list.hpp"

#include <utility>

#include "branchmark/verify/operators/rig.hpp"

namespace branchmark::operators {

void CaseList::add(const std::string& op, const std::string& fact, std::optional<bmk_numerics> numerics,
                   const Parameters& sizes, std::function<void(Bench&, Verdict&)> body) {
  Case made;
  made.check = "operators";
  made.parameters = {{"op", op}, {"fact", fact}};
  std::string subject = op + ", " + fact;
  if (numerics) {
    made.parameters.emplace_back("numerics", numerics_name(*numerics));
    subject += std::string(", numerics ") + numerics_name(*numerics);
  }
  made.parameters.insert(made.parameters.end(), sizes.begin(), sizes.end());
  std::string name;
  for (const auto& [key, value] : made.parameters) name += key + "=" + value.dump() + ",";
  made.run = [context = context_, key = random_key(options_.seed, name), subject,
              body = std::move(body)](CaseRecord& record) {
    Bench bench{context(), Random(key)};
    Verdict verdict(record, subject);
    try {
      body(bench, verdict);
      verdict.finish();
    } catch (const OpUnsupported&) {
      record.outcome = Outcome::skipped;
      record.skip_reason = "op_unsupported";
    }
  };
  cases_.push_back(std::move(made));
}

}  // namespace branchmark::operators
