#include "evaluate/worker_evaluator.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "evaluate/case_errors.h"
#include "evaluate/evaluation_stages.h"
#include "evaluate/lined_workers.h"
#include "evaluate/new_losses.h"
#include "evaluate/stopped_build.h"
#include "evaluate/verdict.h"
#include "records/workload_fit.h"
#include "source/swap/variant_text.h"

namespace cupilot::evaluate {
namespace {

constexpr double kNoLimit = 1e9;  // times the other's time: none is stopped early

records::Json Summary(const Combined& all) {
  return {{"speedup", all.speedup}, {"interval", all.interval}, {"gain_us", all.gain_us}};
}

}  // namespace

// One evaluation; lives as long as a callback of a worker holds it. Each stage either rejects, ends
// with an error, or starts the next.
class WorkerEvaluator::Job final : public std::enable_shared_from_this<Job> {
 public:
  Job(WorkerEvaluator& owner, EvaluateRequest request, base::Callback<records::Evaluation> done)
      : owner_(owner),
        request_(std::move(request)),
        line_(owner.workers_, request_.kernel.key, request_.kernel.key, request_.place),
        proofs_(owner.workers_, request_.kernel.key, "proofs", request_.first_proof ? 0 : 1),
        profiles_(owner.workers_, request_.kernel.key, "proofs", 2),
        behind_(owner.workers_, request_.kernel.key, "", 0),
        // Watched builds may hold this job for longer; its lane is free.
        done_([this, done = std::move(done)](base::Result<records::Evaluation> evaluation) mutable {
          lane_.reset();
          done(std::move(evaluation));
        }),
        entered_(owner.clock_.Now()) {}

  void Start() {
    evaluation_.variant = request_.variant.id;
    evaluation_.kernel_key = request_.kernel.key;
    evaluation_.workload = records::HashJson(records::ToJson(request_.workload));
    evaluation_.seed = request_.seed;
    Enter(kCheck);
    Check();
  }

  // Not a new evaluation: this one is completed.
  void StartProfileOf(records::Evaluation evaluation) {
    evaluation_ = std::move(evaluation);
    only_profile_ = true;
    as_compiled_ =
        DeviceKind(request_.device) == "cuda" && !evaluation_.toolchain.starts_with("nvrtc");
    Check();
  }

 private:
  void Enter(const Stage& stage) {
    CountStage();
    stage_ = &stage;
    if (request_.progress) request_.progress(stage.name);
  }

  // Waiting for a worker is part of it.
  void CountStage() { Count(stage_->name); }
  void Count(const char* name) {
    const auto now = owner_.clock_.Now(), spent = now - std::exchange(entered_, now);
    stage_seconds_[name] += std::chrono::duration<double>(spent).count();
  }

  // A proof waits behind what is measured: some of that may beat it.
  Workers& Queue() { return watched_builds_ == Watched::kNone ? line_ : behind_; }

  void Check() {
    CheckVariant(Queue(), {request_.kernel, request_.variant}, request_.device,
                 [self = shared_from_this()](base::Result<protocol::CheckVariantReply> reply) {
                   self->OnChecked(std::move(reply));
                 });
  }

  void OnChecked(base::Result<protocol::CheckVariantReply> reply) {
    if (only_profile_) {
      if (!reply) return done_(base::Fail(std::move(reply.error())));
      if (!reply->passed) return NoProfile("it is not allowed any more: " + reply->detail);
    } else {
      if (!reply) return OnWorkerError(reply.error());
      evaluation_.checks.push_back({"whitelist", reply->passed, reply->detail});
      if (!reply->passed) return Reject(reply->reason, reply->detail);
      const std::string excess =
          records::ExcessiveWorkspace(request_.kernel, request_.workload, request_.variant);
      if (!excess.empty()) return Reject("invalid_launch", excess);
      Enter(kBuild);
    }
    entries_ = std::move(reply->entries);
    if (OnlyLooks()) bare_closure_ = std::move(reply->bare_closure);
    owner_.baselines_.Find(
        request_, OnlyLooks() ? KnownBaselines::Need::kOriginal : KnownBaselines::Need::kAll,
        [self = shared_from_this()](base::Result<Baseline> baseline) {
          self->OnBaseline(std::move(baseline));
        });
  }

