#include "service/once.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/compiler_program.h"
#include "base/file.h"
#include "base/install_layout.h"
#include "base/processors.h"
#include "log/log.h"
#include "records/json.h"
#include "records/workload_fit.h"
#include "search/strategy.h"
#include "service/exchange_state.h"
#include "service/job_text.h"
#include "service/kernel_job_attempt.h"
#include "service/place.h"
#include "source/swap/selection_check.h"

namespace cupilot::service {
namespace {

using records::Json;

constexpr const char* kNoNvcc = "nvcc";
// A search on a GPU begins with some candidates, each made by another process beside the one that
// scans.
constexpr int kParsersAtOnce = 3;
// Processors that have work while it is scanned: the scan's, and the one that opens the driver.
constexpr int kBusyAtStart = 2;
// Of a command before it is known: what headers declare is the same for all.
constexpr const char* kAnyArchitecture = "sm_90";
// A minute is too short for what models find.
constexpr double kSecondsWithModels = 600;

// The toolkit's compiler; its plain name if it is nowhere.
std::string NvccOrName() {
  const std::string nvcc = base::FindNvcc();
  return nvcc.empty() ? kNoNvcc : nvcc;
}

// A file that no build has recorded is compiled as `nvcc -O3 -std=c++17 FILE` would, for this
// device ("host", "cuda:0") and its architecture.
records::CompileCommand CommandFor(const std::string& file, const std::string& device,
                                   const std::string& arch) {
  records::CompileCommand command;
  command.directory = std::filesystem::path(file).parent_path().string();
  command.source = file;
  command.object = file + ".o";
  const bool host = evaluate::DeviceKind(device) == "host";
  command.arguments = {host ? base::HostToolkitFolder() + "/bin/nvcc" : NvccOrName(), "-O3",
                       "-std=c++17"};
  if (!host) command.arguments.push_back("-arch=" + arch);
  command.arguments.insert(command.arguments.end(), {"-c", file});
  return command;
}

bool MayBeScanned(const records::CompileCommand& command) {
  return command.arguments[0] != kNoNvcc && base::FileExists(command.source);
}

// Whether what may be of use soon can be begun beside what is waited for.
bool ManyProcessors() { return base::UsableProcessors() > kBusyAtStart + kParsersAtOnce; }

}  // namespace

OnceRequest ReadOnceRequest(const std::string& line) {
  const auto json = records::ParseJson(line);
  if (!json || !json->is_object()) return {};
  const Json params = json->value("params", Json::object());
  return {records::TextAt(params, "provider"), records::TextAt(params, "folder")};
}

Json ErrorLine(const base::Error& error) {
  return {{"error", {{"code", std::string(base::Name(error.code))}, {"message", error.message}}}};
}

Once::Once(loop::Loop& loop, KernelJob::Collaborators collaborators, Writer write,
           OnceModels models)
    : loop_(loop), with_(collaborators), models_(std::move(models)), write_(std::move(write)) {}

void Once::Start(const std::string& request_line) {
  auto json = records::ParseJson(request_line);
  if (!json) return Finish(base::Fail(json.error()));
  verb_ = records::TextAt(*json, "verb");
  params_ = json->value("params", Json::object());
  if (verb_ == "verify") {
    if (!ReadEntry()) return;
  } else if (verb_ == "tune" || verb_ == "evaluate") {
    const std::string strategy = records::TextAt(params_, "strategy");
    const auto known = search::FindStrategy(strategy.empty() ? search::kNumberStrategy : strategy);
    if (!known) return Finish(base::Fail(known.error()));
    auto workload = records::ParseWorkload(params_.value("workload", Json()));
    if (!workload) return Finish(base::Fail(workload.error().In("workload")));
    workload_ = std::move(*workload);
  } else {
    return Finish(base::Fail(base::InvalidArgument("the verb must be tune, evaluate or verify")));
  }
  const std::string device = records::TextAt(params_, "device");
  place_.device = device.empty() ? "host" : device;
  if (verb_ == "tune") with_.evaluator.BeginDevice(device);
  if (SearchesOnGpu()) {
    const auto command =
        CommandFor(records::TextAt(params_, "file"), place_.device, kAnyArchitecture);
    if (ManyProcessors() && MayBeScanned(command)) {
      evaluate::BeginSource(with_.workers, command, place_.device);
    }
    evaluate::FindArchitecture(with_.workers, [this](base::Result<std::string> arch) {
      if (arch) ScanAhead(*arch);
    });
  }
  evaluate::DescribeDevice(
      with_.workers, place_.device,
      [this](base::Result<evaluate::DeviceDescription> reply) { OnDevice(std::move(reply)); });
}

bool Once::SearchesOnGpu() const {
  return verb_ == "tune" && evaluate::DeviceKind(place_.device) == "cuda";
}

// All that a scan needs of a GPU is its architecture, and the driver takes its time to say what the
// GPU is. If that is another architecture in the end, OnDevice scans anew.
void Once::ScanAhead(const std::string& arch) {
  if (described_) return;
  const auto command = CommandFor(records::TextAt(params_, "file"), place_.device, arch);
  // What is wrong OnDevice says.
  if (!MayBeScanned(command)) return;
  (void)Scan(command);
  // After the scan, which they wait for more.
  if (ManyProcessors()) {
    with_.evaluator.BeginBuilds(command, place_.device, arch);
  }
}

void Once::OnDevice(base::Result<evaluate::DeviceDescription> device) {
  if (!device) return Finish(base::Fail(device.error()));
  described_ = true;
  place_.identity = device->device;
  place_.driver = device->driver;
  command_ = CommandFor(records::TextAt(params_, "file"), place_.device, device->device.arch);
  if (command_.arguments[0] == kNoNvcc) {
    return Finish(base::Fail(base::Unavailable(
        "no CUDA toolkit was found (nvcc on the PATH, in CUDA_PATH, CUDA_HOME or /usr/local/cuda): "
        "nothing can be compiled for " +
        device->name + "; install one, or take --device host")));
  }
  if (verb_ == "verify") {
    if (auto runs = CheckArchitecture(locked_.entry, device->device.arch); !runs) {
      return Finish(base::Fail(runs.error()));
    }
    command_ = CommandOf(locked_, command_.arguments[0]);
    if (const std::string why = WhyItDoesNotFit(locked_, command_); !why.empty()) {
      return FinishProof(why);
    }
  }
  if (scanned_ == command_) {
    if (ahead_) OnScanned(std::move(*ahead_));
    return;
  }
  if (auto begun = Scan(command_); !begun) {
    Finish(base::Fail(base::InvalidArgument(begun.error().message)));
  }
}

base::Result<> Once::Scan(const records::CompileCommand& command) {
  protocol::ScanRequest scan;
  scan.command = command;
  TRY_ASSIGN(scan.source_text, base::ReadFile(command.source));
  // The workload comes from the request, so the kernel needs no tag.
  const std::string asked = records::TextAt(params_, "kernel");
  scan.kernels = {asked.substr(0, asked.find_first_of("<("))};
  scan.candidates_follow = SearchesOnGpu() && base::UsableProcessors() > kBusyAtStart;
  scanned_ = command;
  evaluate::Scan(with_.workers, scan, place_.device,
                 [this, command](base::Result<protocol::ScanReply> reply) {
                   // Of another architecture.
                   if (command != scanned_ || (described_ && command != command_)) return;
                   if (described_) return OnScanned(std::move(reply));
                   ahead_ = std::move(reply);
                 });
  if (SearchesOnGpu()) {
    evaluate::KeepUnits(with_.workers, scan, place_.device, kParsersAtOnce);
  }
  return {};
}

// Whether the workload is for this instantiation of a template, or does not say.
bool Once::IsMeant(const records::Kernel& kernel) const {
  return std::all_of(workload_.cases.begin(), workload_.cases.end(), [&](const records::Case& one) {
    return one.template_arguments.empty() || one.template_arguments == kernel.template_arguments;
  });
}

void Once::OnScanned(base::Result<protocol::ScanReply> reply) {
  if (!reply) return Finish(base::Fail(reply.error()));
  if (verb_ == "verify") return Verify(reply->kernels);
  const std::string name = records::TextAt(params_, "kernel");
  std::string candidates;
  std::size_t whole = 0;
  std::size_t count = 0;
  for (records::Kernel& kernel : reply->kernels) {
    if (!records::NamesKernel(name, kernel) || !IsMeant(kernel)) continue;
    ++count;
    // The whole name wins over those that only end like it.
    const bool exact = records::LabelOf(kernel) == name || kernel.name == name;
    if (exact || whole == 0) kernel_ = kernel;
    whole += exact ? 1 : 0;
    candidates += "\n  " + records::LabelOf(kernel) + " (" + kernel.file + ":" +
                  std::to_string(kernel.line) + ")";
  }
  if (whole > 1 || (whole == 0 && count > 1)) {
    return Finish(base::Fail(base::InvalidArgument("'" + name + "' is ambiguous:" + candidates)));
  }
  if (kernel_.name.empty()) {
    std::string message = command_.source + ": no kernel '" + name + "'";
    for (const std::string& warning : reply->warnings) message += "\n  " + warning;
    return Finish(base::Fail(base::InvalidArgument(message)));
  }
  if (!kernel_.declined.empty()) return Finish(base::Fail(base::InvalidArgument(kernel_.declined)));
  workload_.kernel = kernel_.name;
  if (auto fits = records::CheckWorkload(kernel_, workload_); !fits) {
    return Finish(base::Fail(OfWorkload(fits.error())));
  }
  if (verb_ == "evaluate") {
    Evaluate();
  } else {
    Tune();
  }
}

// False: the answer was given.
bool Once::ReadEntry() {
  auto place = ReadLockedPlace(params_);
  if (!place) {
    Finish(base::Fail(place.error()));
    return false;
  }
  locked_ = std::move(*place);
  workload_ = locked_.entry.workload;
  params_["kernel"] = locked_.entry.kernel;
  params_["file"] = source::ActualPath(locked_.entry.source, locked_.folders);
  params_["variant"] = records::ToJson(locked_.entry.variant);
  if (locked_.entry.target.starts_with("host-")) params_["device"] = "host";
  return true;
}

void Once::Verify(const std::vector<records::Kernel>& kernels) {
  for (const records::Kernel& kernel : kernels) {
    if (kernel.signature == locked_.entry.signature) kernel_ = kernel;
  }
  if (kernel_.name.empty()) {
    return FinishProof(locked_.entry.source + " has no such kernel");
  }
  if (const std::string why = WhyKernelDiffers(locked_.entry, kernel_); !why.empty()) {
    return FinishProof(why);
  }
  Evaluate();
}

void Once::FinishProof(const std::string& why_not, const Json& evaluation) {
  Finish(Json{{"schema", "cupilot.verified/1"},
              {"holds", why_not.empty()},
              {"reason", why_not},
              {"evaluation", evaluation}});
}

// With the file that the user can mend.
base::Error Once::OfWorkload(const base::Error& error) const {
  const std::string file = records::TextAt(params_, "workload_file");
  return file.empty() || error.code != base::ErrorCode::kInvalidArgument ? error : error.In(file);
}

void Once::Evaluate() {
  auto variant = records::ParseVariant(params_.value("variant", Json()));
  if (!variant) return Finish(base::Fail(variant.error().In("variant")));
  evaluate::EvaluateRequest request;
  request.kernel = kernel_;
  request.workload = workload_;
  request.variant = std::move(*variant);
  request.command = command_;
  request.device = place_.device;
  request.seed = params_.value("seed", std::uint64_t{1});
  request.profile = true;
  request.progress = [this](std::string_view stage) {
    write_({{"event", "stage"}, {"data", {{"stage", std::string(stage)}}}});
  };
  with_.evaluator.Evaluate(std::move(request), [this](base::Result<records::Evaluation> result) {
    if (!result) return Finish(base::Fail(OfWorkload(result.error())));
    result->workload = WorkloadHash(workload_);
    if (verb_ != "verify") return Finish(records::ToJson(*result));
    const auto why = WhyNotProven(locked_.entry, *result);
    if (!why) return Finish(base::Fail(why.error()));
    FinishProof(*why, records::ToJson(*result));
  });
}

void Once::Tune() {
  JobInput input;
  input.kernel = kernel_;
  input.workload = workload_;
  input.command = command_;
  if (!models_.exchange_folder.empty()) place_.toolchain = source::ToolchainIdentity(command_);
  input.place = place_;
  if (auto text = base::ReadFile(command_.source)) input.source_text = std::move(*text);
  input.seed = params_.value("seed", std::uint64_t{1});
  if (const std::string strategy = records::TextAt(params_, "strategy"); !strategy.empty()) {
    input.strategy = strategy;
  }
  // A budget in evaluations has no limit of time, nor has one in what is expected.
  const bool counted = params_.value("evaluations", std::int64_t{0}) > 0;
  input.until_gain = params_.value("until_gain", 0.0);
  const bool other_limit = counted || input.until_gain > 0;
  const bool asks = models_.models != nullptr;
  // So that models get their share of it.
  if (asks && counted) input.budget_evaluations = params_["evaluations"].get<std::int64_t>();
  input.wake = [this] { OnAnswer(); };
  input.budget_seconds =
      params_.value("seconds", other_limit ? std::numeric_limits<double>::infinity()
                               : asks      ? kSecondsWithModels
                                           : 60.0);
  if (auto allowed = AllowModels(input); !allowed) return Finish(base::Fail(allowed.error()));
  if (auto loaded = LoadState(); !loaded) return Finish(base::Fail(loaded.error()));
  job_ = std::make_unique<KernelJob>(with_, std::move(input), [this](const KernelJob& job) {
    if (job.stage() == "verdict") return OnVerdict(job);
    if (job.stage() == "probe") return OnProbe(job);
    write_({{"event", "stage"}, {"data", {{"stage", job.stage()}, {"title", job.title()}}}});
  });
  began_ = with_.clock.Now();
  StepAgain();
}

// Naming a folder, a program or a recording is the user's word for this run: what is sent there
// stays on this machine, or goes where the user carries it. For services it takes more: that they
// are allowed for the project, or --allow-provider.
base::Result<> Once::AllowModels(JobInput& input) {
  if (models_.models == nullptr) return {};
  Models& models = *models_.models;
  const std::string folder = std::filesystem::path(command_.source).parent_path().string();
  const std::string project = ModelProject(folder);
  const Json allowed = params_.value("allowed", Json::array());
  const std::vector<std::string> names = models.ProviderNames();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool said = !models_.services[i] || params_.value("allow_provider", false) ||
                      std::find(allowed.begin(), allowed.end(), names[i]) != allowed.end();
    if (!said) {
      return base::Fail(base::InvalidArgument(
          "nothing of " + folder + " may be sent to: " + names[i] +
          "; to allow it for this run: --allow-provider; for a project that the daemon knows, in "
          "its folder: cupilot models allow \"" +
          names[i] + "\""));
    }
    TRY(models.consent().Allow(project, names[i]));
  }
  input.models = JobModelsOf(models, {project, {{folder, "<project>"}}});
  return {};
}

