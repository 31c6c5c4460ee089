// The verb "history": what was evaluated of a kernel, what builds got when and why, what the user
// decided (cupilot.history/1, protocol/PROTOCOL.md). As text: thousands of evaluations are not read
// and written anew for each who asks. On the loop thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "records/json.h"
#include "service/documents.h"
#include "service/kept.h"

namespace cupilot::service {

class History {
 public:
  explicit History(Service& service) : service_(service) {}

  // The document. `from`: only a page of its evaluations, from that number on, with `next` (null:
  // no more); what is not of evaluations stands in the first page alone.
  std::string Text(const KernelPlace& place, std::optional<std::size_t> from = {});

  static constexpr std::size_t kBytesAPage = std::size_t{64} << 10;

 private:
  const std::string& RowOf(const std::string& kernel_key, std::uint64_t number);

  static constexpr std::size_t kMostBytes = std::size_t{2} << 20;

  Service& service_;
  // By the evaluation's number; empty where it cannot be read.
  Kept<std::uint64_t, std::string> rows_{kMostBytes};
};

}  // namespace cupilot::service
