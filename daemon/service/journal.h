// What changed when, of what a kernel's builds get, with the reason: the store's records
// `change/...`, which `cupilot history` shows. On the loop thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cache/store.h"
#include "records/json.h"
#include "service/kept.h"

namespace cupilot::service {

struct Change {
  // "published" (variants: what a launch asks from now on; none: the original), "pinned",
  // "unpinned", "rejected", "allowed" (no longer rejected).
  std::string what;
  std::vector<std::string> variants;  // ids
  std::string title;                  // of the first, for people
  std::string reason;                 // a sentence
  std::string object = {};            // folder of the object; empty: of no object
  std::string date = {};
};
records::Json ToJson(const Change& change);

// A kernel as people know it: its text may change, and its key with it.
struct JournalOwner {
  std::string file;  // of its definition, absolute
  std::string label;
};

class Journal {
 public:
  Journal(cache::Store& store, const base::Clock& clock) : store_(store), clock_(clock) {}

  // Puts the date. Of a kernel the newest 200 are kept.
  base::Result<> Add(const JournalOwner& owner, Change change);
  // The oldest first. What cannot be read is left out.
  std::vector<Change> Of(const JournalOwner& owner) const;
  static std::string PrefixOf(const JournalOwner& owner);
  // The store was changed behind its back.
  void ReadAgain() { read_.Clear(); }

 private:
  static constexpr std::size_t kMostRead = 16;  // kernels

  cache::Store& store_;
  const base::Clock& clock_;
  mutable Kept<std::string, std::vector<Change>> read_{kMostRead};  // by prefix
};

}  // namespace cupilot::service
