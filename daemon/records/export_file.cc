#include "records/export_file.h"

#include <algorithm>
#include <utility>

namespace cupilot::records {
namespace {

base::Error Wrong(const std::string& path, const std::string& what) {
  return base::InvalidArgument(path + ": " + what);
}

bool IsHash(const std::string& text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz_-") == std::string::npos;
}

std::string At(const std::string& path, std::size_t i) {
  return path + "[" + std::to_string(i) + "]";
}

// Null where there is none and it may be missing.
base::Result<const Json*> ArrayAt(const Json& object, const std::string& path, const char* key,
                                  bool required) {
  const auto found = object.find(key);
  if (found == object.end() && !required) return nullptr;
  if (found == object.end() || !found->is_array()) {
    return base::Fail(Wrong(path.empty() ? key : path + "." + key, "expected an array"));
  }
  return &*found;
}

base::Result<ExportFile::Tried> ReadTried(const Json& json, const std::string& path) {
  if (!json.is_object()) return base::Fail(Wrong(path, "expected an object"));
  auto variant = ParseVariant(json.value("variant", Json()));
  if (!variant) return base::Fail(variant.error().In(path + ".variant"));
  ExportFile::Tried tried{std::move(*variant), {}};
  TRY_ASSIGN(const Json* evaluations, ArrayAt(json, path, "evaluations", true));
  for (const Json& document : *evaluations) {
    auto evaluation = ParseEvaluation(document);
    if (!evaluation) return base::Fail(evaluation.error().In(path + ".evaluations"));
    tried.evaluations.push_back(std::move(*evaluation));
  }
  return tried;
}

base::Result<ExportFile::Decision> ReadDecision(const Json& json, const std::string& path) {
  const std::string kind = TextAt(json, "mark");
  if (kind != "pinned" && kind != "rejected") {
    return base::Fail(Wrong(path + ".mark", "expected pinned or rejected"));
  }
  ExportFile::Decision decision;
  decision.pinned = kind == "pinned";
  decision.variant = TextAt(json, "variant");
  if (!IsHash(decision.variant)) return base::Fail(Wrong(path + ".variant", "expected a hash"));
  decision.kernel = TextAt(json, "kernel");
  decision.title = TextAt(json, "title");
  decision.date = TextAt(json, "date");
  return decision;
}

base::Result<ExportFile::OfKernel> ReadKernel(const Json& json, const std::string& path) {
  ExportFile::OfKernel kernel;
  kernel.kernel_key = TextAt(json, "kernel_key");
  if (!IsHash(kernel.kernel_key)) {
    return base::Fail(Wrong(path + ".kernel_key", "expected a hash"));
  }
  TRY_ASSIGN(const Json* variants, ArrayAt(json, path, "variants", true));
  for (std::size_t i = 0; i < variants->size(); ++i) {
    TRY_ASSIGN(auto tried, ReadTried((*variants)[i], At(path + ".variants", i)));
    kernel.variants.push_back(std::move(tried));
  }
  TRY_ASSIGN(const Json* marks, ArrayAt(json, path, "marks", false));
  for (std::size_t i = 0; marks != nullptr && i < marks->size(); ++i) {
    TRY_ASSIGN(auto decision, ReadDecision((*marks)[i], At(path + ".marks", i)));
    kernel.marks.push_back(std::move(decision));
  }
  return kernel;
}

}  // namespace

Json ToJson(const ExportFile& file) {
  Json json = {{"schema", kExportSchema}, {"kernels", Json::array()}};
  for (const ExportFile::OfKernel& kernel : file.kernels) {
    Json one = {
        {"kernel_key", kernel.kernel_key}, {"variants", Json::array()}, {"marks", Json::array()}};
    for (const ExportFile::Tried& tried : kernel.variants) {
      Json evaluations = Json::array();
      for (const Evaluation& evaluation : tried.evaluations) {
        evaluations.push_back(ToJson(evaluation));
      }
      one["variants"].push_back(
          {{"variant", ToJson(tried.variant)}, {"evaluations", std::move(evaluations)}});
    }
    for (const ExportFile::Decision& decision : kernel.marks) {
      one["marks"].push_back({{"mark", decision.pinned ? "pinned" : "rejected"},
                              {"variant", decision.variant},
                              {"kernel", decision.kernel},
                              {"title", decision.title},
                              {"date", decision.date}});
    }
    json["kernels"].push_back(std::move(one));
  }
  if (file.strategies) json["strategies"] = ToJson(*file.strategies);
  return json;
}

base::Result<ExportFile> ParseExportFile(const Json& json) {
  if (!json.is_object() || TextAt(json, "schema") != kExportSchema) {
    return base::Fail(
        Wrong("schema", "expected \"" + std::string(kExportSchema) +
                            "\", which `cupilot export` writes; a newer cuPilot may have written "
                            "it"));
  }
  ExportFile file;
  TRY_ASSIGN(const Json* kernels, ArrayAt(json, "", "kernels", true));
  for (std::size_t i = 0; i < kernels->size(); ++i) {
    TRY_ASSIGN(auto kernel, ReadKernel((*kernels)[i], At("kernels", i)));
    file.kernels.push_back(std::move(kernel));
  }
  if (const auto pool = json.find("strategies"); pool != json.end()) {
    auto strategies = ParsePoolFile(*pool);
    if (!strategies) return base::Fail(strategies.error().In("strategies"));
    file.strategies = std::move(*strategies);
  }
  return file;
}

}  // namespace cupilot::records
