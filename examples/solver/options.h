// What the command line says.
#pragma once

#include <string>

namespace solver {

struct Options {
  int size = 256;   // cells along a side: a power of two from 32 to 8192
  int steps = 200;  // time steps
  int cycles = 2;   // of multigrid a step
  double reynolds = 1000;
  bool in_double = false;
  bool check = false;
  std::string output;   // file for the fields, or empty
  std::string compare;  // file of fields to compare with, or empty
  double tolerance = 1e-3;
};

// Prints what is wrong, or the usage, and ends the program (2, or 0 for --help) instead of
// returning.
Options ParseOptions(int argc, char** argv);

}  // namespace solver