  void OnBaseline(base::Result<Baseline> baseline) {
    if (!baseline) return done_(base::Fail(std::move(baseline.error())));
    baseline_ = std::move(*baseline);
    if (!only_profile_) {
      evaluation_.device = baseline_.device.device;
      evaluation_.driver = baseline_.device.driver;
    }
    // What is proven was looked at before, as NVRTC builds it.
    if (request_.finalist && DeviceKind(request_.device) == "cuda") return BuildAsCompiled();
    BuildCandidate(&Job::OnBuilt);
  }

  void BuildCandidate(void (Job::*then)(base::Result<protocol::BuildReply>), bool watched = false) {
    base::Result<std::string> text =
        source::CandidateText(request_.kernel, request_.variant, bare_closure_);
    if (!text && only_profile_) return NoProfile(text.error().message);
    if (!text) return Reject("unsupported_construct", text.error().message);
    BuildText(std::move(*text), then, watched);
  }

  // `watched`: for the host device whatever it is for, since only there can accesses be watched.
  void BuildText(std::string text, void (Job::*then)(base::Result<protocol::BuildReply>),
                 bool watched = false) {
    protocol::BuildRequest build =
        MakeBuildRequest(request_, baseline_.device, std::move(text), owner_.settings_.build);
    if (watched) {
      build.watched = true;
      build.device = "host";
      build.target.clear();
    } else {
      build.as_compiled = as_compiled_;
      build.cpu_seconds = request_.build_cpu_seconds;
    }
    Build(Queue(), build, request_.device,
          [self = shared_from_this(), then](base::Result<protocol::BuildReply> reply) {
            (self.get()->*then)(std::move(reply));
          });
  }

  void OnBuilt(base::Result<protocol::BuildReply> reply) {
    if (only_profile_) {
      if (!reply) return done_(base::Fail(std::move(reply.error())));
      if (reply->timed_out || reply->failed) return NoProfile("it cannot be built any more");
      if (TextHash(*reply, entries_) != evaluation_.text_hash) {
        return NoProfile("what is built now is other code than what was measured");
      }
      candidate_artifact_ = reply->artifact;
      return StartProfile();
    }
    if (!reply) return OnWorkerError(reply.error());
    evaluation_.target = reply->target;
    evaluation_.toolchain = reply->toolchain;
    evaluation_.metrics["build_seconds"] = reply->seconds;
    evaluation_.metrics["build_cpu_seconds"] = reply->cpu_seconds;
    if (reply->timed_out) return Reject("build_failed", "the compiler took too long");
    if (reply->failed) return Reject("build_failed", reply->log);
    const std::string loss = NewLosses(*reply, entries_, Tolerates(), baseline_.original_losses);
    if (!loss.empty()) return Reject("forbidden_numerics", loss);
    evaluation_.text_hash = TextHash(*reply, entries_);
    candidate_artifact_ = reply->artifact;
    candidate_lacks_ = reply->lacks;
    // Who has its turn waits for nobody who may wait for that, and who has asked already not for
    // itself: of code by another compiler others learn what became of the first.
    if (!request_.same_code || as_compiled_ || evaluation_.text_hash.empty() ||
        reply->data_hash.empty()) {
      return BeginTrials();
    }
    request_.same_code(evaluation_.text_hash + " " + reply->data_hash,
                       [self = shared_from_this()](std::optional<records::Evaluation> known) {
                         if (known) return self->done_(std::move(*known));
                         self->BeginTrials();
                       });
  }

  void BeginTrials() {
    if (OnlyLooks()) {
      Enter(kMeasure);
      return StartMeasure(Measuring::kProbe, &Job::OnProbed);
    }
    if (request_.finalist) BeginWatched();
    StartVerify("screening", &Job::OnScreened);
  }

