// What a recorded compile command means to the preprocessor and to a kernel's identity. Understands
// the command lines of nvcc and of cupilot-nvcc (which speaks nvcc's).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "records/compile_command.h"
#include "source/syntax/preprocess.h"

namespace cupilot::source {

struct CommandFlags {
  PreprocessOptions preprocess;
  std::string toolkit_include;  // folder with the cuda_runtime.h that the command finds
  bool host_toolkit = false;    // cupilot-nvcc's: the kernel runs on the host device
  int toolkit_version = 0;      // 12040 for 12.4
  // Everything that may change the code of a kernel whose text stays the same: the arguments
  // without the compiler, include folders, macros, inputs and outputs, dependency files, debug and
  // warning options.
  std::vector<std::string> code_flags;
};

// How texts are read beside a toolkit's headers.
struct ToolkitHeaders {
  std::vector<std::string> folders;
  std::vector<std::string> macros;  // "NAME" or "NAME=VALUE", as its compiler predefines them
  std::string version;              // "13.0"
  int number = 0;                   // 13000
};
// `include`: the folder with cuda_runtime.h.
ToolkitHeaders ReadToolkitHeaders(const std::string& include);

// Reads no file but the toolkit's version. kUnavailable when no toolkit is found beside the
// compiler.
base::Result<CommandFlags> TranslateCommand(const records::CompileCommand& command);

}  // namespace cupilot::source
