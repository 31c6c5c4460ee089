#include "service/report_rows.h"

#include <set>
#include <utility>

namespace cupilot::service {
namespace {

using records::Json;

constexpr std::size_t kLongestDetail = 4000;  // bytes

// Cut between characters.
std::string Cut(const std::string& text) {
  if (text.size() <= kLongestDetail) return text;
  std::size_t end = kLongestDetail;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + " ...";
}

// The case that was sped up least, of those that the variant runs; null if none was measured.
const records::CaseResult* SlowestCase(const records::Evaluation& evaluation) {
  const records::CaseResult* slowest = nullptr;
  for (const records::CaseResult& result : evaluation.cases) {
    if (!result.admitted || result.speedup <= 0) continue;
    if (slowest == nullptr || result.speedup < slowest->speedup) slowest = &result;
  }
  return slowest;
}

Json CaseRow(const records::CaseResult& result) {
  if (!result.admitted) return {{"name", result.name}, {"admitted", false}};
  Json row = {{"name", result.name},
              {"original_us", result.original_us},
              {"variant_us", result.variant_us},
              {"speedup", result.speedup},
              {"interval", result.interval},
              {"samples", result.samples},
              {"l2", result.l2}};
  if (result.floor_us > 0) row["floor_us"] = result.floor_us;
  return row;
}

Json ChecksRow(const std::vector<records::Check>& checks) {
  Json row = {{"passed", Json::array()}, {"failed", Json::array()}};
  for (const records::Check& check : checks) {
    if (check.passed) {
      row["passed"].push_back(check.name);
    } else {
      row["failed"].push_back({{"name", check.name}, {"detail", Cut(check.detail)}});
    }
  }
  return row;
}

double NumberIn(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_number() ? it->get<double>() : 0;
}

const Json& Member(const Json& json, const char* key) {
  static const Json none = Json::object();
  if (!json.is_object()) return none;
  const auto it = json.find(key);
  return it != json.end() && it->is_object() ? *it : none;
}

// Floating operations that were counted, and the bytes that came from and went to memory.
Json SideOf(const Json& facts, double us, double necessary_bytes) {
  Json side = {{"us", us}};
  const Json& operations = Member(facts, "operations");
  double floating = 0;
  for (const char* pipe : {"fp32", "fp64", "fp16", "tensor"}) {
    floating += NumberIn(operations, pipe);
  }
  if (floating > 0) side["operations"] = floating;
  const Json& counters = Member(facts, "counters");
  const double moved =
      NumberIn(counters, "dram__bytes_read.sum") + NumberIn(counters, "dram__bytes_write.sum");
  // What a cache held was not moved; the chart needs some traffic, and so much was needed.
  side["bytes"] = moved > 0 ? moved : necessary_bytes;
  const auto bound = facts.find("bound");
  side["bound"] = bound != facts.end() && bound->is_string() ? *bound : Json("");
  side["share"] = NumberIn(facts, "share");
  return side;
}

}  // namespace

Json EvidenceRow(const records::Evaluation& evaluation, bool current) {
  const records::CaseResult* slowest = SlowestCase(evaluation);
  Json speedup, interval;
  if (evaluation.speedup) {
    speedup = *evaluation.speedup;
    if (evaluation.interval) interval = *evaluation.interval;
  } else if (slowest != nullptr) {
    speedup = slowest->speedup;
    interval = slowest->interval;
  }
  Json cases = Json::array();
  for (const records::CaseResult& result : evaluation.cases) cases.push_back(CaseRow(result));
  const bool host = evaluation.device.arch.starts_with("host-");
  return {{"variant", evaluation.variant},
          {"date", evaluation.date},
          {"verdict", evaluation.accepted ? "accepted" : "rejected"},
          {"reason", evaluation.reason},
          {"detail", Cut(evaluation.detail)},
          {"speedup", std::move(speedup)},
          {"interval", std::move(interval)},
          {"current", current},
          {"checks", ChecksRow(evaluation.checks)},
          {"cases", std::move(cases)},
          {"device", evaluation.device.name},
          {"arch", evaluation.device.arch},
          {"times", host ? "CPU times" : "device times"},
          {"target", evaluation.target},
          {"driver", evaluation.driver},
          {"toolchain", evaluation.toolchain}};
}

Json VariantRow(const records::Variant& variant) {
  Json steps = Json::array();
  if (variant.strategy) steps = records::ToJson(*variant.strategy)["steps"];
  return {{"id", variant.id},
          {"parents", variant.parents},
          {"title", variant.strategy ? variant.strategy->title : ""},
          {"bottleneck", variant.strategy ? variant.strategy->bottleneck : ""},
          {"steps", std::move(steps)},
          {"values", variant.values}};
}

Json RooflineRows(const records::Evaluation& evaluation) {
  Json rows = Json::array();
  std::set<std::string> seen;
  for (const records::CaseResult& result : evaluation.cases) {
    // A case's first entry is its cold one, where there are two.
    if (!result.admitted || result.original_us <= 0 || !seen.insert(result.name).second) continue;
    const auto facts = evaluation.metrics.find("case " + result.name);
    if (facts == evaluation.metrics.end()) continue;
    const Json& roofline = Member(*facts, "roofline");
    const Json& necessary = Member(roofline.empty() ? *facts : roofline, "necessary");
    const double bytes = NumberIn(necessary, "read") + NumberIn(necessary, "written");
    if (bytes <= 0) continue;
    Json row = {{"case", result.name},
                {"necessary_bytes", bytes},
                {"floor_us", result.floor_us > 0 ? Json(result.floor_us) : Json()},
                {"counted", roofline.value("source", Json()) == "cupti"},
                {"original", SideOf(Member(roofline, "original"), result.original_us, bytes)},
                {"variant", nullptr}};
    if (result.variant_us > 0) {
      row["variant"] = SideOf(Member(roofline, "variant"), result.variant_us, bytes);
    }
    if (roofline.contains("reason")) row["reason"] = roofline["reason"];
    if (roofline.contains("peaks")) row["peaks"] = roofline["peaks"];
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace cupilot::service
