// The strategy pool of the store (table `strategies`, cache/FORMAT.md): what verdicts and imports
// leave there, and what it says about a kernel. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cache/store.h"
#include "records/evaluation.h"
#include "records/pool_entry.h"
#include "search/strategy_pool.h"

namespace cupilot::service {

inline constexpr std::size_t kMostPoolSeeds = 4;
inline constexpr std::size_t kMostExamples = 6;

// What the pool said when the work on a kernel began. It is part of the job's record: what the
// pool learns meanwhile does not change the way of a search that has begun.
struct PoolAdvice {
  std::optional<records::KernelFeatures> features;
  std::string bottleneck;  // what bounded the original when it was last profiled; empty: not known
  std::vector<records::Strategy> seeds;      // for the mechanical search
  search::TechniquePriors priors;            // beside search::PriorGain
  std::vector<records::PoolEntry> examples;  // for prompts, with search::AboutText
  bool operator==(const PoolAdvice&) const = default;
};
records::Json ToJson(const PoolAdvice& advice);
// Lenient: what we wrote ourselves.
base::Result<PoolAdvice> ParsePoolAdvice(const records::Json& json);

// The bound and the instructions of the original, as the newest profile on this device has them.
void AddProfiles(const std::vector<records::Evaluation>& evaluations,
                 const records::DeviceIdentity& device, search::PoolQuestion& question);

// What of an evaluation's kernel the pool has to know.
struct PoolVerdict {
  std::string kernel;  // label
  std::optional<records::KernelFeatures> features;
  std::string bottleneck;
  const records::Evaluation* evaluation = nullptr;
  const records::Strategy* strategy = nullptr;
};

class Pool {
 public:
  // At most `most` entries are kept (settings: pool_entries). Nothing is read before it is asked.
  Pool(cache::Store& store, std::size_t most) : store_(store), most_(most) {}

  // Makes the verdict an entry, or part of one that is there. Nothing becomes of a strategy that is
  // bound to its kernel (values of its own tunables, a class of its sizes), nor of a kernel whose
  // features are not known.
  base::Result<> Add(const PoolVerdict& verdict);

  // What a profile found out about the original is said of all its entries on the device.
  base::Result<> AddProfile(const records::Evaluation& evaluation);

  // Entries of another machine: marked as imported. What was measured here stays as it is. How many
  // are new or newer.
  base::Result<std::size_t> Import(const records::PoolFile& file);

  // All: those of the store, by id, then the shipped ones.
  base::Result<std::vector<records::PoolEntry>> All();
  // Of the store, as Anonymous() leaves them.
  base::Result<records::PoolFile> Export(bool names);

  // `applicable`: techniques that may be tried on the kernel. A store that cannot be read says
  // nothing, with a line in the log.
  PoolAdvice Advise(const search::PoolQuestion& question,
                    const std::vector<std::string>& applicable);
  // As search::NearestKernels().
  std::vector<search::NearKernel> KernelsLike(const search::PoolQuestion& question,
                                              std::size_t most);

 private:
  base::Result<> Load();
  // All or none.
  base::Result<> Save(const std::vector<records::PoolEntry>& entries);
  base::Result<> Trim();

  cache::Store& store_;
  std::size_t most_;
  bool loaded_ = false;
  std::map<std::string, records::PoolEntry> entries_;  // by id
};

}  // namespace cupilot::service
