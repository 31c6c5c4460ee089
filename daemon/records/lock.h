// Variants that a project pins in a file of its repository (design: cupilot.lock/1), from which the
// launcher alone makes the swapped source. A file that people review: unknown keys are errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "records/evaluation.h"
#include "records/json.h"
#include "records/kernel.h"
#include "records/selection.h"
#include "records/variant.h"
#include "records/workload.h"

namespace cupilot::records {

// By what an edit of a file is judged without its compiler (source/swap/edit_window.h): names that
// the kernel and the variant look up, and macros of the user's files that can hide a declaration of
// one.
struct EditWindow {
  std::vector<std::string> names;
  std::vector<std::string> macros;
};

// A file of the user's that the compile read, and what of it must stay as it is: its outline, by
// the entry's window, or where that cannot be judged all of its bytes.
struct LockedFile {
  std::string file;
  std::string outline;
  std::string hash;
};

// One kernel for one target of one compile. Paths are relative to the folder of the lock file;
// "<build>/..." lies in the build folder, "<include>/..." in an include folder outside the project.
struct LockedKernel {
  std::string source;
  std::string kernel;  // qualified name
  std::string label;   // what people see: with template arguments or parameters where needed
  std::string signature;
  std::string kernel_key;
  std::vector<std::string> cmake_targets;  // whose objects it is for; empty: any
  std::string target;                      // "compute_90,sm_90" | "host-x86-64-v3"
  std::vector<std::string> devices;        // names; empty: any of the target
  // Of several variants for the same place, which are for different sizes: the hook asks in this
  // order. From 0.
  std::int64_t rank = 0;
  std::string toolchain;           // "nvcc 13.0.48"
  std::vector<std::string> flags;  // of the compile, where they change code
  std::vector<std::string> namespaces;
  std::vector<std::string> template_arguments;
  std::vector<Parameter> parameters;
  std::vector<std::string> macros_back;  // as the kernel's
  EditWindow window;
  // What the compiler's own preprocessing says about the window's names
  // (source/swap/compiled_text.h): each compile compares it before it swaps.
  std::string tokens;
  std::vector<LockedFile> files;
  Variant variant;
  // What a program was seen to do, fitted, in the place of what the kernel's tag says.
  bool captured = false;
  Workload workload;
  Evaluation evaluation;  // its guard is the published one
};

struct Lock {
  static constexpr const char* kSchema = "cupilot.lock/1";
  std::vector<LockedKernel> kernels;
};

// In the file's order: by source, signature, target, devices, toolchain, flags, CMake targets,
// rank.
bool ComesBefore(const LockedKernel& a, const LockedKernel& b);
// Whether two entries are for the same kernel in the same compile of the same CMake targets, and in
// the same place among those of it.
bool SamePlace(const LockedKernel& a, const LockedKernel& b);
void SortLock(Lock& lock);

// Strict. Also refused: ids that are not the variant's, rejected evaluations, and anything but
// names and types where the swapped source has names and types.
base::Result<Lock> ParseLock(std::string_view text);
Json ToJson(const LockedKernel& kernel);
// The file's bytes: sorted, two spaces, one key a line, the variant's source line by line.
std::string LockText(Lock lock);

}  // namespace cupilot::records
