#include "agents/budget.h"

#include <utility>

#include "base/hash.h"
#include "cache/record.h"
#include "records/reader.h"

namespace cupilot::agents {
namespace {

using cache::Table;
using records::Json;

// FORMAT.md lists them.
constexpr const char* kOpenPrefix = "money/open/";
constexpr const char* kModelPrefix = "money/model/";

std::string DayKey(const std::string& day) { return "money/day/" + day; }
std::string MonthKey(const std::string& day) { return "money/month/" + day.substr(0, 7); }
std::string KernelMoneyKey(const std::string& kernel) { return "money/kernel/" + kernel; }
std::string ModelKey(const std::string& provider, const std::string& model) {
  return kModelPrefix + base::Hasher().Add(provider).Add(model).Hex();
}

cache::Write Put(std::string key, Json value) {
  return {Table::kCounters, std::move(key), cache::Seal(std::move(value))};
}

Json TotalsJson(const ModelTotals& totals) {
  return {{"provider", totals.provider}, {"model", totals.model}, {"requests", totals.requests},
          {"answers", totals.answers},   {"input", totals.input}, {"output", totals.output},
          {"spent", totals.spent},       {"gain", totals.gain}};
}

base::Result<ModelTotals> ReadTotals(const Json& json) {
  records::Reading reading(records::Strictness::kLenient);
  records::ObjectReader object(json, "", reading);
  ModelTotals totals;
  object.Optional("provider", totals.provider)
      .Optional("model", totals.model)
      .Optional("requests", totals.requests)
      .Optional("answers", totals.answers)
      .Optional("input", totals.input)
      .Optional("output", totals.output)
      .Optional("spent", totals.spent)
      .Optional("gain", totals.gain);
  if (reading.error()) return base::Fail(*reading.error());
  return totals;
}

ModelError OverLimit(const std::string& what, NanoDollars limit, NanoDollars spent,
                     NanoDollars most) {
  ModelError error;
  error.why = Failure::kOverLimit;
  error.message = "the request may cost " + ShowMoney(most) + "; " + what + " has a limit of " +
                  ShowMoney(limit) + ", of which " + ShowMoney(spent) + " are spent or set aside";
  return error;
}

ModelError OfStore(const base::Error& error) {
  ModelError result;
  result.why = Failure::kInternal;
  result.message = "the record of spending cannot be kept: " + error.message;
  return result;
}

}  // namespace

Budget::Budget(cache::Store& store, const base::Clock& clock, SpendingLimits limits)
    : store_(store), clock_(clock), limits_(limits) {}

std::string Budget::Today() const { return base::FormatDate(clock_.WallTime()).substr(0, 10); }

base::Result<> Budget::Adopt() {
  std::map<std::string, Open> found;
  std::optional<base::Error> broken;
  const auto visit = [&](std::string_view key, std::string_view value) {
    const auto record = cache::Unseal(value);
    if (!record) {
      broken = record.error().In(key);
      return false;
    }
    records::Reading reading(records::Strictness::kLenient);
    records::ObjectReader object(record->value, "", reading);
    Open open;
    object.Optional("kernel", open.spender.kernel)
        .Optional("provider", open.spender.provider)
        .Optional("model", open.spender.model)
        .Optional("day", open.day)
        .Optional("most", open.most)
        .Optional("held", open.held);
    found[std::string(key.substr(std::string_view(kOpenPrefix).size()))] = open;
    return true;
  };
  TRY(store_.Scan(Table::kCounters, kOpenPrefix, visit));
  if (broken) return base::Fail(*broken);
  for (const auto& [id, open] : found) {
    if (open.held) {
      open_[id] = open;
    } else {
      TRY(Book(id, open, open.most, {}, false));
    }
  }
  return {};
}

base::Result<NanoDollars> Budget::Spent(const std::string& key) const {
  TRY_ASSIGN(const auto bytes, store_.Get(Table::kCounters, key));
  if (!bytes) return 0;
  TRY_ASSIGN(const cache::Record record, cache::Unseal(*bytes));
  if (!record.value.is_number_integer()) {
    return base::Fail(base::Corruption(key + ": expected a sum of money"));
  }
  return record.value.get<NanoDollars>();
}

base::Result<SpentSums> Budget::Sums(const std::string& kernel) const {
  const std::string today = Today();
  SpentSums sums;
  TRY_ASSIGN(sums.kernel, Spent(KernelMoneyKey(kernel)));
  TRY_ASSIGN(sums.day, Spent(DayKey(today)));
  TRY_ASSIGN(sums.month, Spent(MonthKey(today)));
  for (const auto& [id, open] : open_) {
    if (open.spender.kernel == kernel) sums.kernel += open.most;
    // Also what was set aside before midnight: it is spent in this day if it is answered now.
    sums.day += open.most;
    sums.month += open.most;
  }
  return sums;
}

tl::expected<std::string, ModelError> Budget::Reserve(const Spender& spender, NanoDollars most) {
  return SetAside(std::to_string(clock_.WallTime().count()) + "-" + std::to_string(++last_),
                  {spender, Today(), most, false});
}

tl::expected<std::string, ModelError> Budget::Hold(const Spender& spender, NanoDollars most,
                                                   const std::string& name) {
  if (Holds(name)) return name;
  return SetAside(name, {spender, Today(), most, true});
}

tl::expected<std::string, ModelError> Budget::SetAside(const std::string& id, const Open& open) {
  const auto sums = Sums(open.spender.kernel);
  if (!sums) return tl::unexpected(OfStore(sums.error()));
  const NanoDollars most = open.most;
  if (most > 0) {
    const auto fits = [most](NanoDollars spent, NanoDollars limit) {
      return spent <= limit && most <= limit - spent;
    };
    if (!fits(sums->kernel, limits_.kernel)) {
      return tl::unexpected(OverLimit("this kernel", limits_.kernel, sums->kernel, most));
    }
    if (!fits(sums->day, limits_.day)) {
      return tl::unexpected(OverLimit("this day", limits_.day, sums->day, most));
    }
    if (!fits(sums->month, limits_.month)) {
      return tl::unexpected(OverLimit("this month", limits_.month, sums->month, most));
    }
  }
  const auto written = store_.Apply({Put(kOpenPrefix + id, {{"kernel", open.spender.kernel},
                                                            {"provider", open.spender.provider},
                                                            {"model", open.spender.model},
                                                            {"day", open.day},
                                                            {"most", most},
                                                            {"held", open.held}})});
  if (!written) return tl::unexpected(OfStore(written.error()));
  open_[id] = open;
  return id;
}

base::Result<> Budget::Settle(const std::string& reservation, NanoDollars cost, const Usage& usage,
                              bool answered) {
  const auto found = open_.find(reservation);
  if (found == open_.end()) return base::Fail(base::Internal("no such reservation"));
  Open open = found->second;
  open.day = Today();
  TRY(Book(reservation, open, cost, usage, answered));
  open_.erase(found);
  return {};
}

base::Result<> Budget::Book(const std::string& id, const Open& open, NanoDollars cost,
                            const Usage& usage, bool answered) {
  std::vector<cache::Write> writes = {{Table::kCounters, kOpenPrefix + id, std::nullopt}};
  if (cost != 0) {
    for (const std::string& key :
         {DayKey(open.day), MonthKey(open.day), KernelMoneyKey(open.spender.kernel)}) {
      TRY_ASSIGN(const NanoDollars spent, Spent(key));
      writes.push_back(Put(key, spent + cost));
    }
  }
  TRY_ASSIGN(ModelTotals totals, TotalsOf(open.spender.provider, open.spender.model));
  totals.requests += 1;
  totals.answers += answered ? 1 : 0;
  totals.input += usage.input;
  totals.output += usage.output;
  totals.spent += cost;
  writes.push_back(Put(ModelKey(totals.provider, totals.model), TotalsJson(totals)));
  return store_.Apply(writes);
}

base::Result<ModelTotals> Budget::TotalsOf(const std::string& provider,
                                           const std::string& model) const {
  ModelTotals fresh;
  fresh.provider = provider;
  fresh.model = model;
  TRY_ASSIGN(const auto bytes, store_.Get(Table::kCounters, ModelKey(provider, model)));
  if (!bytes) return fresh;
  TRY_ASSIGN(const cache::Record record, cache::Unseal(*bytes));
  return ReadTotals(record.value);
}

base::Result<> Budget::AddGain(const std::string& provider, const std::string& model, double gain) {
  TRY_ASSIGN(ModelTotals totals, TotalsOf(provider, model));
  totals.gain += gain;
  return store_.Apply({Put(ModelKey(provider, model), TotalsJson(totals))});
}

base::Result<std::vector<ModelTotals>> Budget::Totals() const {
  std::vector<ModelTotals> all;
  std::optional<base::Error> broken;
  TRY(store_.Scan(Table::kCounters, kModelPrefix,
                  [&](std::string_view key, std::string_view value) {
                    const auto record = cache::Unseal(value);
                    auto totals = record ? ReadTotals(record->value) : base::Fail(record.error());
                    if (totals) {
                      all.push_back(std::move(*totals));
                    } else {
                      broken = totals.error().In(key);
                    }
                    return totals.has_value();
                  }));
  if (broken) return base::Fail(*broken);
  return all;
}

}  // namespace cupilot::agents
