// A space as a file (`cupilot.space/1`): what tests/data/spaces and `cupilot search` read.
//
//   {"schema": "cupilot.space/1", "constants": {"n": 4096},
//    "parameters": [{"name": "bx", "kind": "power", "values": [32, 64, 128], "standard": 64},
//                   {"name": "order", "kind": "order", "of": ["i", "j", "k"], "when": "bx > 32"}],
//    "require": ["bx * by <= 1024"]}
//
// `kind`: number (where nothing is said), power, boolean (values 0 and 1), category (values may be
// texts), order (all orders of what `of` names, or those that values list). `standard`: the first
// value, where nothing is said.
#pragma once

#include "base/result.h"
#include "records/json.h"
#include "search/space.h"

namespace cupilot::search {

struct SpaceFile {
  static constexpr const char* kSchema = "cupilot.space/1";
  std::vector<SpaceParameter> parameters;
  std::vector<std::string> require;
  records::Environment constants;  // integers only
};

// Strict: unknown keys and wrong types are errors that name the path.
base::Result<SpaceFile> ParseSpaceFile(const records::Json& json);
records::Json ToJson(const SpaceFile& file);

inline base::Result<Space> SpaceOf(const SpaceFile& file) {
  return Space::Make(file.parameters, file.require, file.constants);
}

}  // namespace cupilot::search
