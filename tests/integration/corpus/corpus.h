// The corpus of CUDA sources in tests/data/sources: what its sources say about themselves, and how
// their translation units are scanned and swapped.
//
// Each .cu file there that has lines "// corpus: ..." is a program of its own:
//   swapped                     its tagged kernels are swapped
//   declined "TEXT" [in FILE]   one of them is declined: the reason has TEXT and begins with a
//                               place in the source, or in FILE beside it or of a #line
//   kernels N                   how many kernels (instantiations) are swapped, 1 unless it says so
//   idle N                      how many of those no launch reaches
//   gpu-idle N                  likewise, of those of a GPU
//   standards 17 20             what it is valid as; 11 14 17 20 unless it says so
//   architectures 90 100        what nvcc compiles it for; 80 90 unless it says so
//   nvcc-only (WHY)             the host device cannot build or run it
//   races (WHY)                 the thread sanitizer reports it, and is right
//   flags WORD...               of its compile
//   also FILE WORD...           another translation unit of the program, with flags of its own; its
//                               tagged kernels are swapped, too
//   as PATH                     it is compiled as a copy there, below the build's folder
#pragma once

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/worker_messages.h"
#include "source/swap/swapped_source.h"

namespace cupilot::corpus {

struct Reason {
  std::string text;
  std::string file;  // beside the source; empty: the source itself
};

struct OtherUnit {
  std::string file;
  std::vector<std::string> flags;
};

struct Entry {
  std::string name;  // of the test
  std::string file;  // in the folder of sources
  bool swapped = false;
  std::vector<Reason> declined;
  int kernels = 0;
  int idle = 0;
  int gpu_idle = 0;
  std::vector<std::string> standards = {"11", "14", "17", "20"};
  std::vector<std::string> architectures = {"80", "90"};
  std::string nvcc_only;
  std::string races;
  std::vector<std::string> flags;
  std::vector<OtherUnit> also;
  std::string as;
  // "compute_80,sm_80", ...
  std::vector<std::string> Targets() const;
  std::string problem;  // the first line that is not understood
};

// For the name of a failing test.
inline void PrintTo(const Entry& entry, std::ostream* out) { *out << entry.file; }

std::string SourcesFolder();
// In the order of the names; files without a corpus line are parts of others.
std::vector<Entry> ReadCorpus();
Entry ReadEntry(const std::string& file, const std::string& text);

// One translation unit as a build compiles it.
struct Unit {
  records::CompileCommand command;
  protocol::ScanReply scan;
  bool HasSwapped() const;
};

// The entry's units compiled by `nvcc` in `folder`, scanned.
base::Result<std::vector<Unit>> ScanUnits(const Entry& entry, const std::string& nvcc,
                                          const std::string& standard, const std::string& folder);

// Its tunable kernels swapped for copies of themselves, on `device` ("host" | "cuda").
base::Result<source::SwappedSource> SwapUnit(const Unit& unit, const std::string& device,
                                             const std::vector<std::string>& targets);

// The words of the unit's compile with another source in the place of its own, and of the swapped
// compile as the launcher starts it.
std::vector<std::string> SwappedCompile(const Unit& unit, const source::SwappedSource& swap,
                                        const std::string& folder);

}  // namespace cupilot::corpus
