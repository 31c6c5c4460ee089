#include "source/ahead.h"

#include <string>
#include <thread>
#include <utility>

#include "source/closure_options.h"
#include "source/syntax/headers.h"
#include "source/syntax/parse.h"
#include "source/unit.h"

namespace cupilot::source {
namespace {

// Most closures begin with this header and no other.
void KeepRuntime(ParseOptions options) {
  options.keep_at_once = true;
  (void)Parse("#include <cuda_runtime.h>\nextern int nothing;\n", options);
}

records::Kernel KernelOf(const CommandFlags& flags) {
  records::Kernel kernel;
  kernel.standard = flags.preprocess.standard;
  kernel.toolkit_include = flags.toolkit_include;
  return kernel;
}

}  // namespace

void BeginClosureHeaders(const CommandFlags& flags) {
  // What the thread uses of this process's lives longer than the wait for it at the process's end.
  (void)HostSystemFolders(FindResourceDir());
  static std::jthread thread;
  thread = std::jthread([kernel = KernelOf(flags), host = flags.host_toolkit] {
    if (!host) KeepRuntime(ToolkitParseOptions(kernel));  // the scan's own check of closures
    KeepRuntime(ClosureParseOptions(kernel));
  });
}

base::Result<> KeepForCandidates(const protocol::ScanRequest& request) {
  TRY(KeepUnit(request.command, request.source_text));
  TRY_ASSIGN(const CommandFlags flags, TranslateCommand(request.command));
  KeepRuntime(ClosureParseOptions(KernelOf(flags)));
  return {};
}

}  // namespace cupilot::source
