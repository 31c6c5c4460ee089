#include <string>
#include <utility>

#include "base/file.h"
#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/once.h"
#include "records/lock.h"

namespace cupilot::client {
namespace {

using records::Json;

constexpr const char* kLockName = "cupilot.lock";

// The file that was named, or the nearest cupilot.lock at or above the current folder.
std::string FindLock(const std::string& named) {
  const std::string here = CurrentFolder();
  if (!named.empty()) return base::AbsolutePath(named, here);
  for (std::string folder = here;; folder.resize(folder.rfind('/'))) {
    std::string path = folder + "/" + kLockName;
    if (base::FileExists(path)) return path;
    if (folder.find('/') == std::string::npos) return here + "/" + kLockName;
  }
}

base::Result<records::Lock> ReadLock(const std::string& path) {
  const auto text = base::ReadFile(path);
  if (!text) return base::Fail(base::InvalidArgument(text.error().message));
  auto lock = records::ParseLock(*text);
  if (!lock) return base::Fail(base::InvalidArgument(path + ": " + lock.error().message));
  return lock;
}

std::string ShownName(const records::LockedKernel& entry) {
  return (entry.label.empty() ? entry.kernel : entry.label) + " for " + entry.target + " (" +
         entry.source + ")";
}

// An error that is about the entry: its original fails, its workload is illegal.
bool IsAboutEntry(const base::Error& error) {
  return error.code == base::ErrorCode::kInvalidArgument;
}

struct Tally {
  Json entries = Json::array();
  std::size_t fails = 0;
  std::size_t unknown = 0;
};

void Verify(const records::LockedKernel& entry, const Json& params, Output& output, Tally& tally) {
  const auto proof = RunOnce({{"verb", "verify"}, {"params", params}}, [&](const Json& event) {
    output.Progress(ShownName(entry) + ": " + TextOf(ObjectOf(event, "data"), "stage"));
  });
  output.EndProgress();
  std::string state = "holds";
  std::string reason;
  if (!proof) {
    reason = proof.error().message;
    state = IsAboutEntry(proof.error()) ? "fails" : "not checked";
  } else if (!FlagOf(*proof, "holds")) {
    reason = TextOf(*proof, "reason");
    state = "fails";
  }
  const Json evaluation = proof ? ObjectOf(*proof, "evaluation") : Json::object();
  tally.fails += state == "fails" ? 1 : 0;
  tally.unknown += state == "not checked" ? 1 : 0;
  tally.entries.push_back({{"kernel", entry.label.empty() ? entry.kernel : entry.label},
                           {"source", entry.source},
                           {"target", entry.target},
                           {"variant", entry.variant.id},
                           {"state", state},
                           {"reason", reason},
                           {"evaluation", evaluation.empty() ? Json() : evaluation}});
  output.Line(state + " " + ShownName(entry) + ": " +
              (reason.empty() ? SpeedupOf(evaluation, "speedup") : reason));
}

}  // namespace

int RunLockVerify(const Arguments& arguments, Output& output) {
  const std::string path = FindLock(arguments.output_file);
  const auto lock = ReadLock(path);
  if (!lock) return output.Fail(lock.error());
  Tally tally;
  for (const records::LockedKernel& entry : lock->kernels) {
    Json params = {{"entry", records::ToJson(entry)},
                   {"lock_folder", path.substr(0, path.rfind('/'))},
                   {"device", arguments.gpu},
                   {"seed", arguments.seed}};
    if (!arguments.build_folder.empty()) {
      params["build_folder"] = base::AbsolutePath(arguments.build_folder, CurrentFolder());
    }
    Verify(entry, params, output, tally);
  }
  output.Document({{"schema", "cupilot.lock_verified/1"},
                   {"file", path},
                   {"holds", tally.fails + tally.unknown == 0},
                   {"entries", tally.entries}});
  const std::size_t count = lock->kernels.size();
  output.Line(ShownPath(path) + ": " + std::to_string(count - tally.fails - tally.unknown) +
              " of " + std::to_string(count) + (count == 1 ? " entry holds" : " entries hold"));
  if (tally.fails > 0) return kNo;
  return tally.unknown > 0 ? kEnvironment : kDone;
}

}  // namespace cupilot::client
