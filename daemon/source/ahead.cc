#include "source/ahead.h"

#include <cstdlib>
#include <string>
#include <system_error>
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

// The heap of a thread that is not the first grows by single pages, with a call of the system for
// each; what is freed it keeps (where the process was told to, as a worker is).
void TakeMemoryAtOnce() {
  constexpr std::size_t kSome = std::size_t{24} << 20;
  void* volatile memory = std::malloc(kSome);  // volatile: or nothing would be asked for
  std::free(memory);
}

// One is enough for a process, at whose end it is waited for. What it uses of the process's lives
// longer.
std::jthread& Thread() {
  (void)HostSystemFolders(FindResourceDir());
  static std::jthread thread;
  return thread;
}

}  // namespace

void BeginClosureHeaders(const CommandFlags& flags) {
  const auto keep = [kernel = KernelOf(flags), host = flags.host_toolkit] {
    TakeMemoryAtOnce();
    if (!host) KeepRuntime(ToolkitParseOptions(kernel));  // the scan's own check of closures
    KeepRuntime(ClosureParseOptions(kernel));
  };
  try {
    Thread() = std::jthread(keep);
  } catch (const std::system_error&) {
    // So many threads are not allowed: they are read when they are asked for.
  }
}

void WaitForClosureHeaders() {
  if (Thread().joinable()) Thread().join();
}

base::Result<> KeepForCandidates(const protocol::ScanRequest& request) {
  TRY_ASSIGN(const auto unit, KeepUnit(request.command, request.source_text));
  KeepRuntime(ClosureParseOptions(KernelOf(unit->flags)));
  return {};
}

}  // namespace cupilot::source
