// What the memory across kernels says about one kernel: strategies that paid on kernels like it,
// and what each technique has brought so far. Pure functions of entries; the store of them is
// service/pool.h.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "records/pool_entry.h"

namespace cupilot::search {

struct PoolQuestion {
  std::optional<records::KernelFeatures> features;  // absent: nothing is near
  std::string bottleneck;                           // empty: not known
  std::string device;                               // "host" | "cuda"
  std::string kernel_key;                           // its own entries are no news
};

// What a technique has brought: evidence in entries, the nearer to the question the more.
struct TechniquePrior {
  double weight = 0;    // of measured gains, in entries
  double log_gain = 0;  // their weighted mean
  double tried = 0;     // all, in entries
  double failed = 0;    // of these, rejected before they were measured
  bool operator==(const TechniquePrior&) const = default;
};
// By TechniqueKey().
using TechniquePriors = std::map<std::string, TechniquePrior>;

// "thread_coarsening jammed": the technique, with the word of its parameter `form` if it has one.
std::string TechniqueKey(const std::string& technique, const records::Json& parameters);

// Learned priors for each technique by bottleneck and device. An entry of the same kind of device
// and bottleneck counts whole, of another bottleneck, or where one is not known, half; imported
// ones half of that, shipped ones and the kernel's own not at all. Of several steps each gets an
// equal part. No entries: an empty map.
TechniquePriors LearnPriors(const std::vector<records::PoolEntry>& entries,
                            const PoolQuestion& question);

// The expected gain of one technique in the light of what was learned: the mean of the logarithms,
// shrunken towards `prior` as if that were kPriorWeight entries (a normal mean with a normal prior:
// B. Efron, C. Morris, Data analysis using Stein's estimator, 1975), times how often it was right,
// with as many right ones before the first. Null, or no evidence: exactly `prior`.
inline constexpr double kPriorWeight = 4;
double LearnedGain(double prior, const TechniquePrior* learned);

// Winning strategies of the nearest entries, the most promising first, at most `most`, each with
// another set of techniques: all their steps mechanical, measured (here or elsewhere), and by
// techniques among `applicable`. Entries beyond kFarthest are no neighbours.
inline constexpr double kFarthest = 0.2;
std::vector<records::Strategy> NearestSeeds(const std::vector<records::PoolEntry>& entries,
                                            const PoolQuestion& question,
                                            const std::vector<std::string>& applicable,
                                            std::size_t most);

// Other kernels that were measured on this machine and are like the one in question, the nearest
// first, at most `most`; beyond kFarthest, or on another kind of device, they are none.
struct NearKernel {
  std::string key;
  double distance = 0;  // records::Distance()
  bool operator==(const NearKernel&) const = default;
};
std::vector<NearKernel> NearestKernels(const std::vector<records::PoolEntry>& entries,
                                       const PoolQuestion& question, std::size_t most);

// What a prompt shows as examples: the nearest entries, also shipped ones and those with steps that
// no rewrite makes; of the same bottleneck and kind of device first, wins before failures (at most
// one in three is a failure), each with another set of techniques. As Anonymous() leaves them.
std::vector<records::PoolEntry> NearestExamples(const std::vector<records::PoolEntry>& entries,
                                                const PoolQuestion& question, std::size_t most);

// Without what could name or hold anything of a project: no kernel, no key, no rationales, titles
// made of the steps; of parameters only numbers, flags and words of the technique's own list; of
// names of steps that are in no list only plain ones. `names`: the kernel's name stays.
records::PoolEntry Anonymous(records::PoolEntry entry, bool names = false);

// What kind of kernel, in words: "float arithmetic, coalesced access, 2 nested loops, a reduction
// in a loop, shared memory, 2D blocks, 64 MB of data".
std::string FeatureWords(const records::KernelFeatures& features);

// What a prompt says about an entry beside its strategy, gain and reason: the kernel's features in
// words, what bounded it, the device and how often it was tried; of a shipped one its note and its
// source.
std::string AboutText(const records::PoolEntry& entry);

// Whether every step is one that source/rewrite makes.
bool IsMechanical(const records::Strategy& strategy);

}  // namespace cupilot::search
