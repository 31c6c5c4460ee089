#include "client/doctor/gather.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "base/compiler_program.h"
#include "base/file.h"
#include "base/install_layout.h"
#include "base/paths.h"
#include "client/connection.h"
#include "client/older_settings.h"
#include "client/output.h"
#include "client/run_program.h"
#include "client/spawn.h"
#include "records/settings.h"

namespace cupilot::client {
namespace {

namespace fs = std::filesystem;
using records::Json;

constexpr std::chrono::seconds kProbeLimit{20};
constexpr const char* kHostDeviceLock = "/tmp/cupilot-device-host.lock";

// Empty where the program does not run or fails.
std::string OutputOf(const std::vector<std::string>& words) {
  const auto run = RunProgram(words, "", kProbeLimit);
  return run && run->ended_well ? run->output : "";
}

ProgramFacts GatherPrograms() {
  const std::string libexec = base::LibexecFolder();
  for (const std::string& program :
       {DaemonProgram(), libexec + "/cupilot-worker", libexec + "/cupilot-launcher"}) {
    if (::access(program.c_str(), X_OK) != 0) return {program, std::strerror(errno)};
  }
  return {};
}

CompilerFacts GatherCompiler() {
  CompilerFacts facts;
  const std::string version = OutputOf({"c++", "--version"});
  facts.version = version.substr(0, version.find('\n'));
  facts.host_nvcc = base::HostToolkitFolder() + "/bin/nvcc";
  facts.host_nvcc_runs = !OutputOf({facts.host_nvcc, "--version"}).empty();
  return facts;
}

// The worker's reply to one request; null where it gives none.
Json AskWorker(const std::string& op, const Json& params, const char* kind, std::string& trouble) {
  const auto answer =
      RunProgram({base::LibexecFolder() + "/cupilot-worker", "--kind", kind},
                 Json{{"id", 1}, {"op", op}, {"params", params}}.dump(), kProbeLimit);
  const auto reply = answer ? records::ParseJson(answer->output) : base::Result<Json>(Json());
  if (reply && reply->is_object() && reply->contains("result")) return (*reply)["result"];
  trouble = !answer                       ? answer.error().message
            : reply && reply->is_object() ? TextOf(ObjectOf(*reply, "error"), "message")
                                          : "it did not answer";
  return Json::object();
}

ToolkitFacts GatherToolkit() {
  ToolkitFacts facts;
  facts.nvcc = base::FindNvcc();
  if (!facts.nvcc.empty()) {
    const std::string version = OutputOf({facts.nvcc, "--version"});
    facts.runs = !version.empty();
    const std::size_t release = version.find("release ");
    if (release != std::string::npos) {
      facts.release = version.substr(release, version.find(',', release) - release);
    }
  }
  std::string trouble;
  const Json toolkits = base::ToolkitFoldersOf(facts.nvcc);
  facts.nvrtc =
      TextOf(AskWorker("describe_nvrtc", {{"toolkits", toolkits}}, "build", trouble), "version");
  return facts;
}

// A display controller (class 03) of NVIDIA's on the PCI bus.
bool HasNvidiaHardware() {
  std::error_code error;
  for (const auto& device : fs::directory_iterator("/sys/bus/pci/devices", error)) {
    const std::string folder = device.path().string();
    if (base::ReadFile(folder + "/vendor").value_or("").rfind("0x10de", 0) == 0 &&
        base::ReadFile(folder + "/class").value_or("").rfind("0x03", 0) == 0) {
      return true;
    }
  }
  return false;
}

GpuFacts GatherGpu() {
  GpuFacts facts;
  std::string trouble;
  const Json list = AskWorker("list_devices", Json::object(), "device", trouble);
  for (const Json& gpu : ListOf(list, "devices")) {
    facts.found += (facts.found.empty() ? "" : ", ") + TextOf(gpu, "device") + " " +
                   TextOf(gpu, "name") + " (" + TextOf(gpu, "arch") + ")";
  }
  facts.reason = TextOf(list, "reason");
  facts.hardware = HasNvidiaHardware();
  const std::string version = base::ReadFile("/sys/module/nvidia/version").value_or("");
  facts.driver = version.substr(0, version.find('\n'));
  const std::string params = base::ReadFile("/proc/driver/nvidia/params").value_or("");
  constexpr std::string_view kKey = "RmProfilingAdminOnly: ";
  if (const std::size_t at = params.find(kKey); at != std::string::npos) {
    facts.counters_for_root_only = params.compare(at + kKey.size(), 1, "1") == 0;
  }
  facts.root = ::geteuid() == 0;
  return facts;
}

// The worker describes its device, which shows that it starts, and with it its sandbox.
WorkerFacts GatherWorker() {
  WorkerFacts facts;
  const Json device = AskWorker("describe_device", {{"device", "host"}}, "device", facts.trouble);
  facts.device = TextOf(device, "name") + " (" + TextOf(device, "arch") + ")";
  facts.sandbox = TextOf(device, "sandbox");
  facts.sandbox_lacks = TextOf(device, "sandbox_lacks");
  return facts;
}

// Of file systems whose files are another machine's.
std::string RemoteName(long type) {
  constexpr long kCifs = 0xff534d42, kFuse = 0x65735546;
  if (type == NFS_SUPER_MAGIC) return "nfs";
  if (type == AFS_SUPER_MAGIC) return "afs";
  if (type == V9FS_MAGIC) return "9p";
  if (type == SMB_SUPER_MAGIC || type == kCifs || type == SMB2_SUPER_MAGIC) return "cifs";
  if (type == CEPH_SUPER_MAGIC) return "ceph";
  return type == kFuse ? "fuse" : "";
}

FolderFacts GatherFolders(const base::Result<base::UserFolders>& folders) {
  FolderFacts facts;
  if (!folders) {
    facts.trouble = folders.error().message;
    return facts;
  }
  for (const std::string& path : {folders->state, folders->cache, folders->runtime}) {
    FolderFacts::Folder& folder = facts.folders.emplace_back();
    folder.path = path;
    folder.keeps = path != folders->runtime;
    if (auto made = base::MakePrivateFolder(path); !made) folder.trouble = made.error().message;
    struct stat status{};
    const bool ours = ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                      status.st_uid == ::getuid();
    folder.open = ours && (status.st_mode & 0077) != 0;
    folder.writable = ::access(path.c_str(), W_OK) == 0;
    struct statfs system{};
    if (::statfs(path.c_str(), &system) != 0) continue;
    folder.file_system = RemoteName(static_cast<long>(system.f_type));
    folder.free_bytes =
        static_cast<std::uint64_t>(system.f_bavail) * static_cast<std::uint64_t>(system.f_bsize);
  }
  return facts;
}

SettingsFacts GatherSettings(const base::Result<base::UserFolders>& folders) {
  SettingsFacts facts;
  if (!folders) return facts;
  facts.file = folders->config + "/config.json";
  facts.there = base::FileExists(facts.file);
  if (const auto settings = records::ReadSettingsFile(facts.file); !settings) {
    facts.trouble = settings.error().message;
  }
  return facts;
}

DaemonFacts GatherDaemon(const base::Result<base::UserFolders>& folders) {
  DaemonFacts facts;
  facts.runs = folders && DaemonRuns(*folders);
  if (!facts.runs) return facts;
  auto connection = Connection::Open(Connection::Start::kNever);
  if (!connection) {
    facts.trouble = connection.error().message;
    return facts;
  }
  facts.pid = connection->pid();
  facts.version = connection->version();
  facts.warning = connection->VersionWarning();
  const auto status = connection->Request("status");
  if (!status) return facts;
  facts.older_settings = OlderSettings(*status);
  for (const Json& project : ListOf(*status, "projects")) {
    for (const Json& code : ListOf(project, "code")) {
      if (!code.is_string()) continue;
      facts.code.push_back(TextOf(project, "build_folder") + ": " + code.get<std::string>());
    }
  }
  return facts;
}

std::int64_t SecondsOf(const std::string& path) {
  const auto file = base::IdentifyFile(path);
  return file ? file->mtime_ns / 1'000'000'000 : 0;
}

// By a file that is written now.
std::int64_t ServerSeconds(const std::string& folder) {
  const std::string path = folder + "/clock" + base::UniqueSuffix();
  const std::int64_t before = std::time(nullptr);
  if (!base::WriteFileAtomically(path, "")) return 0;
  const std::int64_t written = SecondsOf(path);
  (void)base::RemoveTree(path);
  const std::int64_t after = std::time(nullptr);
  return written < before ? written - before : written > after ? written - after : 0;
}

SystemFacts GatherSystem(const base::Result<base::UserFolders>& folders) {
  SystemFacts facts;
  utsname name{};
  if (::uname(&name) == 0) facts.kernel = name.release;
  const auto watches = base::ReadFile("/proc/sys/fs/inotify/max_user_watches");
  facts.file_watches = watches ? std::strtol(watches->c_str(), nullptr, 10) : 0;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  facts.systemd = runtime != nullptr && base::FileExists(std::string(runtime) + "/systemd/private");
  if (const passwd* user = ::getpwuid(::getuid())) facts.user = user->pw_name;
  facts.lingers = base::FileExists("/var/lib/systemd/linger/" + facts.user);
  if (!folders || !base::FileExists(folders->state)) return facts;
  facts.server_seconds = ServerSeconds(folders->state);
  // By the files' own clock: a server's that goes wrong is said apart.
  const std::int64_t now = std::time(nullptr) + facts.server_seconds;
  for (const char* file : {"/daemon.lock", "/daemon.log", "/store/CURRENT", "/store/LOG"}) {
    facts.seconds_ahead = std::max(facts.seconds_ahead, SecondsOf(folders->state + file) - now);
  }
  return facts;
}

DeviceLockFacts GatherDeviceLock() {
  DeviceLockFacts facts;
  facts.path = kHostDeviceLock;
  const int file = ::open(kHostDeviceLock, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) {
    if (errno != ENOENT) facts.trouble = std::strerror(errno);
    return facts;
  }
  facts.held = ::flock(file, LOCK_EX | LOCK_NB) != 0;
  ::close(file);
  return facts;
}

Json ReadObject(const std::string& path) {
  const auto text = base::ReadFile(path);
  const auto json = text ? records::ParseJson(*text) : base::Result<Json>(Json());
  return json && json->is_object() ? *json : Json::object();
}

std::vector<ProjectFacts> GatherProjects(const base::Result<base::UserFolders>& folders) {
  std::vector<ProjectFacts> all;
  if (!folders) return all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folders->state + "/projects", error)) {
    ProjectFacts facts;
    facts.registration = entry.path().string();
    facts.build_folder = TextOf(ReadObject(facts.registration), "build_folder");
    if (facts.build_folder.empty()) continue;
    facts.source_folder =
        TextOf(ReadObject(facts.build_folder + "/cupilot/project.json"), "source_folder");
    facts.build_folder_gone = !base::FileExists(facts.build_folder);
    facts.source_folder_gone =
        !facts.source_folder.empty() && !base::FileExists(facts.source_folder);
    all.push_back(std::move(facts));
  }
  return all;
}

}  // namespace

DoctorFacts GatherDoctorFacts() {
  const auto folders = base::FindUserFolders();
  DoctorFacts facts;
  facts.programs = GatherPrograms();
  facts.compiler = GatherCompiler();
  facts.toolkit = GatherToolkit();
  facts.gpu = GatherGpu();
  facts.worker = GatherWorker();
  facts.folders = GatherFolders(folders);
  facts.settings = GatherSettings(folders);
  facts.daemon = GatherDaemon(folders);
  facts.system = GatherSystem(folders);
  facts.device_lock = GatherDeviceLock();
  facts.projects = GatherProjects(folders);
  return facts;
}

}  // namespace cupilot::client
