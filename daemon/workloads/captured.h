// What was captured of one kernel: the workload that it is tuned on, and what the program did with
// it. The daemon's record (`cupilot.captured/1`); contents of memory are in the blob store.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/kernel.h"
#include "records/workload.h"

namespace cupilot::workloads {

// Launches with one geometry and the same scalars.
struct CapturedLaunches {
  std::string name;  // what tells it from the others: "width=1920 height=1080"
  std::vector<std::int64_t> grid;
  std::vector<std::int64_t> block;
  std::int64_t shared_bytes = 0;
  std::int64_t calls = 0;
  double microseconds = 0;         // of all calls; an estimate where not all were timed
  std::vector<std::string> cases;  // recorded ones of them
};

// What became of a recorded launch when the original was run on it again (protocol/replay.h).
struct CapturedReplay {
  std::int64_t times = 0;   // runs that gave the same bits
  std::string reason = {};  // empty: all, and those of the program; else it is not reproducible
  bool rounding = false;    // what differed was no more than that
  std::int64_t wanted = 0;  // runs that were asked for; 0: not known
  double seconds = 0;       // within which; then fewer are all that was seen
  bool failed = false;      // the replay itself, for the reason: it says nothing of the case
  // Whether a candidate can be judged by it.
  bool usable() const { return reason.empty() || rounding; }
  // The time was up before all of the runs.
  bool cut_short() const { return usable() && times < wanted; }
};

// Replays of one text of a kernel, by case.
using CapturedReplays = std::map<std::string, CapturedReplay>;

// "the same bits as in the program, 100 equal runs"; of one that was cut short "replayed 7 times
// within 10 s, equal".
std::string ReplayText(const CapturedReplay& replay);

// Bytes of what a kernel is given, which the names of types do not tell.
struct CapturedSizes {
  // Of each parameter: its own, an element's, and those of what an element leads to.
  std::vector<std::vector<std::int64_t>> parameters;
  std::map<std::string, std::int64_t> globals;  // by symbol
  bool operator==(const CapturedSizes&) const = default;
};
CapturedSizes SizesOf(const records::Kernel& kernel);

// What contents were like in whose place there is a fill now.
struct Distribution {
  std::string kind;   // of the fill; "bits": nothing is known
  double mean = 0;    // of what is finite
  double stddev = 0;  // likewise
  double zeros = 0;   // share of all
  double finite = 1;  // share of all
  std::string low;    // the least and the greatest that is finite, exact
  std::string high;
  bool sorted = false;
  bool operator==(const Distribution&) const = default;
};
// By name of argument, buffer or global.
using Distributions = std::map<std::string, Distribution>;

// What fits contents that are kept, found when they were captured: reading them again takes long.
struct CapturedFit {
  std::string contents;  // their hash
  records::Fill fill;
  Distribution distribution;
  bool operator==(const CapturedFit&) const = default;
};
// By name of argument, buffer or global.
using CapturedFits = std::map<std::string, CapturedFit>;

struct Captured {
  static constexpr const char* kSchema = "cupilot.captured/1";
  std::string kernel;                   // its label
  std::string file;                     // absolute, of its definition
  std::vector<std::string> parameters;  // canonical types: whose data this is
  std::optional<CapturedSizes> sizes;   // likewise; of older records not known
  // By parameter: the numbers in structures by value, as far as their layout was known.
  std::vector<std::vector<records::Parameter::Member>> members;
  std::string program;
  std::string device;  // "host" or "cuda": whose times these are
  std::string date;
  std::int64_t used = 0;      // milliseconds since the epoch: captured, tuned on or replayed last
  bool replaces_tag = false;  // asked for by name: also where its tag has a workload
  bool synthetic = false;     // holds no data, only fitted distributions
  std::vector<CapturedLaunches> launches;  // by time, the longest first
  std::vector<records::Case> cases;
  // What the program's own launch left, by case and by name of argument, buffer or global: blobs.
  std::map<std::string, std::map<std::string, std::string>> after;
  // Of a synthetic one, by case. The workload's own fills say less (fitted.h).
  std::map<std::string, Distributions> distributions;
  // Of one with data, by case; of older records not known.
  std::map<std::string, CapturedFits> fits;
  std::vector<std::string> notes;  // what could not be captured, for people
  // By the kernel's key, since another text of it may compute otherwise; absent: not replayed yet.
  std::map<std::string, CapturedReplays> replays;

  std::int64_t Calls() const;
  double Microseconds() const;
  // Of the launches of which a case is kept: a variant's guard admits no other geometry or
  // integers.
  double CoveredMicroseconds() const;
  // Null: the case was not replayed with this text of the kernel.
  const CapturedReplay* FindReplay(const std::string& kernel_key, const std::string& name) const;
  // Empty: nothing is known of the case.
  CapturedFits FitsOf(const std::string& name) const;
  // Of each case what says least for it, whatever the text.
  CapturedReplays WeakestReplays() const;
  // Why a candidate cannot be judged by the case; empty: it can, as far as is known.
  std::string WhyUnused(const std::string& kernel_key, const std::string& name) const;
};

base::Result<Captured> ParseCaptured(const records::Json& json);  // lenient: ours
records::Json ToJson(const Captured& captured);

// The hashes of all contents that it needs.
std::set<std::string> BlobsOf(const Captured& captured);

// Whether the kernel is still the one that was captured, as far as the types and sizes of its
// parameters and globals tell.
bool IsOf(const Captured& captured, const records::Kernel& kernel);
// Whether both are of one kernel with the same parameters: the later takes the earlier's place.
bool AreOfOneKernel(const Captured& a, const Captured& b);

// The cases that candidates of the kernel can be judged by; which of its outputs have no order is
// known from the tag alone.
std::vector<records::Case> UsableCases(const Captured& captured, const records::Kernel& kernel);

}  // namespace cupilot::workloads
