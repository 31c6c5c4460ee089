// What `cupilot bench` says: lines for people, and cupilot.bench/1 (daemon/protocol/PROTOCOL.md).
#pragma once

#include <string>
#include <vector>

#include "client/bench/program_bench.h"
#include "client/output.h"
#include "records/json.h"

namespace cupilot::client {

// What became of a kernel's variant with which the program is slower.
struct DemotedKernel {
  std::string kernel;
  bool done = false;                                // the daemon put it aside
  records::Json variants = records::Json::array();  // of the daemon's reply
  std::string message;                              // what follows, or why it was not done
};

struct BenchReport {
  std::vector<std::string> words;
  ProgramBench bench;
  std::vector<DemotedKernel> demoted;
  std::string advice;  // where nothing tuned ran
};

records::Json ToJson(const BenchReport& report);
void PrintBench(const BenchReport& report, Output& output);

}  // namespace cupilot::client
