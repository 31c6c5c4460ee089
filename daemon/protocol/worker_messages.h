// Messages between the daemon (or `cupilotd --once`) and a cupilot-worker, one JSON document a line
// over the worker's standard input and output:
//   request  {"id": 7, "op": "scan", "params": {...}}
//   reply    {"id": 7, "result": {...}}  or  {"id": 7, "error": {"code": "...", "message": "..."}}
// A device worker's reply also has "at_work": for how many seconds its device had something to run,
// and "waited": for how many seconds it waited for its turn on the device.
// Before a reply a worker may say how far it is, as often as it likes: {"id": 7, "passed": ...}. If
// the request is taken back, the last of these is its parameter "passed" when it begins again.
// A worker handles one request at a time, in order. Its standard error is a log.
// The structures convert with the functions at the end; missing keys keep their defaults, since
// both ends are always of one version.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/compile_command.h"
#include "records/evaluation.h"
#include "records/kernel.h"
#include "records/kernel_features.h"
#include "records/variant.h"
#include "records/workload.h"

namespace cupilot::protocol {

// ---- source workers: parse and rewrite (clang) ----

// op "scan": the tagged kernels of one translation unit.
struct ScanRequest {
  records::CompileCommand command;
  std::string source_text;           // snapshot of the source; empty: read command.source
  std::string numerics = "close";    // NUMERICS of the project: "close" | "bitwise"
  std::vector<std::string> kernels;  // described too, though they have no tag
  // Somebody waits for its kernels' first candidates, and other processors are free: what those
  // begin with is read beside the scan.
  bool candidates_follow = false;
  // What the command's compiler makes of the source: the worker's outer process adds it, and the
  // command's setup. `compiler_error`: why it could not be asked. With neither (the request was not
  // sent through a worker) nothing is compared.
  std::vector<records::CompilerPass> passes;
  std::vector<records::PassSummary> compiled;
  std::vector<std::string> entered;  // files of the user that the compiler entered
  std::string compiler_error;
};
struct ScanReply {
  std::vector<records::Kernel> kernels;
  std::vector<std::string> warnings;  // "file:line: what, and what to do"
  std::vector<std::string> files;     // every file read outside toolkit and compiler folders
  std::vector<std::string> untagged_kernels;   // qualified names
  std::vector<records::PassSummary> compiled;  // as in the request
  double seconds = 0;                          // that reading the unit took
};

// op "keep_unit", the request of a scan: what a scan and candidates of its kernels begin with is
// done and kept, for those that come next to this process. reply: {}

// op "rewrite": a strategy made a variant, mechanically.
struct RewriteRequest {
  records::CompileCommand command;
  records::Kernel kernel;
  records::Case workload;  // the heaviest case: what sizes to expect
  records::Strategy strategy;
  std::string device;  // "host" | "cuda"
};
struct RewriteReply {
  bool declined = false;
  std::string reason;  // why it declined
  records::Variant variant;
  records::Strategy strategy;  // what was really done (alignment)
};

// op "propose": every mechanical technique's opinion of the kernel, and what kind of kernel it is.
struct ProposeRequest {
  records::Kernel kernel;
  records::Case workload;
  std::string device;
};
struct Proposal {
  std::string technique;
  bool applies = false;
  std::string reason;  // why not
  std::vector<records::Json>
      parameters;  // parameter objects worth trying, the most promising first
};
struct ProposeReply {
  std::vector<Proposal> proposals;
  std::optional<records::KernelFeatures> features;  // absent: not known
};

// op "retune": the variant that is the original with other values of the source's own tunables: a
// copy of what depends on the macros, with the geometry of the tag's launch line.
struct RetuneRequest {
  records::CompileCommand command;
  std::string source_text;
  records::Kernel kernel;
  std::vector<std::pair<std::string, std::int64_t>> values;
};
// reply: RewriteReply

// op "twin": the double twin of the kernel (its floating-point arithmetic done in a wider type).
struct TwinRequest {
  records::Kernel kernel;
};
// A number of a structure, in the original and in the twin: bytes from the structure's begin.
struct TwinMember {
  std::string canonical;  // type in the original
  std::int64_t from = 0, from_bytes = 0;
  std::int64_t to = 0, to_bytes = 0;
  bool operator==(const TwinMember&) const = default;
};
struct TwinStructure {
  std::int64_t parameter = 0;
  std::int64_t bytes = 0;  // of one in the twin
  std::vector<TwinMember> members;
  bool operator==(const TwinStructure&) const = default;
};
struct TwinReply {
  bool declined = false;
  std::string reason;
  std::string source;         // a self-contained unit like closure_source
  std::string entry;          // qualified name of the twin kernel
  std::vector<bool> widened;  // per parameter: its elements (or itself) are wider now
  std::vector<std::string> widened_globals;
  std::vector<TwinStructure> structures;  // those among the widened parameters
  // Its dynamic shared memory holds wider numbers: so many times the bytes.
  std::int64_t shared_growth = 1;
  // Of the original's widest arithmetic: 8 (bfloat16), 11 (half), 24 (float) or 53 (double).
  std::int64_t significand_bits = 24;
  // Where the twin runs; empty: where the original does.
  std::string device;
};

// op "check_variant": the whitelist of a variant's top level (design, section 6, Build).
struct CheckVariantRequest {
  records::Kernel kernel;
  records::Variant variant;
};
struct CheckVariantReply {
  bool passed = false;
  std::string reason;  // "forbidden_construct" | "forbidden_numerics"
  std::string detail;
  std::vector<std::string> entries;  // qualified names of its __global__ functions
  // The kernel's closure_source with nothing in the original's body, which the variant does not
  // name: a third of what a compiler takes for both. Empty: it does.
  std::string bare_closure;
};

// ---- build workers ----

// What ends a build worker whose compiler took more than BuildRequest::cpu_seconds: no program
// sends it, and it leaves no core.
inline constexpr int kStopSignal = SIGVTALRM;

// op "build": one self-contained CUDA text to something that a device worker can load.
struct BuildRequest {
  std::string device;  // "host", "cuda:0"
  std::string target;  // GPUs: "sm_90"
  std::string text;
  records::CompileCommand command;  // flags that matter: standard, optimisation, arch, fast math
  std::string cache_folder;         // content-addressed: same text and flags are built once
  std::int64_t timeout_ms = 60000;
  // Processor time that NVRTC may take, in seconds; at the limit the worker's process ends. 0: any.
  double cpu_seconds = 0;
  // GPUs: by the compiler of the command, not by NVRTC, which now and then makes other code.
  bool as_compiled = false;
  // The host device: for a watched run (cupilot_host_watch.h).
  bool watched = false;
};
struct BuildReply {
  bool failed = false;  // the text does not compile: build_failed
  bool timed_out = false;
  std::string log;       // the compiler's, shortened
  std::string artifact;  // absolute path of the shared object or cubin
  bool cached = false;
  std::string target;  // "host-x86-64-v3", "compute_90,sm_90"
  std::string toolchain;
  double seconds = 0;
  double cpu_seconds = 0;  // processor time of NVRTC; 0: another compiler made it
  std::vector<std::pair<std::string, std::string>>
      text_hashes;  // qualified kernel, hash of its code
  // GPUs: of what else the image holds (constants, sizes of shared memory); empty: not known.
  std::string data_hash;
  // GPUs: qualified kernel, and a kind of loss of precision with an instruction of it ("f16
  // cvt.rn.f16.f32", worker/ptx_losses.h).
  std::vector<std::pair<std::string, std::string>> losses;
  // GPUs: what the code surely does not use (worker/ptx_lacks.h): "shared_memory",
  // "synchronisation".
  std::vector<std::string> lacks;
};

// ---- device workers: verify and measure ----

struct CandidateSet {
  records::Kernel kernel;
  records::Workload workload;
  records::Variant variant;
  std::string original_artifact;
  std::string candidate_artifact;  // holds original and variant
  std::string twin_artifact;       // empty: none, bitwise equality
  TwinReply twin;
  std::uint64_t seed = 1;
  std::string device;  // "host", "cuda:0"
  // The host device, the rest of a verification: the same two built for watched runs. Empty: there
  // are none, and why.
  std::string watched_original;
  std::string watched_candidate;
  std::string not_watched;
  std::vector<std::string> lacks;  // of the candidate's artifact, as BuildReply's
  std::string work_folder;         // scratch and cached results of the original, keyed by content
};

// op "verify"
struct VerifyRequest {
  CandidateSet set;
  // Which steps (worker/steps/step.h): "screening", at most 8 launches of the candidate a case;
  // "rest": what only finalists are worth; "all".
  std::string depth = "all";
  // Steps and checks that are left out, by name: for tests of single ones. The daemon names none.
  std::vector<std::string> left_out;
  // The recorded compile's program and folder: its toolkit's tools are used.
  std::string compiler, compile_folder;
  // What an earlier try of this request has shown (worker/passed_steps.h), or null.
  records::Json passed;
};
struct VerifyReply {
  bool passed = false;
  bool original_failed = false;  // workload illegal or original not reproducible: not a verdict
  std::string reason;
  std::string detail;
  std::vector<records::Check> checks;
  std::vector<records::CaseResult> cases;  // name, error, original_error
  std::string guard;                       // the published one
  // By step: {"launches": of the candidate's program, "seconds": with the original's runs,
  // "waited": of those, for turns on the device, where that took a millisecond or longer, "caught":
  // the check that found something, "original_us": the original's time (first step)}; all cases
  // together.
  records::Json steps = records::Json::object();
};

// op "measure"
struct MeasureRequest {
  CandidateSet set;
  double max_seconds = 2.0;
  bool confirm = false;  // a second, independent process after a first success
  double probe_limit =
      1.1;  // a candidate slower than this times the original after one probe stops
  // That probe alone, of a candidate that nothing is known of yet: nothing is said but how fast it
  // is, roughly, or that it does not run.
  bool probe = false;
  // Of a probe: what takes more than so many times the original's time is of no interest. 0: all
  // is.
  double promising = 0;
  // The pairs are of this variant and the candidate, and set.original_artifact is its build: of the
  // two which is faster, and nothing else, is asked. Both must run all cases.
  std::optional<records::Variant> rival;
};
struct MeasureReply {
  bool failed = false;  // reason: crashed, timed_out, unstable_timing, invalid_launch
  std::string reason;
  std::string detail;
  bool stopped_early = false;
  std::vector<records::CaseResult> cases;
  records::DeviceIdentity device;
  records::Resources resources;                     // the most of the candidate's kernels; GPUs
  records::Json metrics = records::Json::object();  // by case: how it was measured
};

// op "profile": what bounds original and candidate; GPUs.
struct ProfileRequest {
  CandidateSet set;
  std::vector<records::CaseResult> cases;  // as measured; a case's first entry counts
  // The recorded compile's program and folder: its toolkit's tools are used.
  std::string compiler, compile_folder;
};
struct ProfileReply {
  records::Json rooflines = records::Json::object();  // by case
};

// op "describe_device" {"device": "cuda:0"}: records::DeviceIdentity plus "driver" and "uuid";
// kUnavailable says why there is no such device.
// op "list_devices" {}: {"devices": [{"device": "cuda:0", and the same}], "reason": why there is no
// GPU}. Without the host.

records::Json ToJson(const ScanRequest&);
base::Result<ScanRequest> ParseScanRequest(const records::Json&);
records::Json ToJson(const ScanReply&);
base::Result<ScanReply> ParseScanReply(const records::Json&);
records::Json ToJson(const RewriteRequest&);
base::Result<RewriteRequest> ParseRewriteRequest(const records::Json&);
records::Json ToJson(const RewriteReply&);
base::Result<RewriteReply> ParseRewriteReply(const records::Json&);
records::Json ToJson(const ProposeRequest&);
base::Result<ProposeRequest> ParseProposeRequest(const records::Json&);
records::Json ToJson(const ProposeReply&);
base::Result<ProposeReply> ParseProposeReply(const records::Json&);
records::Json ToJson(const RetuneRequest&);
base::Result<RetuneRequest> ParseRetuneRequest(const records::Json&);
records::Json ToJson(const TwinRequest&);
base::Result<TwinRequest> ParseTwinRequest(const records::Json&);
records::Json ToJson(const TwinReply&);
base::Result<TwinReply> ParseTwinReply(const records::Json&);
records::Json ToJson(const CheckVariantRequest&);
base::Result<CheckVariantRequest> ParseCheckVariantRequest(const records::Json&);
records::Json ToJson(const CheckVariantReply&);
base::Result<CheckVariantReply> ParseCheckVariantReply(const records::Json&);
records::Json ToJson(const BuildRequest&);
base::Result<BuildRequest> ParseBuildRequest(const records::Json&);
records::Json ToJson(const BuildReply&);
base::Result<BuildReply> ParseBuildReply(const records::Json&);
records::Json ToJson(const CandidateSet&);
base::Result<CandidateSet> ParseCandidateSet(const records::Json&);
records::Json ToJson(const VerifyRequest&);
base::Result<VerifyRequest> ParseVerifyRequest(const records::Json&);
records::Json ToJson(const VerifyReply&);
base::Result<VerifyReply> ParseVerifyReply(const records::Json&);
records::Json ToJson(const MeasureRequest&);
base::Result<MeasureRequest> ParseMeasureRequest(const records::Json&);
records::Json ToJson(const MeasureReply&);
records::Json ToJson(const ProfileRequest&);
base::Result<ProfileRequest> ParseProfileRequest(const records::Json&);
records::Json ToJson(const ProfileReply&);
base::Result<ProfileReply> ParseProfileReply(const records::Json&);
base::Result<MeasureReply> ParseMeasureReply(const records::Json&);

}  // namespace cupilot::protocol