  void OnProbed(base::Result<protocol::MeasureReply> reply) {
    if (!reply) return OnWorkerError(reply.error());
    first_ = std::move(*reply);
    State(first_);
    const double best = BestSoFar();
    base::Result<Verdict> verdict = JudgeProbe(first_, request_.workload, best);
    if (!verdict) return done_(base::Fail(std::move(verdict.error())));
    Note("probe", *verdict);
    if (verdict->accepted) return Finish();
    if (verdict->combined) evaluation_.metrics["beaten_by"] = best;
    Reject(verdict->reason, verdict->detail);
  }

  bool OnlyLooks() const { return request_.only_probe && DeviceKind(request_.device) == "cuda"; }
  // All of a proof is in one process, which keeps what its stages find out of the original.
  int Lane() {
    if (DeviceKind(request_.device) == "cuda" && only_profile_) {
      return 2 * owner_.settings_.proof_lanes + 1;
    }
    const bool apart = request_.finalist && DeviceKind(request_.device) == "cuda";
    if (apart && !lane_) {
      const auto lanes =
          owner_.proof_lanes_.try_emplace(request_.device, owner_.settings_.proof_lanes).first;
      lane_ = lanes->second.Enter(request_.kernel.key);
    }
    return lane_ ? lane_->lane() : 0;
  }

  Workers& DeviceQueue() { return Lane() > 0 ? proofs_ : Queue(); }

  double BestSoFar() const { return request_.best_so_far ? request_.best_so_far(first_.cases) : 0; }

  void StartVerify(const char* depth, void (Job::*then)(base::Result<protocol::VerifyReply>)) {
    Enter(kVerify);
    protocol::VerifyRequest verify;
    verify.set = MakeSet();
    verify.depth = depth;
    SetCompiler(verify);
    Verify(DeviceQueue(), verify, Lane(),
           [self = shared_from_this(), then](base::Result<protocol::VerifyReply> reply) {
             (self.get()->*then)(std::move(reply));
           });
  }

  void OnScreened(base::Result<protocol::VerifyReply> reply) {
    verified_.clear();
    if (!TakeVerified(std::move(reply))) return;
    Enter(kMeasure);
    StartMeasure(Measuring::kFirst, &Job::OnMeasured);
  }

  void OnProven(base::Result<protocol::VerifyReply> reply) {
    if (!TakeVerified(std::move(reply))) return;
    MergeErrors(verified_, evaluation_.cases);
    Confirm();
  }

  // False: the evaluation has ended with it.
  bool TakeVerified(base::Result<protocol::VerifyReply> reply) {
    if (!reply) {
      OnWorkerError(reply.error());
      return false;
    }
    if (reply->original_failed) {
      done_(base::Fail(
          base::InvalidArgument("the original of '" + request_.kernel.name +
                                "' cannot be judged on this workload: " + reply->detail)));
      return false;
    }
    for (records::Check& check : reply->checks) AddCheck(std::move(check));
    for (const auto& [name, cost] : reply->steps.items()) {
      evaluation_.metrics["verify"][name] = cost;
    }
    evaluation_.guard = reply->guard;
    AddErrors(reply->cases, verified_);
    if (reply->passed) return true;
    if (evaluation_.cases.empty()) evaluation_.cases = verified_;
    Reject(reply->reason, reply->detail);
    return false;
  }

  // The second part of a verification says again what holds after every run.
  void AddCheck(records::Check check) {
    std::vector<records::Check>& checks = evaluation_.checks;
    if (check.passed && std::find(checks.begin(), checks.end(), check) != checks.end()) return;
    checks.push_back(std::move(check));
  }

  void OnMeasured(base::Result<protocol::MeasureReply> reply) {
    if (!reply) return OnWorkerError(reply.error());
    first_ = std::move(*reply);
    State(first_);
    auto verdict = JudgeOnce(first_, request_.workload);
    if (!verdict) return done_(base::Fail(std::move(verdict.error())));
    Note("measure", *verdict);
    if (!verdict->accepted) return Reject(verdict->reason, verdict->detail);
    measured_ = *verdict->combined;
    if (EndsBeaten()) return;
    BeginWatched();
    const bool nvrtc = evaluation_.toolchain.starts_with("nvrtc");
    if (nvrtc && !asked_as_compiled_ && DeviceKind(request_.device) == "cuda") {
      return BuildAsCompiled();
    }
    Prove();
  }

