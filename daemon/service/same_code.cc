#include "service/same_code.h"

#include <utility>
#include <vector>

#include "base/hash.h"
#include "search/number_space.h"

namespace cupilot::service {
namespace {

using records::Json;

// An expression's value in each case; its text where one has none.
Json SizeInCases(const Json& text, const std::vector<records::Environment>& cases) {
  if (!text.is_string()) return text;
  Json sizes = Json::array();
  for (const records::Environment& environment : cases) {
    const auto size = records::EvaluateText(text.get<std::string>(), environment);
    if (!size) return text;
    sizes.push_back(*size);
  }
  return sizes;
}

std::vector<records::Environment> EnvironmentsOf(const records::Variant& variant,
                                                 const records::Workload& workload) {
  std::vector<records::Environment> cases;
  for (const records::Case& one : workload.cases) {
    cases.push_back(search::EnvironmentOf(one));
    for (const auto& [name, value] : variant.values) {
      if (value.is_number_integer()) cases.back().integers[name] = value.get<std::int64_t>();
    }
  }
  return cases;
}

}  // namespace

std::string LaunchKey(const records::Variant& variant, const records::Workload& workload) {
  const std::vector<records::Environment> cases = EnvironmentsOf(variant, workload);
  Json key = records::ToJson(variant);
  // What the code's own hash says, or does not matter to it.
  for (const char* name : {"id", "source", "includes", "entry", "tunables", "require", "values",
                           "strategy", "parents"}) {
    key.erase(name);
  }
  std::string entry;
  for (Json& launch : key["launches"]) {
    if (launch.contains("entry")) {
      const std::string name = launch["entry"].get<std::string>();
      if (!entry.empty() && entry != name) return {};
      entry = name;
      launch["entry"] = "";
    }
    for (const char* sizes : {"grid", "block"}) {
      if (!launch.contains(sizes)) continue;
      for (Json& size : launch[sizes]) size = SizeInCases(size, cases);
    }
    if (launch.contains("shared_bytes")) {
      launch["shared_bytes"] = SizeInCases(launch["shared_bytes"], cases);
    }
  }
  // What else asks for a value (a guard, an argument, bytes of a workspace) is not computed here.
  const std::string rest = records::CanonicalJson(key);
  for (const auto& [name, value] : variant.values) {
    if (rest.find(name) != std::string::npos) key["values"][name] = value;
  }
  return records::CanonicalJson(key);
}

std::string SameCode::Ask(const std::string& code, const records::Variant& variant,
                          const records::Workload& workload, Known known) {
  const std::string launches = LaunchKey(variant, workload);
  if (launches.empty()) {
    known(std::nullopt);
    return {};
  }
  std::string key = base::Hasher().Add(code).Add(launches).Hex();
  const auto [it, is_new] = codes_.try_emplace(key);
  if (is_new) {
    known(std::nullopt);
    return key;
  }
  if (it->second.variant.empty()) {
    it->second.waiting.push_back(std::move(known));
    return {};
  }
  auto evaluation = find_(it->second.variant);
  const bool found = evaluation.has_value();
  if (!found) it->second.variant.clear();
  known(std::move(evaluation));
  return found ? std::string() : key;
}

void SameCode::Tell(const std::string& key, const records::Evaluation* evaluation) {
  const auto found = codes_.find(key);
  if (found == codes_.end()) return;
  std::vector<Known> waiting = std::move(found->second.waiting);
  found->second.waiting.clear();
  std::optional<records::Evaluation> result;
  if (evaluation != nullptr) {
    found->second.variant = evaluation->variant;
    result = *evaluation;
  } else {
    codes_.erase(found);
  }
  for (Known& known : waiting) known(result);
}

void SameCode::Clear() {
  std::erase_if(codes_, [](const auto& entry) { return entry.second.waiting.empty(); });
}

}  // namespace cupilot::service
