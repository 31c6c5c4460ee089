#include "service/marks.h"

#include "cache/record.h"
#include "log/log.h"

namespace cupilot::service {
namespace {

using cache::Table;
using records::Json;

const std::string kMarkPrefix = "mark/";

std::string KeyOfMark(const Mark& mark) {
  return kMarkPrefix + mark.kernel_key + "/" + mark.variant;
}

std::optional<Mark> MarkOf(const Json& json) {
  Mark mark;
  const std::string kind = records::TextAt(json, "mark");
  if (kind != "pinned" && kind != "rejected") return std::nullopt;
  mark.kind = kind == "pinned" ? Mark::Kind::kPinned : Mark::Kind::kRejected;
  mark.kernel_key = records::TextAt(json, "kernel_key");
  mark.variant = records::TextAt(json, "variant");
  mark.kernel = records::TextAt(json, "kernel");
  mark.title = records::TextAt(json, "title");
  mark.date = records::TextAt(json, "date");
  if (mark.kernel_key.empty() || mark.variant.empty()) return std::nullopt;
  return mark;
}

}  // namespace

const char* Name(Mark::Kind kind) { return kind == Mark::Kind::kPinned ? "pinned" : "rejected"; }

Json ToJson(const Mark& mark) {
  return {{"schema", "cupilot.mark/1"}, {"mark", Name(mark.kind)},
          {"kernel", mark.kernel},      {"kernel_key", mark.kernel_key},
          {"variant", mark.variant},    {"title", mark.title},
          {"date", mark.date}};
}

void Marks::Load() {
  if (loaded_) return;
  loaded_ = true;
  const auto visit = [this](std::string_view key, std::string_view value) {
    const auto record = cache::Unseal(value);
    auto mark = record ? MarkOf(record->value) : std::nullopt;
    if (mark) {
      all_.emplace(key, std::move(*mark));
    } else {
      log::Warning("a mark cannot be read", {{"key", key}});
    }
    return true;
  };
  if (auto scanned = store_.Scan(Table::kSelections, kMarkPrefix, visit); !scanned) {
    log::Error("the store cannot be read", {{"reason", scanned.error()}});
  }
  NoteRejected();
}

void Marks::NoteRejected() {
  rejected_.clear();
  for (const auto& [key, mark] : all_) {
    if (mark.kind == Mark::Kind::kRejected) rejected_.insert(mark.variant);
  }
}

void Marks::ReadAgain() {
  loaded_ = false;
  all_.clear();
  rejected_.clear();
}

std::vector<Mark> Marks::All() {
  Load();
  std::vector<Mark> marks;
  marks.reserve(all_.size());
  for (const auto& [key, mark] : all_) marks.push_back(mark);
  return marks;
}

std::vector<Mark> Marks::Of(const std::string& kernel_key) {
  std::vector<Mark> marks = All();
  std::erase_if(marks, [&](const Mark& mark) { return mark.kernel_key != kernel_key; });
  return marks;
}

const std::set<std::string>& Marks::Rejected() {
  Load();
  return rejected_;
}

std::set<std::string> Marks::Pinned(const std::string& kernel_key) {
  std::set<std::string> ids;
  for (const Mark& mark : Of(kernel_key)) {
    if (mark.kind == Mark::Kind::kPinned) ids.insert(mark.variant);
  }
  return ids;
}

base::Result<> Marks::Save(const Mark& mark) {
  Load();
  const std::string key = KeyOfMark(mark);
  TRY(store_.Apply({{Table::kSelections, key, cache::Seal(ToJson(mark))}}));
  all_[key] = mark;
  NoteRejected();
  return {};
}

base::Result<> Marks::Drop(const Mark& mark) {
  Load();
  const std::string key = KeyOfMark(mark);
  TRY(store_.Apply({{Table::kSelections, key, std::nullopt}}));
  all_.erase(key);
  NoteRejected();
  return {};
}

}  // namespace cupilot::service
