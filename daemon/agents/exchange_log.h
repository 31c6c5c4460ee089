// Every exchange with a model, kept: its document (exchange_record.h) compressed in a file named by
// its hash, and a row in the store that finds it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/exchange_record.h"
#include "agents/redact.h"
#include "base/clock.h"
#include "base/result.h"
#include "blobs/blob_store.h"
#include "cache/store.h"

namespace cupilot::agents {

// On the loop thread.
class ExchangeLog {
 public:
  // `folder` holds the files, and nothing else; it is made when needed, private to the user.
  // `redactor` is applied to all texts of what is kept once more: answers and messages too.
  ExchangeLog(cache::Store& store, const base::Clock& clock, std::string folder, Redactor redactor)
      : store_(store), clock_(clock), files_(std::move(folder)), redactor_(std::move(redactor)) {}

  // On disk when it returns.
  base::Result<> Add(ExchangeRecord record);
  // The newest; what `cupilot models last` shows.
  base::Result<std::optional<ExchangeRecord>> Last() const;
  // All of a kernel's (empty: all) that are still there, oldest first.
  base::Result<std::vector<ExchangeRecord>> All(const std::string& kernel) const;
  // Removes what was asked for these kernels, by kernel_key.
  base::Result<> Drop(const std::set<std::string>& kernels);
  // Removes the oldest until their files have at most `most_bytes`.
  base::Result<> Trim(std::uint64_t most_bytes);

 private:
  struct Row {
    std::string key;
    std::string blob;
    std::string kernel;
  };
  base::Result<std::vector<Row>> Rows() const;
  base::Result<ExchangeRecord> Read(const Row& row) const;

  cache::Store& store_;
  const base::Clock& clock_;
  blobs::BlobStore files_;
  Redactor redactor_;
  std::int64_t last_ = 0;
};

}  // namespace cupilot::agents
