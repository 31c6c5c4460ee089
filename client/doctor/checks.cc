#include "client/doctor/checks.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace cupilot::client {
namespace {

using Level = DoctorCheck::Level;
using Mend = DoctorCheck::Mend;

constexpr long kEnoughWatches = 8192;
constexpr std::uint64_t kMegabyte = 1 << 20;
constexpr std::uint64_t kFull = 100 * kMegabyte;  // the store and one build need that
constexpr std::uint64_t kNearlyFull = 1024 * kMegabyte;
constexpr std::int64_t kSkewSeconds = 5;

DoctorCheck Good(const char* name, std::string found) {
  return {name, Level::kGood, std::move(found), "", Mend::kNone, ""};
}
DoctorCheck Note(const char* name, std::string found, std::string fix) {
  return {name, Level::kNote, std::move(found), std::move(fix), Mend::kNone, ""};
}
DoctorCheck Wrong(const char* name, std::string found, std::string fix) {
  return {name, Level::kWrong, std::move(found), std::move(fix), Mend::kNone, ""};
}

std::string Megabytes(std::uint64_t bytes) { return std::to_string(bytes / kMegabyte) + " MB"; }

// {5, 13} for "5.13.0-rc1"; zeros for what is none.
std::array<int, 2> KernelNumbers(const std::string& release) {
  std::array<int, 2> numbers{};
  if (std::sscanf(release.c_str(), "%d.%d", &numbers[0], &numbers[1]) != 2) return {0, 0};
  return numbers;
}

}  // namespace

DoctorCheck CheckPrograms(const ProgramFacts& facts) {
  if (facts.missing.empty()) return Good("programs", "daemon, worker and launcher are there");
  return Wrong("programs", facts.missing + ": " + facts.why, "install cuPilot again");
}

DoctorCheck CheckCompiler(const CompilerFacts& facts) {
  if (facts.version.empty()) {
    return Wrong("compiler", "no C++ compiler answers to `c++ --version`",
                 "install one: apt install g++");
  }
  if (!facts.host_nvcc_runs) {
    return Wrong("compiler", facts.host_nvcc + " does not run", "install cuPilot again");
  }
  return Good("compiler", facts.version + "; host device by " + facts.host_nvcc);
}

DoctorCheck CheckToolkit(const ToolkitFacts& facts) {
  if (facts.nvcc.empty()) {
    return Note("toolkit",
                "no nvcc (on the PATH, in CUDA_PATH, CUDA_HOME or /usr/local/cuda): projects are "
                "built for the host device",
                "for a GPU, install the CUDA toolkit");
  }
  if (!facts.runs) {
    return Note("toolkit", facts.nvcc + " does not run: projects are built for the host device",
                "install the CUDA toolkit again");
  }
  return Good("toolkit", facts.nvcc + (facts.release.empty() ? "" : ", " + facts.release));
}

