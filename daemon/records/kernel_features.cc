#include "records/kernel_features.h"

#include <algorithm>
#include <cmath>

#include "records/pool_parts.h"

namespace cupilot::records {
namespace {

constexpr std::string_view kCodePrefix = "code_";

bool IsOfCode(std::size_t i) { return kFeatureRows[i].name.starts_with(kCodePrefix); }

double OnScale(const FeatureRow& row, double value) {
  const double place =
      row.logarithmic ? std::log2(1 + value) / std::log2(1 + row.full) : value / row.full;
  return std::min(place, 1.0);
}

}  // namespace

bool KnowsCode(const KernelFeatures& features) {
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    if (IsOfCode(i) && features.values[i] > 0) return true;
  }
  return false;
}

void AddCode(KernelFeatures& features, const std::map<std::string, std::int64_t>& instructions) {
  double all = 0;
  for (const auto& [name, count] : instructions) {
    all += static_cast<double>(std::max<std::int64_t>(count, 0));
  }
  if (all <= 0) return;
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    if (!IsOfCode(i)) continue;
    const auto found =
        instructions.find(std::string(kFeatureRows[i].name.substr(kCodePrefix.size())));
    const bool counted = found != instructions.end() && found->second > 0;
    features.values[i] = counted ? static_cast<double>(found->second) / all : 0;
  }
}

double Distance(const KernelFeatures& a, const KernelFeatures& b) {
  const bool with_code = KnowsCode(a) && KnowsCode(b);
  double sum = 0, weights = 0;
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    const FeatureRow& row = kFeatureRows[i];
    if (IsOfCode(i) && !with_code) continue;
    const double difference = OnScale(row, a.values[i]) - OnScale(row, b.values[i]);
    sum += row.weight * difference * difference;
    weights += row.weight;
  }
  return std::sqrt(sum / weights);
}

void Read(const Json& json, const std::string& path, KernelFeatures& out, Reading& reading) {
  ObjectReader object(json, path, reading);
  object.Schema(KernelFeatures::kSchema);
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    const std::string name(kFeatureRows[i].name);
    object.Optional(name.c_str(), out.values[i]);
    if (!(out.values[i] >= 0 && std::isfinite(out.values[i]))) {
      object.Fail(name, "must be a number from 0");
    }
  }
  object.Finish();
}

base::Result<KernelFeatures> ParseKernelFeatures(const Json& json) {
  return ReadDocument<KernelFeatures>(json, Strictness::kStrict);
}

Json ToJson(const KernelFeatures& features) {
  Json json = {{"schema", KernelFeatures::kSchema}};
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    if (features.values[i] > 0) json[std::string(kFeatureRows[i].name)] = features.values[i];
  }
  return json;
}

}  // namespace cupilot::records
