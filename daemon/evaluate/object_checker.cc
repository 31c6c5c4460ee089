#include "evaluate/object_checker.h"

#include <utility>

#include "evaluate/calls.h"

namespace cupilot::evaluate {
records::Variant VariantOfObject(const records::Kernel& kernel, const std::string& entry) {
  records::Variant variant;
  variant.kernel = kernel.name;
  variant.entry = entry;
  return variant;
}

std::optional<ObjectCheck> JudgeComparison(const protocol::CompareObjectReply& compared) {
  ObjectCheck check;
  if (!compared.not_compared.empty()) {
    check.declined =
        "the object's own code of the kernel cannot be compared with the code that is "
        "tuned: " +
        compared.not_compared;
    return check;
  }
  if (compared.difference.empty()) return check;
  check.difference = compared.difference;
  if (!compared.image.empty()) return std::nullopt;
  check.declined = "the object's kernel " + compared.difference +
                   ", and cannot be verified: " + compared.not_loadable;
  return check;
}

ObjectCheck JudgeVerified(const std::string& difference, const protocol::VerifyReply& verified) {
  ObjectCheck check;
  check.difference = difference;
  if (verified.passed) return check;
  check.declined = "the object's kernel " + difference + ", and fails where a variant would (" +
                   verified.reason + "): " + verified.detail;
  return check;
}

ObjectChecker::ObjectChecker(Around around, EvaluateRequest request, std::string object,
                             base::Callback<ObjectCheck> done)
    : around_(std::move(around)),
      request_(std::move(request)),
      object_(std::move(object)),
      done_(std::move(done)) {}

void ObjectChecker::Start() {
  DescribeDevice(around_.workers, request_.device,
                 [self = shared_from_this()](base::Result<DeviceDescription> device) {
                   self->OnDevice(std::move(device));
                 });
}

void ObjectChecker::OnDevice(base::Result<DeviceDescription> device) {
  if (!device) return done_(base::Fail(std::move(device.error())));
  const records::Kernel& kernel = request_.kernel;
  protocol::CompareObjectRequest compare;
  compare.original = MakeBuildRequest(request_, *device, kernel.closure_source, around_.builds);
  compare.original.as_compiled = true;
  compare.object = object_;
  compare.kernel = kernel.name;
  compare.signature = kernel.signature;
  compare.instance = kernel.instance;
  CompareObject(around_.workers, compare, request_.device,
                [self = shared_from_this()](base::Result<protocol::CompareObjectReply> reply) {
                  self->OnCompared(std::move(reply));
                });
}

void ObjectChecker::OnCompared(base::Result<protocol::CompareObjectReply> reply) {
  if (!reply) return done_(base::Fail(std::move(reply.error())));
  compared_ = std::move(*reply);
  if (auto judged = JudgeComparison(compared_)) return done_(*std::move(judged));
  around_.baselines.Find(request_, KnownBaselines::Need::kAll,
                         [self = shared_from_this()](base::Result<Baseline> baseline) {
                           self->OnBaseline(std::move(baseline));
                         });
}

void ObjectChecker::OnBaseline(base::Result<Baseline> baseline) {
  if (!baseline) return done_(base::Fail(std::move(baseline.error())));
  protocol::VerifyRequest verify;
  verify.set.kernel = request_.kernel;
  verify.set.workload = request_.workload;
  verify.set.variant = VariantOfObject(request_.kernel, compared_.entry);
  verify.set.original_artifact = baseline->original_artifact;
  verify.set.candidate_artifact = compared_.image;
  verify.set.twin = baseline->twin;
  verify.set.twin_artifact = baseline->twin_artifact;
  verify.set.seed = request_.seed;
  verify.set.device = request_.device;
  verify.set.not_watched = "it is the object's own code, of which there is no text";
  verify.set.work_folder = around_.work_folder + "/" + baseline->device.device.arch;
  if (DemandsBitwise(request_)) {
    if (!verify.set.workload.tolerance) verify.set.workload.tolerance.emplace();
    verify.set.workload.tolerance->bitwise = true;
  }
  verify.depth = "all";
  if (!request_.command.arguments.empty()) {
    verify.compiler = request_.command.arguments.front();
    verify.compile_folder = request_.command.directory;
  }
  Verify(around_.workers, verify, true,
         [self = shared_from_this()](base::Result<protocol::VerifyReply> reply) {
           self->OnVerified(std::move(reply));
         });
}

void ObjectChecker::OnVerified(base::Result<protocol::VerifyReply> reply) {
  using base::ErrorCode;
  if (!reply && (reply.error().code == ErrorCode::kUnavailable ||
                 reply.error().code == ErrorCode::kCancelled)) {
    return done_(base::Fail(std::move(reply.error())));
  }
  if (!reply) {
    ObjectCheck check;
    check.difference = compared_.difference;
    check.declined = "the object's kernel " + compared_.difference +
                     ", and cannot be run: " + reply.error().message;
    return done_(std::move(check));
  }
  if (reply->original_failed) {
    return done_(
        base::Fail(base::InvalidArgument("the original of '" + request_.kernel.name +
                                         "' cannot be judged on this workload: " + reply->detail)));
  }
  done_(JudgeVerified(compared_.difference, *reply));
}

}  // namespace cupilot::evaluate
