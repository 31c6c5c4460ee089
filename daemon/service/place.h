// Where a kernel of an object runs, and what for it is compiled: what evidence is bound to. A
// kernel is tuned once for each place.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "evaluate/calls.h"
#include "records/compile_command.h"
#include "records/evaluation.h"

namespace cupilot::service {

struct Place {
  std::string device = "host";  // "host", "cuda:0"
  // Empty parts match everything: what is not known binds nothing.
  records::DeviceIdentity identity;
  std::string target;     // "compute_90,sm_90"; host: empty
  std::string driver;     // with which the evidence must have been made
  std::string toolchain;  // source::ToolchainIdentity of the compile
  // What the user should know of the code there ("your build has no sm_90 code: ..."), or nothing.
  std::string note;
  // All devices of this class, by name: each does for the others.
  std::vector<std::string> alike;
  // Cases, by kernel_key, that would hold up the display of this GPU for too long: they are not run
  // there.
  std::map<std::string, std::set<std::string>> too_long;
};

// Whether evidence for this target on this device is about the place. What was made with another
// toolchain or driver is about it too, but stale.
bool IsAbout(const records::DeviceIdentity& device, const std::string& target, const Place& place);

// For keys of records and jobs: another place, toolchain or driver has another text.
std::string KeyOf(const Place& place);

// The one place where it is decided what an object is tuned on: "host" if the compiler of its
// recorded command is cupilot-nvcc, else "cuda". Looks at the compiler's folder.
std::string DeviceKindOf(const records::CompileCommand& command);

// What nvcc compiles for without being told ("sm_75"), by the version of the command's toolkit.
std::string DefaultArchitecture(const records::CompileCommand& command);

struct Places {
  std::vector<Place> places;
  std::string why_none;  // in words that say what to do; empty while it is not known yet
};
// The host's place.
Places HostPlaces(const evaluate::DeviceDescription& host, const std::string& toolchain);
// One for each class of GPUs that has code in the object.
Places GpuPlaces(const evaluate::GpuList& gpus, const records::CompileCommand& command,
                 const std::string& toolchain);

}  // namespace cupilot::service
