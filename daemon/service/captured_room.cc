// Contents of captured memory are kept within a limit: which workloads go for want of room.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <tuple>
#include <utility>

#include "base/hash.h"
#include "cache/record.h"
#include "log/log.h"
#include "service/captured_workloads.h"

namespace cupilot::service {
namespace {

using workloads::Captured;

// A capture that is under way has written contents that nothing names yet; where room is short, as
// long as one may take to write them.
constexpr std::int64_t kUnderWayMs = 24LL * 3600 * 1000;
constexpr std::int64_t kUnderWayLeastMs = 3600LL * 1000;

std::string BytesText(std::uint64_t bytes) {
  const bool large = bytes >= std::uint64_t{1} << 30;
  char text[40];
  std::snprintf(text, sizeof text, large ? "%.3g GB" : "%.4g MB",
                static_cast<double>(bytes) / (large ? 0x1p30 : 0x1p20));
  return text;
}

std::string LimitText(std::uint64_t most_bytes) {
  return "captured_gigabytes of the settings allows " + BytesText(most_bytes);
}

std::string Sealed(const GoneWorkload& gone) {
  return cache::Seal({{"file", gone.file}, {"kernel", gone.kernel}, {"why", gone.why}});
}

// Where the record does not say when it was used, as older ones: when its contents were.
std::int64_t LastUse(const Captured& captured, const std::map<std::string, std::int64_t>& touched) {
  if (captured.used > 0) return captured.used;
  std::int64_t last = 0;
  for (const std::string& blob : workloads::BlobsOf(captured)) {
    if (const auto found = touched.find(blob); found != touched.end()) {
      last = std::max(last, found->second);
    }
  }
  return last;
}

}  // namespace

std::string CapturedWorkloads::GoneKeyOf(const std::string& file, const std::string& label) {
  return kGonePrefix + base::Hasher().Add(file).Add(label).Hex();
}

std::map<std::string, std::uint64_t> CapturedWorkloads::StoredBytes() const {
  std::map<std::string, std::uint64_t> bytes;
  for (const blobs::BlobFile& file : blobs_.List()) bytes[file.hash] = file.stored_bytes;
  return bytes;
}

std::string CapturedWorkloads::WhyNotKept(const Captured& captured,
                                          std::uint64_t most_bytes) const {
  const std::set<std::string> blobs = workloads::BlobsOf(captured);
  if (blobs.empty()) return {};
  const auto stored = StoredBytes();
  std::uint64_t needed = 0;
  for (const std::string& blob : blobs) {
    const auto found = stored.find(blob);
    if (found == stored.end()) {
      return "was not kept: its contents went meanwhile to make room; capture the program again";
    }
    needed += found->second;
  }
  if (needed <= most_bytes) return {};
  return "was not kept: it needs " + BytesText(needed) + " on disk, and " + LimitText(most_bytes);
}

const GoneWorkload* CapturedWorkloads::FindGone(const std::string& file,
                                                const std::string& label) const {
  const auto found = gone_.find(GoneKeyOf(file, label));
  return found == gone_.end() ? nullptr : &found->second;
}

base::Result<> CapturedWorkloads::SaveGone(const GoneWorkload& gone) {
  const std::string key = GoneKeyOf(gone.file, gone.kernel);
  TRY(store_.Apply({{cache::Table::kWorkloads, key, Sealed(gone)}}));
  gone_[key] = gone;
  return {};
}

void CapturedWorkloads::RemoveUnnamed(const std::set<std::string>& blobs) {
  std::set<std::string> named;
  for (const auto& [key, captured] : all_) named.merge(workloads::BlobsOf(captured));
  for (const std::string& blob : blobs) {
    if (!named.contains(blob)) blobs_.Remove(blob);
  }
}

std::vector<GoneWorkload> CapturedWorkloads::Evict(std::uint64_t most_bytes, std::int64_t now_ms) {
  std::map<std::string, int> names;  // records by content
  for (const auto& [key, captured] : all_) {
    for (const std::string& blob : workloads::BlobsOf(captured)) ++names[blob];
  }
  std::map<std::string, std::uint64_t> stored;
  std::map<std::string, std::int64_t> touched;
  std::uint64_t total = 0, with_unnamed = 0;
  for (const blobs::BlobFile& file : blobs_.List()) {
    stored[file.hash] = file.stored_bytes;
    touched[file.hash] = file.used * 1000;
    with_unnamed += file.stored_bytes;
    if (names.contains(file.hash)) total += file.stored_bytes;
  }
  std::set<std::string> named;
  for (const auto& [blob, count] : names) named.insert(blob);
  const std::int64_t pause = with_unnamed > most_bytes ? kUnderWayLeastMs : kUnderWayMs;
  (void)blobs_.Evict(named, std::numeric_limits<std::uint64_t>::max(), (now_ms - pause) / 1000);
  if (total <= most_bytes) return {};

  std::vector<std::tuple<std::int64_t, double, std::string>> order;
  for (const auto& [key, captured] : all_) {
    if (workloads::BlobsOf(captured).empty()) continue;
    order.emplace_back(LastUse(captured, touched), captured.Microseconds(), key);
  }
  std::sort(order.begin(), order.end());
  std::vector<GoneWorkload> dropped;
  for (const auto& [used, microseconds, key] : order) {
    if (total <= most_bytes) break;
    const Captured& captured = all_.at(key);
    GoneWorkload gone = {captured.file, captured.kernel,
                         "was dropped to make room: what was used longest ago goes first, and " +
                             LimitText(most_bytes) + "; capture the program again"};
    const std::string gone_key = GoneKeyOf(gone.file, gone.kernel);
    const auto written = store_.Apply({{cache::Table::kWorkloads, key, std::nullopt},
                                       {cache::Table::kWorkloads, gone_key, Sealed(gone)}});
    if (!written) {
      log::Error("a captured workload cannot be dropped", {{"reason", written.error()}});
      continue;
    }
    for (const std::string& blob : workloads::BlobsOf(captured)) {
      if (--names[blob] > 0 || !blobs_.Remove(blob)) continue;
      total -= std::min(total, stored[blob]);
    }
    gone_[gone_key] = gone;
    all_.erase(key);
    dropped.push_back(std::move(gone));
  }
  return dropped;
}

}  // namespace cupilot::service