  // Whether what was proven so far is faster for certain; then that is the verdict.
  bool EndsBeaten() {
    const double best = BestSoFar();
    if (measured_.interval[1] >= best) return false;
    evaluation_.metrics["beaten_by"] = best;
    Reject("not_faster", "faster than the original, but for certain slower than the " +
                             FormatSpeedup(best) +
                             " at least of what is there: not measured in a second process");
    return true;
  }

  // What only finalists are worth: builds whose accesses can be watched too. They are made of the
  // same texts whatever compiler makes what ships, and beside that.
  void BeginWatched() {
    if (watched_builds_ != Watched::kNone) return;
    watched_builds_ = Watched::kUnderWay;
    Enter(kBuild);
    BuildText(request_.kernel.closure_source, &Job::OnWatchedOriginal, true);
    BuildCandidate(&Job::OnWatchedCandidate, true);
  }

  // Whether to try again what failed for no reason of the text.
  bool WatchAgain(const base::Result<protocol::BuildReply>& reply) {
    return (!reply || reply->timed_out) && watched_again_-- > 0;
  }

  void OnWatchedOriginal(base::Result<protocol::BuildReply> reply) {
    if (WatchAgain(reply)) {
      return BuildText(request_.kernel.closure_source, &Job::OnWatchedOriginal, true);
    }
    watched_original_ = WatchedArtifact(std::move(reply), "the original", original_not_watched_);
    OnWatched();
  }

  void OnWatchedCandidate(base::Result<protocol::BuildReply> reply) {
    if (WatchAgain(reply)) return BuildCandidate(&Job::OnWatchedCandidate, true);
    watched_candidate_ = WatchedArtifact(std::move(reply), "the candidate", candidate_not_watched_);
    OnWatched();
  }

  void OnWatched() {
    if (++watched_built_ < 2) return;
    watched_builds_ = Watched::kDone;
    if (awaits_watched_) ProveRest();
  }

  void Prove() {
    awaits_watched_ = watched_builds_ != Watched::kDone;
    if (!awaits_watched_) ProveRest();
  }

  void ProveRest() {
    // There the same compiler has made of the text what is measured.
    if (DeviceKind(request_.device) == "host" && !watched_original_.empty() &&
        watched_candidate_.empty()) {
      return Reject("build_failed", candidate_not_watched_);
    }
    AwaitTurn([this] {
      if (!EndsBeaten()) StartVerify("rest", &Job::OnProven);
    });
  }

  // `begin` is called as a part of this job, at once where it has its turn.
  template <class Begin>
  void AwaitTurn(Begin begin) {
    if (turn_) return begin();
    CountStage();
    const std::string group =
        evaluation_.kernel_key + " " + evaluation_.workload + " " + request_.device;
    owner_.finalists_.Enter(group, measured_.speedup,
                            [self = shared_from_this(), begin](Finalists::Turn turn) {
                              self->turn_ = std::move(turn);
                              self->Count("turn");
                              begin();
                            });
  }

  // That it builds was proven before, so that this is no verdict: the step is left out, and the
  // record says so.
  std::string WatchedArtifact(base::Result<protocol::BuildReply> reply, const std::string& what,
                              std::string& not_watched) {
    if (reply && !reply->failed && !reply->timed_out) {
      records::Json& seconds = evaluation_.metrics["watched_build_seconds"];
      seconds = (seconds.is_number() ? seconds.get<double>() : 0.0) + reply->seconds;
      return std::move(reply->artifact);
    }
    not_watched = what + " cannot be built for it: " +
                  (!reply             ? reply.error().message
                   : reply->timed_out ? "the compiler took too long"
                                      : reply->log);
    return {};
  }

  void Confirm() {
    Enter(kConfirm);
    StartMeasure(Measuring::kSecond, &Job::OnConfirmed);
  }

  // NVRTC builds fast, but what ships is nvcc's, and now and then that is other code. Then that is
  // what is verified and measured, from the beginning: the original's, and the candidate's.
  void BuildAsCompiled() {
    as_compiled_ = asked_as_compiled_ = true;
    BuildText(request_.kernel.closure_source, &Job::OnOriginalAsCompiled);
    BuildCandidate(&Job::OnCandidateAsCompiled);
  }

