// The store in the service's own terms. A verdict is written, with its variant, before anybody acts
// on it. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cache/record.h"
#include "cache/store.h"
#include "records/evaluation.h"
#include "records/kernel.h"
#include "records/variant.h"
#include "records/workload.h"
#include "service/kept.h"
#include "service/marks.h"
#include "service/original_times.h"
#include "service/place.h"

namespace cupilot::service {

struct Proven {
  records::Variant variant;
  records::Evaluation evaluation;
  // Of the evaluation but for its metrics: what is found out about a winner afterwards is no other
  // evidence, and nothing is built again for it.
  std::string evidence_hash = {};
};
// Shared with what is kept: evaluations are large, and every question is about the same few.
using ProvenSet = std::vector<std::shared_ptr<const Proven>>;

// A variant that an object does without: its compile refused the swapped source, or made other code
// of it than what was measured, or its program was slower with it. It holds for this kernel and
// compiler only.
struct Refusal {
  std::string kernel_key;
  std::string variant;
  std::string toolchain;
  std::string target = {};      // empty: for all
  std::string reason = {};      // a sentence for people; empty: the swapped source does not compile
  records::Json evidence = {};  // what was measured (service_demotion.cc); null: none
  bool operator==(const Refusal&) const = default;
};

// In the place of a variant: all of a kernel's. Its code in the object is other code than the code
// that is tuned (object_code.h).
inline constexpr const char* kEveryVariant = "*";

class Catalog {
 public:
  explicit Catalog(cache::Store& store) : store_(store), marks_(store) {}

  base::Result<> SaveKernel(const records::Kernel& kernel, const records::Workload& workload);
  // Variant and evaluation together, or neither. It holds for this compiler
  // (source::ToolchainIdentity; empty: for the toolchain that the evaluation names).
  base::Result<> SaveVerdict(const records::Variant& variant, const records::Evaluation& evaluation,
                             const std::string& toolchain = {});

  // All evaluations of a kernel, oldest first. Records that cannot be read are left out, with a
  // line in the log.
  std::vector<records::Evaluation> Evaluations(const std::string& kernel_key);
  // The same a part at a time, for who must not keep others waiting: at most so many, from the one
  // of this number on. Fewer are returned where records cannot be read.
  std::size_t CountEvaluations(const std::string& kernel_key);
  std::vector<records::Evaluation> EvaluationsFrom(const std::string& kernel_key, std::size_t from,
                                                   std::size_t most);
  // The same by numbers, the oldest first: for who keeps what was made of an evaluation. None has
  // the number of another, or of one that was there before.
  std::vector<std::uint64_t> EvaluationNumbers(const std::string& kernel_key);
  std::optional<records::Evaluation> FindEvaluation(const std::string& kernel_key,
                                                    std::uint64_t number);
  // Of the original in a case of the workload.
  OriginalTimes::Times TimesOfOriginal(const std::string& kernel_key,
                                       const std::string& workload_hash, const std::string& name);
  std::optional<records::Variant> FindVariant(const std::string& kernel_key, const std::string& id);
  // The variant's verdict for this workload and place, if there is one already that is not stale.
  std::optional<records::Evaluation> FindVerdict(const std::string& kernel_key,
                                                 const std::string& workload_hash,
                                                 const Place& place, const std::string& variant_id);
  // The accepted variant that no other one beat at this place (null: there is none), but for those
  // whose ids are in `without` and those that the user rejected; where one that the user pinned is
  // proven, that one. Evidence for another workload or place, or stale evidence, does not count.
  // Reads no more of the store than the winner, once the kernel is known.
  std::shared_ptr<const Proven> Best(const std::string& kernel_key,
                                     const records::Workload& workload, const Place& place,
                                     const std::set<std::string>& without = {});
  // What stands behind a launch, in the order in which it asks: mostly that one alone, else those
  // that together do better, each for its sizes (evaluate/variant_set.h). Reads no more of the
  // store than these.
  ProvenSet BestSet(const std::string& kernel_key, const records::Workload& workload,
                    const Place& place, const std::set<std::string>& without = {});
  // What the user decided. A change counts from the next question on.
  Marks& marks() { return marks_; }
  base::Result<> SaveMark(const Mark& mark);
  base::Result<> DropMark(const Mark& mark);

