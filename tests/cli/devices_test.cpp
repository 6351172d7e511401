// `devices`, and how --device finds one, on made-up lists of devices (K47).

#include "cli/process.hpp"

namespace branchmark {
namespace {

using test::expect_exit;

class Devices : public test::CommandLine {
 protected:
  test::Ended list(const std::string& devices, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"devices", "--kernels", BRANCHMARK_FAKE_DEVICES_MODULE};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, {{"BRANCHMARK_TEST_DEVICES", devices}});
  }
  Json listed(const std::string& devices) const {
    return parse_json(list(devices, {"--json", "-"}).out, "stdout");
  }
};

TEST_F(Devices, ShippedModulesAreListedAndTheCpuIsEligible) {
  const auto ended = run({"devices", "--json", "-"});
  expect_exit(ended, 0, {"eligible"});
  const auto found = parse_json(ended.out, "stdout");
  EXPECT_EQ(found.at("schema").at("name"), "branchmark-devices");
  ASSERT_EQ(found.at("modules").size(), 2u);
  EXPECT_EQ(found.at("modules")[0].at("name"), "cuda");
  const auto& cpu = found.at("modules")[1];
  EXPECT_EQ(cpu.at("name"), "cpu");
  EXPECT_TRUE(cpu.at("problem").is_null());
  EXPECT_EQ(cpu.at("kernels").at("abi_version"), 1);
  ASSERT_EQ(cpu.at("devices").size(), 1u);
  EXPECT_TRUE(cpu.at("devices")[0].at("eligible").get<bool>());
  EXPECT_TRUE(cpu.at("devices")[0].at("device").at("is_cpu").get<bool>());
}

TEST_F(Devices, WithoutAnEligibleOneItIs4WithTheReason) {
  expect_exit(list("none"), 4, {"none of 0 devices", "no CUDA driver is installed"});
  expect_exit(list("old"), 4, {"Fake A", "driver 470.57.02 is too old"});
  expect_exit(list("broken"), 4, {"the driver does not answer"});
  expect_exit(run({"devices", "--kernels", "missing.so"}), 4, {"missing.so"});
  expect_exit(run({"devices", "--kernels", BRANCHMARK_OTHER_ABI_MODULE}), 4, {"version 99", "needs 1"});
}

TEST_F(Devices, EachIsListedWithItsReason) {
  const auto ended = list("several");
  expect_exit(ended, 0, {"2 of 4 devices eligible"});
  for (const char* part :
       {"Fake B", "GPU-bbbbbbbb-0000-0000-0000-000000000000", "4.0 GiB", "at least 8589934592 are needed",
        "Fake C", "MIG mode is on", "MIG-dddddddd-0000-0000-0000-000000000000", "Fake E", "570.86.10"})
    EXPECT_NE(ended.err.find(part), std::string::npos) << part << "\n" << ended.err;
  EXPECT_EQ(ended.out, "");
  const auto devices = listed("several").at("modules")[0].at("devices");
  ASSERT_EQ(devices.size(), 4u);
  EXPECT_FALSE(devices[0].at("eligible").get<bool>());
  EXPECT_TRUE(devices[2].at("eligible").get<bool>());
  EXPECT_TRUE(devices[2].at("ineligible_reason").is_null());
  EXPECT_EQ(devices[2].at("device").at("uuid"), "MIG-dddddddd-0000-0000-0000-000000000000");
  EXPECT_TRUE(devices[2].at("device").at("mig").get<bool>());
  // What the module does not tell is null, with a reason.
  EXPECT_TRUE(devices[3].at("device").at("ecc").is_null());
  EXPECT_EQ(devices[3].at("device").at("null_reasons").at("ecc"), "not known");
}

// K47
TEST_F(Devices, K47ARunFindsItsDeviceByUuid) {
  const auto with = [&](const std::string& device) {
    return run({"qualify", "smoke", "--kernels", BRANCHMARK_FAKE_DEVICES_MODULE, "--device", device,
                "--filter", "^repeated"},
               {{"BRANCHMARK_TEST_DEVICES", "several"}});
  };
  // The two usable ones get as far as being opened, which a fake cannot be.
  expect_exit(with("GPU-eeeeeeee-0000-0000-0000-000000000000"), 4, {"a fake cannot be opened"});
  expect_exit(with("MIG-dddddddd-0000-0000-0000-000000000000"), 4, {"a fake cannot be opened"});
  expect_exit(with("GPU-cccccccc-0000-0000-0000-000000000000"), 4, {"Fake C", "MIG mode is on"});
  expect_exit(with("GPU-ffffffff-0000-0000-0000-000000000000"), 4, {"GPU-ffffffff", "4 devices are visible"});
  expect_exit(with("cuda:0"), 4, {"Fake B", "at least 8589934592"});
  expect_exit(with("cuda:3"), 4, {"a fake cannot be opened"});
  expect_exit(with("cuda:4"), 4, {"device 4", "4 devices"});
}

TEST_F(Devices, AnExistingListStaysUnlessForced) {
  folder_.write("list.json", "precious");
  expect_exit(run({"devices", "--json", "list.json"}), 2, {"list.json", "--force"});
  EXPECT_EQ(test::read_whole(folder_.path() / "list.json"), "precious");
  expect_exit(run({"devices", "--json", "list.json", "--force"}), 0, {});
  EXPECT_EQ(report("list.json").at("schema").at("version"), "1.0");
  expect_exit(run({"devices", "--json", "/dev/full"}), 6, {"/dev/full"});
}

}  // namespace
}  // namespace branchmark
