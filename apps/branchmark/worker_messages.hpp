// What a worker process tells its supervisor: one line of JSON a message, over a pipe.
//
//   {"type":"opened","report":{...},"num_cases":170,"note":"..."}
//   {"type":"begins","case":{...},"planned_s":0.0}      the case without its results
//   {"type":"ended","case":{...}}                       a record, as the journal has it
//   {"type":"closing","report":{...}}
//   {"type":"failed","code":2,"message":"..."}            the ErrorCode's number
//
// Reports and records have the form that journals give them, so they mean the same after the pipe as before
// it: what is not finite arrives as NaN and is written as null, with its reason.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "branchmark/base/error.hpp"
#include "run_events.hpp"

namespace branchmark::app {

// The worker's end. A write that fails throws io: the supervisor is gone.
class MessageWriter {
 public:
  explicit MessageWriter(int descriptor) : descriptor_(descriptor) {}

  void opened(const Report& facts, std::int64_t num_cases, const std::string& note) const;
  void begins(const CaseRecord& named, double planned_s) const;
  void ended(const CaseRecord& record) const;
  void closing(const Report& facts) const;
  void failed(const std::exception& error) const;

 private:
  void send(const Json& message) const;
  int descriptor_;
};

struct WorkerMessage {
  enum class Type { opened, begins, ended, closing, failed };
  Type type{};
  Report report;               // opened, closing
  std::int64_t num_cases = 0;  // opened
  std::string note;            // opened
  CaseRecord record;           // begins, ended
  double planned_s = 0;        // begins
  ErrorCode code{};            // failed
  std::string message;         // failed
};

// The supervisor's end: one line, without its end. Throws usage for what is no message.
WorkerMessage read_message(std::string_view line);

}  // namespace branchmark::app
