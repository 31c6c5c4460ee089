#include "service/object_scan.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/hash.h"

namespace cupilot::service {
namespace {

base::Result<records::SelectedFile> Identify(const std::string& path) {
  TRY_ASSIGN(const base::FileIdentity identity, base::IdentifyFile(path));
  TRY_ASSIGN(const std::string bytes, base::ReadFile(path));
  records::SelectedFile file;
  file.path = path;
  file.size = identity.size;
  file.mtime_ns = identity.mtime_ns;
  file.hash = base::HashHex(bytes);
  return file;
}

base::Result<ObjectScan> Finish(ObjectScan scan, const protocol::ScanReply& reply) {
  std::vector<std::string> paths = reply.files;
  std::erase(paths, scan.object.command.source);
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  TRY_ASSIGN(const records::SelectedFile source, Identify(scan.object.command.source));
  if (source.hash != base::HashHex(scan.source_text)) {
    return base::Fail(base::Cancelled("the source changed while it was scanned"));
  }
  scan.files.push_back(source);
  for (const std::string& path : paths) {
    TRY_ASSIGN(records::SelectedFile file, Identify(path));
    scan.files.push_back(std::move(file));
  }
  scan.kernels = reply.kernels;
  scan.warnings = reply.warnings;
  scan.untagged = reply.untagged_kernels;
  return scan;
}

}  // namespace

void ScanObject(evaluate::Workers& workers, const Object& object, const std::string& numerics,
                base::Callback<ObjectScan> done) {
  ObjectScan scan;
  scan.object = object;
  scan.command_hash = records::CommandHash(object.command);
  protocol::ScanRequest request;
  request.command = object.command;
  request.numerics = numerics;
  if (auto text = base::ReadFile(object.command.source)) {
    scan.source_text = std::move(*text);
  }
  request.source_text = scan.source_text;
  evaluate::Scan(workers, request,
                 [scan = std::move(scan),
                  done = std::move(done)](base::Result<protocol::ScanReply> reply) mutable {
                   if (!reply) return done(base::Fail(reply.error()));
                   done(Finish(std::move(scan), *reply));
                 });
}

bool IsOutdated(const ObjectScan& scan, const Object& now) {
  if (records::CommandHash(now.command) != scan.command_hash ||
      records::EnvironmentHash(now.command) != records::EnvironmentHash(scan.object.command)) {
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

}  // namespace cupilot::service
