#include "tuned_project.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>

#include "base/file.h"
#include "evaluate/calls.h"
#include "records/lock.h"
#include "service/kernel_workload.h"
#include "source/swap/selection_check.h"
#include "tests/support/make_records.h"
#include "tests/support/prefix.h"

namespace cupilot::test {
namespace {

namespace fs = std::filesystem;

constexpr int kMostScans = 10;  // of a source that is written meanwhile, as the daemon's

std::string Shown(const ProgramRun& run) { return run.output + run.errors; }

bool IsWordByte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string ReplaceWord(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
    const bool begins = at == 0 || !IsWordByte(text[at - 1]);
    const bool ends = at + from.size() == text.size() || !IsWordByte(text[at + from.size()]);
    if (begins && ends) text.replace(at, from.size(), to);
  }
  return text;
}

std::string Erase(std::string text, const std::string& what) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.erase(at, what.size());
  }
  return text;
}

bool OpensScope(const std::string& line) {
  return line == "namespace {" || line == "extern \"C\" {" ||
         (line.starts_with("namespace ") && line.ends_with("{"));
}

// The closure without includes and namespaces, whose names nothing says any more.
std::string Flattened(const std::string& closure) {
  std::istringstream lines(closure);
  std::string line, text;
  std::vector<std::string> names;
  std::vector<std::ptrdiff_t> scopes;
  std::ptrdiff_t depth = 0;
  while (std::getline(lines, line)) {
    if (line.starts_with("#include")) continue;
    if (OpensScope(line)) {
      scopes.push_back(depth++);
      std::istringstream words(line);
      std::string word, name;
      words >> word >> name;
      if (word == "namespace" && name != "{") names.push_back(name);
      continue;
    }
    if (line == "}" && !scopes.empty() && depth == scopes.back() + 1) {
      scopes.pop_back();
      --depth;
      continue;
    }
    depth += std::count(line.begin(), line.end(), '{') - std::count(line.begin(), line.end(), '}');
    text += line + "\n";
  }
  for (const std::string& name : names) text = Erase(text, name + "::");
  return text;
}

// The kernel's own function, from __global__ to its last bracket.
std::string OwnFunction(const std::string& closure, const std::string& name) {
  std::size_t begin = std::string::npos;
  for (std::size_t at = closure.find("__global__"); at != std::string::npos;
       at = closure.find("__global__", at + 1)) {
    const std::size_t open = closure.find('{', at), end = closure.find(';', at);
    if (open < end && closure.substr(at, open - at).find(name) != std::string::npos) begin = at;
  }
  if (begin == std::string::npos) return {};
  std::size_t at = closure.find('{', begin);
  for (int depth = 0; at < closure.size(); ++at) {
    depth += closure[at] == '{' ? 1 : closure[at] == '}' ? -1 : 0;
    if (depth == 0) return closure.substr(begin, at + 1 - begin) + "\n";
  }
  return {};
}

records::Variant VariantOf(const records::Kernel& kernel, bool frozen) {
  constexpr const char* kEntry = "copied";
  records::Variant variant;
  variant.kernel = kernel.name;
  variant.entry = kEntry;
  std::string text = frozen ? Flattened(kernel.closure_source)
                            : OwnFunction(kernel.closure_source, kernel.base_name);
  text = Erase(text, "extern \"C\" ");
  variant.source = ReplaceWord(text, kernel.base_name, kEntry);
  variant.template_arguments = kernel.template_arguments;
  variant.strategy.emplace().title = "copy";
  variant.id = records::VariantId(variant);
  return variant;
}

records::Evaluation AcceptedOf(const records::Variant& variant, const records::Kernel& kernel,
                               const records::Workload& workload, const service::Place& place,
                               const std::string& target) {
  records::Evaluation evaluation;
  evaluation.variant = variant.id;
  evaluation.kernel_key = kernel.key;
  evaluation.target = target;
  evaluation.device = place.identity;
  evaluation.driver = place.driver;
  evaluation.workload = service::WorkloadHash(workload);
  evaluation.date = "2026-01-01T00:00:00Z";
  evaluation.accepted = true;
  evaluation.guard = "n >= 1";
  evaluation.speedup = 1.5;
  for (const records::Case& one : workload.cases) {
    evaluation.cases.push_back(MakeCaseResult(one.name, 1.5));
  }
  return evaluation;
}

std::string WithReturns(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return out;
}

void TouchFile(const std::string& path) { ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

}  // namespace

