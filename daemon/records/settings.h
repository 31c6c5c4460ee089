// The user's settings, $XDG_CONFIG_HOME/cupilot/config.json: which there are, what they may be and
// what holds where the file says nothing.
#pragma once

#include <string>
#include <vector>

#include "records/json.h"

namespace cupilot::records {

struct Setting {
  const char* key;
  Json otherwise;  // the default; its type is the setting's
  double low = 0;  // of a number, inclusive
  double high = 0;
  std::vector<std::string> one_of;  // of a text; empty: any but the empty one
  const char* what;
};

const std::vector<Setting>& Settings();

// The file's settings over the defaults, every key of Settings() present. No file: the defaults.
// kInvalidArgument names the file and the key: strict, people write it.
base::Result<Json> ReadSettingsFile(const std::string& path);

// The keys that the file itself sets; empty if it cannot be read.
std::vector<std::string> KeysInFile(const std::string& path);

}  // namespace cupilot::records
