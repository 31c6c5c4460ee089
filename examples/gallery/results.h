// Options, and files of results and of what they are judged by.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

struct Options {
  int repeat = 15;         // launches that are timed; the median counts
  std::string outputs;     // folder for <name>.bin, or empty
  std::string references;  // folder for <name>.reference, or empty
  std::string only;        // one example's name, or empty
};

void WriteBytes(const std::string& path, const void* data, std::size_t bytes);

// Writes what a result may be judged by: the exact result d (computed in double) and, per element,
// the unit in which rounding is counted: kappa + 2^-24 |d| + smallest normal number, where kappa is
// the rms change of d when each input moves within its own rounding (8 draws). File: doubles
// [inputs of one output, count, d..., unit...]. `exact` computes a part of the outputs, those of
// one of `parts` (rows, say), from the inputs; parts are computed in several threads.
using Inputs = std::vector<std::vector<double>>;
using Exact = std::function<void(const Inputs& in, std::vector<double>& out, int part)>;
void WriteReference(const Options& options, const char* name,
                    const std::vector<std::vector<float>>& inputs, std::size_t outputs,
                    double inputs_per_output, int parts, const Exact& exact);
