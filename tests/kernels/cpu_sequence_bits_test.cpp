// The bits of the sequence ops that every compiler, instruction set and processor must give. A change of an
// op's arithmetic changes these on purpose, and nothing else does.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "sequence/attention_prepare.hpp"
#include "sequence/compare.hpp"
#include "sequence/conv.hpp"
#include "sequence/gated_attention.hpp"
#include "sequence/gdn_gates.hpp"
#include "sequence/gdn_prefill.hpp"

namespace branchmark::cpu::test {
namespace {

struct RecordedBits {
  bmk_numerics numerics;
  uint64_t conv, gates, gdn, prepare, attention;
};

class CpuSequenceOps : public testing::TestWithParam<RecordedBits> {};

TEST_P(CpuSequenceOps, HaveTheRecordedBits) {
  const bmk_numerics numerics = GetParam().numerics;
  const bmk_dtype type = activation(numerics);
  const Array x = normal_array(type, 131, 328, 60);
  const Array weight = normal_array(BMK_BF16, 328, 4, 61);
  EXPECT_EQ(digest(run_conv(x, weight, {{0, 131, -1}})[0].out.bytes()), GetParam().conv);
  const Gates gates = run_gates(gates_input(type));
  EXPECT_EQ(digest(gates.beta.bytes(), digest(gates.g.bytes())), GetParam().gates);
  const GdnInput gdn = gdn_input(type, 131, 1, 2, 62);
  const GdnResult result = run_gdn({{&gdn, 0, 131, nullptr, 128}}, numerics)[0];
  EXPECT_EQ(digest(result.state.bytes(), digest(result.out.bytes())), GetParam().gdn);
  const Prepared prepared = run_prepare(prepare_input(type), numerics);
  EXPECT_EQ(digest(prepared.keys.bytes(), digest(prepared.query.bytes())), GetParam().prepare);
  const Array attention = run_attention(attention_input(type, 131, 2, 1, 63), numerics);
  EXPECT_EQ(digest(attention.bytes()), GetParam().attention);
}

std::string numerics_name(const testing::TestParamInfo<RecordedBits>& info) {
  if (info.param.numerics == BMK_NUMERICS_REFERENCE) return "Reference";
  return info.param.numerics == BMK_NUMERICS_GDN_FP32 ? "GdnFp32" : "Default";
}

INSTANTIATE_TEST_SUITE_P(
    Numerics, CpuSequenceOps,
    testing::Values(RecordedBits{BMK_NUMERICS_DEFAULT, 0xA3CEC1E2C2C74853u, 0xD0227247473E276Eu,
                                 0x8A9944BBA56AD63Du, 0xC2EF63B26D956AE3u, 0xA36D32477AE114EFu},
                    RecordedBits{BMK_NUMERICS_GDN_FP32, 0xA3CEC1E2C2C74853u, 0xD0227247473E276Eu,
                                 0xE726B9EB77A9D185u, 0xC2EF63B26D956AE3u, 0xA36D32477AE114EFu},
                    RecordedBits{BMK_NUMERICS_REFERENCE, 0x55C7B058915EA41Eu, 0x008D939ED7A2AA83u,
                                 0xF96F8976A787E103u, 0xE844ECCF8D7AB60Cu, 0xB575677E4E76313Du}),
    numerics_name);

}  // namespace
}  // namespace branchmark::cpu::test
