// The command line of cupilot as a value. Only arguments.cc includes CLI11.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupilot::client {

struct BenchArguments {
  std::vector<std::string> words;  // the program and its arguments
  std::int64_t pairs = 30;         // at most
  double seconds = 60;             // of all runs
  std::int64_t warmup = 1;         // runs each way
  bool keep = false;               // nothing is demoted
};

struct ReplayArguments {
  std::vector<std::string> files;
  std::string strategies = "portfolio,random";
  std::int64_t repeats = 100;
  std::vector<std::string> champions;  // measured spaces of other devices
  bool free_search = false;            // the searches' own time does not count
};

struct Arguments {
  std::string command;  // "status", "daemon start", ...
  bool json = false;
  std::string kernel;
  std::string program;  // inspect
  std::string file;     // tune, evaluate: absolute
  std::string workload_file;
  std::string variant_file;
  std::string
      output_file;  // tune, best: where the variant goes; lock: the lock file; report: the page
  std::string device = "host";
  std::string gpu = "cuda:0";  // lock --verify
  std::string build_folder;    // lock --verify
  std::string arch;            // best, diff
  std::string strategy;        // tune; empty: the default
  std::uint64_t seed = 1;
  std::optional<double> seconds;  // of a budget, a snooze, or an age (prune)
  std::optional<std::int64_t> evaluations;
  std::optional<double> until_gain;  // tune: 0.01 is 1 %
  std::int64_t lines = 50;           // daemon logs
  bool verify = false;               // lock
  bool diff = false;                 // lock
  std::vector<std::string> words;    // capture: the program and its arguments
  std::int64_t launches = 1;         // capture: recorded launches of a geometry besides the first
  std::uint64_t max_bytes = std::uint64_t{4} << 30;  // capture: of what is recorded
  std::string working_directory;  // capture: of the program; empty: the current one
  bool synthetic = false;         // capture: keep no data
  bool untagged = false;          // list
  bool with_data = false;         // workload export
  bool show_origin = false;
  bool host_nvcc = false;
  bool fix = false;             // doctor
  std::string space_file;       // import
  bool t4 = false;              // import
  bool marks = false;           // import
  std::string provider;         // models allow, forbid: its name; tune: whom to ask
  bool allow_provider = false;  // tune
  bool answer = false;          // models last
  std::string entry;            // strategies show
  bool names = false;           // strategies export
  std::string variant;          // pin, reject, diff: an id, or the beginning of one
  bool none = false;            // pin
  bool undo = false;            // reject
  bool side_by_side = false;    // diff
  bool full = false;            // explain
  bool dry_run = false;         // prune, forget
  bool all = false;             // export, models last
  bool yes = false;             // purge
  std::string project;          // forget
  std::optional<std::uint64_t> prune_bytes;
  std::string what;  // generate
  BenchArguments bench;
  ReplayArguments replay;
};

struct ParsedArguments {
  Arguments arguments;
  // Set: print this to standard output and end with 0 (--help, --version).
  std::optional<std::string> text;
};

// kInvalidArgument with what is wrong and how to ask for help.
base::Result<ParsedArguments> ParseArguments(int count, const char* const* words);

// "90s", "5m", "1h", "2d" in seconds; kInvalidArgument otherwise.
base::Result<double> ParseDuration(const std::string& text);

}  // namespace cupilot::client