  // Variants of other machines (`cupilot import`), the most promising first: evidence for nothing
  // here. They are evaluated when work on their kernel begins.
  struct Proposal {
    records::Variant variant;
    double speedup = 0;  // as it was said there
    std::string arch;
    std::string date;
  };
  std::vector<Proposal> Proposals(const std::string& kernel_key);
  // True: it was not known.
  base::Result<bool> SaveProposal(const std::string& kernel_key, const Proposal& proposal);

  // How candidates of the kernel were made that won, but are no evidence here, and are to be
  // measured again: first what won here with another compiler or driver, then what won on other
  // devices of the same kind and for other workloads. The fastest first, each once, at most so
  // many.
  std::vector<records::Strategy> WinnersElsewhere(const std::string& kernel_key,
                                                  const std::string& workload_hash,
                                                  const Place& place, std::size_t most);

  // What an object does without.
  std::vector<Refusal> Refusals(const std::string& object_folder);
  base::Result<> SaveRefusals(const std::string& object_folder,
                              const std::vector<Refusal>& refusals);

  // Cases of a kernel that are not run at the place (Place::too_long).
  std::set<std::string> LongCases(const records::Kernel& kernel, const Place& place);
  base::Result<> SaveLongCases(const records::Kernel& kernel, const Place& place,
                               const std::set<std::string>& names);

  // How far the work on a kernel has come, by KernelJob's key. What another version of cuPilot
  // wrote is not found: it may have other techniques.
  std::optional<records::Json> FindJob(const std::string& key);
  base::Result<> SaveJob(const std::string& key, const records::Json& job);

  // The store was changed behind its back.
  void ReadAgain();

  // Small facts of the service itself ("snoozed_until").
  std::optional<std::string> Fact(const std::string& name);
  base::Result<> SaveFact(const std::string& name, const std::string& value);

 private:
  // What is known of an evaluation without reading it.
  struct Entry {
    std::string key;  // in the store
    std::string variant, workload, target, date;
    cache::Record holds_for;  // without a value
    records::DeviceIdentity device;
    std::uint64_t number = 0;
    bool accepted = false;
    double speedup = 0;
  };
  // Keys in the store.
  struct Winners {
    std::string best;  // empty: none
    std::vector<std::string> set;
  };
  struct KernelIndex {
    std::vector<Entry> entries;           // the oldest first
    std::map<std::string, Winners> best;  // by question
    OriginalTimes originals;
  };
  Entry EntryOf(const records::Evaluation& evaluation, std::string toolchain, std::string driver);
  KernelIndex& IndexOf(const std::string& kernel_key);
  static bool IsFresh(const Entry& entry, const std::string& workload_hash, const Place& place);
  std::optional<records::Evaluation> ReadEvaluation(const std::string& key);
  // The same for what is asked for again soon. Null: it cannot be read.
  const records::Evaluation* Evaluated(const std::string& key);
  Winners FindWinners(const std::string& kernel_key, const records::Workload& workload,
                      const std::string& workload_hash, const Place& place,
                      const std::set<std::string>& without);
  Winners WinnersOf(const std::string& kernel_key, const records::Workload& workload,
                    const Place& place, const std::set<std::string>& without);
  std::shared_ptr<const Proven> ReadProven(const std::string& kernel_key, const std::string& key);

  void ForgetWinners();

  // What answers read again and again.
  static constexpr std::size_t kMostProven = 128;
  static constexpr std::size_t kMostEvaluated = 256;
  static constexpr std::size_t kMostRefusals = 512;  // objects

  cache::Store& store_;
  Marks marks_;
  std::map<std::string, KernelIndex> index_;  // by kernel key
  std::uint64_t last_number_ = 0;
  Kept<std::string, std::shared_ptr<const Proven>> proven_{kMostProven};  // by the evaluation's key
  Kept<std::string, records::Evaluation> evaluated_{kMostEvaluated};
  Kept<std::string, std::vector<Refusal>> refusals_{kMostRefusals};
};

// Of several the one that saves most; null of none.
std::shared_ptr<const Proven> FastestOf(const ProvenSet& set);

// Everything that a workload is, as the text by which evidence is bound to it. Each thread keeps
// those of the last kernels: all questions about one begin with it.
std::string WorkloadHash(const records::Workload& workload);

}  // namespace cupilot::service
