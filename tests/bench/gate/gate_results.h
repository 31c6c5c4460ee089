// What the trials of gate_bench gave: a file of JSON lines that grows, and the table of all.
#pragma once

#include <cstdio>
#include <map>
#include <string>

#include "tests/integration/gate/gate_runner.h"

namespace cupilot::gate {

class Results {
 public:
  // Reads what `file` holds of these candidates on this device. A line of a candidate or a kernel
  // that has changed since does not count. Without a file nothing is kept.
  Results(const Collection& collection, std::string device, const std::string& file);
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;
  ~Results();

  bool Has(const Trial& trial) const;
  // Says on standard output what was misjudged.
  void Add(const Trial& trial, const Outcome& outcome);
  // False: something is misjudged that is no known gap, or a verification on a GPU took longer than
  // one may. `shared`: others used the device at the same time, so that the latter is only said.
  bool PrintTable(bool shared) const;

 private:
  using Key = std::pair<std::string, std::uint64_t>;  // candidate, seed

  std::string DigestOf(const Candidate& candidate) const;
  void Take(const records::Json& line);
  void PrintSteps() const;
  void PrintVerdicts() const;
  int PrintLimit() const;

  const Collection& collection_;
  const std::string device_;
  std::map<std::string, const Candidate*> candidates_;
  std::map<std::string, std::string> digests_;
  std::map<Key, records::Json> lines_;
  std::FILE* file_ = nullptr;
};

}  // namespace cupilot::gate
