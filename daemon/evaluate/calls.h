// The worker's operations with their types; each is one Workers::Call. On the loop thread.
#pragma once

#include <string>
#include <vector>

#include "base/callback.h"
#include "evaluate/workers.h"
#include "protocol/compare_object.h"
#include "protocol/replay.h"
#include "protocol/worker_messages.h"

namespace cupilot::evaluate {

// Source workers. `device` is the one for which it is done: how many work at once depends on it.
void Scan(Workers& workers, const protocol::ScanRequest& request, const std::string& device,
          base::Callback<protocol::ScanReply> done);
// A process that may read what such a command names and has begun to read what closures begin with,
// for the next scan, or none if none is free; nobody waits for it.
void BeginSource(Workers& workers, const records::CompileCommand& command,
                 const std::string& device);
// So many processes that have opened their compiler, or as many as are free, for who builds by such
// requests soon; nobody waits for it.
void BeginBuilds(Workers& workers, const protocol::BuildRequest& request, const std::string& device,
                 int processes);
// So many processes that have parsed the source, or as many as are free, for who makes candidates
// of it soon; nobody waits for it.
void KeepUnits(Workers& workers, const protocol::ScanRequest& request, const std::string& device,
               int processes);
void Rewrite(Workers& workers, const protocol::RewriteRequest& request, const std::string& device,
             base::Callback<protocol::RewriteReply> done);
void Propose(Workers& workers, const protocol::ProposeRequest& request, const std::string& device,
             base::Callback<protocol::ProposeReply> done);
void Retune(Workers& workers, const protocol::RetuneRequest& request, const std::string& device,
            base::Callback<protocol::RewriteReply> done);
void Twin(Workers& workers, const protocol::TwinRequest& request, const std::string& device,
          base::Callback<protocol::TwinReply> done);
void CheckVariant(Workers& workers, const protocol::CheckVariantRequest& request,
                  const std::string& device, base::Callback<protocol::CheckVariantReply> done);

// Build workers; `device`: what is tuned (its twins and watched builds may be for the host device).
// The limit is the request's timeout and a little, since the worker kills its compiler itself.
void Build(Workers& workers, const protocol::BuildRequest& request, const std::string& device,
           base::Callback<protocol::BuildReply> done);

// Likewise.
void CompareObject(Workers& workers, const protocol::CompareObjectRequest& request,
                   const std::string& device, base::Callback<protocol::CompareObjectReply> done);

// Device workers; the request's set names the device. On the host Measure is exclusive.
// `lane`, `passing`: as those of WorkerCall.
void Verify(Workers& workers, const protocol::VerifyRequest& request, int lane,
            base::Callback<protocol::VerifyReply> done);
void Measure(Workers& workers, const protocol::MeasureRequest& request, int lane,
             base::Callback<protocol::MeasureReply> done);
void Profile(Workers& workers, const protocol::ProfileRequest& request, int lane, bool passing,
             base::Callback<protocol::ProfileReply> done);
// Where a call for several cases fails, each gets one of its own: what fails alone is in the reply
// as not replayed. kUnavailable and kCancelled are errors: they say nothing of the cases.
void Replay(Workers& workers, const protocol::ReplayRequest& request, int lane,
            base::Callback<protocol::ReplayReply> done);

// Nobody waits for them: what they fail at, the first measurement does, too.
void BeginDevice(Workers& workers, const std::string& device, const std::string& artifact_folder);
void PrepareDevice(Workers& workers, const protocol::CandidateSet& set);

struct DeviceDescription {
  std::string name;  // "host", "cuda:0"
  records::DeviceIdentity device;
  std::string driver;
  std::string uuid;
};
// kUnavailable says why there is no such device.
void DescribeDevice(Workers& workers, const std::string& device,
                    base::Callback<DeviceDescription> done);

// "sm_90", where all GPUs here have the same: known sooner than what DescribeDevice says. An error
// where they have not, or nobody tells.
void FindArchitecture(Workers& workers, base::Callback<std::string> done);

struct GpuList {
  std::vector<DeviceDescription> gpus;
  std::string reason;  // why there is none
};
void ListGpus(Workers& workers, base::Callback<GpuList> done);

// "host" or "cuda": what techniques look at.
std::string DeviceKind(const std::string& device);

}  // namespace cupilot::evaluate
