#include "agents/prices.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/clock.h"
#include "base/file.h"
#include "records/reader.h"

namespace cupilot::agents {

namespace {

using records::Json;

// What a file has: dollars a million tokens.
struct Dollars {
  double input = 0;
  std::optional<double> cached_input;
  std::optional<double> written_input;
  double output = 0;
};

NanoDollars PerToken(double dollars_per_million) {
  return static_cast<NanoDollars>(std::llround(dollars_per_million * 1000));
}

TokenPrices OfDollars(const Dollars& dollars) {
  return {PerToken(dollars.input), PerToken(dollars.cached_input.value_or(dollars.input)),
          PerToken(dollars.written_input.value_or(dollars.input)), PerToken(dollars.output)};
}

void ReadDollars(records::ObjectReader& object, Dollars& dollars) {
  object.Required("input", dollars.input)
      .Optional("cached_input", dollars.cached_input)
      .Optional("written_input", dollars.written_input)
      .Required("output", dollars.output);
  constexpr double kMost = 1e5;
  for (const double one : {dollars.input, dollars.cached_input.value_or(0),
                           dollars.written_input.value_or(0), dollars.output}) {
    if (!(one >= 0 && one <= kMost)) object.Fail("input", "a price is from 0 to 100000");
  }
}

bool IsDate(const std::string& text) {
  constexpr std::string_view kForm = "0000-00-00";
  if (text.size() != kForm.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (digit != (kForm[i] == '0') || (!digit && text[i] != '-')) return false;
  }
  return true;
}

// The name without a date at its end.
std::string WithoutDate(const std::string& model) {
  const auto tail = [&model](std::size_t count) {
    return model.size() > count ? model.substr(model.size() - count) : "";
  };
  const auto digits = [](const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  };
  if (const std::string date = tail(11);
      !date.empty() && date[0] == '-' && IsDate(date.substr(1))) {
    return model.substr(0, model.size() - 11);
  }
  if (const std::string date = tail(9); !date.empty() && date[0] == '-' && digits(date.substr(1))) {
    return model.substr(0, model.size() - 9);
  }
  return model;
}

std::string OriginIn(const std::string& provider) {
  const std::size_t space = provider.find(' ');
  return space == std::string::npos ? "" : provider.substr(space + 1);
}

}  // namespace

// Found by its argument, as the readers of records are.
void Read(const Json& json, const std::string& path, Price& out, records::Reading& reading) {
  records::ObjectReader object(json, path, reading);
  Dollars dollars;
  object.Required("origin", out.origin)
      .Required("model", out.model)
      .Required("from", out.from)
      .Optional("seen", out.seen)
      .Required("source", out.source)
      .Optional("long_from", out.long_from)
      .Optional("batch", out.batch);
  if (!(out.batch > 0 && out.batch <= 1)) object.Fail("batch", "a part is from 0 to 1");
  ReadDollars(object, dollars);
  out.tokens = OfDollars(dollars);
  if (!IsDate(out.from)) object.Fail("from", "expected a date like 2026-11-21");
  if (const Json* more = object.Find("long")) {
    records::ObjectReader inner(*more, object.PathOf("long"), reading);
    Dollars of_long;
    ReadDollars(inner, of_long);
    inner.Finish();
    out.long_tokens = OfDollars(of_long);
  }
  object.Finish();
}

std::optional<NanoDollars> CostOf(const Price& price, const Usage& usage) {
  const bool is_long = price.long_from > 0 && usage.input > price.long_from;
  if (is_long && !price.long_tokens) return std::nullopt;
  const TokenPrices& tokens = is_long ? *price.long_tokens : price.tokens;
  const std::int64_t cached = std::min(usage.cached_input, usage.input);
  const std::int64_t written = std::min(usage.written_input, usage.input - cached);
  return (usage.input - cached - written) * tokens.input + cached * tokens.cached_input +
         written * tokens.written_input + usage.output * tokens.output;
}

std::optional<NanoDollars> WorstCase(const Price& price, std::size_t sent_bytes,
                                     std::int64_t max_tokens) {
  const auto with = [&](const TokenPrices& tokens) {
    return static_cast<std::int64_t>(sent_bytes) * std::max(tokens.input, tokens.written_input) +
           max_tokens * tokens.output;
  };
  if (price.long_from == 0 || static_cast<std::int64_t>(sent_bytes) <= price.long_from) {
    return with(price.tokens);
  }
  if (!price.long_tokens) return std::nullopt;
  return std::max(with(price.tokens), with(*price.long_tokens));
}

Price OfBatches(const Price& price) {
  const auto part = [&price](NanoDollars money) {
    return static_cast<NanoDollars>(std::ceil(static_cast<double>(money) * price.batch));
  };
  const auto all = [&part](const TokenPrices& tokens) {
    return TokenPrices{part(tokens.input), part(tokens.cached_input), part(tokens.written_input),
                       part(tokens.output)};
  };
  Price result = price;
  result.tokens = all(price.tokens);
  if (price.long_tokens) result.long_tokens = all(*price.long_tokens);
  return result;
}

base::Result<PriceTable> PriceTable::Load(const std::vector<std::string>& paths) {
  PriceTable table;
  for (const std::string& path : paths) {
    if (!base::FileExists(path)) continue;
    TRY_ASSIGN(const std::string text, base::ReadFile(path));
    const auto json = records::ParseJson(text);
    if (!json) return base::Fail(json.error().In(path));
    records::Reading reading(records::Strictness::kStrict);
    records::ObjectReader object(*json, "", reading);
    std::vector<Price> prices;
    std::string note;
    object.Schema("cupilot.model_prices/1").Optional("note", note).Required("prices", prices);
    object.Finish();
    if (reading.error()) return base::Fail(reading.error()->In(path));
    table.prices_.insert(table.prices_.end(), prices.begin(), prices.end());
  }
  return table;
}

std::optional<Price> PriceTable::Find(const std::string& provider, const std::string& model,
                                      std::chrono::nanoseconds now) const {
  const std::string today = base::FormatDate(now).substr(0, 10);
  const std::string origin = OriginIn(provider);
  const auto newest = [&](const std::string& name) {
    const Price* best = nullptr;
    for (const Price& price : prices_) {
      if (price.origin != origin || price.model != name || price.from > today) continue;
      // Dates compare as texts; of equal ones the later file's.
      if (best == nullptr || price.from >= best->from) best = &price;
    }
    return best;
  };
  const Price* found = newest(model);
  if (found == nullptr) found = newest(WithoutDate(model));
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::string ShowMoney(NanoDollars money) {
  char text[48];
  std::snprintf(text, sizeof text, "$%.4f", static_cast<double>(money) / 1e9);
  return text;
}

}  // namespace cupilot::agents
