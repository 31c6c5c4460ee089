// Other contents of captured integers (exchange.h). They count where the original is clean on them:
// it ends about as soon as ever, and repeats its results whatever lies beside its buffers and where
// these lie.
#include "worker/exchange.h"

#include "worker/steps/step.h"

namespace cupilot::worker {
namespace {

// How much longer the original may take on them, and what a short one may in any case.
constexpr double kMostTimes = 10;
constexpr double kSparedUs = 1000;
constexpr int kPairs = 8;  // single exchanges, where the original stands no more

struct Round {
  Exchange how_many;
  const char* name;
  int draws;
};
constexpr Round kRounds[] = {{Exchange::kAll, "all elements exchanged", 1},
                             {Exchange::kSome, "some elements exchanged", 2},
                             {Exchange::kTwo, "two elements exchanged", kPairs}};

class Exchanges {
 public:
  Exchanges(Trial& trial, const OriginalResult& workload, std::size_t region)
      : trial_(trial), workload_(workload), region_(region) {}

  // As much as the original stands; less than that would show nothing more.
  base::Result<Finding> Run() {
    for (const Round& round : kRounds) {
      for (int draw = 0; draw < round.draws; ++draw) {
        TRY_ASSIGN(Finding finding, Judge(round, draw));
        if (!finding.reason.empty()) return finding;
      }
      if (!asked_.empty()) break;
    }
    return Finding{};
  }

  std::string Record() const {
    const std::string name = "'" + Layout().regions[region_].name + "': ";
    if (!asked_.empty()) return name + "as the original with " + asked_;
    return name + (why_not_.empty() ? "nothing in it can be exchanged" : "dropped: " + why_not_);
  }

 private:
  const worker::Layout& Layout() const { return trial_.scene().original.layout; }

  base::Result<Finding> Judge(const Round& round, int draw) {
    const std::string name = std::string(round.name) + " in '" + Layout().regions[region_].name +
                             "', draw " + std::to_string(draw);
    TRY_ASSIGN(const auto reference, trial_.references().FindOf(name, [&] {
      return WithExchanged(trial_.scene().original, *workload_.inputs, region_, round.how_many,
                           trial_.set().seed + static_cast<std::uint64_t>(draw));
    }));
    if (reference->redundant) return Finding{};
    if (std::string why_not = WhyNot(*reference); !why_not.empty()) {
      why_not_ = std::move(why_not);
      return Finding{};
    }
    asked_ = round.name;
    return trial_.Judge({*reference, "of the workload with " + name});
  }

  std::string WhyNot(const OriginalResult& reference) const {
    std::string why_not = WhyNotJudgedBy(reference, workload_);
    const bool late = reference.original_us > kMostTimes * workload_.original_us + kSparedUs;
    if (why_not.empty() && late) why_not = "the original takes more than ten times as long";
    return why_not;
  }

  Trial& trial_;
  const OriginalResult& workload_;
  const std::size_t region_;
  std::string asked_, why_not_;
};

}  // namespace

base::Result<Finding> StepExchanges(Trial& trial) {
  const std::vector<std::size_t> regions = ExchangeableRegions(trial.scene().original.layout);
  if (regions.empty()) {
    trial.Note("exchanges", "not asked: no captured integers");
    return Finding{};
  }
  TRY_ASSIGN(const auto workload, trial.Workload());
  for (const std::size_t region : regions) {
    Exchanges exchanges(trial, *workload, region);
    TRY_ASSIGN(Finding finding, exchanges.Run());
    if (!finding.reason.empty()) return finding;
    trial.Note("exchanges", exchanges.Record());
  }
  return Finding{};
}

}  // namespace cupilot::worker
