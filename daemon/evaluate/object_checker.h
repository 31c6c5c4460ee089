// Whether evidence about our text of a kernel is evidence about the kernel in the user's object. On
// the loop thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "evaluate/evaluator.h"
#include "evaluate/known_baselines.h"
#include "evaluate/workers.h"

namespace cupilot::evaluate {

// The kernel as the object has it: a variant without a text of its own, whose entry is the kernel's
// mangled name in the object's image (source::EntryName).
records::Variant VariantOfObject(const records::Kernel& kernel, const std::string& entry);

// What is known once the codes were compared; nothing: the object's code has to be verified.
std::optional<ObjectCheck> JudgeComparison(const protocol::CompareObjectReply& compared);
// And once it was verified.
ObjectCheck JudgeVerified(const std::string& difference, const protocol::VerifyReply& verified);

// One comparison; lives as long as a callback of a worker holds it.
class ObjectChecker final : public std::enable_shared_from_this<ObjectChecker> {
 public:
  struct Around {  // outlives it
    Workers& workers;
    KnownBaselines& baselines;
    const BuildSettings& builds;
    std::string work_folder;
  };
  ObjectChecker(Around around, EvaluateRequest request, std::string object,
                base::Callback<ObjectCheck> done);

  void Start();

 private:
  void OnDevice(base::Result<DeviceDescription> device);
  void OnCompared(base::Result<protocol::CompareObjectReply> reply);
  void OnBaseline(base::Result<Baseline> baseline);
  void OnVerified(base::Result<protocol::VerifyReply> reply);

  const Around around_;
  const EvaluateRequest request_;
  const std::string object_;
  base::Callback<ObjectCheck> done_;
  protocol::CompareObjectReply compared_;
};

}  // namespace cupilot::evaluate
