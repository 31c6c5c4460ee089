// What the management library of the test says. The library and the test share one `fake_nvml`.
#pragma once

#include <string>
#include <vector>

namespace cupilot::test {

struct FakeNvmlProcess {
  unsigned pid;
  bool graphics;
  unsigned long long memory;
  int load;  // -1: the library has no sample of it
};

struct FakeNvmlGpu {
  std::string uuid, name;
  unsigned domain = 0, bus = 1;
  int major = 9, minor = 0;
  int lost = 0;  // the status of every question
  bool lists_processes = true;
  std::vector<FakeNvmlProcess> processes;
  unsigned load = 0;
  unsigned long long total = 0, used = 0, throttle = 0;
  unsigned temperature = 0, limit = 0;
  int display = 0;   // something is shown
  int attached = 0;  // a connector has something on it
  bool mig = false;
  std::vector<FakeNvmlGpu> instances;
};

struct FakeNvml {
  int start = 0;  // the status of nvmlInit
  std::vector<FakeNvmlGpu> gpus;
  int touched = 0;  // handles that were asked for
};

}  // namespace cupilot::test
