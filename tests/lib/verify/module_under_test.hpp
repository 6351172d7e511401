// What the tests of the run-time checks share: a context on a module, a fault in it, and a case carried out.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include "branchmark/device/context.hpp"
#include "branchmark/verify/case.hpp"
#include "branchmark/verify/context_source.hpp"

namespace branchmark::test {

inline ContextSource context_on(const char* module) {
  auto context = Context::open(KernelLibrary::load(module), 0);
  return [context] { return context; };
}

// A fault of the wrapping module (tests/modules/faulty_ops.cpp), while it lives.
class Fault {
 public:
  explicit Fault(const std::string& name) { setenv("BRANCHMARK_TEST_FAULT", name.c_str(), 1); }
  ~Fault() { unsetenv("BRANCHMARK_TEST_FAULT"); }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
};

inline CaseRecord carry_out(const Case& one) {
  CaseRecord record;
  record.check = one.check;
  record.parameters = one.parameters;
  one.run(record);
  return record;
}

// For the message of a failed expectation.
inline std::string told(const CaseRecord& record) {
  auto text = record.key();
  for (const auto& finding : record.findings) text += "\n  " + finding.id + ": " + finding.message;
  for (const auto& [name, counter] : record.witness)
    text += "\n  " + name + ": planned " + std::to_string(counter.planned) + ", found " +
            std::to_string(counter.found);
  return text;
}

}  // namespace branchmark::test
