#include "source/unit.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include "base/file.h"
#include "source/syntax/file_snapshot.h"
#include "source/syntax/leading_text.h"

namespace cupilot::source {
namespace {

// What a unit was read from; a file that is not there has the size of none.
class ReadFiles {
 public:
  explicit ReadFiles(const Preprocessed& source) {
    for (const auto* paths : {&source.files, &source.headers}) {
      for (const std::string& path : *paths) files_.emplace_back(path, IdentifyAsSeen(path));
    }
  }
  bool AreTheSame() const {
    const FileSnapshot now;
    return std::all_of(files_.begin(), files_.end(),
                       [](const auto& file) { return IdentifyAsSeen(file.first) == file.second; });
  }

 private:
  std::vector<std::pair<std::string, base::FileIdentity>> files_;
};

class KeptUnits {
 public:
  std::shared_ptr<const Unit> Find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (entry->key != key) continue;
      if (!entry->files.AreTheSame()) {
        entries_.erase(entry);
        return nullptr;
      }
      entries_.splice(entries_.begin(), entries_, entry);
      return entries_.front().unit;
    }
    return nullptr;
  }
  void Keep(std::string key, std::shared_ptr<const Unit> unit, ReadFiles files) {
    const std::lock_guard lock(mutex_);
    // Two that were read at once are the same.
    entries_.remove_if([&key](const Entry& entry) { return entry.key == key; });
    entries_.push_front({std::move(key), std::move(unit), std::move(files)});
    if (entries_.size() > kMost) entries_.pop_back();
  }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Unit> unit;
    ReadFiles files;
  };
  static constexpr std::size_t kMost = 4;  // a few MB each

  std::mutex mutex_;
  std::list<Entry> entries_;  // the last used first
};

// Outlives the threads that are about to use it when a process ends.
KeptUnits& Kept() {
  static KeptUnits& kept = *new KeptUnits();
  return kept;
}

std::string KeyOf(const records::CompileCommand& command, const std::string& text) {
  return records::ToJson(command).dump() + '\0' + text;
}

base::Result<> ParseInto(Unit& unit, bool others_follow) {
  ParseOptions options;
  options.preprocessed = true;
  options.file_name = unit.flags.preprocess.file_name;
  options.standard = unit.flags.preprocess.standard;
  options.system_folders = unit.flags.preprocess.toolkit_folders;
  options.keep_at_once = others_follow;
  TRY_ASSIGN(unit.parsed, Parse(unit.source.text, options));
  unit.places = Places(unit.parsed.tree.text);
  return {};
}

// Behind what it begins with, where it may stand so.
base::Result<Preprocessed> PreprocessBehind(const LeadingText* leading, const std::string& text,
                                            const PreprocessOptions& options,
                                            const NamedValues& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  const bool leaves = leading != nullptr && leading->Leaves(text, names);
  return leaves ? leading->Continue(text, options) : Preprocess(text, options);
}

base::Result<std::unique_ptr<Unit>> Load(const records::CompileCommand& command,
                                         const std::string& text, bool others_follow) {
  auto unit = std::make_unique<Unit>();
  TRY_ASSIGN(unit->flags, TranslateCommand(command));
  unit->text = text;
  if (text.empty()) {
    TRY_ASSIGN(unit->text, base::ReadFile(unit->flags.preprocess.file_name));
  }
  const auto leading = others_follow ? unit->Leading() : nullptr;
  TRY_ASSIGN(unit->source, PreprocessBehind(leading.get(), unit->text, unit->flags.preprocess, {}));
  TRY(ParseInto(*unit, others_follow));
  return unit;
}

base::Result<std::shared_ptr<const Unit>> FindOrLoad(const records::CompileCommand& command,
                                                     const std::string& text, bool others_follow) {
  const FileSnapshot now;
  std::string key = KeyOf(command, text);
  if (auto known = Kept().Find(key)) return known;
  TRY_ASSIGN(std::shared_ptr<const Unit> unit, Load(command, text, others_follow));
  Kept().Keep(std::move(key), unit, ReadFiles(unit->source));
  return unit;
}

}  // namespace

std::shared_ptr<const LeadingText> Unit::Leading() const {
  std::call_once(leading_asked_, [this] { leading_ = LeadingText::Read(text, flags.preprocess); });
  return leading_;
}

base::Result<std::unique_ptr<Unit>> LoadUnit(const records::CompileCommand& command,
                                             const std::string& text) {
  return Load(command, text, false);
}

base::Result<std::unique_ptr<Unit>> LoadUnit(const Unit& before, const NamedValues& values) {
  const FileSnapshot now;
  auto unit = std::make_unique<Unit>();
  unit->flags = before.flags;
  unit->text = before.text;
  for (const auto& [name, value] : values) {
    unit->flags.preprocess.macros.push_back("-U" + name);
    unit->flags.preprocess.macros.push_back("-D" + name + "=" + std::to_string(value));
  }
  TRY_ASSIGN(unit->source,
             PreprocessBehind(before.Leading().get(), unit->text, unit->flags.preprocess, values));
  TRY(ParseInto(*unit, false));
  return unit;
}

base::Result<std::shared_ptr<const Unit>> LoadKeptUnit(const records::CompileCommand& command,
                                                       const std::string& text) {
  return FindOrLoad(command, text, false);
}

base::Result<std::shared_ptr<const Unit>> KeepUnit(const records::CompileCommand& command,
                                                   const std::string& text) {
  return FindOrLoad(command, text, true);
}

}  // namespace cupilot::source
