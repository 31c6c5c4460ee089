#include "service/journal.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/hash.h"
#include "cache/record.h"
#include "log/log.h"
#include "records/reader.h"

namespace cupilot::service {
namespace {

using cache::Table;
using records::Json;

constexpr std::size_t kMostChanges = 200;  // of a kernel

// In order as texts.
std::string Digits(std::int64_t number) {
  std::string digits = std::to_string(number);
  constexpr std::size_t kDigits = 20;
  return std::string(kDigits - std::min(kDigits, digits.size()), '0') + digits;
}

}  // namespace

Json ToJson(const Change& change) {
  return {{"what", change.what},     {"variants", change.variants}, {"title", change.title},
          {"reason", change.reason}, {"object", change.object},     {"date", change.date}};
}

std::string Journal::PrefixOf(const JournalOwner& owner) {
  return "change/" + base::Hasher().Add(owner.file).Add(owner.label).Hex() + "/";
}

base::Result<> Journal::Add(const JournalOwner& owner, Change change) {
  read_.Clear();
  const std::string prefix = PrefixOf(owner);
  std::vector<std::string> keys;
  TRY(store_.Scan(Table::kSelections, prefix, [&keys](std::string_view key, std::string_view) {
    keys.emplace_back(key);
    return true;
  }));
  change.date = base::FormatDate(clock_.WallTime());
  Json json = ToJson(change);
  json["schema"] = "cupilot.change/1";
  json["kernel"] = owner.label;
  // By number: wall clocks are set back.
  std::int64_t last = 0;
  if (!keys.empty()) {
    const std::string digits = keys.back().substr(prefix.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), last);
  }
  std::vector<cache::Write> writes = {
      {Table::kSelections, prefix + Digits(last + 1), cache::Seal(std::move(json))}};
  for (std::size_t i = 0; i + kMostChanges <= keys.size(); ++i) {
    writes.push_back({Table::kSelections, keys[i], std::nullopt});
  }
  return store_.Apply(writes);
}

std::vector<Change> Journal::Of(const JournalOwner& owner) const {
  const std::string prefix = PrefixOf(owner);
  if (const auto* known = read_.Find(prefix)) return *known;
  std::vector<Change> changes;
  const auto visit = [&changes](std::string_view, std::string_view value) {
    const auto record = cache::Unseal(value);
    if (!record) return true;
    records::Reading reading(records::Strictness::kLenient);
    records::ObjectReader object(record->value, "change", reading);
    Change change;
    object.Optional("what", change.what)
        .Optional("variants", change.variants)
        .Optional("title", change.title)
        .Optional("reason", change.reason)
        .Optional("object", change.object)
        .Optional("date", change.date);
    if (reading.ok()) changes.push_back(std::move(change));
    return true;
  };
  if (auto scanned = store_.Scan(Table::kSelections, prefix, visit); !scanned) {
    log::Error("the store cannot be read", {{"reason", scanned.error()}});
    return changes;
  }
  return read_.Add(prefix, std::move(changes));
}

}  // namespace cupilot::service
