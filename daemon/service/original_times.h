// What was measured last of a kernel's original: how long it takes in a case, and the floor of
// that; whatever became of the candidate. A value.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "records/evaluation.h"

namespace cupilot::service {

class OriginalTimes {
 public:
  // 0: it is not known.
  struct Times {
    double floor_us = 0;
    double original_us = 0;
  };

  // One more evaluation, with its key in the store; in any order, each once.
  void Note(const records::Evaluation& evaluation, const std::string& key);
  // Of a case of the workload with this hash.
  Times Find(const std::string& workload, const std::string& name) const;

 private:
  struct Seen {
    double us = 0;
    std::pair<std::string, std::string> when;  // date and key
  };
  struct Case {
    Seen floor, original;
  };
  std::map<std::pair<std::string, std::string>, Case> cases_;  // by workload and name
};

}  // namespace cupilot::service
