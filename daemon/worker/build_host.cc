#include "worker/build_host.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/file.h"
#include "base/hash.h"
#include "base/install_layout.h"

extern char** environ;

namespace cupilot::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kLogBytes = 4000;

bool StartsWith(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

struct Ended {
  bool timed_out = false;
  int status = 0;
};

// In a process group of its own, so that the compiler's children go with it.
base::Result<Ended> RunTool(const std::vector<std::string>& words, const std::string& log,
                            milliseconds limit) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, pointers[0], &actions, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    return base::Fail(base::Unavailable("cannot run " + words[0] + ": " + std::strerror(error)));
  }
  Ended ended;
  const auto deadline = steady_clock::now() + limit;
  for (;;) {
    const pid_t done = ::waitpid(pid, &ended.status, WNOHANG);
    if (done == pid || (done < 0 && errno != EINTR)) break;
    if (steady_clock::now() > deadline) {
      ::kill(-pid, SIGKILL);
      while (::waitpid(pid, &ended.status, 0) < 0 && errno == EINTR) {
      }
      ended.timed_out = true;
      break;
    }
    std::this_thread::sleep_for(milliseconds(2));
  }
  return ended;
}

std::string Shortened(const std::string& path) {
  auto text = base::ReadFile(path);
  if (!text) return "";
  if (text->size() > kLogBytes) text->resize(kLogBytes);
  return *text;
}

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
  words.insert(words.end(),
               {"-Xcompiler", "-fPIC,-fvisibility=hidden,-w", "-Xlinker", "-Bsymbolic"});
  base::Hasher hasher;
  for (const std::string& word : words) hasher.Add(word);
  const std::string base_name = request.cache_folder + "/" + hasher.Add(request.text).Hex();
  const std::string artifact = base_name + ".so";
  if (base::FileExists(artifact)) {
    TRY_ASSIGN(protocol::BuildReply reply, ReplyOf(artifact));
    reply.cached = true;
    return reply;
  }
  TRY(base::MakeFolders(request.cache_folder));
  const std::string source = base_name + ".cu", log = base_name + ".log";
  const std::string temporary = base_name + ".so." + std::to_string(::getpid());
  TRY(base::WriteFileAtomically(source, request.text));
  words.insert(words.end(), {source, "-o", temporary});
  const auto began = steady_clock::now();
  TRY_ASSIGN(const Ended ended, RunTool(words, log, milliseconds(request.timeout_ms)));
  const double seconds = std::chrono::duration<double>(steady_clock::now() - began).count();
  if (ended.timed_out || !WIFEXITED(ended.status) || WEXITSTATUS(ended.status) != 0) {
    protocol::BuildReply reply;
    reply.failed = true;
    reply.timed_out = ended.timed_out;
    reply.log = Shortened(log);
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
