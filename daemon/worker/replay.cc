#include "worker/replay.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "blobs/blob_store.h"
#include "device/describe.h"
#include "records/element_values.h"
#include "worker/case_inputs.h"
#include "worker/case_plan.h"
#include "worker/checks/check.h"
#include "worker/lease.h"
#include "worker/program.h"

namespace cupilot::worker {
namespace {

constexpr std::chrono::milliseconds kRunLimit{60000};

// So many units in the last place of a region's greatest number are still rounding: of sums of
// thousands of terms in another order, or with other products fused.
constexpr double kMostUnits = 4096;
constexpr double kMostRounding = 0.01;  // of that number, for half precision

std::string Percent(std::size_t part, std::size_t whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %%",
                100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

// What an output holds, and what it should.
struct Contents {
  const Region& region;
  const std::byte* expected;
  const std::byte* found;

  std::size_t bytes() const { return static_cast<std::size_t>(region.bytes()); }
  std::size_t size() const { return static_cast<std::size_t>(region.type.size()); }
  bool DifferAt(std::size_t element) const {
    return std::memcmp(expected + element * size(), found + element * size(), size()) != 0;
  }
};

bool AreEqual(const Contents& contents) {
  if (std::memcmp(contents.expected, contents.found, contents.bytes()) == 0) return true;
  return contents.region.order_free && SortedElements(contents.region, contents.expected, {}) ==
                                           SortedElements(contents.region, contents.found, {});
}

bool DifferByRounding(const Contents& contents) {
  const device::ElementType& type = contents.region.type;
  if (!type.floating()) return false;
  double greatest = 0, difference = 0;
  const std::int64_t count = contents.region.count * type.lanes;
  for (std::int64_t i = 0; i < count; ++i) {
    const double a = device::ReadNumber(contents.expected, i, type);
    const double b = device::ReadNumber(contents.found, i, type);
    if (std::isfinite(a) != std::isfinite(b) || std::isnan(a) != std::isnan(b)) return false;
    if (!std::isfinite(a)) {
      if (!std::isnan(a) && a != b) return false;
      continue;
    }
    greatest = std::max(greatest, std::fabs(a));
    difference = std::max(difference, std::fabs(a - b));
  }
  return difference <= greatest * std::min(kMostRounding, kMostUnits * device::Roundoff(type));
}

// "'out'[5]: 1.5 instead of 1.25, 12 of 100 elements (12 %)"
std::string Describe(const Contents& contents) {
  std::size_t count = 0, first = 0;
  const std::size_t elements = contents.bytes() / contents.size();
  for (std::size_t i = 0; i < elements; ++i) {
    if (!contents.DifferAt(i)) continue;
    if (count++ == 0) first = i;
  }
  const auto shown = [&](const std::byte* data) {
    return device::ShowNumber(data, static_cast<std::int64_t>(first) * contents.region.type.lanes,
                              contents.region.type);
  };
  return Where(contents.region, first) + ": " +
         records::InsteadOf(shown(contents.found), shown(contents.expected)) + ", " +
         std::to_string(count) + " of " + std::to_string(elements) + " elements (" +
         Percent(count, elements) + ")";
}

class CaseReplay {
 public:
  CaseReplay(const protocol::ReplayRequest& request, const records::Case& workload)
      : request_(request), workload_(workload) {}

  base::Result<protocol::ReplayedCase> Run(const device::Properties& device) {
    TRY_ASSIGN(plan_, PlanCase(request_.set.kernel, workload_, device, nullptr));
    TRY_ASSIGN(inputs_, FindInputs(request_.set, plan_, nullptr));
    TRY(ReadExpected());
    TRY_ASSIGN(Lease lease, Lease::Take(request_.set.device, Role::kOriginal,
                                        static_cast<std::size_t>(plan_.layout.bytes),
                                        {request_.set.original_artifact}));
    program_ = ToJson(OriginalProgram(plan_, request_.set.kernel.name), plan_.layout, 0);
    reply_.name = workload_.name;
    reply_.wanted = request_.times;
    reply_.seconds = request_.max_seconds;
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(request_.max_seconds);
    for (std::int64_t run = 0; run < request_.times; ++run) {
      if (run >= 2 && Clock::now() >= end) break;
      TRY_ASSIGN(const bool same, RunOnce(lease, run));
      if (!same) break;
      ++reply_.times;
    }
    return std::move(reply_);
  }

 private:
  // By region; empty: not written. What the launch left in the program.
  base::Result<> ReadExpected() {
    const auto after = request_.after.find(workload_.name);
    for (std::size_t r = 0; r < plan_.layout.regions.size(); ++r) {
      const Region& region = plan_.layout.regions[r];
      expected_.emplace_back();
      // What a launch leaves of addresses is not recorded: it says nothing elsewhere.
      if (!region.output || !region.entries.empty()) continue;
      expected_[r] = inputs_->regions[r];
      if (after == request_.after.end()) continue;
      const auto blob = after->second.find(region.name);
      if (blob == after->second.end()) continue;
      TRY_ASSIGN(const std::string bytes,
                 blobs::ReadFillFile(std::string(blobs::kBlobScheme) + blob->second));
      if (bytes.size() != static_cast<std::size_t>(region.bytes())) {
        return base::Fail(base::InvalidArgument("what the launch left in '" + region.name +
                                                "' has another size than what it began with"));
      }
      const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
      expected_[r].assign(data, data + bytes.size());
    }
    return {};
  }

  // Whether its results are what is expected; if not, the reply says why.
  base::Result<bool> RunOnce(const Lease& lease, std::int64_t run) {
    const Before before =
        run % 2 == 0 ? Before{kPoison, kRedByte} : Before{kOtherPoison, kOtherRedByte};
    PrepareArena(plan_.layout, *inputs_, before, lease.memory());
    const auto ran = lease.Run(0, program_, kRunLimit);
    if (!ran && ran.error().code == base::ErrorCode::kUnavailable) return base::Fail(ran.error());
    if (!ran) return Differs("the original fails on it: " + ran.error().message, false);
    bool adopts = false;
    for (std::size_t r = 0; r < plan_.layout.regions.size(); ++r) {
      const Region& region = plan_.layout.regions[r];
      if (!region.output || expected_[r].empty()) continue;
      const Contents contents{region, expected_[r].data(),
                              lease.memory().data() + static_cast<std::size_t>(region.offset)};
      if (AreEqual(contents)) continue;
      const bool rounding = DifferByRounding(contents);
      const std::string what =
          run == 0 ? "the original gives other bits than it did in the program"
                   : "run " + std::to_string(run + 1) + " gives other bits than those before it";
      Differs(what + (rounding ? ", by rounding: " : ": ") + Describe(contents), rounding);
      // Of another compiler's code it is still asked whether it repeats itself.
      if (!(run == 0 && rounding)) return false;
      adopts = true;
    }
    if (adopts) Adopt(lease.memory());
    return true;
  }

  void Adopt(std::span<const std::byte> memory) {
    for (std::size_t r = 0; r < expected_.size(); ++r) {
      if (expected_[r].empty()) continue;
      const std::byte* data =
          memory.data() + static_cast<std::size_t>(plan_.layout.regions[r].offset);
      expected_[r].assign(data, data + expected_[r].size());
    }
  }

  // What is worse than rounding is said in its place.
  bool Differs(const std::string& reason, bool rounding) {
    if (reply_.reason.empty() || (reply_.rounding && !rounding)) {
      reply_.reason = reason;
      reply_.rounding = rounding;
    }
    return false;
  }

  const protocol::ReplayRequest& request_;
  const records::Case& workload_;
  CasePlan plan_;
  std::shared_ptr<const CaseInputs> inputs_;
  records::Json program_;
  std::vector<std::vector<std::byte>> expected_;
  protocol::ReplayedCase reply_;
};

}  // namespace

base::Result<protocol::ReplayReply> Replay(const protocol::ReplayRequest& request) {
  TRY_ASSIGN(const device::Properties device, device::DescribeDevice(request.set.device));
  protocol::ReplayReply reply;
  for (const records::Case& workload : request.set.workload.cases) {
    auto replayed = CaseReplay(request, workload).Run(device);
    if (!replayed && replayed.error().code == base::ErrorCode::kUnavailable) {
      return base::Fail(replayed.error().In("case '" + workload.name + "'"));
    }
    reply.cases.push_back(replayed ? std::move(*replayed)
                                   : protocol::NotReplayed(workload.name, replayed.error()));
  }
  return reply;
}

}  // namespace cupilot::worker
