#include "client/recording_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/install_layout.h"
#include "base/paths.h"

namespace cupilot::client {

base::Result<RecordingFolder> RecordingFolder::Make() {
  TRY_ASSIGN(const base::UserFolders folders, base::FindUserFolders());
  TRY(base::MakePrivateFolder(folders.cache));
  workloads::RemoveAbandonedRecordings(folders.cache);
  TRY_ASSIGN(workloads::HeldFolder held, workloads::HeldFolder::Make(folders.cache));
  return RecordingFolder(std::move(held));
}

RecordingFolder::~RecordingFolder() {
  if (!path().empty()) (void)base::RemoveTree(path());
}

std::vector<std::string> RecordingFolder::Recordings() const {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path(), error)) {
    if (entry.path().extension() == ".capture") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

base::Result<std::map<std::string, std::string>> RecordingFolder::Follow(capture::Plan plan) const {
  plan.folder = path();
  const std::string file = path() + "/plan";
  TRY(base::WriteFileAtomically(file, capture::PrintPlan(plan)));
  std::map<std::string, std::string> environment = {{capture::kPlanVariable, file}};
  const std::string injected = base::LibexecFolder() + "/libcupilot_capture.so";
  if (base::FileExists(injected)) environment["CUDA_INJECTION64_PATH"] = injected;
  return environment;
}

}  // namespace cupilot::client
