#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/named_output.h"
#include "search/tuner_files.h"

namespace cupilot::client {
namespace {

using records::Json;

constexpr const char* kExport = "cupilot.export/";  // whatever version

struct Written {
  std::string text;
  Json document;
  std::string line;
  std::vector<std::string> notes;
};

base::Result<std::string> ReadNamed(const std::string& path) {
  auto text = base::ReadFile(path);
  if (!text) {
    return base::Fail(base::InvalidArgument(path + ": " + text.error().message));
  }
  return text;
}

base::Result<search::SpaceDescription> DescriptionOf(const std::string& path,
                                                     const std::string& text) {
  const auto json = records::ParseJson(text);
  if (!json) return base::Fail(json.error().In(path));
  auto description = search::ReadSpaceDescription(*json);
  if (!description) return base::Fail(description.error().In(path));
  return description;
}

bool IsDescription(const std::string& text) {
  const auto json = records::ParseJson(text);
  return json &&
         (search::IsT1(*json) || records::TextAt(*json, "schema") == search::SpaceFile::kSchema);
}

// Of whatever version: the daemon says which it knows.
bool IsExport(const std::string& text) {
  const auto json = records::ParseJson(text);
  return json && records::TextAt(*json, "schema").starts_with(kExport);
}

// What is no JSON is said so at once. A cache of Kernel Tuner has no end, and is whole all the
// same; an export without its end is a part of one.
base::Result<> CheckWhole(const std::string& text) {
  const auto json = records::ParseJson(text);
  if (json) return {};
  const auto completed = records::ParseJson(search::CompletedJson(text));
  if (completed && !records::TextAt(*completed, "schema").starts_with(kExport)) return {};
  return base::Fail(json.error());
}

// A space alone: no results.
base::Result<Written> SpaceAlone(const std::string& path, const std::string& text) {
  TRY_ASSIGN(const auto description, DescriptionOf(path, text));
  if (!description.untold.empty()) {
    return base::Fail(base::Unsupported(path + ": " + description.untold.front() +
                                        "; results of this space can be imported all the same, "
                                        "with --space"));
  }
  const auto space = search::SpaceOf(description.space);
  if (!space) return base::Fail(space.error().In(path));
  Written out;
  out.text = records::PrettyJson(search::ToJson(description.space));
  out.document = {{"points", space->size()}, {"rows", 0}};
  out.line = std::to_string(space->size()) + " valid points";
  return out;
}

base::Result<Written> Results(const Arguments& arguments, const std::string& path,
                              const std::string& text) {
  std::optional<search::SpaceDescription> description;
  if (!arguments.space_file.empty()) {
    const std::string space_path = base::AbsolutePath(arguments.space_file, CurrentFolder());
    TRY_ASSIGN(const std::string space_text, ReadNamed(space_path));
    TRY_ASSIGN(description, DescriptionOf(space_path, space_text));
  }
  auto imported = search::ImportResults(text, description ? &*description : nullptr);
  if (!imported) return base::Fail(imported.error().In(path));
  const search::MeasuredSpace& measured = imported->measured;
  const auto& rows = measured.rows();
  const auto failed =
      std::count_if(rows.begin(), rows.end(), [](const auto& row) { return !row.microseconds; });
  Written out;
  out.text = arguments.t4 ? search::T4Of(measured) : search::TextOf(measured);
  out.notes = imported->notes;
  out.document = {{"points", measured.space().size()},
                  {"rows", rows.size()},
                  {"failed", failed},
                  {"complete", measured.complete()}};
  out.line = std::to_string(rows.size()) + " of " + std::to_string(measured.space().size()) +
             " valid points measured, " + std::to_string(failed) + " of them failed";
  return out;
}

}  // namespace

int RunImport(const Arguments& arguments, Output& output) {
  const std::string path = base::AbsolutePath(arguments.file, CurrentFolder());
  const auto text = ReadNamed(path);
  if (!text) return output.Fail(text.error());
  if (const auto whole = CheckWhole(*text); !whole) return output.Fail(whole.error().In(path));
  if (IsExport(*text)) {
    if (arguments.t4 || !arguments.space_file.empty() || !arguments.output_file.empty()) {
      return output.Fail(base::InvalidArgument(
          path +
          " is what `cupilot export` wrote: the daemon takes it, without --space, --t4 "
          "and -o"));
    }
    return RunImportKept(path, arguments.marks, output);
  }
  if (arguments.marks) {
    return output.Fail(base::InvalidArgument("--marks is for what `cupilot export` wrote, and " +
                                             path + " is not"));
  }
  const bool alone = IsDescription(*text);
  if (alone && (arguments.t4 || !arguments.space_file.empty())) {
    return output.Fail(base::InvalidArgument(path + " describes a space and has no results"));
  }
  auto written = alone ? SpaceAlone(path, *text) : Results(arguments, path, *text);
  if (!written) return output.Fail(written.error());
  if (arguments.output_file.empty()) {
    return output.Fail(base::InvalidArgument(
        "import: -o FILE is missing, for the space that is written of " + path));
  }
  const std::string target = base::AbsolutePath(arguments.output_file, CurrentFolder());
  std::error_code ignored;
  if (std::filesystem::equivalent(path, target, ignored)) {
    return output.Fail(base::InvalidArgument(
        "import: -o names " + path + ", which is read; it stays as it is: name another file"));
  }
  if (const auto done = WriteNamedOutput(target, written->text); !done) {
    return output.Fail(done.error());
  }
  for (const std::string& note : written->notes) output.Warning(note);
  written->document["schema"] = "cupilot.import/1";
  written->document["file"] = target;
  written->document["notes"] = written->notes;
  output.Document(written->document);
  output.Line(ShownPath(target) + ": " + written->line);
  return kDone;
}

}  // namespace cupilot::client
