// The simulation that the command line asks for, and the check against exact solutions.
#pragma once

#include "options.h"

namespace solver {

// Both print what they found and return the program's exit code.
int Simulate(const Options& options);
int CheckAgainstExactSolutions();

}  // namespace solver
