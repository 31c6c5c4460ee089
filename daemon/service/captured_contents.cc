// Captured contents go with the last record that names them.
#include <algorithm>

#include "service/captured_workloads.h"

namespace cupilot::service {

void CapturedWorkloads::NoteWritten(const std::set<std::string>& blobs) {
  if (blobs.empty()) return;
  for (const blobs::BlobFile& file : blobs_.List()) {
    if (blobs.contains(file.hash)) written_[file.hash] = std::max(written_[file.hash], file.used);
  }
}

void CapturedWorkloads::NoteNew(const workloads::Captured& captured) {
  std::set<std::string> fresh = workloads::BlobsOf(captured);
  std::erase_if(fresh, [this](const std::string& blob) { return written_.contains(blob); });
  NoteWritten(fresh);
}

void CapturedWorkloads::RemoveReleased(const std::set<std::string>& blobs) {
  if (blobs.empty()) return;
  std::set<std::string> unneeded;
  for (const blobs::BlobFile& file : blobs_.List()) {
    if (!blobs.contains(file.hash)) continue;
    const auto known = written_.find(file.hash);
    if (known != written_.end() && file.used <= known->second) unneeded.insert(file.hash);
  }
  RemoveUnnamed(unneeded);
  for (const std::string& blob : unneeded) {
    if (!blobs_.Has(blob)) written_.erase(blob);
  }
}

std::set<std::string> CapturedWorkloads::ContentsOf(const std::set<std::string>& keys) const {
  std::set<std::string> blobs;
  for (const std::string& key : keys) {
    const auto found = all_.find(key);
    if (found != all_.end()) blobs.merge(workloads::BlobsOf(found->second));
  }
  return blobs;
}

}  // namespace cupilot::service
