// What the user decided about variants (`cupilot pin`, `cupilot reject`): the store's records
// `mark/...`, and what they mean for a choice. On the loop thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cache/store.h"
#include "records/json.h"

namespace cupilot::service {

struct Mark {
  enum class Kind {
    kPinned,    // used where it is proven, also against better ones
    kRejected,  // never used here again
  };
  Kind kind = Kind::kPinned;
  std::string kernel_key;
  std::string variant;
  std::string kernel;  // label, when it was marked
  std::string title;   // the variant's, for people
  std::string date;
  bool operator==(const Mark&) const = default;
};
// "pinned" | "rejected"
const char* Name(Mark::Kind kind);
records::Json ToJson(const Mark& mark);

class Marks {
 public:
  // Nothing is read before the first question.
  explicit Marks(cache::Store& store) : store_(store) {}

  std::vector<Mark> All();
  std::vector<Mark> Of(const std::string& kernel_key);
  // A variant's id is the hash of its text: what was rejected is it under every key of its kernel.
  const std::set<std::string>& Rejected();
  std::set<std::string> Pinned(const std::string& kernel_key);

  // In the place of an earlier mark of the same variant.
  base::Result<> Save(const Mark& mark);
  base::Result<> Drop(const Mark& mark);
  // The store was changed behind its back.
  void ReadAgain();

 private:
  void Load();
  void NoteRejected();
  cache::Store& store_;
  bool loaded_ = false;
  std::map<std::string, Mark> all_;  // by the store's key
  std::set<std::string> rejected_;
};

}  // namespace cupilot::service
