// A space as a file (`cupilot.space/1`): what tests/data/spaces and `cupilot search` read.
//
//   {"schema": "cupilot.space/1", "constants": {"n": 4096},
//    "parameters": [{"name": "bx", "kind": "power", "values": [32, 64, 128], "standard": 64},
//                   {"name": "order", "kind": "order", "of": ["i", "j", "k"], "when": "bx > 32"}],
//    "require": ["bx * by <= 1024"],
//    "launch": {"grid": ["n / bx", "1", "1"], "block": ["bx", "by", "1"], "shared_bytes": "4 *
//    bx"}}
//
// `kind`: number (where nothing is said), power, boolean (values 0 and 1), category (values may be
// texts), order (all orders of the letters in `of`, or those that values list). An order may say
// the blocking of loops, too: a letter of which `blocks` says a number stands in it up to so many
// times, once for the loop and once more for each level of its blocking, outermost first ("ikjk";
// the loop strings of E. Georganas et al., Harnessing Deep Learning and HPC Kernels via High-Level
// Loop and Tensor Abstractions on CPU Architectures, 2023). `standard`: the first value, where
// nothing is said. `launch`, where it is known: expressions of parameters and constants, from which
// models of times learn (launch_facts.h).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "records/json.h"
#include "search/space.h"

namespace cupilot::search {

struct SpaceFile {
  static constexpr const char* kSchema = "cupilot.space/1";
  std::vector<SpaceParameter> parameters;
  std::vector<std::string> require;
  records::Environment constants;        // integers only
  std::vector<std::string> grid, block;  // up to three expressions each; empty: not known
  std::string shared_bytes;              // dynamic ones of a block; empty: none
};

// Strict: unknown keys and wrong types are errors that name the path.
base::Result<SpaceFile> ParseSpaceFile(const records::Json& json);
records::Json ToJson(const SpaceFile& file);

inline base::Result<Space> SpaceOf(const SpaceFile& file) {
  return Space::Make(file.parameters, file.require, file.constants);
}

}  // namespace cupilot::search
