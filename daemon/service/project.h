// What a user's build folder says about itself: project.json, the objects' folders, a running
// build. Reads files; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/compile_command.h"

namespace cupilot::service {

struct Target {
  std::string name;
  std::vector<std::string> kernels;  // only these; empty: all tagged ones
  std::string apply = "auto";        // "auto" | "manual"
  std::string numerics = "close";    // "close" | "bitwise"
  std::string lock = {};             // the lock file, absolute; empty: none
  // Of CTest or of the project's capture_tests; empty: none.
  std::string capture_test = {};
  bool operator==(const Target&) const = default;
};

// A command that shows what kernels are run on (cupilot_capture_test).
struct CaptureTest {
  std::string name;
  std::string folder;              // in which it runs
  std::vector<std::string> words;  // the program first; empty: CMake has not written it (yet)
  bool operator==(const CaptureTest&) const = default;
};

struct Project {
  std::string source_folder;
  std::string build_folder;
  std::vector<Target> targets;
  std::optional<std::string> ctest = {};  // the program; empty: testing is not enabled
  std::string configuration = {};         // of which tests are run; empty: the only one
  std::vector<CaptureTest> capture_tests = {};
  std::int64_t configured_ns = 0;  // when CMake last ran, since the epoch; 0: it is not known
  // The target of that name; one with the defaults if there is none.
  Target FindTarget(const std::string& name) const;
  // Null: it is a test of CTest, if there is one.
  const CaptureTest* FindCaptureTest(const std::string& name) const;
};

// <build_folder>/cupilot/project.json.
base::Result<Project> ReadProject(const std::string& build_folder);

// One object whose compile the launcher has recorded.
struct Object {
  std::string folder;  // .../cupilot/<target>/<object>
  std::string target;
  records::CompileCommand command;
};

// All objects of the project with a readable command.json, by folder.
std::vector<Object> FindObjects(const Project& project);

// The build folders that registered themselves in <state folder>/projects. A registration whose
// build folder or project.json is gone is removed.
std::vector<std::string> ReadRegistrations(const std::string& state_folder);

// Until CMake configures it again.
base::Result<> RemoveRegistration(const std::string& state_folder, const std::string& build_folder);

// True while a launcher compiles in this build folder, or did within the last two seconds (the wall
// clock says what "last" is): between two compiles of one build nobody holds the lock.
bool BuildRuns(const std::string& build_folder, std::int64_t wall_time_ns);

}  // namespace cupilot::service
