#include "worker_bench.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "base/file.h"
#include "source/swap/variant_text.h"

extern char** environ;

namespace cupilot::gpu_tests {

using records::Json;
using std::chrono::steady_clock;

namespace {

constexpr const char* kSource = R"(
// cupilot: tune
// cupilot: workload all grid=(264) block=(256) n=67584 rounds=9000 in=normal[n] out=[n]
__global__ void spin(const float* in, float* out, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  for (int r = 0; r < rounds; ++r) x = x * 0.999f + 0.001f;
  out[i] = x;
}
)";

std::string Body(const std::string& name, const Change& change) {
  return "__global__ void " + name + "(const float* in, float* out, int n, int rounds) {\n" +
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n" +
         "  float x = in[i];\n  for (int r = 0; r < " + change.rounds +
         "; ++r) x = x * 0.999f + 0.001f;\n" + change.tail + "  out[i] = x;\n}\n";
}

// The fourth word of /proc/<pid>/stat, behind a name in parentheses that may hold anything.
pid_t ParentOf(const std::string& pid) {
  const auto stat = base::ReadFile("/proc/" + pid + "/stat");
  const std::size_t end = stat ? stat->rfind(')') : std::string::npos;
  if (end == std::string::npos || end + 4 >= stat->size() || (*stat)[end + 2] == 'Z') return 0;
  return std::atoi(stat->c_str() + end + 4);
}

}  // namespace

