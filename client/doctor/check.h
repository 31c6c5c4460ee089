// One thing that doctor looked at: what it found and, if something is wrong, what to do.
#pragma once

#include <string>
#include <vector>

namespace cupilot::client {

struct DoctorCheck {
  enum class Level {
    kGood,
    kNote,   // works, with less: worth knowing
    kWrong,  // something will not work
  };
  std::string name;
  Level level = Level::kGood;
  std::string found;
  std::string fix;  // for the user to do; empty if there is nothing to do
  // What `--fix` does, since it loses nothing: empty where that is for the user to decide.
  enum class Mend { kNone, kClosePrivateFolder, kDropRegistration } mend = Mend::kNone;
  std::string mend_path;  // of the folder or file
};

}  // namespace cupilot::client