  void OnOriginalAsCompiled(base::Result<protocol::BuildReply> reply) {
    original_as_compiled_ = std::move(reply);
    if (candidate_as_compiled_) OnBuiltAsCompiled();
  }

  void OnCandidateAsCompiled(base::Result<protocol::BuildReply> reply) {
    candidate_as_compiled_ = std::move(reply);
    if (original_as_compiled_) OnBuiltAsCompiled();
  }

  void OnBuiltAsCompiled() {
    const auto built = [](const base::Result<protocol::BuildReply>& reply) {
      return reply && !reply->failed && !reply->timed_out;
    };
    const base::Result<protocol::BuildReply>& original = *original_as_compiled_;
    base::Result<protocol::BuildReply>& candidate = *candidate_as_compiled_;
    // Without nvcc nothing can be said.
    const bool unknown =
        !built(original) || (!candidate && candidate.error().code == base::ErrorCode::kUnavailable);
    const bool first = candidate_artifact_.empty();
    if (unknown) {
      as_compiled_ = false;
      return first ? BuildCandidate(&Job::OnBuilt) : Prove();
    }
    const std::string hash = TextHash(*original, {request_.kernel.name});
    const bool other_original = hash != baseline_.original_hash;
    if (other_original) {
      baseline_.original_artifact = original->artifact;
      baseline_.original_hash = hash;
      owner_.baselines_.Keep(BaselineKey(request_), baseline_);
    }
    if (first) return OnBuilt(std::move(candidate));
    const bool same = built(candidate) && TextHash(*candidate, entries_) == evaluation_.text_hash;
    if (!other_original && same) return Prove();
    // Nothing that was measured holds for this code.
    const records::Check whitelist = evaluation_.checks.front();
    evaluation_.checks = {whitelist};
    evaluation_.metrics = records::Json::object();
    evaluation_.cases.clear();
    evaluation_.resources = {};
    evaluation_.guard.clear();
    evaluation_.text_hash.clear();
    verified_.clear();
    first_ = {};
    OnBuilt(std::move(candidate));
  }

  void OnConfirmed(base::Result<protocol::MeasureReply> reply) {
    if (!reply) return OnWorkerError(reply.error());
    base::Result<Verdict> again = JudgeOnce(*reply, request_.workload);
    base::Result<Verdict> verdict = JudgeBoth(first_, *reply, request_.workload);
    base::Result<bool> second = SecondSaysLess(first_, *reply, request_.workload);
    if (!again) return done_(base::Fail(std::move(again.error())));
    if (!verdict) return done_(base::Fail(std::move(verdict.error())));
    if (!second) return done_(base::Fail(std::move(second.error())));
    Note("confirm", *again);
    if (*second) State(*reply);
    evaluation_.checks.push_back({"second_process", verdict->accepted, verdict->detail});
    if (!verdict->accepted) return Reject(verdict->reason, verdict->detail);
    evaluation_.accepted = true;
    evaluation_.speedup = verdict->combined->speedup;
    evaluation_.interval = verdict->combined->interval;
    BeginDuel();
  }

  // Whatever becomes of it, what was accepted is.
  void BeginDuel() {
    if (request_.rival) rival_ = request_.rival(*evaluation_.speedup);
    if (!rival_) return Conclude();
    base::Result<std::string> text = source::CandidateText(request_.kernel, *rival_);
    if (!text) return Conclude();
    BuildText(std::move(*text), &Job::OnRivalBuilt);
  }

  void OnRivalBuilt(base::Result<protocol::BuildReply> reply) {
    if (!reply || reply->failed || reply->timed_out) return Conclude();
    protocol::MeasureRequest measure;
    measure.set = MakeSet();
    measure.set.original_artifact = reply->artifact;
    measure.rival = rival_;
    measure.max_seconds = request_.max_seconds;
    measure.probe_limit = kNoLimit;
    Measure(DeviceQueue(), measure, Lane(),
            [self = shared_from_this()](const base::Result<protocol::MeasureReply>& measured) {
              self->OnDueled(measured);
            });
  }