void Die(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

void Phase(const std::string& text) { std::fprintf(stderr, "phase: %s\n", text.c_str()); }

double SecondsSince(steady_clock::time_point begin) {
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

std::map<pid_t, pid_t> Parents() {
  std::map<pid_t, pid_t> parents;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) Die("/proc cannot be read");
  while (const dirent* entry = ::readdir(folder)) {
    const pid_t pid = std::atoi(entry->d_name);
    const pid_t parent = pid > 0 ? ParentOf(entry->d_name) : 0;
    if (parent > 0) parents[pid] = parent;
  }
  ::closedir(folder);
  return parents;
}

std::set<pid_t> ChildrenOf(pid_t parent) {
  std::set<pid_t> children;
  for (const auto& [pid, of] : Parents()) {
    if (of == parent) children.insert(pid);
  }
  return children;
}

Worker::Worker(const std::string& libexec, const std::string& kind) {
  // A worker that held another one's input open would keep it from ending.
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) Die("pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const std::string program = libexec + "/cupilot-worker";
  std::vector<char*> words = {const_cast<char*>(program.c_str()), const_cast<char*>("--kind"),
                              const_cast<char*>(kind.c_str()), nullptr};
  if (::posix_spawn(&pid_, program.c_str(), &actions, &attributes, words.data(), environ) != 0) {
    Die("cannot start " + program);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  to_ = ::fdopen(in[1], "w");
  from_ = ::fdopen(out[0], "r");
}

Worker::~Worker() {
  std::fclose(to_);
  std::fclose(from_);
  // Until it is waited for, nobody else has its number.
  ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

base::Result<Json> Worker::Call(const std::string& op, const Json& params) {
  const std::string line = Json{{"id", 1}, {"op", op}, {"params", params}}.dump() + "\n";
  std::fputs(line.c_str(), to_);
  std::fflush(to_);
  while (true) {
    char* text = nullptr;
    std::size_t size = 0;
    const ssize_t got = ::getline(&text, &size, from_);
    const std::unique_ptr<char, decltype(&std::free)> owned(text, &std::free);
    if (got <= 0) return base::Fail(base::ToolFailed("the worker ended in '" + op + "'"));
    TRY_ASSIGN(const Json reply, records::ParseJson(text));
    // What a verification that is cut off need not do again.
    if (reply.contains("passed")) continue;
    if (!reply.contains("error")) return reply.at("result");
    const Json& error = reply["error"];
    return base::Fail(
        base::Error{base::CodeOf(error.value("code", "")), error.value("message", "")});
  }
}

Bench::Bench(std::string libexec, const std::string& nvcc, std::string work)
    : libexec_(std::move(libexec)), work_(std::move(work)), builder_(libexec_, "build") {
  (void)base::MakeFolders(work_);
  command_.directory = work_;
  command_.source = work_ + "/spin.cu";
  command_.arguments = {nvcc, "-std=c++17", "-arch=native", "-c", command_.source};
  Must(base::WriteFileIfDifferent(command_.source, kSource), "writing the source");
  protocol::ScanRequest scan;
  scan.command = command_;
  Worker source(libexec_, "source");
  const auto scanned = Must(
      protocol::ParseScanReply(Must(source.Call("scan", protocol::ToJson(scan)), "scan")), "scan");
  if (scanned.kernels.size() != 1) Die("the kernel was not found");
  set_.kernel = scanned.kernels[0];
  set_.workload.kernel = set_.kernel.name;
  set_.workload.cases = set_.kernel.cases;
  set_.device = "cuda:0";
  set_.work_folder = work_;
  Worker device(libexec_, "device");
  architecture_ = Must(device.Call("describe_device", {{"device", set_.device}}), "describe_device")
                      .value("arch", "");
  set_.original_artifact = Build(set_.kernel.closure_source, builder_);
}

std::string Bench::Build(const std::string& text, Worker& builder) const {
  protocol::BuildRequest request;
  request.device = "cuda:0";
  request.target = architecture_;
  request.text = text;
  request.command = command_;
  request.cache_folder = work_ + "/cubins";
  const auto reply = Must(
      protocol::ParseBuildReply(Must(builder.Call("build", protocol::ToJson(request)), "build")),
      "build");
  if (reply.failed) Die("does not build: " + reply.log);
  return reply.artifact;
}

protocol::CandidateSet Bench::Candidate(const std::string& name, const Change& change,
                                        Worker& builder) const {
  protocol::CandidateSet set = set_;
  Json json = {{"schema", "cupilot.variant/1"}, {"kernel", "spin"}, {"source", Body(name, change)}};
  json.update(change.more);
  if (!json.contains("launches")) json["entry"] = name;
  set.variant = Must(records::ParseVariant(json), "variant");
  set.candidate_artifact =
      Build(Must(source::CandidateText(set.kernel, set.variant), "candidate"), builder);
  return set;
}

protocol::CompareObjectReply Bench::CompareWithObject(const Change& change) {
  const std::string source = work_ + "/object.cu", object = work_ + "/object.o";
  Must(base::WriteFileIfDifferent(source, Body(set_.kernel.base_name, change)), "writing a source");
  const std::string line = "'" + command_.arguments[0] + "' -std=c++17 -arch=native -c '" + source +
                           "' -o '" + object + "'";
  if (std::system(line.c_str()) != 0) Die("does not compile: " + line);
  protocol::CompareObjectRequest request;
  request.original.device = set_.device;
  request.original.target = architecture_;
  request.original.text = set_.kernel.closure_source;
  request.original.command = command_;
  request.original.cache_folder = work_ + "/cubins";
  request.original.as_compiled = true;
  request.object = object;
  request.kernel = set_.kernel.name;
  request.signature = set_.kernel.signature;
  return Must(protocol::ParseCompareObjectReply(
                  Must(builder_.Call("compare_object", protocol::ToJson(request)), "compare")),
              "compare");
}

protocol::CandidateSet Bench::OfObject(const protocol::CompareObjectReply& compared) const {
  protocol::CandidateSet set = set_;
  set.variant.kernel = set.kernel.name;
  set.variant.entry = compared.entry;
  set.candidate_artifact = compared.image;
  set.not_watched = "it is the object's own code, of which there is no text";
  return set;
}

base::Result<protocol::VerifyReply> Verify(Worker& device, const protocol::CandidateSet& set,
                                           const std::string& depth,
                                           const std::vector<std::string>& left_out) {
  protocol::VerifyRequest request;
  request.set = set;
  request.depth = depth;
  request.left_out = left_out;
  TRY_ASSIGN(const Json reply, device.Call("verify", protocol::ToJson(request)));
  return protocol::ParseVerifyReply(reply);
}

}  // namespace cupilot::gpu_tests
