// What the monitor tells of machines whose management library, folders of devices and processes are
// the test's.
#include "worker/monitor.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "device/cuda/nvml.h"
#include "tests/daemon/monitor/fake_nvml.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::worker {
namespace {

using records::Json;
using test::FakeNvmlGpu;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

test::FakeNvml& Fake() {
  static void* const library = ::dlopen(CUPILOT_FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
  return *static_cast<test::FakeNvml*>(::dlsym(library, "fake_nvml"));
}

class MonitorTest : public ::testing::Test {
 protected:
  MonitorTest() {
    Fake() = {};
    machine_.sys = folder_ / "sys";
    machine_.proc = folder_ / "proc";
    machine_.root = folder_ / "root";
    machine_.library = CUPILOT_FAKE_NVML;
    machine_.daemon = 100;
  }

  void OnTheBus(const std::string& address, const std::string& power) const {
    const std::string device = "sys/bus/pci/devices/" + address;
    folder_.Write(device + "/vendor", "0x10de\n");
    folder_.Write(device + "/class", "0x030000\n");
    folder_.Write(device + "/power/runtime_status", power + "\n");
  }
  void Running(int pid, int parent, const std::string& name = "a (name) x", int started = 7) const {
    std::string stat = std::to_string(pid) + " (" + name + ") S " + std::to_string(parent);
    for (int place = 5; place < 22; ++place) stat += " 1";
    folder_.Write("proc/" + std::to_string(pid) + "/stat",
                  stat + " " + std::to_string(started) + " 0\n");
  }
  void Ended(int pid) const {
    std::filesystem::remove_all(folder_ / ("proc/" + std::to_string(pid)));
  }
  // Those that a GPU lists and that are not somebody else's.
  std::vector<int> Own() const {
    std::vector<int> own;
    const Json sample = Look();
    for (const Json& process : sample["gpus"][0]["processes"]) {
      if (process["own"] == true) own.push_back(process["pid"]);
    }
    return own;
  }
  Json Look() const {
    const auto sample = SampleGpus(machine_);
    EXPECT_TRUE(sample);
    return sample ? *sample : Json::object();
  }

  static FakeNvmlGpu Gpu(const std::string& uuid, unsigned bus) {
    FakeNvmlGpu gpu;
    gpu.uuid = uuid;
    gpu.name = "a GPU";
    gpu.bus = bus;
    gpu.load = 42;
    gpu.total = 1000;
    gpu.used = 300;
    gpu.throttle = 0x40;
    gpu.temperature = 66;
    gpu.limit = 90;
    gpu.display = 1;
    return gpu;
  }

  test::TemporaryFolder folder_;
  MonitoredMachine machine_;
};

TEST_F(MonitorTest, EverythingThatIsKnownIsTold) {
  FakeNvmlGpu gpu = Gpu("GPU-all", 0x41);
  gpu.processes = {{200, false, 50, 70}, {300, true, ~0ULL, -1}};
  Fake().gpus = {gpu};
  Running(200, 150);
  Running(150, 100);
  const Json sample = Look();
  ASSERT_EQ(sample["gpus"].size(), 1u);
  const Json& told = sample["gpus"][0];
  EXPECT_EQ(told["uuid"], "GPU-all");
  EXPECT_EQ(told["pci"], "0000:41:00.0");
  EXPECT_EQ(told["load"], 42);
  EXPECT_EQ(told["memory_total"], 1000);
  EXPECT_EQ(told["memory_used"], 300);
  EXPECT_EQ(told["throttle_reasons"], 0x40);
  EXPECT_EQ(told["temperature"], 66);
  EXPECT_EQ(told["temperature_limit"], 90);
  EXPECT_EQ(told["display"], true);
  ASSERT_EQ(told["processes"].size(), 2u);
  const Json& ours = told["processes"][0];
  EXPECT_EQ(ours["own"], true);  // a child's child of the daemon
  EXPECT_EQ(ours["seen"], true);
  EXPECT_EQ(ours["load"], 70);
  EXPECT_EQ(ours["memory_bytes"], 50);
  const Json& other = told["processes"][1];
  EXPECT_EQ(other["graphics"], true);
  EXPECT_EQ(other["own"], false);
  EXPECT_EQ(other["seen"], false);  // not in our list of processes
  EXPECT_TRUE(other["memory_bytes"].is_null());
  EXPECT_EQ(other["load"], 0);
  // A load is told once.
  EXPECT_EQ(Look()["gpus"][0]["processes"][0]["load"], 0);
}

TEST_F(MonitorTest, WhatIsMerelyAttachedIsNoDisplay) {
  Fake().gpus = {Gpu("GPU-headless", 0x41)};
  Fake().gpus[0].display = 0;
  Fake().gpus[0].attached = 1;
  EXPECT_EQ(Look()["gpus"][0]["display"], false);
}

TEST_F(MonitorTest, AProcessOfOursStaysOursUntilItIsGone) {
  machine_.own_file = folder_ / "own";
  FakeNvmlGpu gpu = Gpu("GPU-own", 0x41);
  for (unsigned pid : {200u, 201u, 202u, 203u, 204u, 205u})
    gpu.processes.push_back({pid, false, 0, 0});
  Fake().gpus = {gpu};
  Running(100, 1, "cupilotd");
  Running(150, 100, "cupilot-worker");
  Running(160, 150, "compute-sanitiz");
  Running(200, 150, "cupilot-worker");  // a runner
  Running(201, 160, "cupilot-worker");  // below a tool
  Running(202, 1, "cupilot-worker");    // of a daemon that was killed
  Running(203, 1, "python3");           // somebody else's
  Running(300, 1, "cupilotd");          // another daemon, which has work
  Running(204, 300, "cupilot-worker");
  Running(205, 100, "anything");  // what a build of ours runs
  EXPECT_THAT(Own(), ElementsAre(200, 201, 202, 205));
  // Orphans, whoever takes them, and what nobody can look at any more.
  Running(200, 1, "cupilot-worker");
  Running(201, 1, "cupilot-worker");
  Running(205, 1, "anything");
  Ended(202);
  EXPECT_THAT(Own(), ElementsAre(200, 201, 202, 205));
  // Another daemon looks.
  machine_.daemon = 400;
  EXPECT_THAT(Own(), ElementsAre(200, 201, 202, 205));
  // An id that is used again is another process.
  Running(202, 1, "python3", 99);
  Running(205, 1, "anything", 99);
  EXPECT_THAT(Own(), ElementsAre(200, 201));
}

TEST_F(MonitorTest, ManyProcessesAreAllListed) {
  FakeNvmlGpu gpu = Gpu("GPU-many", 1);
  for (unsigned pid = 1; pid <= 90; ++pid) gpu.processes.push_back({pid, false, 1, -1});
  Fake().gpus = {gpu};
  EXPECT_EQ(Look()["gpus"][0]["processes"].size(), 90u);
}

TEST_F(MonitorTest, ASleepingGpuIsNotTouched) {
  OnTheBus("0000:01:00.0", "suspended");
  Fake().gpus = {Gpu("GPU-asleep", 1)};
  const Json sample = Look();
  ASSERT_EQ(sample["gpus"].size(), 1u);
  EXPECT_EQ(sample["gpus"][0]["power"], "suspended");
  EXPECT_EQ(Fake().touched, 0);
}

TEST_F(MonitorTest, BesideASleepingOneOnlyTheOthersAreAsked) {
  OnTheBus("0000:01:00.0", "suspended");
  OnTheBus("0000:02:00.0", "active");
  Fake().gpus = {Gpu("GPU-asleep", 1), Gpu("GPU-awake", 2)};
  const Json sample = Look();
  ASSERT_EQ(sample["gpus"].size(), 2u);
  EXPECT_EQ(sample["gpus"][1]["uuid"], "GPU-awake");
  EXPECT_EQ(Fake().touched, 1);
}

TEST_F(MonitorTest, AListThatIsNotToBeHadIsNull) {
  FakeNvmlGpu gpu = Gpu("GPU-wsl", 1);
  gpu.lists_processes = false;
  Fake().gpus = {gpu};
  folder_.Write("root/dev/dxg", "");
  const Json sample = Look();
  EXPECT_TRUE(sample["gpus"][0]["processes"].is_null());
  EXPECT_EQ(sample["wsl"], true);
  EXPECT_EQ(sample["container"], false);
}

TEST_F(MonitorTest, OfACutGpuTheInstancesAreTold) {
  FakeNvmlGpu gpu = Gpu("GPU-cut", 1);
  FakeNvmlGpu part = Gpu("MIG-1", 1);
  part.mig = true;
  gpu.instances = {part, part};
  gpu.instances[1].uuid = "MIG-2";
  Fake().gpus = {gpu};
  const Json sample = Look();
  ASSERT_EQ(sample["gpus"].size(), 2u);
  EXPECT_EQ(sample["gpus"][0]["mig"], true);
  EXPECT_EQ(sample["gpus"][1]["uuid"], "MIG-2");
  EXPECT_TRUE(sample["gpus"][1]["load"].is_null());
}

TEST_F(MonitorTest, AGpuThatIsLostSaysSo) {
  Fake().gpus = {Gpu("GPU-lost", 1), Gpu("GPU-fine", 2)};
  Fake().gpus[0].lost = 15;
  const Json sample = Look();
  ASSERT_EQ(sample["gpus"].size(), 2u);
  EXPECT_EQ(sample["gpus"][0]["problem"], "GPU is lost");
  EXPECT_EQ(sample["gpus"][1]["problem"], "");
}

TEST_F(MonitorTest, EachArchitectureIsNamedOnce) {
  Fake().gpus = {Gpu("GPU-a", 1), Gpu("GPU-b", 2), Gpu("GPU-c", 3), Gpu("GPU-lost", 4)};
  Fake().gpus[2].major = 12;
  Fake().gpus[3].major = 8;
  Fake().gpus[3].lost = 15;
  const auto told = ListArchitectures(machine_);
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ((*told)["architectures"], Json({"sm_120", "sm_90"}));
}

TEST_F(MonitorTest, WithoutTheLibraryNoArchitectureIsKnown) {
  machine_.library = folder_ / "missing.so";
  const auto told = ListArchitectures(machine_);
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().message, HasSubstr("missing.so"));
}

TEST_F(MonitorTest, WithoutTheLibraryItSaysWhy) {
  machine_.library = folder_ / "missing.so";
  folder_.Write("root/.dockerenv", "");
  const Json sample = Look();
  EXPECT_EQ(sample["gpus"].size(), 0u);
  EXPECT_THAT(sample["reason"].get<std::string>(), HasSubstr("missing.so"));
  EXPECT_EQ(sample["container"], true);
}

TEST_F(MonitorTest, ALibraryWithoutItsDriverIsAnError) {
  Fake().start = 9;
  const auto opened = device::cuda::Nvml::Open(CUPILOT_FAKE_NVML);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("Driver Not Loaded"));
}

TEST_F(MonitorTest, HeatAndWantOfPowerSlowAGpuDownACapDoesNot) {
  Fake().gpus = {Gpu("GPU-a", 1), Gpu("GPU-b", 2)};
  const auto opened = device::cuda::Nvml::Open(CUPILOT_FAKE_NVML);
  ASSERT_TRUE(opened);
  const auto slowed_by = [&](unsigned long long reasons) {
    Fake().gpus[1].throttle = reasons;
    return (*opened)->SlowedDown("GPU-b");
  };
  // The library's documented bits: idle, application clocks, power cap, sync boost, display.
  for (const unsigned bit : {0x1, 0x2, 0x4, 0x10, 0x100}) EXPECT_EQ(slowed_by(bit), false) << bit;
  // Hardware slowdown, thermal by software, thermal by hardware, power brake.
  for (const unsigned bit : {0x8, 0x20, 0x40, 0x80}) EXPECT_EQ(slowed_by(bit | 4), true) << bit;
  EXPECT_EQ((*opened)->SlowedDown("GPU-c"), std::nullopt);
}

}  // namespace
}  // namespace cupilot::worker
