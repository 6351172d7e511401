#include "worker_messages.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include "branchmark/base/json_view.hpp"
#include "branchmark/report/read.hpp"

namespace branchmark::app {
namespace {

// In the order of WorkerMessage::Type.
constexpr std::array<std::string_view, 5> kTypes = {"opened", "begins", "ended", "closing", "failed"};

}  // namespace

void MessageWriter::send(const Json& message) const {
  const auto line = json_text(message, JsonStyle::compact) + "\n";
  for (std::string_view rest = line; !rest.empty();) {
    const auto written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      throw Error(ErrorCode::io, fmt::format("the supervisor cannot be told: {}", std::strerror(errno)));
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void MessageWriter::opened(const Report& facts, std::int64_t num_cases, const std::string& note) const {
  send({{"type", "opened"}, {"report", header_to_json(facts)}, {"num_cases", num_cases}, {"note", note}});
}

void MessageWriter::begins(const CaseRecord& named, double planned_s) const {
  send({{"type", "begins"}, {"case", to_json(named)}, {"planned_s", planned_s}});
}

void MessageWriter::ended(const CaseRecord& record) const {
  send({{"type", "ended"}, {"case", to_json(record)}});
}

void MessageWriter::closing(const Report& facts) const {
  send({{"type", "closing"}, {"report", header_to_json(facts)}});
}

void MessageWriter::failed(const std::exception& exception) const {
  const auto* error = dynamic_cast<const Error*>(&exception);
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&exception) != nullptr;
  const auto code = no_memory ? ErrorCode::not_eligible : error ? error->code() : ErrorCode::internal;
  send({{"type", "failed"},
        {"code", static_cast<int>(code)},
        {"message", no_memory ? "too little host memory" : exception.what()}});
}

WorkerMessage read_message(std::string_view line) {
  const Json value = parse_json(line, "worker");
  const JsonView view(value, "worker");
  WorkerMessage message;
  message.type = static_cast<WorkerMessage::Type>(view.at("type").word(kTypes));
  switch (message.type) {
    case WorkerMessage::Type::opened:
      message.report = report_header_from_json(view.at("report"));
      message.num_cases = view.at("num_cases").integer(1, INT64_MAX);
      message.note = view.at("note").string();
      break;
    case WorkerMessage::Type::begins:
      message.record = read_case_record(view.at("case"));
      message.planned_s = view.at("planned_s").number(0, 1e9);
      break;
    case WorkerMessage::Type::ended:
      message.record = read_case_record(view.at("case"));
      break;
    case WorkerMessage::Type::closing:
      message.report = report_header_from_json(view.at("report"));
      break;
    case WorkerMessage::Type::failed:
      message.code = static_cast<ErrorCode>(view.at("code").integer(0, 255));
      message.message = view.at("message").string();
      break;
  }
  return message;
}

}  // namespace branchmark::app
