// What the launcher compiles for one object (design: cupilot.selection/1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "records/json.h"
#include "records/kernel.h"

namespace cupilot::records {

struct SelectedFile {
  std::string path;  // absolute
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::string hash;
  std::string tags = {};  // hash of its tags (source/swap/compiled_text.h); empty: it has none
  Json others = Json::object();  // keys of a newer version, kept
};

struct SelectedVariant {
  std::string id;
  std::string target;                // "compute_90,sm_90" | "host-x86-64-v3"
  std::vector<std::string> devices;  // names; empty: any of the target
  std::string evaluation;            // hash
  std::string title;                 // of the strategy, for inspect and people
  double speedup = 1.0;
  Json others = Json::object();  // keys of a newer version, kept
};

struct SelectedKernel {
  std::string kernel;
  std::string signature;
  std::string kernel_key;
  std::vector<SelectedVariant> variants;
  Json others = Json::object();  // keys of a newer version, kept
};

struct Selection {
  static constexpr const char* kSchema = "cupilot.selection/1";
  std::string source;  // absolute path of the user's file
  std::string swap;    // file name in the same folder: "swap.<hash>.cu"
  std::string hook;    // the function that replaces __cudaLaunchKernel in this object
  std::string command_hash;
  std::string environment_hash;
  std::string toolchain;  // what `compiler --version` was hashed to
  std::vector<SelectedFile> files;
  std::vector<ClosureRange> closure;
  std::vector<std::string> names;  // that the kernels and the variants look up
  // What the compiler's own preprocessing says about the names (source/swap/compiled_text.h): the
  // launcher compares it before it swaps.
  std::string tokens;
  std::vector<SelectedKernel> kernels;
  Json others = Json::object();  // keys of a newer version, kept
};

base::Result<Selection> ParseSelection(const Json& json);
Json ToJson(const Selection& selection);

// What decides the object that is compiled: hash of all but what the files were when it was
// written.
std::string CompiledHash(const Selection& selection);

}  // namespace cupilot::records
