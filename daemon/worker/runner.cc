#include "worker/runner.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/child.h"
#include "base/file.h"
#include "device/describe.h"
#include "worker/child.h"
#include "worker/device_turn.h"
#include "worker/sandbox/bubblewrap.h"
#include "worker/sandbox/sandbox.h"

namespace cupilot::worker {

using records::Json;
using std::chrono::milliseconds;

namespace {
constexpr milliseconds kLoadLimit{20000};
constexpr milliseconds kFirstLoadLimit{60000};  // a driver may start slowly
constexpr std::size_t kMaxReply = 1 << 20;      // a flood of output is no reply

std::chrono::nanoseconds at_work{0};

// The folders of the modules; with a GPU its nodes, and the pipes of the service that shares it.
Access AccessFor(const std::string& device, const std::vector<std::string>& modules) {
  Access access = SystemAccess();
  for (const std::string& module : modules) {
    access.read.push_back(std::filesystem::path(module).parent_path());
  }
  access.gpus = device::CudaIndexOf(device) >= 0;
  if (access.gpus) {
    const char* pipes = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
    access.write.emplace_back(pipes != nullptr && *pipes == '/' ? pipes : "/tmp/nvidia-mps");
  }
  return access;
}

}  // namespace

std::vector<std::string> RunnerWords(const std::string& device,
                                     const std::vector<std::string>& modules,
                                     const std::vector<std::string>& also) {
  Access access = AccessFor(device, modules);
  access.read.insert(access.read.end(), also.begin(), also.end());
  std::vector<std::string> words = WordsAround(access, "/");
  words.insert(words.end(), {base::ExecutableFolder() + "/cupilot-worker", "--kind", "run",
                             "--access", ToJson(access).dump()});
  return words;
}

Json LoadRequest(const std::string& device, std::size_t arena_bytes,
                 const std::vector<std::string>& modules) {
  return {{"op", "load"}, {"device", device}, {"arena_bytes", arena_bytes}, {"modules", modules}};
}

base::Result<Runner> Runner::Start(const std::string& device, const Arena& arena,
                                   const std::vector<std::string>& modules) {
  TRY_ASSIGN(Runner runner, Begin(device, arena, modules));
  TRY(runner.Open(arena.bytes().size(), modules));
  return runner;
}

base::Result<Runner> Runner::Begin(const std::string& device, const Arena& arena,
                                   const std::vector<std::string>& modules) {
  TRY_ASSIGN(const SpokenTo child,
             StartOnArena(RunnerWords(device, modules), arena.descriptor(), ErrorOutput::kOurs));
  return Runner(device, child.pid, child.input, child.output);
}

void Runner::BeginContext(DeviceTurn turn) {
  if (Send({{"op", "open"}, {"device", device_}})) making_context_ = std::move(turn);
}

// What is wrong with the device what follows says, too.
base::Result<> Runner::AwaitContext() {
  if (!making_context_) return {};
  const DeviceTurn turn = std::move(*making_context_);
  making_context_.reset();
  TRY(Reply(kFirstLoadLimit));
  return {};
}

base::Result<> Runner::Open(std::size_t arena_bytes, const std::vector<std::string>& modules) {
  TRY_ASSIGN(const Json loaded, Ask(LoadRequest(device_, arena_bytes, modules), kFirstLoadLimit));
  Take(loaded);
  return {};
}

base::Result<> Runner::Load(const std::vector<std::string>& modules) {
  TRY_ASSIGN(const Json loaded, Ask({{"op", "load"}, {"modules", modules}}, kLoadLimit));
  Take(loaded);
  return {};
}

void Runner::Take(const Json& loaded) {
  architecture_ = loaded.value("architecture", "");
  resources_ = loaded.value("resources", Json::array());
}

Runner::Runner(Runner&& other) noexcept
    : device_(std::move(other.device_)),
      child_(std::exchange(other.child_, {})),
      end_waits_(other.end_waits_),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      partial_(std::move(other.partial_)),
      making_context_(std::exchange(other.making_context_, std::nullopt)),
      architecture_(std::move(other.architecture_)),
      resources_(std::move(other.resources_)) {}

Runner& Runner::operator=(Runner&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(child_, other.child_);
  std::swap(end_waits_, other.end_waits_);
  std::swap(input_, other.input_);
  std::swap(output_, other.output_);
  std::swap(partial_, other.partial_);
  std::swap(making_context_, other.making_context_);
  std::swap(architecture_, other.architecture_);
  std::swap(resources_, other.resources_);
  return *this;
}

Runner::~Runner() {
  if (end_waits_) {
    End();
  } else {
    child_.Kill();
  }
  if (input_ >= 0) ::close(input_);
  if (output_ >= 0) ::close(output_);
}

void Runner::End() {
  child_.Kill();
  std::exchange(child_, {}).Wait();
}

std::string Runner::HowItEnded() {
  const int status = std::exchange(child_, {}).Wait();
  if (status < 0) return "ended";
  if (const int signal = SignalOf(status); signal != 0) {
    return std::string("was ended by ") + ::strsignal(signal);
  }
  return "exited with " + std::to_string(WEXITSTATUS(status)) + " instead of returning";
}

std::chrono::nanoseconds Runner::AtWork() { return at_work; }

base::Result<Json> Runner::Ask(const Json& request, milliseconds limit) {
  // A context that is made disturbs a measurement as well as what runs.
  TRY_ASSIGN(const DeviceTurn turn, TakeTurnToRun(device_));
  const auto begin = std::chrono::steady_clock::now();
  auto reply = Exchange(request, limit);
  if (request.value("op", "") != "load") at_work += std::chrono::steady_clock::now() - begin;
  return reply;
}

base::Result<Json> Runner::Exchange(const Json& request, milliseconds limit) {
  TRY(AwaitContext());
  TRY(Send(request));
  return Reply(limit);
}

base::Result<> Runner::Send(const Json& request) {
  if (!alive()) return base::Fail(base::ToolFailed("the process has ended already"));
  const std::string line = request.dump() + "\n";
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t n = ::write(input_, line.data() + sent, line.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return base::Fail(base::ToolFailed("the process " + HowItEnded()));
    sent += static_cast<std::size_t>(n);
  }
  return {};
}

base::Result<Json> Runner::Reply(milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const std::size_t end = partial_.find('\n');
    if (end != std::string::npos) {
      const auto json = records::ParseJson(partial_.substr(0, end));
      partial_.erase(0, end + 1);
      if (!json || !json->is_object()) {
        End();
        return base::Fail(base::ToolFailed("the process sent what is no reply"));
      }
      if (json->contains("error")) {
        const base::ErrorCode code = base::CodeOf(json->value("code", "invalid_argument"));
        // After a failure of the device it is of no further use. Where memory has run out, it may
        // have given back what the arena needs and not got it again.
        if (code == base::ErrorCode::kToolFailed || code == base::ErrorCode::kUnavailable) End();
        return base::Fail(base::Error{code, json->value("error", "")});
      }
      return *json;
    }
    const auto left =
        std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd poll{output_, POLLIN, 0};
    const int ready = left.count() <= 0 ? 0 : ::poll(&poll, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 || partial_.size() > kMaxReply) {
      End();
      return base::Fail(base::Timeout("it did not end within " + std::to_string(limit.count()) +
                                      " ms and was killed"));
    }
    std::array<char, 65536> buffer;
    const ssize_t n = ::read(output_, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return base::Fail(base::ToolFailed("the process " + HowItEnded()));
    partial_.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

}  // namespace cupilot::worker
