// One closure or candidate to a cubin: by NVRTC in this process where it can, else by the nvcc of
// the recorded command. Content-addressed.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/worker_messages.h"

namespace cupilot::worker {

// Those of a compile's options (as CommandFlags::code_flags) that change device code and that both
// compilers know.
std::vector<std::string> DeviceOptions(const std::vector<std::string>& code_flags);

// Opens what a build of this request needs, and compiles nothing of it: the first build of a
// process takes twice as long as others. Errors are told by that.
base::Result<> BeginCuda(const protocol::BuildRequest& request);

// kUnavailable: no toolkit, or the command's object has no code for the GPU, and what to do.
base::Result<protocol::BuildReply> BuildCuda(const protocol::BuildRequest& request);

// The same with what an object of the command would hold of the text.
struct CompiledCuda {
  protocol::BuildReply build;
  std::string cubin;       // before the device linker; empty: it does not compile
  std::string ptx, code;   // "compute_90", "sm_90"
  bool by_driver = false;  // an object has PTX of it alone
  bool relocatable = false;
  std::string tools;  // the folder with ptxas and nvlink
  std::vector<std::string> assembler_options;
};
base::Result<CompiledCuda> CompileCuda(const protocol::BuildRequest& request);

}  // namespace cupilot::worker