UserMachine::UserMachine() {
  for (const char* name : {"config", "state", "cache", "run"}) {
    fs::create_directories(folder_ / name);
    fs::permissions(folder_ / name, fs::perms::owner_all);
  }
  environment_ = {{"HOME", folder_.path()},
                  {"XDG_CONFIG_HOME", folder_ / "config"},
                  {"XDG_STATE_HOME", folder_ / "state"},
                  {"XDG_CACHE_HOME", folder_ / "cache"},
                  {"XDG_RUNTIME_DIR", folder_ / "run"},
                  {"CUPILOT_DEVICE", "host"},
                  {"CUPILOT_NO_SPAWN", "1"}};
  for (const char* name :
       {"CI", "CUPILOT", "CUDACXX", "CUDAFLAGS", "CUPILOT_DISABLE", "CUPILOT_STATS", "CPATH",
        "CPLUS_INCLUDE_PATH", "NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS"}) {
    environment_[name] = "";
  }
  MakePrefix(prefix());
  const auto host = rig_.Wait<evaluate::DeviceDescription>(
      [&](auto done) { evaluate::DescribeDevice(rig_.workers(), "host", std::move(done)); });
  EXPECT_TRUE(host) << host.error().message;
  if (host) host_ = *host;
}

TunedProject::TunedProject(UserMachine& machine, UserTree tree,
                           const std::vector<std::string>& programs, Options options)
    : machine_(machine), tree_(std::move(tree)), programs_(programs), options_(options) {
  fs::create_directories(source());
  WriteTree();
}

RunOptions TunedProject::ToBuild(const std::map<std::string, std::string>& more) const {
  RunOptions run;
  run.environment = machine_.environment();
  for (auto [name, value] : tree_.environment) {
    const std::size_t at = value.find("@SOURCE");
    if (at != std::string::npos) value.replace(at, 7, source());
    run.environment[name] = value;
  }
  for (const auto& [name, value] : more) run.environment[name] = value;
  return run;
}

std::string TunedProject::Configure() {
  fs::create_directories(build() + "/CMakeFiles");
  const bool known = fs::exists(machine_.compilers());
  if (known) fs::copy(machine_.compilers(), build() + "/CMakeFiles", fs::copy_options::recursive);
  const auto run = RunProgram({"cmake", "-S", source(), "-B", build(), "-G", "Ninja",
                               "-DCMAKE_PREFIX_PATH=" + machine_.prefix()},
                              ToBuild({}));
  if (run.exit_code != 0) return Shown(run);
  if (known) return {};
  fs::create_directories(machine_.compilers());
  for (const auto& entry : fs::directory_iterator(build() + "/CMakeFiles")) {
    const std::string name = entry.path().filename().string();
    if (std::isdigit(static_cast<unsigned char>(name[0])) == 0) continue;
    fs::copy(entry.path(), machine_.compilers() + "/" + name, fs::copy_options::recursive);
  }
  return {};
}

std::string TunedProject::Build(const std::map<std::string, std::string>& more) {
  const auto run = RunProgram({"cmake", "--build", build()}, ToBuild(more));
  return run.exit_code == 0 ? "" : Shown(run);
}

void TunedProject::Apply(const Edit& edit) {
  edit.apply(tree_);
  WriteTree();
}

void TunedProject::TouchSources() {
  for (const auto& [name, text] : tree_.files) {
    if (name.ends_with(".cu")) TouchFile(source() + "/" + name);
  }
}

void TunedProject::WriteTree() {
  std::map<std::string, std::string> now;
  for (const auto& [name, text] : tree_.files) {
    now[name] = tree_.returns.contains(name) ? WithReturns(text) : text;
  }
  for (const auto& [name, text] : written_) {
    if (!now.contains(name)) fs::remove(source() + "/" + name);
  }
  for (const auto& [name, text] : now) {
    const auto before = written_.find(name);
    if (before != written_.end() && before->second == text) continue;
    const std::string path = source() + "/" + name;
    fs::create_directories(fs::path(path).parent_path());
    if (text.starts_with("-> ")) {
      fs::remove(path);
      fs::create_symlink(text.substr(3), path);
      continue;
    }
    struct stat was = {};
    const bool keeps = tree_.same_time.contains(name) && ::stat(path.c_str(), &was) == 0;
    EXPECT_TRUE(base::WriteFileAtomically(path, text));
    const timespec times[2] = {was.st_atim, was.st_mtim};
    if (keeps) ::utimensat(AT_FDCWD, path.c_str(), times, 0);
  }
  for (const std::string& name : tree_.touched) TouchFile(source() + "/" + name);
  tree_.touched.clear();
  tree_.same_time.clear();
  written_ = std::move(now);
}

