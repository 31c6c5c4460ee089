#include "source/ahead.h"

#include <cstdlib>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

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

// At a process's end they are waited for. What they use of the process's lives longer.
class Threads {
 public:
  void BeginHeaders(ParseOptions options) {
    Begin([options = std::move(options)] { KeepRuntime(options); });
  }
  void Begin(std::function<void()> work) {
    // Those that have ended are waited for by nobody else.
    if (threads_.size() >= kMost) threads_.erase(threads_.begin());
    try {
      threads_.emplace_back([work = std::move(work)] {
        TakeMemoryAtOnce();
        work();
      });
    } catch (const std::system_error&) {
      // So many threads are not allowed: they are read when they are asked for.
    }
  }
  void Wait() { threads_.clear(); }

 private:
  static constexpr std::size_t kMost = 6;
  std::vector<std::jthread> threads_;
};

Threads& Begun() {
  (void)HostSystemFolders(FindResourceDir());
  static Threads threads;
  return threads;
}

}  // namespace

void BeginClosureHeaders(const CommandFlags& flags) {
  const records::Kernel kernel = KernelOf(flags);
  if (!flags.host_toolkit) {
    Begun().BeginHeaders(ToolkitParseOptions(kernel));  // the scan's own check of closures
  }
  Begun().BeginHeaders(ClosureParseOptions(kernel));
}

void BeginUnit(const records::CompileCommand& command, const std::string& text) {
  Begun().Begin([command, text] {
    // The scan beside it may have been first: then its unit is the one that is kept.
    (void)KeepUnit(command, text);
    const auto kept = LoadKeptUnit(command, text);
    if (kept) (void)(*kept)->Leading();
  });
}

void WaitForClosureHeaders() { Begun().Wait(); }

base::Result<> KeepForCandidates(const protocol::ScanRequest& request) {
  TRY_ASSIGN(const CommandFlags flags, TranslateCommand(request.command));
  Begun().BeginHeaders(ClosureParseOptions(KernelOf(flags)));
  auto unit = KeepUnit(request.command, request.source_text);
  WaitForClosureHeaders();
  TRY(unit);
  return {};
}

}  // namespace cupilot::source
