// swap_cases CASE --source FILE --out FOLDER [--target T]... [--foreign T]... [--device NAME]...
// [--wrong]
//
// Writes the swapped source of a test program into FOLDER and prints what compiles it: a line with
// its path, and one with the definitions. CASE: behaviour (device_behaviour.cu), attributes,
// differential, graphs, launches. --target: variants that are expected to run in an image of this
// target;
// --foreign: variants that must not run (behaviour only). Needs neither a compiler nor a GPU,
// nothing but libc: it travels to the machine that has them.
#include <cstdio>
#include <string>
#include <vector>

#include "attributes_kernels.h"
#include "base/file.h"
#include "daemon/source/swap/scale_kernel.h"
#include "differential_kernels.h"
#include "graph_kernels.h"
#include "launch_kernels.h"
#include "mechanical_request.h"

namespace cupilot::source {
namespace {

struct Options {
  std::string name, source, out, variants;
  std::size_t program = 0;
  MarkedTargets targets;
  bool wrong = false;
};

bool Read(const std::vector<std::string>& words, Options& options) {
  if (words.empty()) return false;
  options.name = words[0];
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--wrong") {
      options.wrong = true;
      continue;
    }
    if (++i >= words.size()) return false;
    if (word == "--source") {
      options.source = words[i];
    } else if (word == "--out") {
      options.out = words[i];
    } else if (word == "--variants") {
      options.variants = words[i];
    } else if (word == "--program") {
      options.program = std::stoul(words[i]);
    } else if (word == "--target") {
      options.targets.expected.push_back(words[i]);
    } else if (word == "--foreign") {
      options.targets.foreign.push_back(words[i]);
    } else if (word == "--device") {
      options.targets.devices.push_back(words[i]);
    } else {
      return false;
    }
  }
  return !options.source.empty() && !options.out.empty();
}

base::Result<std::string> Write(const Options& options) {
  SwapRequest request;
  std::string more;
  if (options.name == "behaviour") {
    request = MarkedRequest(options.source, options.targets);
  } else if (options.name == "attributes") {
    request = AttributesRequest(options.source, options.targets.expected);
    more = AttributesDefinitions(request);
  } else if (options.name == "differential") {
    request = DifferentialRequest(options.source, options.targets.expected, options.wrong);
  } else if (options.name == "mechanical") {
    TRY_ASSIGN(request, MechanicalRequest(options.source, options.variants, options.program,
                                          options.targets.expected));
  } else if (options.name == "graphs") {
    request = GraphsRequest(options.source, options.targets.expected);
  } else if (options.name == "launches") {
    request = LaunchesRequest(options.source, options.targets.expected);
  } else {
    return base::Fail(base::InvalidArgument("there is no case '" + options.name + "'"));
  }
  TRY_ASSIGN(const SwappedSource swapped, WriteSwappedSource(request));
  base::MakeFolders(options.out);
  for (const SwappedText& one : swapped.Files()) {
    TRY(base::WriteFileAtomically(options.out + "/" + one.file_name, one.text));
  }
  for (const std::string& word : HookDefinitions(swapped.hook)) more += " " + word;
  return options.out + "/" + swapped.file_name + "\n" + more;
}

}  // namespace
}  // namespace cupilot::source

int main(int argc, char** argv) {
  cupilot::source::Options options;
  if (!cupilot::source::Read({argv + 1, argv + argc}, options)) {
    std::fprintf(stderr, "usage: swap_cases CASE --source FILE --out FOLDER [--target T]...\n");
    return 2;
  }
  const auto words = cupilot::source::Write(options);
  if (!words) {
    std::fprintf(stderr, "swap_cases: %s\n", words.error().message.c_str());
    return words.error().code == cupilot::base::ErrorCode::kNotFound ? 3 : 1;
  }
  std::printf("%s\n", words->c_str());
  return 0;
}
