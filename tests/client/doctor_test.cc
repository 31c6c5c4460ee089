// Doctor's judgement of made-up machines: each check, where all is well and where it is not.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/file.h"
#include "client/doctor/checks.h"
#include "client/doctor/mend.h"
#include "tests/client/client_fixture.h"

namespace cupilot::client {
namespace {

using records::Json;
using ::testing::HasSubstr;
using Level = DoctorCheck::Level;

void ExpectGood(const DoctorCheck& check) {
  EXPECT_EQ(check.level, Level::kGood) << check.name << ": " << check.found;
  EXPECT_EQ(check.fix, "") << check.name;
}
// With words of what was found and of what to do about it.
void ExpectTrouble(const DoctorCheck& check, Level level, const char* found, const char* fix) {
  EXPECT_EQ(check.level, level) << check.name << ": " << check.found;
  EXPECT_THAT(check.found, HasSubstr(found)) << check.name;
  EXPECT_THAT(check.fix, HasSubstr(fix)) << check.name;
}

TEST(Doctor, Programs) {
  ExpectGood(CheckPrograms({}));
  ExpectTrouble(CheckPrograms({"/opt/cupilotd", "No such file"}), Level::kWrong, "/opt/cupilotd",
                "install");
}

TEST(Doctor, Compiler) {
  ExpectGood(CheckCompiler({"g++ 12", "/x/nvcc", true}));
  ExpectTrouble(CheckCompiler({"", "/x/nvcc", true}), Level::kWrong, "no C++ compiler", "apt");
  ExpectTrouble(CheckCompiler({"g++ 12", "/x/nvcc", false}), Level::kWrong, "/x/nvcc", "install");
}

TEST(Doctor, Toolkit) {
  ExpectGood(CheckToolkit({"/c/nvcc", true, "release 13.0", "13.0"}));
  ExpectTrouble(CheckToolkit({}), Level::kNote, "no nvcc", "CUDA toolkit");
  ExpectTrouble(CheckToolkit({"/c/nvcc", false, "", ""}), Level::kNote, "does not run", "again");
}

TEST(Doctor, Nvrtc) {
  ExpectGood(CheckNvrtc({"/c/nvcc", true, "", "13.0"}));
  ExpectTrouble(CheckNvrtc({"/c/nvcc", true, "", ""}), Level::kNote, "twenty times", "cuda-nvrtc");
  ExpectTrouble(CheckNvrtc({}), Level::kNote, "nothing is compiled", "CUDA toolkit");
}

TEST(Doctor, Driver) {
  GpuFacts facts;
  ExpectGood(CheckDriver(facts));  // no GPU
  facts.hardware = true;
  ExpectTrouble(CheckDriver(facts), Level::kWrong, "no driver", "apt install nvidia-driver");
  facts.found = "cuda:0";  // in a container, which shows no module
  ExpectGood(CheckDriver(facts));
  facts.driver = "580.82";
  EXPECT_THAT(CheckDriver(facts).found, HasSubstr("580.82"));
}

TEST(Doctor, Gpu) {
  GpuFacts facts;
  facts.reason = "libcuda.so.1 is missing";
  ExpectTrouble(CheckGpu(facts), Level::kNote, "CPU times", "libcuda.so.1");
  facts.found = "cuda:0 H200 (sm_90)";
  ExpectGood(CheckGpu(facts));
}

TEST(Doctor, Counters) {
  GpuFacts facts;
  facts.counters_for_root_only = true;
  ExpectGood(CheckCounters(facts));  // no GPU
  facts.found = "cuda:0";
  ExpectTrouble(CheckCounters(facts), Level::kNote, "administrators",
                "NVreg_RestrictProfilingToAdminUsers=0");
  facts.root = true;
  ExpectGood(CheckCounters(facts));
  facts.root = false;
  facts.counters_for_root_only = false;
  ExpectGood(CheckCounters(facts));
}

TEST(Doctor, WorkerAndSandbox) {
  const WorkerFacts good{"", "cpu (host-x86-64-v3)", "bubblewrap, Landlock 7", ""};
  ExpectGood(CheckWorker(good));
  ExpectGood(CheckSandbox(good));
  ExpectTrouble(CheckWorker({"killed", "", "", ""}), Level::kWrong, "killed", "install");
  EXPECT_EQ(CheckSandbox({"killed", "", "", ""}).level, Level::kNote);
  ExpectTrouble(CheckSandbox({"", "cpu", "seccomp", "no Landlock: Linux 5.13"}), Level::kNote,
                "may read your files", "5.13");
}

FolderFacts::Folder MakeFolder(const char* path) {
  FolderFacts::Folder folder;
  folder.path = path;
  folder.free_bytes = std::uint64_t{100} << 30;
  return folder;
}

TEST(Doctor, Folders) {
  FolderFacts facts;
  facts.folders = {MakeFolder("/h/state"), MakeFolder("/h/cache")};
  ASSERT_EQ(CheckFolders(facts).size(), 1u);
  ExpectGood(CheckFolders(facts)[0]);
  facts.folders[0].open = true;
  facts.folders[1].writable = false;
  const auto checks = CheckFolders(facts);
  ASSERT_EQ(checks.size(), 2u);
  ExpectTrouble(checks[0], Level::kWrong, "/h/state is open", "chmod 700 /h/state");
  EXPECT_EQ(checks[0].mend, DoctorCheck::Mend::kClosePrivateFolder);
  ExpectTrouble(checks[1], Level::kWrong, "/h/cache cannot be written", "chmod");
  EXPECT_EQ(checks[1].mend, DoctorCheck::Mend::kNone);
  facts.folders = {MakeFolder("/h/state")};
  facts.folders[0].trouble = "/h/state is not a folder";
  ExpectTrouble(CheckFolders(facts)[0], Level::kWrong, "not a folder", "folder of your own");
  facts.trouble = "HOME is not set";
  ExpectTrouble(CheckFolders(facts)[0], Level::kWrong, "HOME", "set HOME");
}

TEST(Doctor, Disk) {
  FolderFacts facts;
  facts.folders = {MakeFolder("/h/state"), MakeFolder("/h/cache")};
  ExpectGood(CheckDisk(facts));
  facts.folders[1].free_bytes = std::uint64_t{500} << 20;
  ExpectTrouble(CheckDisk(facts), Level::kNote, "500 MB are free for /h/cache", "cupilot prune");
  facts.folders.push_back(MakeFolder("/run/user/1"));
  facts.folders[2].keeps = false;  // small in memory, and that is enough
  facts.folders[2].free_bytes = 1000;
  EXPECT_EQ(CheckDisk(facts).level, Level::kNote);
  facts.folders[0].free_bytes = 1000;
  ExpectTrouble(CheckDisk(facts), Level::kWrong, "/h/state", "make room");
}

TEST(Doctor, Home) {
  FolderFacts facts;
  facts.folders = {MakeFolder("/h/state")};
  ExpectGood(CheckHome(facts));
  facts.folders[0].file_system = "nfs";
  ExpectTrouble(CheckHome(facts), Level::kNote, "nfs", "XDG_STATE_HOME");
}

TEST(Doctor, Settings) {
  EXPECT_EQ(CheckSettings({"/c.json", false, ""}).found, "defaults");
  ExpectGood(CheckSettings({"/c.json", true, ""}));
  ExpectTrouble(CheckSettings({"/c.json", true, "/c.json: paralel: unknown"}), Level::kWrong,
                "paralel", "mend or delete `paralel` in /c.json");
  ExpectTrouble(CheckSettings({"/c.json", true, "/c.json: line 1, column 2: no value"}),
                Level::kWrong, "line 1", "mend /c.json");
}

TEST(Doctor, Daemon) {
  DaemonFacts facts;
  ExpectTrouble(CheckDaemon(facts), Level::kNote, "not running", "cupilot daemon start");
  facts.runs = true;
  facts.pid = 42;
  facts.version = "0.1.0";
  ExpectGood(CheckDaemon(facts));
  EXPECT_TRUE(CheckCode(facts).empty());
  facts.code = {"/b: no code for sm_90"};
  ExpectTrouble(CheckCode(facts).at(0), Level::kNote, "sm_90", "");
  facts.warning = "the daemon is version 0.0.1";
  ExpectTrouble(CheckDaemon(facts), Level::kWrong, "0.0.1", "daemon stop");
  facts.trouble = "it may be frozen";
  ExpectTrouble(CheckDaemon(facts), Level::kWrong, "frozen", "end its process");
}

TEST(Doctor, Lingering) {
  SystemFacts facts;
  facts.user = "ada";
  ExpectGood(CheckLingering(facts));
  facts.systemd = true;
  ExpectTrouble(CheckLingering(facts), Level::kNote, "log out", "enable-linger ada");
  facts.lingers = true;
  ExpectGood(CheckLingering(facts));
}

TEST(Doctor, Kernel) {
  SystemFacts facts;
  facts.kernel = "6.1.0-18-amd64";
  ExpectGood(CheckKernel(facts));
  facts.kernel = "5.10.0";
  ExpectTrouble(CheckKernel(facts), Level::kNote, "Landlock", "bubblewrap");
  facts.kernel = "4.19.0";
  ExpectTrouble(CheckKernel(facts), Level::kWrong, "too old", "newer kernel");
  facts.kernel = "mine";
  EXPECT_EQ(CheckKernel(facts).level, Level::kNote);
}

TEST(Doctor, Clock) {
  SystemFacts facts;
  ExpectGood(CheckClock(facts));
  facts.server_seconds = -90;
  ExpectTrouble(CheckClock(facts), Level::kNote, "90 s", "set-ntp");
  facts.seconds_ahead = 3600;
  ExpectTrouble(CheckClock(facts), Level::kWrong, "3600 s in the future", "set-ntp");
}

TEST(Doctor, Watches) {
  SystemFacts facts;
  facts.file_watches = 65536;
  ExpectGood(CheckWatches(facts));
  facts.file_watches = 128;
  ExpectTrouble(CheckWatches(facts), Level::kNote, "128", "max_user_watches");
}

TEST(Doctor, DeviceLock) {
  ExpectGood(CheckDeviceLock({"/tmp/l", "", false}));
  EXPECT_THAT(CheckDeviceLock({"/tmp/l", "", true}).found, HasSubstr("being measured"));
  ExpectTrouble(CheckDeviceLock({"/tmp/l", "Permission denied", false}), Level::kWrong,
                "Permission denied", "remove");
}

TEST(Doctor, Projects) {
  const ProjectFacts fine{"/s/1.json", "/p/build", "/p", false, false};
  ASSERT_EQ(CheckProjects({fine}).size(), 1u);
  ExpectGood(CheckProjects({fine})[0]);
  const auto checks = CheckProjects({fine,
                                     {"/s/2.json", "/q/build", "", true, false},
                                     {"/s/3.json", "/r/build", "/r", false, true}});
  ASSERT_EQ(checks.size(), 2u);
  ExpectTrouble(checks[0], Level::kNote, "/q/build is gone", "nothing is lost");
  EXPECT_EQ(checks[0].mend, DoctorCheck::Mend::kDropRegistration);
  ExpectTrouble(checks[1], Level::kNote, "sources of /r/build are gone", "configure again");
  EXPECT_EQ(checks[1].mend, DoctorCheck::Mend::kNone);
}

TEST(Doctor, AllAreShown) {
  std::set<std::string> names;
  for (const DoctorCheck& check : RunDoctorChecks({})) names.insert(check.name);
  for (const char* name : {"programs", "compiler", "toolkit", "nvrtc", "driver", "gpu", "counters",
                           "worker", "sandbox", "disk", "home", "settings", "daemon", "projects",
                           "lingering", "kernel", "clock", "device lock", "file watches"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST_F(ClientTest, DoctorMendsOnlyWhenItIsAskedTo) {
  std::filesystem::create_directories(xdg_.state());
  std::filesystem::permissions(xdg_.state(), std::filesystem::perms::all);
  const std::string gone = xdg_.folder().Write(
      "state/cupilot/projects/1.json", Json{{"build_folder", xdg_.folder() / "gone"}}.dump());
  const std::string kept = xdg_.folder().Write("state/cupilot/projects/2.json",
                                               Json{{"build_folder", xdg_.folder().path()}}.dump());
  EXPECT_THAT(Run({"doctor"}).output, HasSubstr("cupilot doctor --fix"));
  EXPECT_TRUE(base::FileExists(gone));
  const auto mended = Run({"doctor", "--fix"});
  EXPECT_THAT(mended.output, HasSubstr("fixed: closed " + xdg_.state()));
  EXPECT_THAT(mended.output, HasSubstr("fixed: removed " + gone));
  EXPECT_FALSE(base::FileExists(gone));
  EXPECT_TRUE(base::FileExists(kept));
  EXPECT_EQ(std::filesystem::status(xdg_.state()).permissions(), std::filesystem::perms::owner_all);
  EXPECT_EQ(RunJson({"doctor", "--fix"}, Run({"doctor"}).exit_code)["fixed"].size(), 0u);
}

TEST_F(ClientTest, WhatCannotBeMendedIsSaid) {
  DoctorCheck check;
  check.mend = DoctorCheck::Mend::kClosePrivateFolder;
  check.mend_path = xdg_.folder() / "none";
  const auto mended = Mend(check);
  ASSERT_FALSE(mended);
  EXPECT_THAT(mended.error().message, HasSubstr(check.mend_path));
}

}  // namespace
}  // namespace cupilot::client
