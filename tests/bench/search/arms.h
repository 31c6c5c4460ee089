// The ways of searching that are compared (one row each): what each asks of models, and with which
// parts of the evolution.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "service/job_input.h"

namespace cupilot::bench {

struct Arm {
  std::string_view name;
  std::string_view what;   // one plain phrase, for tables
  bool techniques = true;  // mechanical ones are tried
  bool models = true;      // are asked
  bool strategies = true;  // as service::SearchParts has them
  bool roofline = true;
  bool pool = true;
  bool tree = true;
};

std::span<const Arm> Arms();
const Arm* FindArm(std::string_view name);

// What of the search an arm uses; whether models are asked is no part of it.
service::SearchParts PartsOf(const Arm& arm);

}  // namespace cupilot::bench
