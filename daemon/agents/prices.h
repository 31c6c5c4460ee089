// What models cost, and since when: cupilot.model_prices/1, a file that is shipped
// (model_prices.json) and one of the user's over it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agents/provider.h"
#include "base/result.h"

namespace cupilot::agents {

// Billionths of a dollar. A dollar a million tokens is 1000 of them a token.
using NanoDollars = std::int64_t;

// Of one token each.
struct TokenPrices {
  NanoDollars input = 0;
  NanoDollars cached_input = 0;   // read from the provider's cache
  NanoDollars written_input = 0;  // written to it
  NanoDollars output = 0;
};

struct Price {
  std::string origin;  // of the service: "https://api.openai.com"
  std::string model;
  std::string from;    // date (UTC) since which it holds: "2026-09-22"
  std::string seen;    // when somebody looked
  std::string source;  // where
  TokenPrices tokens;
  // Prompts of more tokens than this cost `long_tokens`, each of their tokens; where that is
  // absent nobody knows. 0: there is no such limit.
  std::int64_t long_from = 0;
  std::optional<TokenPrices> long_tokens;
  double batch = 1;  // part of it that is paid in batches
};

// What an answer costs that used so much; nothing where the price of so long a prompt is unknown.
std::optional<NanoDollars> CostOf(const Price& price, const Usage& usage);
// The most that a request can cost: a token has at least one byte, what is new may be written to
// the cache, and the answer has all its tokens.
std::optional<NanoDollars> WorstCase(const Price& price, std::size_t sent_bytes,
                                     std::int64_t max_tokens);

// The same in batches, rounded up.
Price OfBatches(const Price& price);

class PriceTable {
 public:
  PriceTable() = default;
  // Files in the order in which they are believed, the last first; one that does not exist is no
  // error, one that cannot be read is, with its name. Strict: people write them.
  static base::Result<PriceTable> Load(const std::vector<std::string>& paths);

  // The price that holds at `now` (since the epoch) at the provider of this name for this model,
  // also of one whose name ends in a date ("-20261001", "-2026-10-01") where the name itself has
  // none. Nothing: nobody knows.
  std::optional<Price> Find(const std::string& provider, const std::string& model,
                            std::chrono::nanoseconds now) const;
  const std::vector<Price>& prices() const { return prices_; }

 private:
  std::vector<Price> prices_;  // of later files last
};

// "$0.0123"
std::string ShowMoney(NanoDollars money);

}  // namespace cupilot::agents
