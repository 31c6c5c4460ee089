#include "tests/bench/spaces/builder.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/child.h"
#include "base/file.h"
#include "device/cuda/nvrtc.h"

extern char** environ;

namespace cupilot::spaces {
namespace {

constexpr std::size_t kMessageBytes = 16 * 1024;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

base::Error SystemError(const char* what) {
  return base::IoError(std::string(what) + ": " + std::strerror(errno));
}

// Nothing has to survive a crash, and waiting for the disk would count as compiling.
base::Result<> WriteUnsynced(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) return {};
  return base::Fail(base::IoError("cannot write " + path));
}

// What says why, of what a compiler printed: the first line with "error", else the first.
std::string ReasonOf(const std::string& log) {
  std::istringstream lines(log);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first;
}

// True: the command ended with 0. Its output goes to `log`.
base::Result<bool> RunCommand(std::vector<std::string> words, const std::string& log) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t pid = -1;
  std::vector<char*> arguments = base::ArgumentPointers(words);
  const int failed =
      ::posix_spawn(&pid, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return base::Fail(base::Unavailable(words[0] + ": " + std::strerror(failed)));
  }
  const int status = base::WaitForEnd(pid);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

base::Result<Built> BuildByNvrtc(const BuilderOptions& options, const std::string& text,
                                 const std::vector<std::string>& defines, const std::string& stem) {
  TRY_ASSIGN(const device::cuda::Nvrtc nvrtc, device::cuda::OpenNvrtc(options.toolkit));
  std::vector<std::string> words = {"--gpu-architecture=" + options.architecture, "--std=c++17",
                                    "-w"};
  for (const std::string& define : defines) words.push_back("-D" + define);
  TRY_ASSIGN(const device::cuda::NvrtcResult result,
             device::cuda::CompileWithNvrtc(nvrtc, text, words));
  Built built;
  built.failed = result.failed;
  built.log = result.failed ? ReasonOf(result.log) : "";
  built.artifact = stem + ".cubin";
  if (!result.failed) TRY(WriteUnsynced(built.artifact, result.cubin));
  return built;
}

base::Result<Built> BuildByCommand(const BuilderOptions& options, const std::string& text,
                                   const std::vector<std::string>& defines,
                                   const std::string& stem) {
  const bool host = options.architecture == "host";
  const std::string source = stem + ".cu", log = stem + ".log";
  Built built;
  built.artifact = stem + (host ? ".so" : ".cubin");
  TRY(WriteUnsynced(source, text));
  std::vector<std::string> words = {options.compiler, "-x", "cu", "-std=c++17", "-w"};
  if (host) {
    // As the build worker does.
    words.insert(words.end(),
                 {"--cupilot-candidate", "-shared", "-cudart", "none", "-O2", "-Xcompiler",
                  "-fPIC,-fvisibility=hidden,-w", "-Xlinker", "-Bsymbolic"});
  } else {
    words.insert(words.end(), {"-cubin", "-arch=" + options.architecture});
  }
  for (const std::string& define : defines) words.push_back("-D" + define);
  words.insert(words.end(), {source, "-o", built.artifact});
  TRY_ASSIGN(const bool succeeded, RunCommand(std::move(words), log));
  if (!succeeded) {
    built.failed = true;
    const auto printed = base::ReadFile(log);
    built.log = printed ? ReasonOf(*printed) : "the compiler failed";
  }
  return built;
}

void ServeBuilds(int socket, const BuilderOptions& options, const std::string& text,
                 const std::vector<std::string>& first) {
  // Who asks for a point is told what is wrong. (A command starts anew with each point.)
  const std::string stem = options.folder + "/first." + std::to_string(::getpid());
  if (options.compiler.empty()) (void)Build(options, text, first, stem);
  std::vector<char> message(kMessageBytes);
  while (true) {
    const ssize_t bytes = ::recv(socket, message.data(), message.size(), 0);
    if (bytes <= 0) return;
    std::istringstream lines(std::string(message.data(), static_cast<std::size_t>(bytes)));
    std::string number;
    std::getline(lines, number);
    std::vector<std::string> defines;
    for (std::string line; std::getline(lines, line);) defines.push_back(line);
    const auto built = Build(options, text, defines, options.folder + "/" + number);
    std::ostringstream reply;
    if (built) {
      reply << (built->failed ? "failed" : "built") << '\n'
            << built->seconds << '\n'
            << (built->failed ? built->log.substr(0, kMessageBytes / 2) : built->artifact);
    } else {
      reply << "error\n0\n" << built.error().message.substr(0, kMessageBytes / 2);
    }
    const std::string words = reply.str();
    if (::send(socket, words.data(), words.size(), MSG_NOSIGNAL) < 0) return;
  }
}

}  // namespace

