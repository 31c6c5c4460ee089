// What doctor judges by: the machine and the user's folders as they are. Gathered in one place
// (gather.h), so that the judgement (checks.h) is a function of values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cupilot::client {

struct ProgramFacts {
  std::string missing;  // the path of one that is not there or cannot be run; empty: none
  std::string why;
};

struct CompilerFacts {
  std::string version;    // first line of `c++ --version`; empty: it does not answer
  std::string host_nvcc;  // path
  bool host_nvcc_runs = false;
};

struct ToolkitFacts {
  std::string nvcc;  // path; empty: none
  bool runs = false;
  std::string release;  // "release 13.0"; empty: it does not say
  std::string nvrtc;    // version; empty: it cannot be loaded
};

struct GpuFacts {
  std::string found;      // "cuda:0 NVIDIA H200 (sm_90)", comma-separated; empty: none can be used
  std::string reason;     // why, in the worker's words
  bool hardware = false;  // the machine has a GPU of NVIDIA's, whatever drives it
  std::string driver;     // version of the loaded kernel module; empty: it is not loaded
  std::optional<bool> counters_for_root_only;  // nothing: the driver does not say
  bool root = false;
};

struct WorkerFacts {
  std::string trouble;  // why it does not work; empty: it does
  std::string device;   // "cpu (host-x86-64-v3)"
  std::string sandbox;  // what protects
  std::string sandbox_lacks;
};

struct FolderFacts {
  struct Folder {
    std::string path;
    std::string trouble;  // it cannot be made, or is no folder of ours; empty: fine
    bool open = false;    // ours, and open to other users
    bool writable = true;
    std::string file_system;  // "nfs", "cifs", ...: of another machine; empty: local
    bool keeps = true;        // results and what is built; else only the socket
    std::uint64_t free_bytes = 0;
  };
  std::string trouble;          // there are none: HOME is not set
  std::vector<Folder> folders;  // state, cache, runtime
};

struct DaemonFacts {
  bool runs = false;
  std::string trouble;  // it runs and does not answer
  std::string warning;  // it is of another version
  int pid = 0;
  std::string version;
  std::string older_settings;     // it began with others than there are now: a sentence
  std::vector<std::string> code;  // "BUILD FOLDER: what its objects lack for this machine's GPUs"
};

struct SystemFacts {
  std::string kernel;     // "6.1.0-18-amd64"
  long file_watches = 0;  // that a user may have
  bool systemd = false;   // runs for this user
  bool lingers = false;   // also without a session
  std::string user;
  std::int64_t seconds_ahead = 0;   // of the newest of our files to the clock; 0: none is
  std::int64_t server_seconds = 0;  // the file system's clock to ours
};

struct DeviceLockFacts {
  std::string path;
  std::string trouble;  // it is there and cannot be opened
  bool held = false;
};

struct SettingsFacts {
  std::string file;
  bool there = false;
  std::string trouble;
};

struct ProjectFacts {
  std::string registration;  // the file in the state folder
  std::string build_folder;
  std::string source_folder;  // empty: not known
  bool build_folder_gone = false;
  bool source_folder_gone = false;
};

struct DoctorFacts {
  ProgramFacts programs;
  CompilerFacts compiler;
  ToolkitFacts toolkit;
  GpuFacts gpu;
  WorkerFacts worker;
  FolderFacts folders;
  SettingsFacts settings;
  DaemonFacts daemon;
  SystemFacts system;
  DeviceLockFacts device_lock;
  std::vector<ProjectFacts> projects;
};

}  // namespace cupilot::client
