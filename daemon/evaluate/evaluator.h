// Proves or rejects one variant of one kernel. Only an evaluation may call a variant accepted.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/callback.h"
#include "base/unique_function.h"
#include "protocol/replay.h"
#include "records/compile_command.h"
#include "records/evaluation.h"
#include "records/kernel.h"
#include "records/variant.h"
#include "records/workload.h"

namespace cupilot::evaluate {

struct EvaluateRequest {
  records::Kernel kernel;      // as scanned with `command`
  records::Workload workload;  // all cases count
  records::Variant variant;    // with its id
  records::CompileCommand command;
  std::string numerics = "close";  // "close" | "bitwise": bitwise equality is demanded
  std::string device = "host";     // or "cuda:0"
  std::uint64_t seed = 1;          // of all generated values
  double max_seconds = 2.0;        // of one measurement; the confirmation takes as long again
  bool profile = false;            // GPUs: also Profile what is accepted
  // Of a search: its number there. Until it has been measured, it waits for workers behind those of
  // this kernel with lower ones.
  std::int64_t place = 0;
  // GPUs: only what three pairs of launches say. What is clearly slower than the original, or than
  // what best_so_far says, is rejected as not_faster; of the others there is no verdict: neither
  // accepted nor a reason, with what was measured. What is wrong and slow is then called slow. For
  // a search, where most candidates are slow and a verification of much data takes a hundred times
  // as long.
  bool only_probe = false;
  // Of a probe, asked when it is measured: the speedup of the fastest that is known. What is far
  // slower is measured less often. 0: unknown. May be empty.
  std::function<double()> fastest_known;
  // Of a probe: what NVRTC may take of the processor for it, in seconds; 0: as much as any. What
  // takes more is rejected as build_failed, with "build_stopped" in the metrics: for this search.
  double build_cpu_seconds = 0;
  // Of a finalist: nothing of its kernel is proven yet. Its proof comes before those that improve
  // what is there.
  bool first_proof = false;
  // It was probed, and is worth a proof: what only finalists need is prepared at once.
  bool finalist = false;
  // The lower end of the speedup of what is proven already, asked when the candidate has been
  // measured, with its results; 0: nothing is, or it may be of use beside that. One whose
  // upper end is below it is not measured in a second process: it is rejected as not_faster, with
  // "beaten_by" (that lower end) in the metrics. May be empty.
  std::function<double(const std::vector<records::CaseResult>& cases)> best_so_far;
  // Asked when the candidate is accepted, with its speedup: the proven variant in whose place it
  // might come, where what was measured of each alone may not tell which is faster. Both are timed
  // in one run then, which is "against" in the metrics (verdict.h). May be empty.
  std::function<std::optional<records::Variant>(double speedup)> rival;
  // Asked once the candidate is built, before it runs, with what its code and data are known by.
  // `known` gets the evaluation of an earlier candidate that was built to the same and is launched
  // in the same way; that is what Evaluate() then gives, with the earlier one's id. Nothing: there
  // is none. Not asked where builds do not say what they made (the host device). May be empty.
  std::function<void(const std::string& code,
                     base::UniqueFunction<void(std::optional<records::Evaluation>)> known)>
      same_code;
  // Called on the loop thread when a stage begins: "check", "build", "verify" (again for what was
  // measured to be faster), "measure", "confirm", "profile". May be empty.
  std::function<void(std::string_view stage)> progress;
};

// What an object's own code says about evidence on our text of its kernel.
struct ObjectCheck {
  // What tells the two codes apart ("uses 40 registers, the one that is tuned 32"); empty: nothing.
  std::string difference;
  // Why the kernel is not to be tuned for this object, with what to do. Empty: it is; where there
  // is a difference, the object's own code gave our results in all that a variant has to pass.
  std::string declined;
  bool operator==(const ObjectCheck&) const = default;
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // A GPU's name ("cuda:0") may be another GPU's now: what was found out by it does not hold any
  // more.
  virtual void ForgetDevices() {}

  // Begins a GPU's process for what will be measured there, before anything else is known.
  virtual void BeginDevice(const std::string& /*device*/) {}

  // Begins processes that will build for the GPU, of this architecture, what has such a command.
  virtual void BeginBuilds(const records::CompileCommand& /*command*/,
                           const std::string& /*device*/, const std::string& /*arch*/) {}

  // Begins what all candidates of a kernel need, before there is one: the original's build and
  // twin, and on a GPU the process that measures, with the workload's contents. What goes wrong is
  // told by the first evaluation. The variant does not matter.
  virtual void Prepare(const EvaluateRequest& /*request*/) {}

  // Check, build, verify, measure, verify the rest, confirm, verdict; stops at the first stage that
  // rejects. A rejection is a value (accepted == false with reason and detail). Errors are what is
  // no verdict about the variant:
  //   kInvalidArgument  the original fails, does not repeat, does not build, or the workload is
  //                     illegal
  //   kUnavailable      no worker, compiler or device
  //   kCancelled        the evaluator was stopped
  //   kInternal, kProtocol
  // Several evaluations may run at once: their builds overlap, their measurements never do.
  virtual void Evaluate(EvaluateRequest request, base::Callback<records::Evaluation> done) = 0;

  // The evaluation of this request, with each case's place on the roofline in its metrics
  // ("case <name>": {"roofline": worker/profile.h}). Decides nothing: fails where that cannot be
  // had. GPUs only.
  virtual void Profile(EvaluateRequest request, records::Evaluation evaluation,
                       base::Callback<records::Evaluation> done) = 0;

  // Compares the kernel in the object (an absolute path) with our text of it by the object's own
  // command, and where they differ verifies the object's code as a candidate. Of the host device
  // nothing is asked: there equal tokens are enough. Errors as Evaluate's, and kNotFound: there is
  // no such file. The variant does not matter.
  virtual void CheckObject(const EvaluateRequest& /*request*/, const std::string& /*object*/,
                           base::Callback<ObjectCheck> done) {
    done(ObjectCheck{});
  }

  // The original alone on the workload's cases, again and again, beside what its launches left in
  // the program (protocol/replay.h). Errors as Evaluate's. The variant does not matter.
  virtual void Replay(EvaluateRequest request, protocol::LeftBehind after,
                      base::Callback<protocol::ReplayReply> done) = 0;
};

}  // namespace cupilot::evaluate
