// A user's project in a folder of its own: built by CMake through the real launcher, scanned by the
// real worker, published by the real publisher. Only the evaluation is made up: each kernel gets at
// once a variant that computes what the scan says that the kernel computes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "cache/memory_store.h"
#include "ingredients.h"
#include "service/publisher.h"
#include "tests/support/evaluator_rig.h"
#include "tests/support/run_program.h"

namespace cupilot::test {

// What many projects have in common: an installation, folders of a user, what CMake found out about
// the compilers, worker processes.
class UserMachine {
 public:
  UserMachine();

  const std::map<std::string, std::string>& environment() const { return environment_; }
  std::string prefix() const { return folder_ / "prefix"; }
  // Of CMake's CMakeFiles/<version>; not there before the first project is configured.
  std::string compilers() const { return folder_ / "compilers"; }
  EvaluatorRig& rig() { return rig_; }
  const evaluate::DeviceDescription& host() const { return host_; }

 private:
  TemporaryFolder folder_;
  std::map<std::string, std::string> environment_;
  EvaluatorRig rig_;
  evaluate::DeviceDescription host_;
};

class TunedProject {
 public:
  struct Options {
    bool lock = false;    // variants come from a lock file, not from the daemon
    bool frozen = false;  // a variant holds all that its kernel reaches, else it names it
  };
  TunedProject(UserMachine& machine, UserTree tree, const std::vector<std::string>& programs,
               Options options);

  // What went wrong, with the output of the build; empty: nothing.
  std::string Configure();
  std::string Build(const std::map<std::string, std::string>& more = {});
  // As a user edits.
  void Apply(const Edit& edit);
  void TouchSources();

  // The daemon's look, in its two halves. What went wrong; empty: nothing.
  std::string Scan();
  std::string Publish();

  struct Seen {
    std::string output;  // of all programs
    int tuned = 0;       // kernels that launched a variant
  };
  Seen Run(bool disabled) const;

  // Why objects are compiled as they are, for people.
  std::string Reasons() const;
  const std::set<std::string>& declined() const { return declined_; }

 private:
  struct Scanned {
    service::ObjectScan scan;
    std::string target;  // what its code is compiled for
  };
  // The one place that knows how a scan is made.
  base::Result<service::ObjectScan> ScanOne(const service::Object& object);
  // The one place that knows how it is published.
  base::Result<> PublishOne(const Scanned& one, records::Lock& lock);
  base::Result<> Accept(const Scanned& one, const records::Kernel& kernel,
                        const service::Place& place);

  RunOptions ToBuild(const std::map<std::string, std::string>& more) const;
  std::string source() const { return folder_ / "source"; }
  std::string build() const { return folder_ / "build"; }
  void WriteTree();

  UserMachine& machine_;
  TemporaryFolder folder_;
  UserTree tree_;
  std::map<std::string, std::string> written_;
  std::vector<std::string> programs_;
  Options options_;
  std::vector<Scanned> scanned_;
  std::set<std::string> declined_;
  cache::MemoryStore store_;
  service::Catalog catalog_{store_};
  service::PublishFiles files_;
  service::Publisher publisher_{catalog_, files_};
};

}  // namespace cupilot::test
