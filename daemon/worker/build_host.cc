#include "worker/build_host.h"

#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/file.h"
#include "base/hash.h"
#include "base/install_layout.h"
#include "host_runtime/include/cupilot_host_abi.h"
#include "host_runtime/include/cupilot_host_watch.h"
#include "worker/run_tool.h"

namespace cupilot::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

bool StartsWith(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

// The compiler writes the name of what it compiled for into the artifact's table.
std::string TargetOf(const std::string& bytes) {
  constexpr const char* kName = "host-x86-64";
  const std::size_t at = bytes.find(kName);
  return at == std::string::npos ? "" : std::string(bytes.c_str() + at);
}

base::Result<protocol::BuildReply> ReplyOf(const std::string& artifact) {
  protocol::BuildReply reply;
  reply.artifact = artifact;
  TRY_ASSIGN(const std::string bytes, base::ReadFile(artifact));
  reply.target = TargetOf(bytes);
  reply.toolchain = "cupilot-nvcc";
  reply.text_hashes.emplace_back("", base::HashHex(bytes));
  return reply;
}

}  // namespace

std::vector<std::string> CodeOptions(const records::CompileCommand& command) {
  std::vector<std::string> options;
  const auto& arguments = command.arguments;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    if (a == "-Xcompiler" || a == "--compiler-options") {
      if (i + 1 < arguments.size()) options.insert(options.end(), {a, arguments[i + 1]});
      ++i;
    } else if (a == "-std" || a == "--std") {
      if (i + 1 < arguments.size()) options.push_back("-std=" + arguments[i + 1]);
      ++i;
    } else if (StartsWith(a, "-O") || StartsWith(a, "-std=") || StartsWith(a, "--std=") ||
               StartsWith(a, "-Xcompiler=") || StartsWith(a, "-march=") ||
               StartsWith(a, "-mtune=") || StartsWith(a, "-ffast-math") || StartsWith(a, "-ffp-") ||
               StartsWith(a, "-ccbin=")) {
      options.push_back(a);
    }
  }
  return options;
}

base::Result<protocol::BuildReply> BuildHost(const protocol::BuildRequest& request) {
  std::vector<std::string> words = {base::HostToolkitFolder() + "/bin/nvcc",
                                    "--cupilot-candidate",
                                    "-x",
                                    "cu",
                                    "-shared",
                                    "-cudart",
                                    "none"};
  for (const std::string& option : CodeOptions(request.command)) words.push_back(option);
  if (request.watched) words.emplace_back("--cupilot-watch");
  words.insert(words.end(),
               {"-Xcompiler", "-fPIC,-fvisibility=hidden,-w", "-Xlinker", "-Bsymbolic"});
  base::Hasher hasher;
  for (const std::string& word : words) hasher.Add(word);
  hasher.Add(std::to_string(CUPILOT_HOST_ABI_VERSION));  // what is kept may be older than we are
  if (request.watched) hasher.Add(std::to_string(CUPILOT_HOST_WATCH_VERSION));
  const std::string base_name = request.cache_folder + "/" + hasher.Add(request.text).Hex();
  const std::string artifact = base_name + ".so";
  // Nobody waited for the disk: what a power cut has left empty is not there.
  if (auto kept = ReplyOf(artifact); kept && !kept->target.empty()) {
    kept->cached = true;
    return std::move(*kept);
  }
  TRY(base::MakeFolders(request.cache_folder));
  const std::string source = base_name + ".cu", log = base_name + ".log";
  const std::string temporary = base_name + ".so" + base::UniqueSuffix();
  TRY(base::WriteFileUnsynced(source, request.text));
  words.insert(words.end(), {source, "-o", temporary});
  const auto began = steady_clock::now();
  TRY_ASSIGN(const ToolEnd ended, RunTool(words, log, milliseconds(request.timeout_ms)));
  const double seconds = std::chrono::duration<double>(steady_clock::now() - began).count();
  if (!ended.succeeded) {
    protocol::BuildReply reply;
    reply.failed = true;
    reply.timed_out = ended.timed_out;
    reply.log = BeginningOf(log);
    reply.seconds = seconds;
    (void)base::RemoveTree(temporary);
    return reply;
  }
  if (::rename(temporary.c_str(), artifact.c_str()) != 0) {
    return base::Fail(base::IoError("rename to " + artifact + ": " + std::strerror(errno)));
  }
  TRY_ASSIGN(protocol::BuildReply reply, ReplyOf(artifact));
  reply.seconds = seconds;
  return reply;
}

}  // namespace cupilot::worker
