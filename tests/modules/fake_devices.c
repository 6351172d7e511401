/* A module with a list of devices and nothing behind it, for tests of what is made of such a list.
 *
 * The environment variable BRANCHMARK_TEST_DEVICES chooses it:
 *   none       no device, since there is no driver
 *   old        one device whose driver is too old
 *   several    one with too little memory, one split into MIG instances, one MIG instance, one usable device
 *   broken     describing a device fails
 * Nothing can be opened. */
#include <stdlib.h>
#include <string.h>

#include "branchmark/kernels.h"

typedef struct fake_device {
  const char* name;
  const char* uuid;
  const char* driver;
  const char* reason;
  int64_t memory_bytes;
  int32_t mig;
} fake_device;

static const fake_device kOld[] = {{"Fake A", "GPU-aaaaaaaa-0000-0000-0000-000000000000", "470.57.02",
                                    "driver 470.57.02 is too old, CUDA 12 needs 525.60.13 or later",
                                    85899345920, 0}};

static const fake_device kSeveral[] = {
    {"Fake B", "GPU-bbbbbbbb-0000-0000-0000-000000000000", "570.86.10",
     "4294967296 bytes of memory, at least 8589934592 are needed", 4294967296, 0},
    {"Fake C", "GPU-cccccccc-0000-0000-0000-000000000000", "570.86.10",
     "MIG mode is on: use one of its instances", 85899345920, 1},
    {"Fake C MIG 1g.10gb", "MIG-dddddddd-0000-0000-0000-000000000000", "570.86.10", "", 10737418240, 1},
    {"Fake E", "GPU-eeeeeeee-0000-0000-0000-000000000000", "570.86.10", "", 85899345920, 0}};

static const char* said = "";

static const char* last_error(void) {
  return said;
}

static const char* wanted(void) {
  const char* list = getenv("BRANCHMARK_TEST_DEVICES");
  return list == NULL ? "none" : list;
}

static const fake_device* devices(int64_t* count) {
  if (strcmp(wanted(), "old") == 0 || strcmp(wanted(), "broken") == 0) {
    *count = 1;
    return kOld;
  }
  if (strcmp(wanted(), "several") == 0) {
    *count = sizeof kSeveral / sizeof kSeveral[0];
    return kSeveral;
  }
  *count = 0;
  return NULL;
}

static bmk_status count_devices(int64_t* count) {
  devices(count);
  said = *count == 0 ? "no CUDA driver is installed" : "";
  return BMK_OK;
}

static bmk_status describe(int64_t index, bmk_device_info* info) {
  int64_t count = 0;
  const fake_device* list = devices(&count);
  if (index < 0 || index >= count) {
    said = "no such device";
    return BMK_NO_DEVICE;
  }
  if (strcmp(wanted(), "broken") == 0) {
    said = "the driver does not answer";
    return BMK_FAILED;
  }
  const int64_t struct_size = info->struct_size;
  memset(info, 0, (size_t)struct_size);
  info->struct_size = struct_size;
  strncpy(info->name, list[index].name, sizeof info->name - 1);
  strncpy(info->uuid, list[index].uuid, sizeof info->uuid - 1);
  strncpy(info->driver_version, list[index].driver, sizeof info->driver_version - 1);
  strncpy(info->ineligible_reason, list[index].reason, sizeof info->ineligible_reason - 1);
  strncpy(info->architecture, "sm_90", sizeof info->architecture - 1);
  info->multiprocessors = 132;
  info->memory_bytes = list[index].memory_bytes;
  info->l2_bytes = -1;
  info->ecc = -1;
  info->mig = list[index].mig;
  return BMK_OK;
}

static bmk_status open_device(int64_t index, const bmk_device_options* options, bmk_device** device) {
  (void)index;
  (void)options;
  *device = NULL;
  said = "a fake cannot be opened";
  return BMK_NO_DEVICE;
}

static const bmk_device_api kDevice = {
    .struct_size = sizeof(bmk_device_api),
    .count = count_devices,
    .describe = describe,
    .open = open_device,
};

__attribute__((visibility("default"))) const bmk_kernels* branchmark_kernels(void) {
  static const bmk_kernels table = {
      .abi_version = BMK_ABI_VERSION,
      .struct_size = sizeof(bmk_kernels),
      .name = "fake",
      .build_id = "fake devices for tests",
      .last_error = last_error,
      .device = &kDevice,
  };
  return &table;
}
