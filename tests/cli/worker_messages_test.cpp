// What a worker says arrives as it was meant, also where numbers are not finite and text is not UTF-8.
#include "worker_messages.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <new>

#include "branchmark/base/json.hpp"

namespace branchmark::app {
namespace {

class WorkerMessages : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(pipe(ends_.data()), 0); }
  void TearDown() override {
    for (const int end : ends_) close(end);
  }
  MessageWriter writer() const { return MessageWriter(ends_[1]); }
  WorkerMessage next() const {
    std::string line;
    for (char c = 0; read(ends_[0], &c, 1) == 1 && c != '\n';) line += c;
    return read_message(line);
  }
  std::array<int, 2> ends_ = {-1, -1};
};

CaseRecord odd_record() {
  CaseRecord record;
  record.check = "odd";
  record.parameters = {{"text", "a,b=c%\n\xff"}, {"number", 0.1}, {"list", {1, 2}}, {"flag", true}};
  record.outcome = Outcome::fail;
  record.metrics["wall_ns"] = {"ns", Better::lower, {1.0, NAN, INFINITY, -INFINITY, 1e308, 5e-324}};
  record.metrics["none"] = {"1", Better::none, {}};
  record.witness["rows"] = {INT64_MAX, INT64_MIN};
  record.digests = {std::string(64, 'f')};
  record.findings = {{"bits_differ", Severity::warning, "not UTF-8: \xc3\x28, \"quoted\"\n\x01", ""}};
  record.invalid_reasons = {"throttled"};
  record.duration_ns = INFINITY;
  return record;
}

TEST_F(WorkerMessages, ARecordIsWrittenAfterThePipeAsBeforeIt) {
  const auto record = odd_record();
  writer().ended(record);
  const auto message = next();
  EXPECT_EQ(message.type, WorkerMessage::Type::ended);
  EXPECT_EQ(json_text(to_json(message.record)), json_text(to_json(record)));
  EXPECT_TRUE(std::isnan(message.record.metrics.at("wall_ns").samples[2]));
}

TEST_F(WorkerMessages, ABeginningNamesItsCase) {
  CaseRecord named;
  named.check = "check";
  named.parameters = {{"b", 2}, {"a", "x"}};
  writer().begins(named, 12.5);
  const auto message = next();
  EXPECT_EQ(message.type, WorkerMessage::Type::begins);
  EXPECT_EQ(message.record.key(), "check/b=2,a=x");
  EXPECT_EQ(message.planned_s, 12.5);
}

TEST_F(WorkerMessages, FactsArriveWhole) {
  auto facts = begin_report("qualify", "smoke", {});
  facts.device.emplace().name = "CPU";
  facts.kernels = KernelsInfo{"path", 1, "build", std::string(64, 'a')};
  facts.model = ModelInfo{"m", "preset", Json::object(), std::string(64, 'b'), "default"};
  facts.gemm["fixed"] = {{"algorithms", Json::array()}};
  facts.device_before = Json{{"ecc", nullptr}};
  writer().opened(facts, 7, "why");
  const auto opened = next();
  EXPECT_EQ(opened.type, WorkerMessage::Type::opened);
  EXPECT_EQ(opened.num_cases, 7);
  EXPECT_EQ(opened.note, "why");
  EXPECT_EQ(header_to_json(opened.report), header_to_json(facts));
  writer().closing(facts);
  EXPECT_EQ(header_to_json(next().report), header_to_json(facts));
}

TEST_F(WorkerMessages, AFailureKeepsItsCode) {
  for (const auto code : {ErrorCode::usage, ErrorCode::not_eligible, ErrorCode::hardware_fault, ErrorCode::io,
                          ErrorCode::internal}) {
    writer().failed(Error(code, "because"));
    const auto message = next();
    EXPECT_EQ(message.type, WorkerMessage::Type::failed);
    EXPECT_EQ(message.code, code);
    EXPECT_EQ(message.message, "because");
  }
  writer().failed(std::bad_alloc());
  EXPECT_EQ(next().code, ErrorCode::not_eligible);
  writer().failed(std::runtime_error("odd"));
  EXPECT_EQ(next().code, ErrorCode::internal);
}

TEST_F(WorkerMessages, WhatIsNoMessageIsRefused) {
  for (const char* line : {"", "x", "[]", "{}", R"({"type":"begun"})", R"({"type":"ended"})",
                           R"({"type":"ended","case":{}})", R"({"type":"opened","num_cases":1})"})
    EXPECT_THROW(read_message(line), Error) << line;
}

}  // namespace
}  // namespace branchmark::app
