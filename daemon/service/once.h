// `cupilotd --once`: one tune or evaluate, or the proof of one entry of a lock file ("verify"), for
// a client without the service. Reads one JSON line, writes progress lines {"event": ..., "data":
// ...} and one final {"result": ...} or {"error":
// ...}.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/unique_function.h"
#include "evaluate/evaluator.h"
#include "evaluate/workers.h"
#include "loop/loop.h"
#include "service/catalog.h"
#include "service/kernel_job.h"
#include "service/lock_proof.h"
#include "service/models.h"

namespace cupilot::service {

// What main has to know of a request before anything is made. Of a line that is no request: empty.
struct OnceRequest {
  std::string provider;  // whom to ask, as the user wrote it; empty: nobody
  std::string folder;    // from which its relative paths are
};
OnceRequest ReadOnceRequest(const std::string& line);
// {"error": {"code", "message"}}
records::Json ErrorLine(const base::Error& error);

// What a tune that asks models has besides.
struct OnceModels {
  Models* models = nullptr;       // null: none is asked
  std::vector<bool> services;     // of the providers, in their order: needs the user's word
  std::string exchange_folder;    // of `exchange:`, which keeps the state of the work; else empty
  cache::Store* store = nullptr;  // the catalog's, of which that state is made
};

class Once {
 public:
  using Writer = base::UniqueFunction<void(const records::Json& line)>;

  Once(loop::Loop& loop, KernelJob::Collaborators collaborators, Writer write,
       OnceModels models = {});

  // Handles the request and stops the loop after the final line.
  void Start(const std::string& request_line);

 private:
  void Evaluate();
  base::Error OfWorkload(const base::Error& error) const;
  void Tune();
  base::Result<> AllowModels(JobInput& input);
  base::Result<> LoadState();
  void SaveState();
  void OnAnswer();
  records::Json ModelsJson() const;
  bool ReadEntry();
  void Verify(const std::vector<records::Kernel>& kernels);
  void FinishProof(const std::string& why_not, const records::Json& evaluation = nullptr);
  bool SearchesOnGpu() const;
  void ScanAhead(const std::string& arch);
  void OnDevice(base::Result<evaluate::DeviceDescription> device);
  base::Result<> Scan(const records::CompileCommand& command);
  bool IsMeant(const records::Kernel& kernel) const;
  void OnScanned(base::Result<protocol::ScanReply> reply);
  void StepAgain();
  // By this run's own budget, which may end before the job's; empty: it is not.
  std::string WhyEnough() const;
  void OnProbe(const KernelJob& job);
  void OnVerdict(const KernelJob& job);
  void FinishTune();
  void Finish(base::Result<records::Json> result);

  loop::Loop& loop_;
  KernelJob::Collaborators with_;
  OnceModels models_;
  Writer write_;
  std::string verb_;
  records::Json params_;
  Place place_;
  bool described_ = false;  // the device
  records::CompileCommand command_;
  records::CompileCommand scanned_;                         // what was scanned last, or is
  std::optional<base::Result<protocol::ScanReply>> ahead_;  // which came before the device
  records::Kernel kernel_;
  records::Workload workload_;
  LockedPlace locked_;  // of "verify"
  std::unique_ptr<KernelJob> job_;
  std::int64_t evaluations_ = 0;
  bool waiting_ = false;  // for a model
  std::chrono::nanoseconds began_{0};
};

}  // namespace cupilot::service
