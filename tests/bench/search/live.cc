#include "tests/bench/search/live.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/install_layout.h"
#include "evaluate/calls.h"
#include "parts.h"

namespace cupilot::bench {
namespace {

constexpr const char* kExchange = "exchange:";

template <class T, class Start>
base::Result<T> WaitFor(loop::Loop& loop, const Start& start) {
  std::optional<base::Result<T>> got;
  start([&got](base::Result<T> reply) { got = std::move(reply); });
  while (!got) loop.RunOnce(true);
  return *std::move(got);
}

// Most are the gallery's kernels, on sizes of the model examples; as examples/models/run has it.
base::Result<std::string> SourceOf(const std::string& root, const std::string& kernel) {
  for (const char* folder : {"/examples/models/", "/examples/gallery/"}) {
    std::string file = root;
    file.append(folder).append(kernel).append(".cu");
    if (base::FileExists(file)) return file;
  }
  return base::Fail(base::InvalidArgument("there is no example named " + kernel));
}

}  // namespace

std::string ProviderFor(const std::string& provider, const std::string& kernel) {
  std::string text = provider;
  const std::size_t at = text.find("{}");
  if (at != std::string::npos) return text.replace(at, 2, kernel);
  return text.starts_with(kExchange) ? text + "/" + kernel : text;
}

LiveMachine::LiveMachine(loop::Loop& loop, const base::Clock& clock, std::string root,
                         base::UserFolders folders)
    : loop_(loop),
      clock_(clock),
      root_(std::move(root)),
      folders_(std::move(folders)),
      workers_(loop, clock, WorkerSettings(settings_, 0, "")),
      evaluator_(workers_, clock, EvaluatorSettings(folders_)) {}

LiveMachine::~LiveMachine() {
  workers_.Stop();
  loop_.RunOnce(false);
}

base::Result<std::unique_ptr<LiveMachine>> LiveMachine::Make(loop::Loop& loop,
                                                             const base::Clock& clock,
                                                             const std::string& root,
                                                             const std::string& device) {
  TRY_ASSIGN(base::UserFolders folders, base::FindUserFolders());
  std::unique_ptr<LiveMachine> made(new LiveMachine(loop, clock, root, std::move(folders)));
  TRY_ASSIGN(made->device_, WaitFor<evaluate::DeviceDescription>(loop, [&](auto done) {
               evaluate::DescribeDevice(made->workers_, device, std::move(done));
             }));
  return made;
}

base::Result<Recording> LiveMachine::Begin(const std::string& kernel) {
  TRY_ASSIGN(const std::string file, SourceOf(root_, kernel));
  TRY_ASSIGN(const std::string workload,
             base::ReadFile(root_ + "/examples/models/" + kernel + ".small.json"));
  TRY_ASSIGN(const records::Json json, records::ParseJson(workload));
  Recording recording;
  TRY_ASSIGN(recording.workload, records::ParseWorkload(json));
  TRY_ASSIGN(source_text_, base::ReadFile(file));
  const bool host = evaluate::DeviceKind(device_.name) == "host";
  if (!host) return base::Fail(base::Unsupported("comparisons are made on the host device"));
  command_ = {};
  command_.directory = std::filesystem::path(file).parent_path().string();
  command_.source = file;
  command_.object = file + ".o";
  command_.arguments = {base::HostToolkitFolder() + "/bin/nvcc", "-O3", "-std=c++17", "-c", file};
  protocol::ScanRequest scan;
  scan.command = command_;
  scan.source_text = source_text_;
  scan.kernels = {recording.workload.kernel};
  TRY_ASSIGN(protocol::ScanReply reply, WaitFor<protocol::ScanReply>(loop_, [&](auto done) {
               evaluate::Scan(workers_, scan, "host", std::move(done));
             }));
  int found = 0;
  for (records::Kernel& one : reply.kernels) {
    if (!records::NamesKernel(recording.workload.kernel, one)) continue;
    recording.scanned = std::move(one);
    ++found;
  }
  if (found != 1 || !recording.scanned.declined.empty()) {
    return base::Fail(
        base::InvalidArgument(file + ": " +
                              (found == 1 ? recording.scanned.declined
                                          : "not one kernel '" + recording.workload.kernel + "'")));
  }
  // In recordings, which are for each machine.
  const std::string relative = std::filesystem::path(file).lexically_relative(root_).string();
  recording.scanned.file = relative;
  for (auto& part : recording.scanned.closure) {
    if (part.file == file) part.file = relative;
  }
  recording.workload.kernel = recording.scanned.name;
  recording.kernel = kernel;
  recording.device = device_.name;
  recording.identity = device_.device;
  recording.driver = device_.driver;
  return recording;
}

base::Result<LiveSide> LiveMachine::Side(const std::string& kernel, const std::string& provider) {
  LiveSide side;
  side.workers = &workers_;
  side.evaluator = &evaluator_;
  side.command = command_;
  side.source_text = source_text_;
  if (provider.empty()) return side;
  TRY_ASSIGN(providers_, ModelProviders::Read(ProviderFor(provider, kernel),
                                              std::filesystem::current_path().string(), folders_));
  TRY(providers_->Make(loop_, clock_));
  side.models = providers_->surroundings();
  return side;
}

}  // namespace cupilot::bench
