// cupilot-nvcc: nvcc's command line for the host device. Preprocess, lower, compile with the host
// compiler; `CUDACXX=$(cupilot config --host-nvcc)` makes a CUDA project build on a machine without
// toolkit and GPU.
#include <cstdio>
#include <string>
#include <vector>

#include "client/nvcc/command_line.h"
#include "client/nvcc/driver.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto line = cupilot::nvcc::ParseCommandLine(arguments);
  if (!line) {
    std::fprintf(stderr, "nvcc fatal   : %s\n", line.error().message.c_str());
    return 1;
  }
  return cupilot::nvcc::RunCommand(*line);
}
