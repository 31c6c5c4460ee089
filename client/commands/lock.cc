#include <cstdio>
#include <set>
#include <string>
#include <utility>

#include "base/file.h"
#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/commands/lock_changes.h"
#include "client/connection.h"

namespace cupilot::client {
namespace {

using records::Json;

std::string FolderOfLock(const std::string& path) { return path.substr(0, path.rfind('/')); }

const char* WordFor(LockChange::Kind kind) {
  switch (kind) {
    case LockChange::Kind::kAdded:
      return "added";
    case LockChange::Kind::kChanged:
      return "changed";
    case LockChange::Kind::kRemoved:
      return "removed";
    case LockChange::Kind::kKept:
      return "kept";
  }
  return "";
}

// The text that the daemon wrote for us.
base::Result<records::Lock> TakeDocument(const std::string& path) {
  TRY_ASSIGN(const std::string text, TakeReplyFile(path));
  return records::ParseLock(text);
}

// One that cannot be read is as good as none: it is replaced by one that can.
records::Lock ReadPresent(const std::string& path, Output& output) {
  const auto text = base::ReadFile(path);
  if (!text) return {};
  auto lock = records::ParseLock(*text);
  if (lock) return std::move(*lock);
  output.Warning(path + " is replaced as a whole: " + lock.error().message);
  return {};
}

Json ChangesJson(const LockChanges& changes) {
  Json rows = Json::array();
  for (const LockChange& change : changes.changes) {
    rows.push_back({{"change", WordFor(change.kind)},
                    {"kernel", change.kernel},
                    {"target", change.target},
                    {"text", change.text}});
  }
  return rows;
}

struct LockRun {
  Json files = Json::array();
  std::size_t entries = 0;
  bool differs = false;
};

base::Result<> TakeLock(const Json& row, bool write, Output& output, LockRun& run) {
  const std::string path = TextOf(row, "path");
  TRY_ASSIGN(records::Lock now, TakeDocument(TextOf(row, "document")));
  if (now.kernels.empty()) {
    output.Line("nothing is published for " + ShownPath(path) + ": it stays as it is");
    return {};
  }
  std::set<std::string> targets;
  for (const Json& target : ListOf(row, "targets")) {
    if (target.is_string()) targets.insert(target.get<std::string>());
  }
  const LockChanges changes =
      CompareLocks(ReadPresent(path, output), std::move(now), targets, FolderOfLock(path));
  const std::string text = records::LockText(changes.lock);
  const bool differs = base::ReadFile(path).value_or("") != text;
  if (write) TRY(base::WriteFileIfDifferent(path, text));
  run.entries += changes.lock.kernels.size();
  run.differs = run.differs || differs;
  run.files.push_back({{"path", path},
                       {"entries", changes.lock.kernels.size()},
                       {"same", changes.same},
                       {"written", write && differs},
                       {"changes", ChangesJson(changes)}});
  output.Line(ShownPath(path) + ": " + std::to_string(changes.lock.kernels.size()) +
              (changes.lock.kernels.size() == 1 ? " entry" : " entries") +
              (!differs ? ", as it was"
               : write  ? ", written"
                        : ", not written"));
  for (const LockChange& change : changes.changes) {
    output.Line("  " + std::string(WordFor(change.kind)) + " " + change.kernel + " for " +
                change.target + ": " + change.text);
  }
  return {};
}

}  // namespace

int RunLock(const Arguments& arguments, Output& output) {
  if (arguments.verify) return RunLockVerify(arguments, output);
  const std::string folder = CurrentFolder();
  Json params = {{"folder", folder}};
  if (!arguments.output_file.empty()) {
    params["output"] = base::AbsolutePath(arguments.output_file, folder);
  }
  const auto reply = AskDaemon(output, "lock", params);
  if (!reply) return output.Fail(reply.error());
  LockRun run;
  for (const Json& row : ListOf(*reply, "locks")) {
    if (auto taken = TakeLock(row, !arguments.diff, output, run); !taken) {
      return output.Fail(taken.error());
    }
  }
  const Json problems = ListOf(*reply, "problems");
  for (const Json& problem : problems) {
    if (problem.is_string()) output.Line("not pinned: " + problem.get<std::string>());
  }
  output.Document(
      {{"schema", "cupilot.lock_changes/1"}, {"files", run.files}, {"problems", problems}});
  if (run.entries == 0) {
    output.Line(
        "nothing is published in this project yet: `cupilot list` says what is being "
        "tuned, `cupilot apply` publishes what APPLY manual holds back");
    return kNo;
  }
  return arguments.diff && run.differs ? kNo : kDone;
}

}  // namespace cupilot::client
