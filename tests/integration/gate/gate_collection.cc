#include "tests/integration/gate/gate_collection.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/file.h"
#include "records/evaluation.h"
#include "records/reader.h"

namespace cupilot::gate {
namespace {

using records::Json;

struct Gaps {
  std::map<std::string, std::string> gaps, by_luck;
};

bool IsExpectation(const std::string& word) {
  return word == "accepted" || word == "invalid_document" ||
         std::find(std::begin(records::kReasons), std::end(records::kReasons), word) !=
             std::end(records::kReasons);
}

void ReadExpectation(records::ObjectReader& object, std::vector<std::string>& out) {
  const Json* value = object.Find("expect");
  if (value == nullptr) return object.Fail("expect", "missing");
  if (value->is_string()) {
    out = {value->get<std::string>()};
  } else {
    records::Read(*value, object.PathOf("expect"), out, object.reading());
  }
  if (out.empty()) object.Fail("expect", "is empty");
  for (const std::string& word : out) {
    if (!IsExpectation(word)) object.Fail("expect", "'" + word + "' is no reason");
    if (word == "accepted" && out.size() > 1) object.Fail("expect", "accepted stands alone");
  }
}

// Found by the argument's type, as all functions Read.
void Read(const Json& json, const std::string& path, Candidate& out, records::Reading& reading) {
  records::ObjectReader object(json, path, reading);
  object.Schema("cupilot.gate_candidate/1")
      .Required("kernel", out.kernel)
      .Required("class", out.catalogue)
      .Required("what", out.what)
      .Optional("guard", out.guard)
      .Optional("sample", out.sample)
      .Required("variant", out.variant);
  ReadExpectation(object, out.expect);
  object.Finish();
}

void Read(const Json& json, const std::string& path, Gaps& out, records::Reading& reading) {
  records::ObjectReader object(json, path, reading);
  object.Schema("cupilot.gate_known_gaps/1")
      .Required("gaps", out.gaps)
      .Optional("by_luck", out.by_luck);
  object.Finish();
}

template <class T>
base::Result<T> ReadFileAs(const std::string& path) {
  TRY_ASSIGN(const std::string text, base::ReadFile(path));
  const auto json = records::ParseJson(text);
  if (!json) return base::Fail(json.error().In(path));
  records::Reading reading(records::Strictness::kStrict);
  T value{};
  Read(*json, std::string(), value, reading);
  if (reading.error()) return base::Fail(reading.error()->In(path));
  return value;
}

std::vector<std::filesystem::path> FilesOf(const std::string& folder, const char* extension) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

base::Result<> Fit(const Collection& collection) {
  std::map<std::string, bool> known;
  for (const Candidate& candidate : collection.candidates) {
    known[candidate.name] = true;
    if (!collection.kernels.contains(candidate.kernel)) {
      return base::Fail(base::InvalidArgument("candidates/" + candidate.name +
                                              ".json: there is no kernels/" + candidate.kernel +
                                              ".cu"));
    }
  }
  for (const auto& [name, what] : collection.gaps) {
    if (!known.contains(name)) {
      return base::Fail(
          base::InvalidArgument("known_gaps.json: there is no candidates/" + name + ".json"));
    }
  }
  return {};
}

}  // namespace

base::Result<Collection> ReadCollection(const std::string& folder) {
  Collection collection;
  for (const auto& file : FilesOf(folder + "/kernels", ".cu")) {
    TRY_ASSIGN(collection.kernels[file.stem()], base::ReadFile(file));
  }
  for (const auto& file : FilesOf(folder + "/kernels", ".json")) {
    TRY_ASSIGN(const std::string text, base::ReadFile(file));
    TRY_ASSIGN(const Json json, records::ParseJson(text));
    auto workload = records::ParseWorkload(json);
    if (!workload) return base::Fail(workload.error().In(file.string()));
    for (records::Case& one : workload->cases) {
      for (records::Argument& argument : one.arguments) {
        if (!argument.fill || argument.fill->path.empty()) continue;
        argument.fill->path = base::AbsolutePath(argument.fill->path, file.parent_path().string());
      }
    }
    collection.workloads[file.stem()] = std::move(*workload);
  }
  for (const auto& file : FilesOf(folder + "/candidates", ".json")) {
    TRY_ASSIGN(Candidate candidate, ReadFileAs<Candidate>(file));
    candidate.name = file.stem();
    collection.candidates.push_back(std::move(candidate));
  }
  if (collection.candidates.empty()) {
    return base::Fail(base::InvalidArgument("there are no candidates in " + folder));
  }
  TRY_ASSIGN(Gaps gaps, ReadFileAs<Gaps>(folder + "/known_gaps.json"));
  collection.gaps = std::move(gaps.gaps);
  collection.by_luck = std::move(gaps.by_luck);
  TRY(Fit(collection));
  return collection;
}

}  // namespace cupilot::gate
