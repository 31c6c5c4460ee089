// corpus_swaps OUT NVCC ARCHITECTURE
//
// The swapped sources of the corpus (tests/data/sources), each kernel with a copy of itself as its
// variant, for a machine with a GPU of that architecture (90): OUT/NAME/units has a line for each
// translation unit of a program: source, swapped source or "-", hook or "-", flags. Sources that
// must lie in a certain place are left out.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/integration/corpus/corpus.h"

namespace cupilot::corpus {
namespace {

base::Result<> WriteProgram(const Entry& entry, const std::string& nvcc, const std::string& target,
                            const std::string& folder) {
  std::filesystem::create_directories(folder);
  TRY_ASSIGN(const std::vector<Unit> units,
             ScanUnits(entry, nvcc, entry.standards.front(), folder));
  std::ofstream list(folder + "/units");
  for (std::size_t i = 0; i < units.size(); ++i) {
    const Unit& unit = units[i];
    const std::vector<std::string>& flags = i == 0 ? entry.flags : entry.also[i - 1].flags;
    list << (i == 0 ? entry.file : entry.also[i - 1].file);
    if (unit.HasSwapped()) {
      TRY_ASSIGN(const source::SwappedSource swap, SwapUnit(unit, "cuda", {target}));
      for (const source::SwappedText& one : swap.Files()) {
        std::ofstream(folder + "/" + one.file_name) << one.text;
      }
      list << " " << swap.file_name << " " << swap.hook;
    } else {
      list << " - -";
    }
    list << " -std=c++" << entry.standards.front();
    for (const std::string& flag : flags) list << " " << flag;
    list << "\n";
  }
  std::ofstream(folder + "/kernels")
      << entry.kernels - std::max(entry.idle, entry.gpu_idle) << "\n";
  return {};
}

}  // namespace
}  // namespace cupilot::corpus

int main(int argc, char** argv) {
  using namespace cupilot;
  if (argc != 4) {
    std::fprintf(stderr, "usage: corpus_swaps OUT NVCC ARCHITECTURE\n");
    return 2;
  }
  const std::string number = argv[3];
  int failed = 0;
  for (const corpus::Entry& entry : corpus::ReadCorpus()) {
    if (!entry.swapped || !entry.as.empty()) continue;
    const auto done = corpus::WriteProgram(entry, argv[2], "compute_" + number + ",sm_" + number,
                                           std::string(argv[1]) + "/" + entry.name);
    if (done) continue;
    std::fprintf(stderr, "%s: %s\n", entry.file.c_str(), done.error().message.c_str());
    ++failed;
  }
  return failed == 0 ? 0 : 1;
}
