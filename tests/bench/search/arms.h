// The ways of searching that are compared (one row each): what each asks of models, and with which
// parts of the evolution.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "search/evolution/settings.h"

namespace cupilot::bench {

struct Arm {
  std::string_view name;
  std::string_view what;   // one plain phrase, for tables
  bool techniques = true;  // mechanical ones are tried
  bool models = true;      // are asked
  bool strategies = true;  // search::evolution::Settings' switches
  bool roofline = true;
  bool pool = true;
  bool tree = true;
};

std::span<const Arm> Arms();
const Arm* FindArm(std::string_view name);

// The settings of an arm, within its requests and evaluations.
search::evolution::Settings SettingsOf(const Arm& arm, std::int64_t requests,
                                       std::int64_t evaluations);

}  // namespace cupilot::bench
