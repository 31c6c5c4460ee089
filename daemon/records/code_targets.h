// For which architectures a recorded compile makes device code, and which of that code a GPU runs:
// a program that was compiled for compute_80 runs compute_80 code on a newer GPU, where a variant
// for 90 would be an empty kernel. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "records/compile_command.h"

namespace cupilot::records {

// One image of the object: "compute_90,sm_90" is machine code, "compute_80,compute_80" is PTX that
// the driver compiles.
struct CodeTarget {
  std::string ptx;   // the virtual architecture that it was compiled from
  std::string code;  // a real architecture, or a virtual one: PTX
  std::string Text() const { return ptx + "," + code; }
  bool operator==(const CodeTarget&) const = default;
};

// What nvcc makes of the command's -gencode, -arch and -code, also of those in NVCC_PREPEND_FLAGS
// and NVCC_APPEND_FLAGS of its environment. `native` is what -arch=native means on this machine
// ("sm_90"; empty: not known, and nothing is made), `otherwise` what a command that names nothing
// is compiled for.
std::vector<CodeTarget> CodeTargets(const CompileCommand& command, const std::string& native,
                                    const std::string& otherwise = "sm_75");

// What a device runs: an image's code, or code that the driver compiles from its PTX.
struct LoadedCode {
  std::string ptx;   // "compute_80": what __CUDA_ARCH__ is in it
  std::string code;  // "sm_90": what runs
  bool by_driver = false;
  // As records name it: "compute_80,sm_90".
  std::string Text() const { return ptx + "," + code; }
};

// What a device of this architecture ("sm_90") runs of them: machine code of its generation before
// PTX, the newest first. Nothing: the program has no code for this device.
std::optional<LoadedCode> LoadedOn(const std::vector<CodeTarget>& targets, const std::string& arch);

// A sentence for people: whether the code is the device's own. Empty if it is. "your build has no
// sm_90 code: ..." with what to do.
std::string WhyNotNative(const std::vector<CodeTarget>& targets, const std::string& arch);

}  // namespace cupilot::records
