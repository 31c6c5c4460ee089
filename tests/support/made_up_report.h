// A document as `cupilot report` gets it, made up: as many variants as a test wants, names and
// texts that try to be code, a kernel without data, one on the host device.
#pragma once

#include <cstddef>
#include <string>

#include "records/json.h"

namespace cupilot::test {

// What must never run, wherever it stands.
inline constexpr const char* kHostileText =
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "<!-- {{script}} & ]]>";

inline std::string MadeUpId(std::size_t number) {
  const std::string digits = std::to_string(number);
  return std::string(40 - digits.size(), '0') + digits;
}

inline records::Json MadeUpEvidence(std::size_t number, double speedup, bool accepted) {
  records::Json row = {{"variant", MadeUpId(number)},
                       {"date", "2026-11-23T12:00:00Z"},
                       {"verdict", accepted ? "accepted" : "rejected"},
                       {"reason", accepted ? "" : "not_faster"},
                       {"detail", accepted ? "" : "no gain was shown"},
                       {"speedup", speedup},
                       {"interval", {speedup * 0.99, speedup * 1.01}},
                       {"current", true},
                       {"device", "NVIDIA H200"},
                       {"arch", "sm_90"},
                       {"times", "device times"},
                       {"target", "compute_90,sm_90"},
                       {"driver", "580.65"},
                       {"toolchain", "nvcc 13.0"}};
  row["checks"] = {{"passed", {"whitelist", "fill workload", "red zones"}},
                   {"failed", records::Json::array()}};
  row["cases"] = {{{"name", "1080p"},
                   {"original_us", 100.0},
                   {"variant_us", 100 / speedup},
                   {"speedup", speedup},
                   {"interval", {speedup * 0.99, speedup * 1.01}},
                   {"samples", 60},
                   {"l2", "cold"}}};
  return row;
}

inline records::Json MadeUpRoofline() {
  return {{{"case", "1080p"},
           {"necessary_bytes", 16588800.0},
           {"floor_us", 4.1},
           {"counted", true},
           {"peaks",
            {{"read", 4.0e6},
             {"write", 3.5e6},
             {"copy", 4.1e6},
             {"arithmetic", {{"fp32", 6.0e7}, {"fp64", 3.0e7}}}}},
           {"original",
            {{"us", 100.0},
             {"operations", 3.7e7},
             {"bytes", 1.7e7},
             {"bound", "latency"},
             {"share", 0.2}}},
           {"variant",
            {{"us", 40.0},
             {"operations", 3.7e7},
             {"bytes", 1.65e7},
             {"bound", "dram"},
             {"share", 0.8}}}}};
}

// A kernel on a GPU with so many variants, of which every tenth continues the one nine before it.
inline records::Json MadeUpKernel(const std::string& name, std::size_t variants) {
  records::Json kernel = {
      {"kernel", name},
      {"kernel_key", "key of " + name},
      {"workload", "w"},
      {"verdicts", variants},
      {"file", "/p/blur.cu"},
      {"line", 12},
      {"state", "done"},
      {"speedup", 2.5},
      {"interval", {2.45, 2.55}},
      {"strategy", "wide loads"},
      {"published", true},
      {"original_us", 100.0},
      {"variant_us", 40.0},
      {"why", ""},
      {"why_not", ""},
      {"model_dollars", 0.125},
      {"no_roofline", ""},
      {"roofline", MadeUpRoofline()},
      {"warnings", {"the display is attached"}},
      {"not_measured", records::Json::array()},
      {"declined", {{{"technique", "unrolling"}, {"reason", "it has no loop"}}}}};
  kernel["device"] = {{"name", "NVIDIA H200"}, {"arch", "sm_90"}, {"times", "device times"}};
  kernel["original"] = {{"text",
                         "__global__ void blur(const float* in, float* out) {\n"
                         "  // " +
                             std::string(kHostileText) +
                             "\n"
                             "  out[threadIdx.x] = in[threadIdx.x];\n}\n"},
                        {"as_written", true},
                        {"line", 12},
                        {"note", ""}};
  kernel["variants"] = records::Json::array();
  kernel["evaluations"] = records::Json::array();
  for (std::size_t i = 0; i < variants; ++i) {
    const bool accepted = i % 10 == 3;
    const double speedup =
        accepted ? 1.5 + static_cast<double>(i) / static_cast<double>(variants) : 0.9;
    records::Json steps = {{{"technique", "vectorized_access"}, {"parameters", {{"width", 4}}}}};
    if (i % 10 == 9) steps.push_back({{"technique", "other:</b>"}, {"parameters", {{"n", i}}}});
    kernel["variants"].push_back({{"id", MadeUpId(i)},
                                  {"parent", i % 10 == 9 ? MadeUpId(i - 9) : ""},
                                  {"parents", i % 10 == 9 ? records::Json::array({MadeUpId(i - 9)})
                                                          : records::Json::array()},
                                  {"title", "variant " + std::to_string(i) + " <b>bold</b>"},
                                  {"bottleneck", "dram"},
                                  {"steps", steps},
                                  {"values", {{"BX", 32 + i}}}});
    kernel["evaluations"].push_back(MadeUpEvidence(i, speedup, accepted));
  }
  records::Json evaluation = {{"date", "2026-11-23T12:00:00Z"}, {"driver", "580.65"}};
  evaluation["checks"] = {{{"name", "whitelist"}, {"passed", true}, {"detail", kHostileText}}};
  kernel["winners"] = records::Json::array();
  if (variants > 3) {
    kernel["winners"].push_back({{"id", MadeUpId(3)},
                                 {"title", "wide loads"},
                                 {"source",
                                  "__global__ void blur_t4(const float* in, float* out) {\n"
                                  "  // " +
                                      std::string(kHostileText) +
                                      "\n"
                                      "  out[4 * threadIdx.x] = in[threadIdx.x];\n}\n"},
                                 {"guard", "width % 4 == 0 && height < 10"},
                                 {"evaluation", evaluation}});
  }
  return kernel;
}

// Three kernels: one on a GPU with so many variants, one on the host device, one that nobody
// measured.
inline records::Json MadeUpReport(std::size_t variants) {
  records::Json report = {{"schema", "cupilot.report/1"},      {"version", "0.1.0"},
                          {"date", "2026-11-23T18:00:00Z"},    {"project", "/p"},
                          {"devices", records::Json::array()}, {"no_gpu", ""}};
  report["models"] = {{"spent", {{"day_dollars", 0.25}, {"month_dollars", 1.5}}},
                      {"totals",
                       {{{"provider", "openai https://api.openai.com"},
                         {"model", "gpt <i>"},
                         {"requests", 7},
                         {"answers", 6},
                         {"input_tokens", 1000},
                         {"output_tokens", 500},
                         {"dollars", 0.125},
                         {"gain", 0.4055}}}}};
  report["kernels"] = {MadeUpKernel(std::string("image::blur<") + kHostileText + ">", variants),
                       MadeUpKernel("image::sharpen", 20), MadeUpKernel("image::waiting", 0)};
  records::Json& host = report["kernels"][1];
  host["device"] = {{"name", "AMD EPYC"}, {"arch", "host-x86-64-v4"}, {"times", "CPU times"}};
  host["roofline"] = {
      {{"case", "1080p"},
       {"necessary_bytes", 2073600.0},
       {"floor_us", 100.0},
       {"counted", false},
       {"original", {{"us", 900.0}, {"bytes", 2073600.0}, {"bound", ""}, {"share", 0}}},
       {"variant", {{"us", 300.0}, {"bytes", 2073600.0}, {"bound", ""}, {"share", 0}}}}};
  records::Json& waiting = report["kernels"][2];
  waiting["speedup"] = waiting["original_us"] = waiting["variant_us"] = nullptr;
  waiting["strategy"] = "";
  waiting["model_dollars"] = 0;
  waiting["roofline"] = records::Json::array();
  waiting["why_not"] = "it has no workload";
  waiting["no_roofline"] = "nothing was measured: it has no workload";
  return report;
}

}  // namespace cupilot::test
