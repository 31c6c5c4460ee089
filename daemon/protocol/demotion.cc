#include "protocol/demotion.h"

#include <cmath>
#include <cstdio>

namespace cupilot::protocol {
namespace {

using records::Json;

constexpr std::size_t kLeastPairs = 5;
constexpr std::size_t kMostProgram = 300;  // bytes of the program that a reason names

double NumberOf(const Json& params, const char* key) {
  const auto it = params.find(key);
  return it != params.end() && it->is_number() ? it->get<double>() : 0;
}

base::TimedPairs PairsOf(const Json& params) {
  base::TimedPairs pairs;
  const auto it = params.find("pairs");
  if (it == params.end() || !it->is_array()) return pairs;
  for (const Json& pair : *it) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_number()) {
      return {};
    }
    pairs.emplace_back(pair[0].get<double>(), pair[1].get<double>());
  }
  return pairs;
}

}  // namespace

Json ToJson(const Demotion& demotion) {
  Json json = {{"kernel", demotion.kernel},   {"folder", demotion.folder},
               {"program", demotion.program}, {"speedup", demotion.speedup},
               {"low", demotion.low},         {"high", demotion.high}};
  json["variants"] = demotion.variants;
  if (demotion.in_kernels) json["times"] = "in kernels";
  json["pairs"] = Json::array();
  for (const auto& [without, with] : demotion.pairs) {
    json["pairs"].push_back(Json::array({without, with}));
  }
  return json;
}

base::Result<Demotion> DemotionOf(const Json& params) {
  Demotion demotion;
  if (!params.is_object()) return base::Fail(base::InvalidArgument("demote: no parameters"));
  demotion.kernel = records::TextAt(params, "kernel");
  demotion.folder = records::TextAt(params, "folder");
  demotion.program = records::TextAt(params, "program").substr(0, kMostProgram);
  demotion.speedup = NumberOf(params, "speedup");
  demotion.low = NumberOf(params, "low");
  demotion.high = NumberOf(params, "high");
  demotion.pairs = PairsOf(params);
  demotion.in_kernels = records::TextAt(params, "times") == "in kernels";
  if (const auto it = params.find("variants"); it != params.end() && it->is_array()) {
    for (const Json& id : *it) {
      if (id.is_string()) demotion.variants.push_back(id.get<std::string>());
    }
  }
  if (demotion.kernel.empty()) return base::Fail(base::InvalidArgument("demote: which kernel?"));
  if (!(demotion.low > 0 && demotion.low <= demotion.speedup && demotion.speedup <= demotion.high &&
        demotion.high < 1)) {
    return base::Fail(base::InvalidArgument(
        "demote: only what a program is slower with for certain is put aside: the whole interval "
        "must be below 1"));
  }
  if (demotion.pairs.size() < kLeastPairs) {
    return base::Fail(base::InvalidArgument("demote: fewer than " + std::to_string(kLeastPairs) +
                                            " pairs of runs are no evidence"));
  }
  return demotion;
}

std::string ReasonOf(const Demotion& demotion, const std::string& date) {
  char numbers[120];
  std::snprintf(numbers, sizeof numbers, "%.3fx [%.3f, %.3f]%s in %zu pairs", demotion.speedup,
                demotion.low, demotion.high, demotion.in_kernels ? " of the time in kernels" : "",
                demotion.pairs.size());
  return "loses in the program " + demotion.program + ": " + numbers + ", " + date;
}

}  // namespace cupilot::protocol
