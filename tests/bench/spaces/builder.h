// A kernel's text with macros to what a device loads. Three compilers: NVRTC in this process, nvcc
// (cubins, where there is no GPU), and the host toolkit's.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace cupilot::spaces {

struct BuilderOptions {
  std::string compiler;      // of a command; empty: NVRTC
  std::string toolkit;       // folder in which NVRTC is
  std::string architecture;  // "sm_90"; "host"
  std::string folder;        // of what is written; there already
};

struct Built {
  bool failed = false;
  std::string log;       // where it failed: one line
  std::string artifact;  // file
  double seconds = 0;
};

// `stem` names the files; one that is there is overwritten. An error: the compiler itself is not to
// be had. One thread at a time.
base::Result<Built> Build(const BuilderOptions& options, const std::string& text,
                          const std::vector<std::string>& defines, const std::string& stem);

// Processes that build: as many points are compiled at once, and ahead of the device.
class BuildPool {
 public:
  struct Done {
    std::size_t number = 0;
    Built built;
  };

  // Forks; before this process opens a device or starts a thread. Each process builds `first` for
  // nobody before it takes anything: its compiler's start would count as that of the first points.
  static base::Result<BuildPool> Start(const BuilderOptions& options, const std::string& text,
                                       const std::vector<std::string>& first, unsigned processes);
  BuildPool(BuildPool&&) = default;
  BuildPool& operator=(BuildPool&&) = delete;
  ~BuildPool();

  bool HasIdle() const;
  std::size_t under_way() const;
  // HasIdle().
  base::Result<> Submit(std::size_t number, const std::vector<std::string>& defines);
  // What is done; waits for one where `wait` and something is under way.
  base::Result<std::vector<Done>> Collect(bool wait);

 private:
  struct Child {
    int pid = -1;
    int socket = -1;
    bool busy = false;
    std::size_t number = 0;
  };
  BuildPool() = default;
  std::vector<Child> children_;
};

}  // namespace cupilot::spaces
