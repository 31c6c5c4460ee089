// Replies that are larger than a message go by a file, which who asked reads and removes. What
// nobody fetched (its asker died) goes after ten minutes. On the loop thread.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "base/result.h"
#include "records/json.h"

namespace cupilot::service {

class Replies {
 public:
  explicit Replies(std::string folder) : folder_(std::move(folder)) { DropOld(); }

  // For documents that name their file themselves. What nobody fetched is gone afterwards.
  const std::string& folder() const {
    DropOld();
    return folder_;
  }

  // {"schema": "cupilot.reply_file/1", "document": path} in the place of the document's text.
  base::Result<records::Json> InFile(const std::string& text) const;

  static constexpr std::size_t kLargest = 1 << 20;  // bytes of a message
  static constexpr std::chrono::minutes kKept{10};

 private:
  void DropOld() const;

  std::string folder_;
};

}  // namespace cupilot::service