base::Result<service::ObjectScan> TunedProject::ScanOne(const service::Object& object) {
  EvaluatorRig& rig = machine_.rig();
  static const base::SystemClock clock;
  base::Result<service::ObjectScan> scan = base::Fail(base::Cancelled("not scanned"));
  for (int tries = 0; tries < kMostScans && !scan; ++tries) {
    if (scan.error().code != base::ErrorCode::kCancelled) break;
    scan = rig.Wait<service::ObjectScan>([&](auto done) {
      service::ScanObject(rig.workers(), clock, object, "close", std::move(done));
    });
  }
  return scan;
}

std::string TunedProject::Scan() {
  const auto project = service::ReadProject(build());
  if (!project) return project.error().message;
  scanned_.clear();
  declined_.clear();
  for (const service::Object& object : service::FindObjects(*project)) {
    auto scan = ScanOne(object);
    if (!scan) return object.folder + ": " + scan.error().message;
    for (const records::Kernel& kernel : scan->kernels) {
      if (!kernel.declined.empty()) declined_.insert(kernel.declined);
    }
    const auto says = RunProgram({build() + "/" + object.target, "architecture"}, ToBuild({}));
    scanned_.push_back({std::move(*scan), says.output.substr(0, says.output.find('\n'))});
  }
  return scanned_.empty() ? "no object was recorded" : "";
}

base::Result<> TunedProject::Accept(const Scanned& one, const records::Kernel& kernel,
                                    const service::Place& place) {
  const records::Workload workload = service::WorkloadAt(kernel, place);
  if (!catalog_.BestSet(kernel.key, workload, place).empty()) return {};
  const records::Variant variant = VariantOf(kernel, options_.frozen);
  TRY(catalog_.SaveKernel(kernel, workload));
  return catalog_.SaveVerdict(variant, AcceptedOf(variant, kernel, workload, place, one.target),
                              one.scan.toolchain);
}

base::Result<> TunedProject::PublishOne(const Scanned& one, records::Lock& lock) {
  const auto places = service::HostPlaces(machine_.host(), one.scan.toolchain).places;
  for (const records::Kernel& kernel : one.scan.kernels) {
    if (!kernel.declined.empty() || kernel.cases.empty()) continue;
    TRY(Accept(one, kernel, places[0]));
  }
  TRY_ASSIGN(const service::Published published, publisher_.Publish(one.scan, places));
  if (!options_.lock) {
    return published.changed ? publisher_.TouchStamp(one.scan.object.folder) : base::Result<>();
  }
  auto locked = publisher_.Lock(one.scan, places, published, {source(), source(), build()});
  for (records::LockedKernel& entry : locked.kernels) lock.kernels.push_back(std::move(entry));
  return {};
}

std::string TunedProject::Publish() {
  records::Lock lock;
  for (const Scanned& one : scanned_) {
    const auto published = PublishOne(one, lock);
    if (!published) return published.error().message;
  }
  if (!options_.lock) return {};
  const auto written =
      base::WriteFileAtomically(source() + "/cupilot.lock", records::LockText(lock));
  return written ? "" : written.error().message;
}

TunedProject::Seen TunedProject::Run(bool disabled) const {
  Seen seen;
  for (const std::string& program : programs_) {
    RunOptions options = ToBuild({{"CUPILOT_STATS", "1"}});
    if (disabled) options.environment["CUPILOT_DISABLE"] = "1";
    const auto run = RunProgram({build() + "/" + program}, options);
    seen.output += program + " " + std::to_string(run.exit_code) + "\n" + run.output;
    std::istringstream lines(run.errors);
    for (std::string line; std::getline(lines, line);) {
      const bool tuned = line.find(" launches tuned") != std::string::npos &&
                         line.find(": 0 launches tuned") == std::string::npos;
      seen.tuned += tuned ? 1 : 0;
    }
  }
  return seen;
}

std::string TunedProject::Reasons() const {
  std::string reasons;
  const auto project = service::ReadProject(build());
  if (!project) return project.error().message;
  for (const service::Object& object : service::FindObjects(*project)) {
    const auto applied = base::ReadFile(object.folder + "/" + source::kAppliedFile);
    const auto json = applied ? records::ParseJson(*applied) : records::Json();
    if (json && json->is_object()) reasons += records::TextAt(*json, "reason") + "; ";
  }
  for (const std::string& why : declined_) reasons += "declined: " + why + "; ";
  return reasons;
}

}  // namespace cupilot::test