// Evidence of an earlier run counts where its toolchain and device are these.
base::Result<> Once::LoadState() {
  if (models_.exchange_folder.empty() || models_.store == nullptr) return {};
  return LoadExchangeState(models_.exchange_folder, kernel_, *models_.store);
}

void Once::SaveState() {
  if (models_.exchange_folder.empty() || models_.store == nullptr) return;
  if (auto saved = SaveExchangeState(models_.exchange_folder, kernel_, *models_.store); !saved) {
    log::Error("how far this has come is not kept", {{"reason", saved.error()}});
  }
}

void Once::OnAnswer() {
  SaveState();
  if (!std::exchange(waiting_, false)) return;
  loop_.Post([this] { StepAgain(); });
}

Json Once::ModelsJson() const {
  if (job_->models() == nullptr) return nullptr;
  Json document = job_->models()->Document();
  document["exchange"] = models_.exchange_folder;
  return document;
}

std::string Once::WhyEnough() const {
  const std::int64_t limit = params_.value("evaluations", std::int64_t{0});
  if (limit > 0 && evaluations_ >= limit) return kEvaluationsUsedUp;
  const double seconds = std::chrono::duration<double>(with_.clock.Now() - began_).count();
  return seconds > job_->input().budget_seconds ? kTimeUsedUp : "";
}

