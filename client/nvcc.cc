// cupilot-nvcc: nvcc's command line for the host device. Preprocess, lower, compile with the host
// compiler; `CUDACXX=$(cupilot config --host-nvcc)` makes a CUDA project build on a machine without
// toolkit and GPU.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/shell_words.h"
#include "client/nvcc/command_line.h"
#include "client/nvcc/driver.h"

namespace {

// Options that nvcc reads from the environment.
std::vector<std::string> WordsOf(const char* variable) {
  const char* value = std::getenv(variable);
  return cupilot::base::ShellWords(value == nullptr ? "" : value);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments = WordsOf("NVCC_PREPEND_FLAGS");
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  for (std::string& word : WordsOf("NVCC_APPEND_FLAGS")) arguments.push_back(std::move(word));
  const auto line = cupilot::nvcc::ParseCommandLine(arguments);
  if (!line) {
    std::fprintf(stderr, "nvcc fatal   : %s\n", line.error().message.c_str());
    return 1;
  }
  return cupilot::nvcc::RunCommand(*line);
}
