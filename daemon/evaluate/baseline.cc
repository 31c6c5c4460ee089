#include "evaluate/baseline.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/hash.h"

namespace cupilot::evaluate {
namespace {

bool DeclaresTolerance(const records::Workload& workload) {
  return workload.tolerance && (workload.tolerance->relative || workload.tolerance->absolute);
}

// Steps: the device, the original's build, the twin, the twin's build.
class BaselineJob final : public std::enable_shared_from_this<BaselineJob> {
 public:
  BaselineJob(Workers& workers, const EvaluateRequest& request, const BuildSettings& settings,
              std::function<void(const Baseline& baseline)> on_original,
              base::Callback<Baseline> done)
      : workers_(workers),
        request_(request),
        settings_(settings),
        wants_twin_(!DemandsBitwise(request) && !DeclaresTolerance(request.workload)),
        on_original_(std::move(on_original)),
        done_(std::move(done)) {}

  void Start() {
    DescribeDevice(workers_, request_.device,
                   [self = shared_from_this()](base::Result<DeviceDescription> reply) {
                     self->OnDevice(std::move(reply));
                   });
  }

 private:
  void Fail(base::Error error) { done_(base::Fail(std::move(error))); }

  void OnDevice(base::Result<DeviceDescription> reply) {
    if (!reply) return Fail(reply.error().In("device '" + request_.device + "'"));
    baseline_.device = std::move(*reply);
    original_ =
        MakeBuildRequest(request_, baseline_.device, request_.kernel.closure_source, settings_);
    Build(workers_, original_, request_.device,
          [self = shared_from_this()](base::Result<protocol::BuildReply> r) {
            self->OnOriginal(std::move(r));
          });
  }

  void OnOriginal(base::Result<protocol::BuildReply> reply) {
    const records::Kernel& kernel = request_.kernel;
    const std::string what = "the original of '" + kernel.name + "' (" + kernel.file + ":" +
                             std::to_string(kernel.line) + ") does not build";
    if (!reply) {
      base::Error error = reply.error().In(what);
      // A build worker that dies of the original is about the input, not about us.
      if (error.code == base::ErrorCode::kToolFailed || error.code == base::ErrorCode::kTimeout) {
        error.code = base::ErrorCode::kInvalidArgument;
      }
      return Fail(std::move(error));
    }
    if (reply->failed || reply->timed_out) {
      return Fail(base::InvalidArgument(
          what + (reply->timed_out ? ": the compiler took too long" : ":\n" + reply->log)));
    }
    baseline_.original_artifact = reply->artifact;
    baseline_.original_hash = TextHash(*reply, {kernel.name});
    baseline_.original_losses = std::move(reply->losses);
    if (!wants_twin_) return Finish("not needed");
    baseline_.twin.declined = true;
    baseline_.twin.reason = "it is not there yet";
    on_original_(baseline_);
    Twin(workers_, protocol::TwinRequest{request_.kernel}, request_.device,
         [self = shared_from_this()](base::Result<protocol::TwinReply> r) {
           self->OnTwin(std::move(r));
         });
  }

  void OnTwin(base::Result<protocol::TwinReply> reply) {
    if (!reply) {
      if (Ours(reply.error())) return Fail(std::move(reply.error()));
      return Finish(reply.error().message);
    }
    baseline_.twin = std::move(*reply);
    if (baseline_.twin.declined) return done_(std::move(baseline_));
    protocol::BuildRequest request = original_;
    request.text = baseline_.twin.source;
    if (!baseline_.twin.device.empty()) {
      request.device = baseline_.twin.device;
      request.target.clear();
    }
    Build(workers_, request, request_.device,
          [self = shared_from_this()](base::Result<protocol::BuildReply> r) {
            self->OnTwinBuilt(std::move(r));
          });
  }

  void OnTwinBuilt(base::Result<protocol::BuildReply> reply) {
    if (!reply) {
      if (Ours(reply.error())) return Fail(std::move(reply.error()));
      return Finish("the twin does not build: " + reply.error().message);
    }
    if (reply->failed || reply->timed_out) {
      return Finish("the twin does not build: " + reply->log);
    }
    baseline_.twin_artifact = reply->artifact;
    done_(std::move(baseline_));
  }

  // Without a twin, for this reason.
  void Finish(std::string reason) {
    baseline_.twin = protocol::TwinReply{};
    baseline_.twin.declined = true;
    baseline_.twin.reason = std::move(reason);
    done_(std::move(baseline_));
  }

  // Errors that say nothing about the kernel.
  static bool Ours(const base::Error& error) {
    return error.code == base::ErrorCode::kUnavailable || error.code == base::ErrorCode::kCancelled;
  }

  Workers& workers_;
  const EvaluateRequest request_;
  const BuildSettings settings_;
  protocol::BuildRequest original_;
  const bool wants_twin_;
  Baseline baseline_;
  const std::function<void(const Baseline& baseline)> on_original_;
  base::Callback<Baseline> done_;
};

}  // namespace

std::string TextHash(const protocol::BuildReply& build, const std::vector<std::string>& kernels) {
  std::vector<std::string> found;
  for (const auto& [name, hash] : build.text_hashes) {
    if (std::find(kernels.begin(), kernels.end(), name) != kernels.end()) found.push_back(hash);
  }
  if (found.size() <= 1) return found.empty() ? std::string() : found.front();
  // As source::TextOfVariant: images have orders of their own.
  std::sort(found.begin(), found.end());
  base::Hasher hasher;
  for (const std::string& hash : found) hasher.Add(hash);
  return hasher.Hex();
}

bool DemandsBitwise(const EvaluateRequest& request) {
  return request.numerics == "bitwise" ||
         (request.workload.tolerance && request.workload.tolerance->bitwise);
}

std::string BaselineKey(const EvaluateRequest& request) {
  return base::Hasher()
      .Add(request.kernel.name)
      .Add(request.kernel.key)
      .Add(request.kernel.closure_source)
      .Add(records::CommandHash(request.command))
      .Add(records::EnvironmentHash(request.command))
      .Add(request.device)
      .Add(DemandsBitwise(request) ? "bitwise" : "close")
      .Add(DeclaresTolerance(request.workload) ? "declared" : "twin")
      .Hex();
}

protocol::BuildRequest MakeBuildRequest(const EvaluateRequest& request,
                                        const DeviceDescription& device, std::string text,
                                        const BuildSettings& settings) {
  protocol::BuildRequest build;
  build.device = request.device;
  // Said here, so that no build worker has to ask a GPU.
  if (DeviceKind(request.device) == "cuda") build.target = device.device.arch;
  build.text = std::move(text);
  build.command = request.command;
  build.cache_folder = settings.artifact_folder + "/" + device.device.arch;
  build.timeout_ms = settings.timeout_ms;
  return build;
}

void PrepareBaseline(Workers& workers, const EvaluateRequest& request,
                     const BuildSettings& settings,
                     std::function<void(const Baseline& baseline)> on_original,
                     base::Callback<Baseline> done) {
  std::make_shared<BaselineJob>(workers, request, settings, std::move(on_original), std::move(done))
      ->Start();
}

}  // namespace cupilot::evaluate
