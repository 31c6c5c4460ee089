// Answers that are valid documents, for the mechanics of asking only: no model wrote them, and they
// say nothing of what one would.
#pragma once

#include <regex>
#include <string>

#include "agents/provider.h"
#include "base/hash.h"
#include "records/json.h"

namespace cupilot::test {

inline agents::ModelAnswer AnswerOf(const records::Json& document) {
  agents::ModelAnswer answer;
  answer.text = document.dump();
  answer.usage = {true, 100, 0, 0, 50};
  return answer;
}

// The techniques of the steps that a prompt shows.
inline records::Json StepsIn(const std::string& prompt) {
  records::Json steps = records::Json::array();
  const std::regex step("\n *[0-9]+\\. ([a-z_]+)");
  for (std::sregex_iterator it(prompt.begin(), prompt.end(), step), end; it != end; ++it) {
    steps.push_back({{"technique", (*it)[1].str()},
                     {"parameters", records::Json::array()},
                     {"rationale", "as asked"}});
  }
  return steps;
}

// A function of the request: each role's document, other sources for other prompts.
inline agents::ModelResult MechanicsAnswer(const agents::ModelRequest& request) {
  const std::string mark =
      base::HashHex(request.prompt + std::to_string(request.sample)).substr(0, 6);
  const long number = std::stol(mark, nullptr, 16);
  if (request.role.starts_with("strategist")) {
    const char* techniques[] = {"warp_reduction", "pass_fusion", "async_copy",
                                "two_phase_reduction"};
    records::Json strategies = records::Json::array();
    for (long i = 0; i < 2; ++i) {
      const std::string technique = techniques[(number + i) % 4];
      strategies.push_back({{"title", technique},
                            {"parents", records::Json::array()},
                            {"bottleneck", "latency"},
                            {"steps", records::Json::array({{{"technique", technique},
                                                             {"parameters", records::Json::array()},
                                                             {"rationale", "because"},
                                                             {"expected_gain", 1.5}}})}});
    }
    return AnswerOf({{"strategies", strategies}});
  }
  if (request.role.starts_with("judge")) {
    return AnswerOf({{"same_function", "yes"}, {"why", "nothing was found"}});
  }
  if (request.role.starts_with("aligner")) {
    return AnswerOf({{"title", "aligned"}, {"steps", StepsIn(request.prompt)}});
  }
  return AnswerOf(
      {{"source",
        "__global__ void fast(float* out, int n) { out[0] = n * " + std::to_string(number) + "; }"},
       {"launches", records::Json::array({{{"entry", "fast"},
                                           {"grid", records::Json::array({"4", "1", "1"})},
                                           {"block", records::Json::array({"T", "1", "1"})}}})},
       {"tunables",
        records::Json::array(
            {{{"name", "T"}, {"values", records::Json::array({32, 64})}, {"default", 32}}})}});
}

}  // namespace cupilot::test
