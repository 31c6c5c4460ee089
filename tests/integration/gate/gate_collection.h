// The red team's collection (tests/data/gate): kernels with their workloads, and candidates of
// which it is known what the gate has to say.
//
//   kernels/NAME.cu        one tagged kernel with its workload
//   kernels/NAME.json      a cupilot.workload/1, where a tag cannot say it
//   candidates/NAME.json   {"schema": "cupilot.gate_candidate/1", "kernel": NAME of a kernel's
//   file,
//                           "class": number in the catalogue of ways to cheat, or a word,
//                           "what": one sentence,
//                           "expect": "accepted", a reason of a rejection, "invalid_document" where
//                           the format itself refuses it, or a list of reasons that are all right,
//                           "guard": what the published guard of an accepted one has to hold,
//                           "sample": whether a quick test takes it,
//                           "variant": a cupilot.variant/1 document}
//   known_gaps.json        {"schema": "cupilot.gate_known_gaps/1", "gaps": {candidate: what is
//                           missing}, "by_luck": {candidate: why}}: what the gate judges wrongly as
//                           yet, and what it judges right in some runs only
#pragma once

#include <map>
#include <string>
#include <vector>

#include "records/json.h"
#include "records/workload.h"

namespace cupilot::gate {

struct Candidate {
  std::string name;       // of its file
  std::string kernel;     // of its kernel's file
  std::string catalogue;  // its class there
  std::string what;
  std::vector<std::string> expect;  // "accepted" alone, or reasons
  std::string guard;                // what the published guard of an accepted one says among others
  bool sample = false;
  records::Json variant;

  bool good() const { return expect.size() == 1 && expect[0] == "accepted"; }
};

struct Collection {
  std::map<std::string, std::string> kernels;  // texts by name
  std::map<std::string, records::Workload> workloads;
  std::vector<Candidate> candidates;        // by name
  std::map<std::string, std::string> gaps;  // by candidate
  std::map<std::string, std::string> by_luck;
};

// Strict: unknown keys, unknown reasons, candidates of no kernel, gaps of no candidate are errors
// that name the file.
base::Result<Collection> ReadCollection(const std::string& folder);

}  // namespace cupilot::gate
