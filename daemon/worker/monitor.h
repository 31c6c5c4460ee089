// The monitor: what GPUs and those who use them are doing now, as raw as the machine tells it. Two
// operations, "sample" ({"own_file": where the list of our processes outlives us; may be left
// out}):
//   {"gpus": [{"pci", "power": "active"|"suspended"|"", "uuid", "name", "mig", "problem",
//              "processes": [{"pid", "graphics", "memory_bytes", "load", "own", "seen"}] or null,
//              "load", "memory_total", "memory_used", "throttle_reasons", "temperature",
//              "temperature_limit", "display"}],
//    "reason": why nothing is known of those that are awake, "container": bool, "wsl": bool}
// What is not known is null. A GPU that sleeps is not asked, since that would wake it.
// "own" is a process below the daemon, a worker that nobody is left to wait for (its parent has
// ended before it let go of the GPU), and whatever was own once, also when it has left /proc.
// And "architectures" (no parameters), for who is about to wake them anyway:
//   {"architectures": ["sm_90"]}: of all GPUs that NVIDIA's management library knows, each once
#pragma once

#include <string>

#include "base/result.h"
#include "records/json.h"

namespace cupilot::worker {

struct MonitoredMachine {
  std::string sys = "/sys";
  std::string proc = "/proc";
  std::string root;  // of /.dockerenv and /dev/dxg
  std::string library = "libnvidia-ml.so.1";
  long daemon = 0;       // its processes are ours
  std::string own_file;  // empty: what was own once is forgotten
};

base::Result<records::Json> SampleGpus(const MonitoredMachine& machine);

// kUnavailable says why the library cannot be asked.
base::Result<records::Json> ListArchitectures(const MonitoredMachine& machine);

// The operations: this machine, and the process that started this one.
base::Result<records::Json> Sample(const records::Json& params);
base::Result<records::Json> Architectures(const records::Json& params);

}  // namespace cupilot::worker