  void OnDueled(const base::Result<protocol::MeasureReply>& reply) {
    const bool all = reply && std::all_of(reply->cases.begin(), reply->cases.end(),
                                          [](const auto& result) { return result.admitted; });
    if (all && !reply->failed && !reply->stopped_early) {
      const auto combined = Combine(reply->cases, request_.workload);
      if (combined) NoteDuel(rival_->id, *combined, evaluation_);
    }
    Conclude();
  }

  void Conclude() {
    if (request_.profile && DeviceKind(request_.device) == "cuda") return StartProfile();
    Finish();
  }

  enum class Measuring { kProbe, kFirst, kSecond };

  void StartMeasure(Measuring what, void (Job::*then)(base::Result<protocol::MeasureReply>)) {
    protocol::MeasureRequest measure;
    measure.set = MakeSet();
    measure.max_seconds = request_.max_seconds;
    measure.confirm = what == Measuring::kSecond;
    measure.probe = what == Measuring::kProbe;
    measure.probe_limit = owner_.settings_.probe_limit;
    // Of several cases none alone tells what becomes of the sum.
    const bool alone = request_.workload.cases.size() == 1;
    const double fastest =
        measure.probe && alone && request_.fastest_known ? request_.fastest_known() : 0;
    if (fastest > 0) measure.promising = 1 / fastest;
    Measure(DeviceQueue(), measure, Lane(),
            [self = shared_from_this(), then](base::Result<protocol::MeasureReply> reply) {
              (self.get()->*then)(std::move(reply));
            });
  }

  void StartProfile() {
    Enter(kProfile);
    protocol::ProfileRequest profile;
    profile.set = MakeSet();
    profile.cases = evaluation_.cases;
    SetCompiler(profile);
    evaluate::Profile(Lane() > 0 ? profiles_ : Queue(), profile, Lane(), only_profile_,
                      [self = shared_from_this()](base::Result<protocol::ProfileReply> reply) {
                        self->OnProfiled(std::move(reply));
                      });
  }

  // The verdict stands whatever becomes of this.
  void OnProfiled(base::Result<protocol::ProfileReply> reply) {
    if (!reply && only_profile_) return done_(base::Fail(std::move(reply.error())));
    if (!reply) {
      evaluation_.metrics["no_roofline"] = reply.error().message;
      return Finish();
    }
    for (const auto& [name, roofline] : reply->rooflines.items()) {
      evaluation_.metrics["case " + name]["roofline"] = roofline;
    }
    if (only_profile_) return done_(std::move(evaluation_));
    Finish();
  }

  // Whether the workload itself says how far results may be off.
  bool Tolerates() const {
    const auto& tolerance = request_.workload.tolerance;
    return tolerance && (tolerance->relative || tolerance->absolute);
  }

  template <class Request>
  void SetCompiler(Request& request) const {
    if (request_.command.arguments.empty()) return;
    request.compiler = request_.command.arguments.front();
    request.compile_folder = request_.command.directory;
  }

  protocol::CandidateSet MakeSet() const {
    protocol::CandidateSet set;
    set.kernel = request_.kernel;
    set.workload = request_.workload;
    if (DemandsBitwise(request_)) {
      if (!set.workload.tolerance) set.workload.tolerance.emplace();
      set.workload.tolerance->bitwise = true;
    }
    set.variant = request_.variant;
    set.original_artifact = baseline_.original_artifact;
    set.candidate_artifact = candidate_artifact_;
    set.lacks = candidate_lacks_;
    set.twin_artifact = baseline_.twin_artifact;
    set.twin = baseline_.twin;
    set.seed = request_.seed;
    set.device = request_.device;
    set.watched_original = watched_original_;
    set.watched_candidate = watched_candidate_;
    set.not_watched =
        original_not_watched_.empty() ? candidate_not_watched_ : original_not_watched_;
    set.work_folder = owner_.settings_.work_folder + "/" + baseline_.device.device.arch;
    return set;
  }