base::Result<Built> Build(const BuilderOptions& options, const std::string& text,
                          const std::vector<std::string>& defines, const std::string& stem) {
  const double began = Now();
  auto built = options.compiler.empty() ? BuildByNvrtc(options, text, defines, stem)
                                        : BuildByCommand(options, text, defines, stem);
  if (built) built->seconds = Now() - began;
  return built;
}

base::Result<BuildPool> BuildPool::Start(const BuilderOptions& options, const std::string& text,
                                         const std::vector<std::string>& first,
                                         unsigned processes) {
  BuildPool pool;
  for (unsigned i = 0; i < processes; ++i) {
    std::array<int, 2> sockets{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
      return base::Fail(SystemError("socketpair"));
    }
    const pid_t pid = ::fork();
    if (pid < 0) return base::Fail(SystemError("fork"));
    if (pid == 0) {
      ::close(sockets[0]);
      for (const Child& other : pool.children_) ::close(other.socket);
      ServeBuilds(sockets[1], options, text, first);
      ::_exit(0);
    }
    ::close(sockets[1]);
    pool.children_.push_back({pid, sockets[0], false, 0});
  }
  return pool;
}

// A child that compiles is not waited for: what it makes is of no use.
BuildPool::~BuildPool() {
  for (const Child& child : children_) {
    ::close(child.socket);
    if (child.busy) ::kill(child.pid, SIGKILL);
    (void)base::WaitForEnd(child.pid);
  }
}

bool BuildPool::HasIdle() const { return under_way() < children_.size(); }

std::size_t BuildPool::under_way() const {
  std::size_t busy = 0;
  for (const Child& child : children_) busy += child.busy ? 1 : 0;
  return busy;
}

base::Result<> BuildPool::Submit(std::size_t number, const std::vector<std::string>& defines) {
  for (Child& child : children_) {
    if (child.busy) continue;
    std::string message = std::to_string(number);
    for (const std::string& define : defines) message += '\n' + define;
    if (::send(child.socket, message.data(), message.size(), MSG_NOSIGNAL) < 0) {
      return base::Fail(SystemError("asking for a build"));
    }
    child.busy = true;
    child.number = number;
    return {};
  }
  return base::Fail(base::InvalidArgument("all build"));
}

base::Result<std::vector<BuildPool::Done>> BuildPool::Collect(bool wait) {
  std::vector<Done> done;
  std::vector<pollfd> sockets;
  for (const Child& child : children_)
    sockets.push_back({child.busy ? child.socket : -1, POLLIN, 0});
  if (under_way() == 0 || ::poll(sockets.data(), sockets.size(), wait ? -1 : 0) <= 0) return done;
  std::vector<char> message(kMessageBytes);
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    if (sockets[i].revents == 0) continue;
    Child& child = children_[i];
    const ssize_t bytes = ::recv(child.socket, message.data(), message.size(), 0);
    if (bytes <= 0) return base::Fail(base::ToolFailed("a process that builds has ended"));
    std::istringstream lines(std::string(message.data(), static_cast<std::size_t>(bytes)));
    std::string state, seconds, rest;
    std::getline(lines, state);
    std::getline(lines, seconds);
    std::getline(lines, rest);
    if (state == "error") return base::Fail(base::Unavailable(rest));
    Done one;
    one.number = child.number;
    one.built.failed = state == "failed";
    one.built.seconds = std::atof(seconds.c_str());
    (one.built.failed ? one.built.log : one.built.artifact) = rest;
    child.busy = false;
    done.push_back(std::move(one));
  }
  return done;
}

}  // namespace cupilot::spaces
