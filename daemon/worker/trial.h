// One case of a candidate under verification: its process and memory, its runs, and what the checks
// find after each. What steps (steps/step.h) are written with.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/worker_messages.h"
#include "worker/case_plan.h"
#include "worker/checks/check.h"
#include "worker/lease.h"
#include "worker/program.h"
#include "worker/reference.h"
#include "worker/series.h"

namespace cupilot::worker {

class Trial {
 public:
  // The candidate's program with all its buffers at certain places.
  struct Scene {
    CasePlan original;
    CasePlan plan;  // the same regions, and the candidate's workspaces behind them
    records::Json program;
    Program launches;  // the same, before it is a runner's
  };
  // What a run is judged by.
  struct Question {
    const OriginalResult& reference;
    std::string fill;  // for details: "of the workload", "wide, second call"
    bool dense = true;
    const GateFill* gate_fill = nullptr;  // that `dense` is about; null: it holds as it is
  };

  Trial(const protocol::VerifyRequest& request, const records::Case& workload, CasePlan original);
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial() = default;

  // Before all others. A rejection is a finding, as in everything below; errors are failures of the
  // environment.
  base::Result<Finding> Start();

  const protocol::CandidateSet& set() const { return request_.set; }
  const protocol::VerifyRequest& request() const { return request_; }
  const records::Case& workload() const { return workload_; }
  References& references() { return references_; }
  const Scene& scene() const { return *scene_; }
  bool LeftOut(const std::string& name) const;

  // kInvalidArgument: the candidate's guard or its expressions do not admit these places;
  // kUnsupported: it cannot be run at all.
  base::Result<Scene> MakeScene(CasePlan original) const;

  // One run of the candidate with fresh inputs, and all checks.
  base::Result<Finding> Judge(const Question& question, const Before& before = {});
  base::Result<Finding> JudgeAt(const Scene& scene, const Question& question,
                                const Before& before = {});
  // The same without those checks that ask what the original gives. Results are in memory().
  base::Result<Finding> RunOn(const Question& question, const Before& before);
  // A series of runs of the candidate; what each left is asked of the results, as RunOn()'s are.
  // A finding: it failed.
  base::Result<Finding> RunSeries(const Question& question, const Before& before,
                                  const SeriesRequest& series);
  std::vector<std::vector<std::byte>> ResultsOfSeries(int run) const;
  // memory() as a run on these inputs would leave it that gave these results, by region.
  void PutResults(const Question& question, const Before& before,
                  const std::vector<std::vector<std::byte>>& results);
  // The results that RunOn() has left, by all checks; nothing runs.
  base::Result<Finding> JudgeResults(const Question& question, const Before& before);
  // `reference`, with its twin's word where the results in memory() are not the original's bits.
  base::Result<std::shared_ptr<const OriginalResult>> TwinWhereBitsDiffer(
      std::shared_ptr<const OriginalResult> reference);
  // The original in the candidate's own process; only after Restart(true). Its results are in
  // memory() afterwards.
  base::Result<Finding> RunOriginal(const OriginalResult& reference);
  std::span<const std::byte> memory() const { return lease_->memory(); }

  // Another process for the runs that follow, which knows nothing of those before.
  base::Result<> Restart(bool with_original);
  // Whether the last Restart() was with it.
  bool beside_original() const { return module_ == 1; }

  // The workload's own results (with the twin's unless `quick_workload`), which the original may
  // fail to give the first time only, and those of the first fill of the gate that says anything
  // else; null: there is none.
  base::Result<std::shared_ptr<const OriginalResult>> Workload();
  base::Result<const GateFill*> AnotherFill();

  // Entries of the record.
  void Note(const std::string& name, const std::string& detail);
  const std::vector<records::Check>& notes() const { return notes_; }
  // How floating outputs were judged on the workload's fill, and the errors so far.
  bool with_twin() const { return with_twin_; }
  std::string HowCompared(const OriginalResult& reference);
  const Errors& errors() const { return errors_; }
  // Whether all runs that were judged so far gave the original's bits.
  bool exact() const { return exact_; }
  // The same of runs of an earlier try.
  void Carry(const Errors& errors, bool exact);

  // Of the candidate, so far.
  std::int64_t launches() const { return launches_; }
  void CountLaunches(std::int64_t more) { launches_ += more; }  // of trials within this one
  // Of the host device, for the runs that follow; empty: its own.
  std::string schedule;
  // Whether a twin is asked about the workload's inputs only if bits differ: of a case that is not
  // the one under verification.
  bool quick_workload = false;
  // Whether the last run was the workload's on the main scene's memory.
  bool workload_ran_last = false;

 private:
  base::Result<Finding> RunAndCheck(const Scene& scene, const Question& question,
                                    const Before& before, bool results);
  base::Result<Finding> Check(const Observation& seen, const Question& question, bool results);
  base::Result<Finding> CheckWhole(const Observation& seen, bool results);
  base::Result<records::Json> Launch(const Scene& scene, double original_us);
  base::Result<> MakeRoom(const Layout& layout);
  Finding FailedRun(const Observation& seen, const base::Error& error);

  const protocol::VerifyRequest& request_;
  const records::Case& workload_;
  const CasePlan original_;
  References references_;
  std::optional<Scene> scene_;
  std::optional<Lease> lease_;
  int module_ = 0;  // of the candidate
  bool restarted_ = false;
  bool exact_ = true;
  bool has_workload_ = false;  // that the original gives results for
  Errors errors_;
  bool with_twin_ = false;
  std::int64_t launches_ = 0;
  std::vector<records::Check> notes_;
};

}  // namespace cupilot::worker
