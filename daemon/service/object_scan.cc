#include "service/object_scan.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "service/place.h"
#include "source/swap/selection_check.h"

namespace cupilot::service {
namespace {

// Times of files are coarser than the clock.
constexpr std::int64_t kCoarseNs = 10'000'000;

struct Span {
  std::int64_t begin = 0;  // wall time
  std::int64_t end = 0;
};

// The worker reads headers itself: one that was written meanwhile may not be what it saw.
bool WasWritten(const records::SelectedFile& file, const Span& meanwhile) {
  return file.mtime_ns >= meanwhile.begin - kCoarseNs && file.mtime_ns <= meanwhile.end;
}

base::Result<ObjectScan> Finish(ObjectScan scan, const protocol::ScanReply& reply,
                                const Span& meanwhile) {
  std::vector<std::string> paths = reply.files;
  std::erase(paths, scan.object.command.source);
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  TRY_ASSIGN(const records::SelectedFile source, source::RecordFile(scan.object.command.source));
  if (source.hash != base::HashHex(scan.source_text)) {
    return base::Fail(base::Cancelled("the source changed while it was scanned"));
  }
  scan.files.push_back(source);
  for (const std::string& path : paths) {
    TRY_ASSIGN(records::SelectedFile file, source::RecordFile(path));
    if (WasWritten(file, meanwhile)) {
      return base::Fail(base::Cancelled(path + " changed while it was scanned"));
    }
    scan.files.push_back(std::move(file));
  }
  scan.kernels = reply.kernels;
  scan.warnings = reply.warnings;
  scan.untagged = reply.untagged_kernels;
  scan.compiled = reply.compiled;
  scan.seconds = reply.seconds;
  return scan;
}

}  // namespace

void ScanObject(evaluate::Workers& workers, const base::Clock& clock, const Object& object,
                const std::string& numerics, base::Callback<ObjectScan> done) {
  ObjectScan scan;
  scan.object = object;
  scan.command_hash = records::CommandHash(object.command);
  scan.toolchain = source::ToolchainIdentity(object.command);
  scan.device_kind = DeviceKindOf(object.command);
  scan.numerics = numerics;
  protocol::ScanRequest request;
  request.command = object.command;
  request.numerics = numerics;
  if (auto text = base::ReadFile(object.command.source)) {
    scan.source_text = std::move(*text);
  }
  request.source_text = scan.source_text;
  evaluate::Scan(workers, request, "host",
                 [scan = std::move(scan), &clock, begin = clock.WallTime().count(),
                  done = std::move(done)](base::Result<protocol::ScanReply> reply) mutable {
                   if (!reply) return done(base::Fail(reply.error()));
                   done(Finish(std::move(scan), *reply, {begin, clock.WallTime().count()}));
                 });
}

bool IsOutdated(const ObjectScan& scan, const Object& now) {
  if (records::CommandHash(now.command) != scan.command_hash ||
      records::EnvironmentHash(now.command) != records::EnvironmentHash(scan.object.command) ||
      source::ToolchainIdentity(now.command) != scan.toolchain) {
    return true;
  }
  for (const records::SelectedFile& file : scan.files) {
    const auto identity = base::IdentifyFile(file.path);
    if (!identity) return true;
    if (identity->size == file.size && identity->mtime_ns == file.mtime_ns) continue;
    const auto bytes = base::ReadFile(file.path);
    if (!bytes || base::HashHex(*bytes) != file.hash) return true;
  }
  return false;
}

void TakeOffCaptured(ObjectScan& scan) {
  for (std::size_t i = 0; i < scan.kernels.size(); ++i) scan.kernels[i].cases = scan.tagged[i];
  scan.warnings.resize(scan.warned);
  scan.declared.clear();
}

std::vector<std::string> WarningsAbout(const ObjectScan& scan, const records::Kernel& kernel) {
  const auto is_of = [](const std::string& warning, const records::Kernel& one) {
    return warning == one.declined ||
           warning.starts_with(one.file + ":" + std::to_string(one.line) + ": ");
  };
  std::vector<std::string> warnings;
  for (const std::string& warning : scan.warnings) {
    const bool of_any =
        std::any_of(scan.kernels.begin(), scan.kernels.end(),
                    [&](const records::Kernel& other) { return is_of(warning, other); });
    if (warning == kernel.declined) continue;
    if (!of_any || is_of(warning, kernel)) warnings.push_back(warning);
  }
  return warnings;
}

}  // namespace cupilot::service
