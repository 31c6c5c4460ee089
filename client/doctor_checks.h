// What doctor looks at. Each check explains what it found and, if something is wrong, what to do.
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
  std::string fix;  // empty if there is nothing to do
};

std::vector<DoctorCheck> RunDoctorChecks();

}  // namespace cupilot::client