void Once::StepAgain() {
  SaveState();
  if (job_->pending()) return FinishTune();
  if (job_->waiting()) {
    waiting_ = true;
    write_({{"event", "stage"}, {"data", {{"stage", "ask"}, {"title", "a language model"}}}});
    return;
  }
  const std::int64_t limit = params_.value("evaluations", std::int64_t{0});
  // Then only what was looked at is proven.
  const bool enough = !WhyEnough().empty();
  if (job_->finished() || (enough && !job_->unproven())) return FinishTune();
  const int most = enough ? 0
                   : limit > 0
                       ? static_cast<int>(std::min<std::int64_t>(limit - evaluations_, 1000))
                       : std::numeric_limits<int>::max();
  job_->Step([this](const base::Result<bool>&) { loop_.Post([this] { StepAgain(); }); }, most);
}

void Once::OnProbe(const KernelJob& job) {
  evaluations_ = job.evaluated();
  write_({{"event", "verdict"},
          {"data",
           {{"title", job.title()},
            {"evaluations", evaluations_},
            {"verdict", "looked at"},
            {"reason", ""},
            {"speedup", job.probed_speedup()}}}});
}

void Once::OnVerdict(const KernelJob& job) {
  evaluations_ = job.evaluated();
  write_({{"event", "verdict"},
          {"data",
           {{"title", job.title()},
            {"evaluations", evaluations_},
            {"verdict", job.last()->accepted ? "accepted" : "rejected"},
            {"reason", job.last()->reason},
            {"speedup", MeasuredSpeedup(*job.last()).value_or(0)}}}});
}

void Once::FinishTune() {
  if (!job_->failure().empty()) {
    return Finish(base::Fail(base::InvalidArgument(job_->failure())));
  }
  const auto best = with_.catalog.Best(kernel_.key, workload_, place_);
  Json result;
  result["schema"] = "cupilot.tune/1";
  result["kernel"] = records::LabelOf(kernel_);
  result["evaluations"] = evaluations_;
  result["expected"] = ExpectedJson(*job_);
  result["numbers"] = NumbersJson(*job_);
  result["ended"] = job_->ended().empty() ? WhyEnough() : job_->ended();
  result["models"] = ModelsJson();
  result["variant"] = best ? records::ToJson(best->variant) : Json();
  result["evaluation"] = best ? records::ToJson(best->evaluation) : Json();
  Finish(std::move(result));
}

void Once::Finish(base::Result<Json> result) {
  if (result) {
    write_({{"result", std::move(*result)}});
  } else {
    write_(ErrorLine(result.error()));
  }
  loop_.Stop();
}

}  // namespace cupilot::service
