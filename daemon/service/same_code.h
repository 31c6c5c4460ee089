// Candidates that were built to the same code and are launched in the same way: the first to be
// built is measured, the others take its result. On the loop thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_function.h"
#include "records/evaluation.h"
#include "records/variant.h"
#include "records/workload.h"

namespace cupilot::service {

// The same for variants that launch one kernel of theirs with equal geometry, shared memory and
// arguments in each case of the workload; empty where that cannot be said: several kernels, whose
// code is not told apart here.
std::string LaunchKey(const records::Variant& variant, const records::Workload& workload);

class SameCode {
 public:
  using Known = base::UniqueFunction<void(std::optional<records::Evaluation>)>;
  using Find = std::function<std::optional<records::Evaluation>(const std::string& variant)>;

  // `find` gives the verdict on a variant that Tell() was given, so that they are not kept here.
  explicit SameCode(Find find) : find_(std::move(find)) {}

  // `known` gets the evaluation of what has the same code and launches, at once or when it is
  // there; nothing: this one is to be measured. What comes back is then to be told about with
  // Tell(); else it is empty.
  std::string Ask(const std::string& code, const records::Variant& variant,
                  const records::Workload& workload, Known known);

  // The evaluation of the one that was measured; null: it came to none, and each that waits has to
  // be measured itself. May call what Ask() was given, last of all: this may be gone then.
  void Tell(const std::string& key, const records::Evaluation* evaluation);

  // Forgets all of which nobody waits.
  void Clear();

 private:
  struct Code {
    std::string variant;  // that was measured; empty: not yet
    std::vector<Known> waiting;
  };
  const Find find_;
  std::map<std::string, Code> codes_;  // by a hash of code and launches
};

}  // namespace cupilot::service
