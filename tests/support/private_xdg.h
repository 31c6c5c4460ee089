// XDG folders of a test's own, so that no test sees or touches the user's.
#pragma once

#include <map>
#include <string>

#include "tests/support/temporary_folder.h"

namespace cupilot::test {

class PrivateXdg {
 public:
  PrivateXdg();

  const TemporaryFolder& folder() const { return folder_; }
  // The variables, for a child: HOME and the XDG ones.
  std::map<std::string, std::string> Environment() const;
  std::string state() const { return folder_ / "state/cupilot"; }
  std::string config() const { return folder_ / "config/cupilot"; }
  std::string cache() const { return folder_ / "cache/cupilot"; }
  std::string socket() const { return folder_ / "run/cupilot/daemon.sock"; }

 private:
  TemporaryFolder folder_;
};

}  // namespace cupilot::test
