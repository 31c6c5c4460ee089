// Which workloads the tests that projects name are to show, and what was tried already: values, and
// pure functions of them.
#pragma once

#include <compare>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "service/project.h"

namespace cupilot::service {

// A test of a build folder.
struct CaptureId {
  std::string build_folder;
  std::string test;
  auto operator<=>(const CaptureId&) const = default;
};

// An object of a target that names a capture test.
struct CaptureObject {
  struct Kernel {
    std::string file;
    std::string label;
    std::vector<std::string> parameters;  // their types
    bool lacks = false;                   // a workload
    bool gone = false;                    // what was captured of it, for want of room
  };
  CaptureId id;
  std::vector<Kernel> kernels;
  bool read = true;              // false: its kernels may be others soon
  bool built = true;             // false: the object is not made of what was read
  std::string build;             // another text after each compile and each configure
  std::set<std::string> places;  // devices that its kernels run on
};

// A test that is to show something.
struct CaptureDemand {
  CaptureId id;
  std::string key;    // these kernels with these parameters, this build
  bool ready = true;  // false: a build or the reading of a source comes first
  bool built = true;
  bool gone = false;  // of all that lack a workload: what was captured had no room
  std::set<std::string> places;
};

// Of the tests for which a kernel lacks a workload, in the order of their ids.
std::vector<CaptureDemand> DemandsOf(const std::vector<CaptureObject>& objects);

// The last try of a test.
struct CaptureTry {
  std::string key;      // of the demand
  int begun = 0;        // times that it was begun for this key
  bool ended = false;   // false: the daemon ended first, or a build or a snooze came between
  std::string failure;  // "exit 8"; empty: none
  std::string log;      // path of what it printed
  bool operator==(const CaptureTry&) const = default;
};

// So often a capture that something comes between is begun for one build.
inline constexpr int kMostBegun = 3;

// `last` may be null.
bool IsDue(const CaptureDemand& demand, const CaptureTry* last);

// What a kernel without a workload waits for, as the end of a sentence for people.
std::string NoteOf(const CaptureDemand& demand, const CaptureTry* last);

struct CaptureCommand {
  std::string folder;  // in which it runs
  std::vector<std::string> words;
};
// How the test is run. An error's message says why it cannot be.
base::Result<CaptureCommand> CommandOf(const Project& project, const std::string& test);

// The text as a regular expression of CTest's that matches nothing else.
std::string EscapedForCTest(const std::string& text);

}  // namespace cupilot::service
