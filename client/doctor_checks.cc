#include "client/doctor_checks.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/compiler_program.h"
#include "base/file.h"
#include "base/install_layout.h"
#include "base/paths.h"
#include "client/connection.h"
#include "client/output.h"
#include "client/run_program.h"
#include "client/spawn.h"
#include "records/settings.h"

namespace cupilot::client {
namespace {

using Level = DoctorCheck::Level;
using records::Json;

constexpr std::chrono::seconds kProbeLimit{20};
constexpr const char* kDeviceLock = "/tmp/cupilot-device-host.lock";
constexpr long kEnoughWatches = 8192;

DoctorCheck Good(const char* name, std::string found) {
  return {name, Level::kGood, std::move(found), ""};
}
DoctorCheck Note(const char* name, std::string found, std::string fix) {
  return {name, Level::kNote, std::move(found), std::move(fix)};
}
DoctorCheck Wrong(const char* name, std::string found, std::string fix) {
  return {name, Level::kWrong, std::move(found), std::move(fix)};
}

DoctorCheck CheckPrograms() {
  const std::string libexec = base::LibexecFolder();
  for (const std::string& program :
       {DaemonProgram(), libexec + "/cupilot-worker", libexec + "/cupilot-launcher"}) {
    if (::access(program.c_str(), X_OK) != 0) {
      return Wrong("programs", program + ": " + std::strerror(errno), "install cuPilot again");
    }
  }
  return Good("programs", "daemon, worker and launcher are there");
}

DoctorCheck CheckHostCompiler() {
  const std::string nvcc = base::HostToolkitFolder() + "/bin/nvcc";
  const auto compiler = RunProgram({"c++", "--version"}, "", kProbeLimit);
  if (!compiler || !compiler->ended_well) {
    return Wrong("compiler", "no C++ compiler answers to `c++ --version`",
                 "install one: apt install g++");
  }
  const auto version = RunProgram({nvcc, "--version"}, "", kProbeLimit);
  if (!version || !version->ended_well) {
    return Wrong("compiler", nvcc + " does not run", "install cuPilot again");
  }
  return Good("compiler",
              compiler->output.substr(0, compiler->output.find('\n')) + "; host device by " + nvcc);
}

DoctorCheck CheckToolkit(const std::string& nvcc) {
  if (nvcc.empty()) {
    return Note("toolkit",
                "no nvcc (on the PATH, in CUDA_PATH, CUDA_HOME or /usr/local/cuda): projects are "
                "built for the host device",
                "for a GPU, install the CUDA toolkit");
  }
  const auto version = RunProgram({nvcc, "--version"}, "", kProbeLimit);
  if (!version || !version->ended_well) {
    return Note("toolkit", nvcc + " does not run: projects are built for the host device",
                "install the CUDA toolkit again");
  }
  const std::size_t release = version->output.find("release ");
  return Good("toolkit",
              nvcc + (release == std::string::npos
                          ? ""
                          : ", " + version->output.substr(
                                       release, version->output.find(',', release) - release)));
}

base::Result<ProgramResult> AskWorker(const std::string& op, const Json& params,
                                      const char* kind = "device") {
  return RunProgram({base::LibexecFolder() + "/cupilot-worker", "--kind", kind},
                    Json{{"id", 1}, {"op", op}, {"params", params}}.dump(), kProbeLimit);
}

// What candidates for a GPU are compiled with.
DoctorCheck CheckNvrtc(const std::string& nvcc) {
  const Json toolkits = base::ToolkitFoldersOf(nvcc);
  const auto answer = AskWorker("describe_nvrtc", {{"toolkits", toolkits}}, "build");
  const auto reply = answer ? records::ParseJson(answer->output) : base::Result<Json>(Json());
  const std::string version = reply ? TextOf(ObjectOf(*reply, "result"), "version") : "";
  if (!version.empty()) return Good("nvrtc", "NVRTC " + version);
  if (!nvcc.empty()) {
    return Note(
        "nvrtc",
        "NVRTC (libnvrtc.so.13, .12 or .11.2) is missing: candidates for a GPU are compiled by "
        "nvcc, which takes twenty times as long or more",
        "install the toolkit's package cuda-nvrtc");
  }
  return Note(
      "nvrtc", "NVRTC (libnvrtc.so.13, .12 or .11.2) is missing: nothing is compiled for a GPU",
      "install the CUDA toolkit 13, 12 or 11.8, or its package cuda-nvrtc; kernels for the host "
      "device need none");
}

// What the worker finds, or why it finds nothing.
DoctorCheck CheckGpu() {
  const auto answer = AskWorker("list_devices", Json::object());
  const auto reply = answer ? records::ParseJson(answer->output) : base::Result<Json>(Json());
  const Json list = reply ? ObjectOf(*reply, "result") : Json::object();
  std::string found;
  for (const Json& gpu : ListOf(list, "devices")) {
    found += (found.empty() ? "" : ", ") + TextOf(gpu, "device") + " " + TextOf(gpu, "name") +
             " (" + TextOf(gpu, "arch") + ")";
  }
  if (!found.empty()) return Good("gpu", found);
  const std::string reason = TextOf(list, "reason");
  return Note(
      "gpu",
      "none: kernels of projects that cupilot-nvcc builds are tuned on the host device, and "
      "times are CPU times",
      reason);
}

// What the builds that the daemon knows lack for this machine's GPUs.
std::vector<DoctorCheck> CheckCode(const base::Result<base::UserFolders>& folders) {
  std::vector<DoctorCheck> checks;
  if (!folders || !DaemonServes(*folders)) return checks;
  auto connection = Connection::Open(Connection::Start::kNever);
  if (!connection) return checks;
  const auto status = connection->Request("status");
  if (!status) return checks;
  for (const Json& project : ListOf(*status, "projects")) {
    for (const Json& code : ListOf(project, "code")) {
      if (!code.is_string()) continue;
      checks.push_back(
          Note("code", TextOf(project, "build_folder") + ": " + code.get<std::string>(), ""));
    }
  }
  return checks;
}

// The worker describes its device, which shows that it starts, and with it its sandbox.
std::vector<DoctorCheck> CheckWorker() {
  const auto answer = AskWorker("describe_device", {{"device", "host"}});
  const auto reply = answer ? records::ParseJson(answer->output) : base::Result<Json>(Json());
  if (!answer || !reply || !reply->is_object() || !reply->contains("result")) {
    const std::string why = !answer ? answer.error().message
                            : reply && reply->is_object()
                                ? TextOf(ObjectOf(*reply, "error"), "message")
                                : "it did not answer";
    return {Wrong("worker", "the device worker does not work: " + why, "install cuPilot again")};
  }
  const Json& device = (*reply)["result"];
  std::vector<DoctorCheck> checks = {
      Good("worker", TextOf(device, "name") + " (" + TextOf(device, "arch") + ")")};
  const std::string sandbox = TextOf(device, "sandbox"), lacks = TextOf(device, "sandbox_lacks");
  if (lacks.empty()) {
    checks.push_back(Good("sandbox", sandbox));
  } else {
    checks.push_back(Note("sandbox", sandbox + " only: what is built and run may read your files",
                          lacks + "; require_sandbox in config.json refuses to work so"));
  }
  return checks;
}

DoctorCheck CheckFolders(const base::Result<base::UserFolders>& folders) {
  if (!folders) return Wrong("folders", folders.error().message, "set HOME");
  for (const std::string& folder : {folders->state, folders->cache, folders->runtime}) {
    if (auto made = base::MakePrivateFolder(folder); !made) {
      return Wrong("folders", made.error().message, "make it yours: chmod 700 " + folder);
    }
    if (::access(folder.c_str(), W_OK) != 0) {
      return Wrong("folders", folder + ": " + std::strerror(errno), "make it writable");
    }
  }
  return Good("folders", "private and writable; state in " + folders->state);
}

DoctorCheck CheckSettings(const base::Result<base::UserFolders>& folders) {
  if (!folders) return Note("settings", "not read: no folders", "");
  const std::string file = folders->config + "/config.json";
  const auto settings = records::ReadSettingsFile(file);
  if (!settings) {
    return Wrong("settings", settings.error().message,
                 "mend the file; `cupilot config` shows what there is");
  }
  return Good("settings", base::FileExists(file) ? file : "defaults");
}

DoctorCheck CheckDaemon(const base::Result<base::UserFolders>& folders) {
  if (!folders || !DaemonServes(*folders)) {
    return Note("daemon", "not running", "cupilot daemon start");
  }
  const auto connection = Connection::Open(Connection::Start::kNever);
  if (!connection) {
    return Wrong("daemon", connection.error().message,
                 "cupilot daemon stop, and end its process if it stays");
  }
  if (const std::string warning = connection->VersionWarning(); !warning.empty()) {
    return Wrong("daemon", warning, "cupilot daemon stop, then cupilot daemon start");
  }
  return Good("daemon", "running, process " + std::to_string(connection->pid()) + ", version " +
                            connection->version());
}

DoctorCheck CheckDeviceLock() {
  const int file = ::open(kDeviceLock, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return Good("device lock", "free");
  if (file < 0) {
    return Wrong("device lock", std::string(kDeviceLock) + ": " + std::strerror(errno),
                 "remove the file: no measurement can begin");
  }
  const bool free = ::flock(file, LOCK_EX | LOCK_NB) == 0;
  ::close(file);
  return Good("device lock", free ? "free" : "held: something is being measured now");
}

DoctorCheck CheckWatches() {
  const auto text = base::ReadFile("/proc/sys/fs/inotify/max_user_watches");
  const long limit = text ? std::strtol(text->c_str(), nullptr, 10) : 0;
  if (limit >= kEnoughWatches) return Good("file watches", std::to_string(limit));
  return Note("file watches",
              "the system allows " + std::to_string(limit) + ": edits may be seen late",
              "sysctl fs.inotify.max_user_watches=65536");
}

}  // namespace

std::vector<DoctorCheck> RunDoctorChecks() {
  const auto folders = base::FindUserFolders();
  const std::string nvcc = base::FindNvcc();
  std::vector<DoctorCheck> checks = {CheckPrograms(), CheckHostCompiler(), CheckToolkit(nvcc),
                                     CheckNvrtc(nvcc), CheckGpu()};
  for (DoctorCheck& check : CheckWorker()) checks.push_back(std::move(check));
  checks.push_back(CheckFolders(folders));
  checks.push_back(CheckSettings(folders));
  checks.push_back(CheckDaemon(folders));
  for (DoctorCheck& check : CheckCode(folders)) checks.push_back(std::move(check));
  checks.push_back(CheckDeviceLock());
  checks.push_back(CheckWatches());
  return checks;
}

}  // namespace cupilot::client