// What candidates for a GPU are compiled with.
DoctorCheck CheckNvrtc(const ToolkitFacts& facts) {
  if (!facts.nvrtc.empty()) return Good("nvrtc", "NVRTC " + facts.nvrtc);
  if (!facts.nvcc.empty()) {
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

DoctorCheck CheckDriver(const GpuFacts& facts) {
  if (!facts.driver.empty()) return Good("driver", "NVIDIA " + facts.driver);
  // Containers and WSL2 have no module of their own to show.
  if (!facts.found.empty()) return Good("driver", "it answers");
  if (facts.hardware) {
    return Wrong("driver", "this machine has an NVIDIA GPU, and no driver of NVIDIA's is loaded",
                 "install it (Debian: apt install nvidia-driver; Ubuntu: ubuntu-drivers install), "
                 "then restart; after an update of it, restart too");
  }
  return Good("driver", "no NVIDIA GPU, none is needed");
}

DoctorCheck CheckGpu(const GpuFacts& facts) {
  if (!facts.found.empty()) return Good("gpu", facts.found);
  return Note(
      "gpu",
      "none: kernels of projects that cupilot-nvcc builds are tuned on the host device, and "
      "times are CPU times",
      facts.reason);
}

// Evidence beside a verdict (roofline), never part of it: tuning works without.
DoctorCheck CheckCounters(const GpuFacts& facts) {
  if (facts.found.empty()) return Good("counters", "not needed without a GPU");
  if (facts.root || !facts.counters_for_root_only.value_or(false)) {
    return Good("counters", facts.counters_for_root_only ? "hardware counters may be read"
                                                         : "the driver does not forbid them");
  }
  return Note("counters",
              "hardware counters of the GPU are for administrators only: `explain` says less of "
              "why a kernel is as fast as it is",
              "as root: echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' > "
              "/etc/modprobe.d/cupilot-counters.conf, then update-initramfs -u, and restart");
}

DoctorCheck CheckWorker(const WorkerFacts& facts) {
  if (facts.trouble.empty()) return Good("worker", facts.device);
  return Wrong("worker", "the device worker does not work: " + facts.trouble,
               "install cuPilot again");
}

DoctorCheck CheckSandbox(const WorkerFacts& facts) {
  if (!facts.trouble.empty()) return Note("sandbox", "not known: the worker does not work", "");
  if (facts.sandbox_lacks.empty()) return Good("sandbox", facts.sandbox);
  return Note("sandbox", facts.sandbox + " only: what is built and run may read your files",
              facts.sandbox_lacks + "; require_sandbox in config.json refuses to work so");
}

std::vector<DoctorCheck> CheckFolders(const FolderFacts& facts) {
  if (!facts.trouble.empty()) return {Wrong("folders", facts.trouble, "set HOME")};
  std::vector<DoctorCheck> checks;
  for (const FolderFacts::Folder& folder : facts.folders) {
    if (folder.open) {
      DoctorCheck& check = checks.emplace_back(Wrong(
          "folders", folder.path + " is open to other users", "run: chmod 700 " + folder.path));
      check.mend = Mend::kClosePrivateFolder;
      check.mend_path = folder.path;
    } else if (!folder.trouble.empty()) {
      checks.push_back(Wrong("folders", folder.trouble, "make it a folder of your own"));
    } else if (!folder.writable) {
      checks.push_back(
          Wrong("folders", folder.path + " cannot be written to", "run: chmod 700 " + folder.path));
    }
  }
  if (checks.empty() && !facts.folders.empty()) {
    checks.push_back(
        Good("folders", "private and writable; state in " + facts.folders.front().path));
  }
  return checks;
}

DoctorCheck CheckDisk(const FolderFacts& facts) {
  const FolderFacts::Folder* least = nullptr;
  for (const FolderFacts::Folder& folder : facts.folders) {
    const bool counts = folder.trouble.empty() && folder.keeps;
    if (counts && (least == nullptr || folder.free_bytes < least->free_bytes)) least = &folder;
  }
  if (least == nullptr) return Note("disk", "not looked at: no folders", "");
  const std::string found = Megabytes(least->free_bytes) + " are free for " + least->path;
  if (least->free_bytes >= kNearlyFull) return Good("disk", found);
  const std::string fix =
      "make room: `cupilot prune` drops what is old, and the folder of built "
      "candidates (cache_folder of `cupilot config`) may be deleted";
  if (least->free_bytes >= kFull) return Note("disk", "nearly full: " + found, fix);
  return Wrong("disk", "full: " + found + "; results cannot be kept", fix);
}

DoctorCheck CheckHome(const FolderFacts& facts) {
  for (const FolderFacts::Folder& folder : facts.folders) {
    if (folder.file_system.empty() || !folder.keeps) continue;
    return Note("home",
                folder.path + " is on another machine (" + folder.file_system +
                    "): it is slower, edits made elsewhere are seen late, and daemons of two "
                    "machines would share one store",
                "set XDG_STATE_HOME and XDG_CACHE_HOME to folders of a local disk");
  }
  return Good("home", "on a local disk");
}

namespace {

// Of "FILE: KEY: why"; empty where the file as a whole is wrong.
std::string WrongKey(const SettingsFacts& facts) {
  const std::string before = facts.file + ": ";
  if (!facts.trouble.starts_with(before)) return {};
  const std::size_t end = facts.trouble.find(": ", before.size());
  const std::string key = facts.trouble.substr(before.size(), end - before.size());
  return end == std::string::npos || key.find(' ') != std::string::npos ? "" : key;
}

}  // namespace

DoctorCheck CheckSettings(const SettingsFacts& facts) {
  if (!facts.trouble.empty()) {
    const std::string key = WrongKey(facts);
    return Wrong("settings", facts.trouble,
                 (key.empty() ? "mend " : "mend or delete `" + key + "` in ") + facts.file);
  }
  return Good("settings", facts.there ? facts.file : "defaults");
}

DoctorCheck CheckDaemon(const DaemonFacts& facts) {
  if (!facts.runs) return Note("daemon", "not running", "cupilot daemon start");
  if (!facts.trouble.empty()) {
    return Wrong("daemon", facts.trouble, "cupilot daemon stop, and end its process if it stays");
  }
  if (!facts.warning.empty()) {
    return Wrong("daemon", facts.warning, "cupilot daemon stop, then cupilot daemon start");
  }
  if (!facts.older_settings.empty()) return Note("daemon", facts.older_settings, "");
  return Good("daemon",
              "running, process " + std::to_string(facts.pid) + ", version " + facts.version);
}

std::vector<DoctorCheck> CheckCode(const DaemonFacts& facts) {
  std::vector<DoctorCheck> checks;
  checks.reserve(facts.code.size());
  for (const std::string& lacks : facts.code) checks.push_back(Note("code", lacks, ""));
  return checks;
}

DoctorCheck CheckLingering(const SystemFacts& facts) {
  if (!facts.systemd) return Good("lingering", "systemd does not run for you: nothing ends");
  if (facts.lingers) return Good("lingering", "the daemon works on when you log out");
  return Note("lingering", "when you log out, systemd ends the daemon, and tuning with it",
              "to let it work over night: loginctl enable-linger " + facts.user);
}

DoctorCheck CheckKernel(const SystemFacts& facts) {
  constexpr std::array<int, 2> kNeeded{5, 9}, kLandlock{5, 13};
  const auto numbers = KernelNumbers(facts.kernel);
  const std::string found = "Linux " + facts.kernel;
  if (numbers == std::array<int, 2>{0, 0}) return Note("kernel", found + ": not understood", "");
  if (numbers < kNeeded) {
    return Wrong("kernel", found + ": too old, the daemon needs 5.9", "install a newer kernel");
  }
  if (numbers < kLandlock) {
    return Note("kernel", found + ": before 5.13 there is no Landlock, one half of the sandbox",
                "install a newer kernel, or bubblewrap: apt install bubblewrap");
  }
  return Good("kernel", found);
}

DoctorCheck CheckWatches(const SystemFacts& facts) {
  if (facts.file_watches >= kEnoughWatches) {
    return Good("file watches", std::to_string(facts.file_watches));
  }
  return Note(
      "file watches",
      "the system allows " + std::to_string(facts.file_watches) + ": edits may be seen late",
      "sysctl fs.inotify.max_user_watches=65536");
}

DoctorCheck CheckClock(const SystemFacts& facts) {
  if (facts.seconds_ahead > kSkewSeconds) {
    return Wrong("clock",
                 "files of cuPilot are from " + std::to_string(facts.seconds_ahead) +
                     " s in the future: the clock was set back, and builds cannot tell what is new",
                 "set the clock (timedatectl set-ntp true); else it heals by itself in that time");
  }
  if (std::abs(facts.server_seconds) > kSkewSeconds) {
    return Note("clock",
                "the clock of your files' machine and this one's differ by " +
                    std::to_string(std::abs(facts.server_seconds)) +
                    " s: builds may do too much or too little",
                "set both clocks (timedatectl set-ntp true)");
  }
  return Good("clock", "agrees with the files");
}

DoctorCheck CheckDeviceLock(const DeviceLockFacts& facts) {
  if (!facts.trouble.empty()) {
    return Wrong("device lock", facts.path + ": " + facts.trouble,
                 "remove the file: no measurement can begin");
  }
  return Good("device lock", facts.held ? "held: something is being measured now" : "free");
}

std::vector<DoctorCheck> CheckProjects(const std::vector<ProjectFacts>& facts) {
  std::vector<DoctorCheck> checks;
  for (const ProjectFacts& project : facts) {
    if (project.build_folder_gone) {
      DoctorCheck& check = checks.emplace_back(
          Note("projects", "the build folder " + project.build_folder + " is gone",
               "nothing is lost: results stay, and the next configure registers it again"));
      check.mend = Mend::kDropRegistration;
      check.mend_path = project.registration;
    } else if (project.source_folder_gone) {
      checks.push_back(
          Note("projects",
               "the sources of " + project.build_folder + " are gone: " + project.source_folder,
               "delete the build folder if you need it no more, or configure again "
               "where the sources are now"));
    }
  }
  if (checks.empty()) checks.push_back(Good("projects", std::to_string(facts.size()) + " known"));
  return checks;
}

std::vector<DoctorCheck> RunDoctorChecks(const DoctorFacts& facts) {
  std::vector<DoctorCheck> checks = {
      CheckPrograms(facts.programs), CheckCompiler(facts.compiler), CheckToolkit(facts.toolkit),
      CheckNvrtc(facts.toolkit),     CheckDriver(facts.gpu),        CheckGpu(facts.gpu),
      CheckCounters(facts.gpu),      CheckWorker(facts.worker),     CheckSandbox(facts.worker)};
  const auto add = [&checks](std::vector<DoctorCheck> more) {
    std::move(more.begin(), more.end(), std::back_inserter(checks));
  };
  add(CheckFolders(facts.folders));
  add({CheckDisk(facts.folders), CheckHome(facts.folders), CheckSettings(facts.settings),
       CheckDaemon(facts.daemon)});
  add(CheckCode(facts.daemon));
  add(CheckProjects(facts.projects));
  add({CheckLingering(facts.system), CheckKernel(facts.system), CheckClock(facts.system),
       CheckDeviceLock(facts.device_lock), CheckWatches(facts.system)});
  return checks;
}

}  // namespace cupilot::client