  // The record states this measurement's numbers.
  void State(const protocol::MeasureReply& measured) {
    evaluation_.cases = measured.cases.empty() ? verified_ : measured.cases;
    MergeErrors(verified_, evaluation_.cases);
    if (!measured.device.arch.empty()) evaluation_.device = measured.device;
    evaluation_.resources = measured.resources;
    for (const auto& [name, facts] : measured.metrics.items()) {
      evaluation_.metrics["case " + name] = facts;
    }
  }

  void Note(const char* name, const Verdict& verdict) {
    if (verdict.combined) evaluation_.metrics[name] = Summary(*verdict.combined);
  }

  void NoProfile(const std::string& why) { done_(base::Fail(base::Unavailable(why))); }

  void OnWorkerError(const base::Error& error) {
    if (error.code == base::ErrorCode::kToolFailed) {
      return Reject(stage_->crashed,
                    error.message + NoteStopped(error, request_.build_cpu_seconds, evaluation_));
    }
    if (error.code == base::ErrorCode::kTimeout && stage_->timed_out != nullptr) {
      return Reject(stage_->timed_out, error.message);
    }
    done_(base::Fail(error.In(std::string("stage '") + stage_->name + "'")));
  }

  void Reject(const std::string& reason, const std::string& detail) {
    evaluation_.accepted = false;
    evaluation_.reason = reason.empty() ? "unsupported_construct" : reason;
    evaluation_.detail = detail;
    Finish();
  }

  void Finish() {
    CountStage();
    evaluation_.metrics["stage_seconds"] = stage_seconds_;
    evaluation_.date = base::FormatDate(owner_.clock_.WallTime());
    done_(std::move(evaluation_));
  }

  WorkerEvaluator& owner_;
  const EvaluateRequest request_;
  LinedWorkers line_;
  LinedWorkers proofs_, profiles_;  // of finalists, and what is known of their limits last
  LinedWorkers behind_;             // all others
  base::Callback<records::Evaluation> done_;
  const Stage* stage_ = &kCheck;
  std::chrono::nanoseconds entered_;
  std::map<std::string, double> stage_seconds_;
  bool only_profile_ = false;
  bool as_compiled_ = false;  // built by the recorded compiler, not by NVRTC
  bool asked_as_compiled_ = false;
  std::optional<base::Result<protocol::BuildReply>> original_as_compiled_, candidate_as_compiled_;
  Baseline baseline_;
  std::vector<std::string> entries_;
  std::string bare_closure_;  // of what is only looked at, beside an original built before; or ""
  std::string candidate_artifact_;
  std::vector<std::string> candidate_lacks_;
  enum class Watched { kNone, kUnderWay, kDone };
  Watched watched_builds_ = Watched::kNone;
  int watched_built_ = 0, watched_again_ = 2;
  bool awaits_watched_ = false;  // the rest of the verification
  std::string watched_original_, watched_candidate_;
  std::string original_not_watched_, candidate_not_watched_;  // why
  std::vector<records::CaseResult> verified_;
  protocol::MeasureReply first_;
  Combined measured_;  // what it says
  std::optional<records::Variant> rival_;
  records::Evaluation evaluation_;
  Finalists::Turn turn_;                     // to be proven, up to the job's end
  std::unique_ptr<ProofLanes::Place> lane_;  // of a proof on a GPU, likewise
};

WorkerEvaluator::WorkerEvaluator(Workers& workers, const base::Clock& clock, Settings settings)
    : workers_(workers),
      clock_(clock),
      settings_(std::move(settings)),
      baselines_(workers, settings_.build) {}

WorkerEvaluator::~WorkerEvaluator() = default;

void WorkerEvaluator::Evaluate(EvaluateRequest request, base::Callback<records::Evaluation> done) {
  std::make_shared<Job>(*this, std::move(request), std::move(done))->Start();
}

void WorkerEvaluator::Profile(EvaluateRequest request, records::Evaluation evaluation,
                              base::Callback<records::Evaluation> done) {
  std::make_shared<Job>(*this, std::move(request), std::move(done))
      ->StartProfileOf(std::move(evaluation));
}

}  // namespace cupilot::evaluate
