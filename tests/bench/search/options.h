// The command line of search_bench.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupilot::bench {

struct Options {
  std::string recordings;            // the folder of recordings
  std::vector<std::string> kernels;  // empty: all that were recorded; live: those of kKernels
  std::vector<std::string> arms;     // empty: all
  std::string out;                   // for curves.csv and pictures; empty: none
  bool live = false;
  std::string provider;  // live: whom to ask
  std::string device = "host";
  // Live: budgets of an arm, where it is not the recording's.
  std::optional<std::int64_t> evaluations, requests;
  std::optional<std::uint64_t> seed;
};

inline constexpr const char* kKernels[] = {"softmax", "layer_norm", "convolution"};
inline constexpr std::int64_t kEvaluationsOfArm = 40;
inline constexpr std::int64_t kRequestsOfArm = 12;

extern const char* const kUsage;

// kInvalidArgument with what is wrong. `recordings`: the folder that is meant where none is named.
base::Result<Options> ParseOptions(const std::vector<std::string>& words,
                                   const std::string& recordings);

}  // namespace cupilot::bench
