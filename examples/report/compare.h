// Do two results agree? By the gate's rule (design, section 6): errors against the exact result, in
// units of what rounding can do to it.
#pragma once

#include <string>

struct Agreement {
  bool agrees = false;
  std::string detail;
};

// `before` and `after` are files of floats; `reference` is the gallery's file of doubles [inputs of
// one output, count, d..., unit...]. Without a reference file the bytes must be equal.
Agreement CompareOutputs(const std::string& before, const std::string& after,
                         const std::string& reference);
