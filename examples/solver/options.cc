#include "options.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace solver {
namespace {

constexpr char kUsage[] =
    "usage: solver [--size N] [--steps N] [--cycles N] [--reynolds R] [--precision float|double]\n"
    "              [--output FILE] [--compare FILE] [--tolerance R]\n"
    "       solver --check\n"
    "Flow in the unit square whose northern wall moves, from rest, on N x N cells.\n"
    "  --size N       a power of two from 32 to 8192 (256)\n"
    "  --steps N      time steps, 1 to 1000000 (200)\n"
    "  --cycles N     cycles of multigrid a time step, 1 to 100 (2)\n"
    "  --reynolds R   1 to 10000 (1000)\n"
    "  --precision P  float or double (float)\n"
    "  --output FILE  writes u, v and the pressure, N * N numbers each\n"
    "  --compare FILE what such a file holds is to be the result: exit 1 where a number differs "
    "by\n"
    "                 more than R of itself and of its field's rms\n"
    "  --tolerance R  the R of --compare, 0 to 1 (0.001)\n"
    "  --check        compares with exact solutions instead: exit 1 where a method's order or "
    "rate\n"
    "                 of convergence is not what it should be\n";

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "solver: %s (see --help)\n", what.c_str());
  std::exit(2);
}

double Number(const std::string& option, const char* text, double low, double high) {
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(text, &end);
  if (end == text || *end != '\0' || errno != 0 || !(value >= low && value <= high)) {
    char limits[64];
    std::snprintf(limits, sizeof limits, "%g to %g", low, high);
    Fail(option + " takes a number from " + limits + ", not '" + text + "'");
  }
  return value;
}

int Count(const std::string& option, const char* text, int low, int high) {
  const double value = Number(option, text, low, high);
  if (value != std::floor(value)) Fail(option + " takes a whole number, not '" + text + "'");
  return static_cast<int>(value);
}

}  // namespace

Options ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--help" || option == "-h") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    }
    if (option == "--check") {
      options.check = true;
      continue;
    }
    static constexpr const char* kWithValue[] = {"--size",     "--steps",     "--cycles",
                                                 "--reynolds", "--precision", "--output",
                                                 "--compare",  "--tolerance"};
    bool known = false;
    for (const char* name : kWithValue) known = known || option == name;
    if (!known) Fail("there is no option '" + option + "'");
    if (++i == argc) Fail(option + " needs a value");
    const char* value = argv[i];
    if (option == "--size") {
      options.size = Count(option, value, 32, 8192);
      if ((options.size & (options.size - 1)) != 0) {
        Fail("--size takes a power of two, not '" + std::string(value) + "'");
      }
    } else if (option == "--steps") {
      options.steps = Count(option, value, 1, 1000000);
    } else if (option == "--cycles") {
      options.cycles = Count(option, value, 1, 100);
    } else if (option == "--reynolds") {
      options.reynolds = Number(option, value, 1, 10000);
    } else if (option == "--precision") {
      options.in_double = std::strcmp(value, "double") == 0;
      if (!options.in_double && std::strcmp(value, "float") != 0) {
        Fail("--precision takes float or double, not '" + std::string(value) + "'");
      }
    } else if (option == "--output") {
      options.output = value;
    } else if (option == "--compare") {
      options.compare = value;
    } else {
      options.tolerance = Number(option, value, 0, 1);
    }
  }
  if (options.check && argc > 2) Fail("--check takes no other options");
  return options;
}

}  // namespace solver
