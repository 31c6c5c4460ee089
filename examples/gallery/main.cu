// Runs the ten examples and prints their times.
//   gallery [--repeat N] [--only NAME] [--outputs DIR] [--references DIR] [--json FILE]
#include <cstring>

#include "gallery.h"

namespace {

struct Example {
  const char* name;
  Timing (*run)(const Options&);
};
const Example kExamples[] = {
    {"saxpy", RunSaxpy},           {"transpose", RunTranspose}, {"softmax", RunSoftmax},
    {"layer_norm", RunLayerNorm},  {"reduction", RunReduction}, {"convolution", RunConvolution},
    {"hotspot", RunHotspot},       {"matmul", RunMatmul},       {"nbody", RunNbody},
    {"histogram", RunHistogram},
};

int Usage() {
  std::fprintf(stderr,
               "usage: gallery [--repeat N] [--only NAME] [--outputs DIR] [--references DIR] "
               "[--json FILE]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::string json;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 >= argc) return Usage();
    if (std::strcmp(argv[i], "--repeat") == 0) {
      options.repeat = std::max(1, std::atoi(argv[i + 1]));
    } else if (std::strcmp(argv[i], "--only") == 0) {
      options.only = argv[i + 1];
    } else if (std::strcmp(argv[i], "--outputs") == 0) {
      options.outputs = argv[i + 1];
    } else if (std::strcmp(argv[i], "--references") == 0) {
      options.references = argv[i + 1];
    } else if (std::strcmp(argv[i], "--json") == 0) {
      json = argv[i + 1];
    } else {
      return Usage();
    }
  }
  std::string lines;
  for (const Example& example : kExamples) {
    if (!options.only.empty() && options.only != example.name) continue;
    const Timing timing = example.run(options);
    std::printf("%-12s %12.1f us\n", timing.name.c_str(), timing.microseconds);
    lines += (lines.empty() ? "" : ",\n") + ("  \"" + timing.name + "\": ") +
             std::to_string(timing.microseconds);
  }
  if (lines.empty()) {
    std::fprintf(stderr, "gallery: there is no example '%s'\n", options.only.c_str());
    return 2;
  }
  if (!json.empty()) {
    const std::string text = "{\n" + lines + "\n}\n";
    WriteBytes(json, text.data(), text.size());
  }
  return 0;
}
