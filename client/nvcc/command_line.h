// nvcc's command line, as far as programs and CMake use it, turned into what the host compiler
// needs. Unknown options go to the host compiler, as with nvcc's -forward-unknown-to-host-compiler.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace cupilot::nvcc {

enum class Mode { kLink, kCompile, kDeviceLink, kPreprocess, kDependencies, kVersion, kHelp };

struct CommandLine {
  Mode mode = Mode::kLink;
  std::vector<std::string> inputs;
  std::string output;
  bool all_are_cuda = false;  // -x cu
  bool relocatable = false;   // -dc, -rdc=true
  bool shared = false;
  bool shared_runtime = false;  // -cudart shared
  bool no_runtime = false;      // -cudart none
  bool verbose = false;
  bool dry_run = false;
  bool candidate = false;             // --cupilot-candidate: the table is exported, not registered
  bool watch = false;                 // --cupilot-watch: accesses are seen (cupilot_host_watch.h)
  std::string host_compiler = "g++";  // -ccbin
  std::string standard;               // "c++17"
  std::string march;                  // what -Xcompiler says; empty: the machine's level
  std::string launch_function = "__cudaLaunchKernel";
  std::vector<std::string> preprocessor;  // -I, -D, -U, -include, -isystem, ...
  std::vector<std::string> dependencies;  // -MD, -MF, -MT and their kind
  std::vector<std::string> compiler;      // -O3, -g, -fPIC, -Wall, ...
  std::vector<std::string> linker;        // -L, -l, -Xlinker, -Wl,
};

// `arguments` without the program's name; --options-file is read. kInvalidArgument for an option
// that lacks its value.
base::Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments);

}  // namespace cupilot::nvcc
