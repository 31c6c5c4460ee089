// A program as the recorder sees it: memory that tests write, and launches of one kernel, recorded
// into a file of a temporary folder.
#pragma once

#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "recording/recorder.h"
#include "tests/support/make_records.h"
#include "tests/support/temporary_folder.h"
#include "workloads/captured_cases.h"

namespace cupilot::workloads {

class CapturedProgram : public capture::Memory {
 public:
  bool Find(std::uint64_t address, capture::Region& region) override {
    auto at = memory_.upper_bound(address);
    if (at == memory_.begin()) return false;
    --at;
    if (address >= at->first + at->second.size()) return false;
    region = {at->first, at->second.size(), capture::RegionKind::kDevice};
    return true;
  }
  bool FindGlobal(const void*, const capture::PlannedGlobal& global,
                  capture::Region& region) override {
    return global.symbol == "scale" && Find(kGlobal, region);
  }
  bool Read(std::uint64_t address, void* to, std::size_t bytes) override {
    auto at = memory_.upper_bound(address);
    --at;
    std::memcpy(to, at->second.data() + (address - at->first), bytes);
    return true;
  }

  static constexpr std::uint64_t kGlobal = 0x900000000;

  void Allocate(std::uint64_t address, const std::vector<float>& values) {
    memory_[address].assign(reinterpret_cast<const char*>(values.data()),
                            values.size() * sizeof(float));
  }
  void AllocateWords(std::uint64_t address, const std::vector<std::uint64_t>& words) {
    memory_[address].assign(reinterpret_cast<const char*>(words.data()), words.size() * 8);
  }
  void Set(std::uint64_t address, std::size_t index, float value) {
    std::memcpy(memory_[address].data() + index * sizeof(float), &value, sizeof value);
  }

  // "app::blur": const float* in, float* out, int n, and the constant `scale`.
  static records::Kernel Kernel() {
    records::Kernel kernel;
    kernel.name = "app::blur";
    kernel.base_name = "blur";
    kernel.signature = "_ZN3app4blurEPKfPfi";
    kernel.file = "/p/blur.cu";
    using records::ParameterKind;
    kernel.parameters = {test::MakeParameter("in", "const float *", ParameterKind::kPointer, 8),
                         test::MakeParameter("out", "float *", ParameterKind::kPointer, 8),
                         test::MakeParameter("n", "int", ParameterKind::kInteger, 4)};
    for (int i = 0; i < 2; ++i) {
      kernel.parameters[i].element = "float";
      kernel.parameters[i].element_bytes = 4;
    }
    kernel.parameters[0].element_const = true;
    return kernel;
  }

  // Launches it on these addresses; `effect` is what it does to memory.
  template <class Effect>
  void Launch(capture::Recorder& recorder, const records::Kernel& kernel, std::uint64_t in,
              std::uint64_t out, int n, double microseconds, Effect effect) {
    const auto* known = recorder.Find(kernel.signature, "", {8, 8, 4});
    void* arguments[] = {&in, &out, &n};
    capture::Launch launch;
    launch.grid = {static_cast<std::uint32_t>(n), 1, 1};
    launch.block = {32, 1, 1};
    launch.arguments = arguments;
    const std::uint32_t counter = recorder.Count(*known, launch);
    auto recording = recorder.Before(*known, counter, launch);
    effect();
    if (recording) recorder.After(std::move(recording));
    recorder.AddTime(counter, microseconds);
  }

  capture::Plan Plan(const records::Kernel& kernel) const {
    capture::Plan plan;
    plan.folder = folder_.path();
    plan.launches = 1;
    plan.kernels = {PlannedOf(kernel)};
    return plan;
  }

  std::string folder() const { return folder_.path(); }
  // The only recording's file.
  std::string file() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      if (entry.path().extension() == ".capture") return entry.path();
    }
    return {};
  }

 private:
  test::TemporaryFolder folder_;
  std::map<std::uint64_t, std::string> memory_;
};

}  // namespace cupilot::workloads
