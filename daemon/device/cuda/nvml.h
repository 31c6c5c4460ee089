// What NVIDIA's management library says of the GPUs, by our own declarations: the library is opened
// at run time, since machines without a driver have none. No context is made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupilot::device::cuda {

// Values that the library or the machine does not tell are absent.
struct NvmlProcess {
  std::int64_t pid = 0;
  bool graphics = false;
  std::optional<std::int64_t> memory_bytes;
  std::optional<int> load;  // percent of the processors' time, since the last sample
};

struct NvmlGpu {
  std::string uuid;
  std::string name;
  std::string pci;      // "0000:41:00.0"
  bool mig = false;     // an instance of a GPU that is cut into several
  std::string problem;  // why nothing more is known; empty: all is well
  // Absent: the list of processes is not to be had (WSL2).
  std::optional<std::vector<NvmlProcess>> processes;
  std::optional<int> load;  // percent, over all processes
  std::optional<std::int64_t> memory_total, memory_used;
  std::optional<std::uint64_t> throttle_reasons;      // bits of NVML's clocks event reasons
  std::optional<int> temperature, temperature_limit;  // degrees; where it slows down
  std::optional<bool> display;                        // a display is driven by it
};

class Nvml {
 public:
  // Opens the library of this name. kUnavailable says why it cannot.
  static base::Result<std::unique_ptr<Nvml>> Open(const std::string& library = "libnvidia-ml.so.1");
  ~Nvml();

  // The GPUs at these PCI addresses, and no other is touched; all if there is no address. Of a GPU
  // that is cut into instances (MIG), its instances.
  std::vector<NvmlGpu> Sample(const std::vector<std::string>& addresses);

  // "sm_90" of each GPU that the library tells it of, each once. Nothing else of them is read, and
  // it is there some tenths of a second before the driver would tell it, which is to be opened for
  // that and looks at far more.
  std::set<std::string> Architectures();

  // Whether the GPU of this UUID runs slower now than it would, for heat or for want of power
  // (hardware slowdown, thermal slowdown by software or hardware, power brake). A cap on power is
  // not among them: it is how some GPUs always run. Absent: the library does not tell.
  std::optional<bool> SlowedDown(const std::string& uuid);

 private:
  struct Library;
  void Add(void* handle, int status, NvmlGpu gpu, std::vector<NvmlGpu>& out);
  explicit Nvml(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace cupilot::device::cuda
