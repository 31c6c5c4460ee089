#include "agents/roles/kernel_brief.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "agents/roles/numerics_text.h"
#include "agents/roles/plain_text.h"
#include "agents/roles/prompt.h"
#include "records/element_values.h"
#include "records/launch_names.h"
#include "records/private_data.h"

namespace cupilot::agents {
namespace {

using records::Json;

constexpr std::size_t kMostKernelText = 96 * 1024;
constexpr std::size_t kMostMacros = 8 * 1024;
constexpr std::size_t kMostLines = 16 * 1024;  // of lists: parameters, cases, times
constexpr std::size_t kMostCases = 16;

std::string Joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : ", ") + part;
  return all;
}

std::string ParametersText(const records::Kernel& kernel) {
  std::string text;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const records::Parameter& parameter = kernel.parameters[i];
    const std::string name = records::NameInExpressions(kernel, i);
    text += name;
    if (!parameter.name.empty() && name != parameter.name) {
      text += " (" + parameter.name + ", in expressions by its position alone)";
    }
    text += ": " + parameter.type + "\n";
  }
  return text.empty() ? "none" : text;
}

std::string TunablesText(const records::Kernel& kernel) {
  std::string text;
  for (const records::Tunable& tunable : kernel.tunables) {
    text += tunable.name + " = " + std::to_string(tunable.default_value) + "\n";
  }
  return text;
}

// Integers are what the launch looks like; other numbers may be a program's own.
std::string ScalarText(const records::Argument& argument) {
  const std::string& value = argument.value;
  const double number = std::strtod(value.c_str(), nullptr);
  char rounded[32];
  std::snprintf(rounded, sizeof rounded, "%.2g", number);
  const bool whole = value.find_first_not_of("-0123456789") == std::string::npos;
  if (whole || !std::isfinite(number) || std::strtod(rounded, nullptr) == number) {
    return argument.name + " = " + value;
  }
  return argument.name + " is about " + rounded;
}

std::string ArgumentText(const records::Argument& argument) {
  if (argument.null) return argument.name + " is null";
  if (!argument.buffer.empty()) {
    return argument.name + ": in buffer " + argument.buffer +
           (argument.offset.empty() || argument.offset == "0" ? ""
                                                              : " from byte " + argument.offset);
  }
  if (!argument.bytes.empty()) return argument.name + " is a structure";
  if (argument.count.empty()) return ScalarText(argument);
  std::string text = argument.name + ": " + argument.count + " elements";
  if (argument.access) {
    constexpr const char* kWords[] = {"read", "written", "read and written"};
    text += std::string(", ") + kWords[static_cast<int>(*argument.access)];
  }
  if (argument.fill) text += ", filled with " + argument.fill->kind;
  return text;
}

// The heaviest cases, which are what a variant is for, with the places that the workload has them
// at.
std::vector<std::size_t> HeaviestPlaces(const records::Workload& workload) {
  std::vector<std::size_t> places(workload.cases.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    return workload.cases[a].weight > workload.cases[b].weight;
  });
  if (places.size() > kMostCases) places.resize(kMostCases);
  std::sort(places.begin(), places.end());
  return places;
}

std::string NumberOf(const records::Workload& workload, const std::string& name) {
  for (std::size_t i = 0; i < workload.cases.size(); ++i) {
    if (workload.cases[i].name == name) return "case " + std::to_string(i + 1);
  }
  return "one case";
}

std::string TimesText(const KernelBrief& brief) {
  std::string text;
  for (const CaseTimes& times : brief.times) {
    if (times.original_us <= 0) continue;
    text += NumberOf(brief.workload, times.name) + ": original " + Rounded(times.original_us);
    if (times.best_us > 0) text += ", best variant so far " + Rounded(times.best_us);
    if (times.floor_us > 0) {
      text += ", floor (necessary traffic at peak bandwidth) " + Rounded(times.floor_us);
    }
    text += "\n";
  }
  return text;
}

std::string DeviceText(const DeviceFacts& device) {
  std::string text = AsName(device.name) + " (" + AsName(device.arch) + ")";
  const auto add = [&](const std::string& what) { text += "; " + what; };
  if (device.sm_count > 0) {
    add(std::to_string(device.sm_count) + (device.host() ? " threads" : " multiprocessors"));
  }
  if (device.max_threads_per_sm > 0 && !device.host()) {
    add(std::to_string(device.max_threads_per_sm) + " threads a multiprocessor");
  }
  if (device.registers_per_sm > 0) {
    add(std::to_string(device.registers_per_sm) + " registers a multiprocessor");
  }
  if (device.shared_bytes_per_sm > 0) {
    add(std::to_string(device.shared_bytes_per_sm) + " bytes of shared memory a multiprocessor");
  }
  if (device.max_shared_bytes > 0) {
    add("at most " + std::to_string(device.max_shared_bytes) + " bytes of shared memory a block");
  }
  if (device.l2_bytes > 0) add("last-level cache of " + std::to_string(device.l2_bytes) + " bytes");
  if (device.dram_gb_per_s > 0) add("memory at " + Rounded(device.dram_gb_per_s) + " GB/s");
  if (device.fp32_tflops > 0) {
    add(Rounded(device.fp32_tflops) + " Tflop/s in single precision");
  }
  if (device.fp64_tflops > 0) add(Rounded(device.fp64_tflops) + " Tflop/s in double precision");
  if (device.launch_us > 0) add("an empty launch takes " + Rounded(device.launch_us) + " us");
  return text + ".";
}

std::string DiagnosisText(const KernelBrief& brief) {
  if (!brief.diagnosis) return {};
  const Diagnosis& diagnosis = *brief.diagnosis;
  std::string text = "In " + NumberOf(brief.workload, diagnosis.case_name) +
                     ", where most time is to be gained, the bound is `" + diagnosis.bound + "`";
  if (diagnosis.ceiling_share > 0) {
    text += " (" + Rounded(100 * diagnosis.ceiling_share) + " % of what the device can do there)";
  }
  text += ".";
  if (diagnosis.floor_share > 0) {
    text += " The necessary traffic alone takes " + Rounded(100 * diagnosis.floor_share) +
            " % of the time of " + Rounded(diagnosis.time_us) +
            " us: no variant can be more than " +
            Rounded(1 / std::strtod(Rounded(diagnosis.floor_share).c_str(), nullptr)) +
            " times as fast.";
  } else if (diagnosis.time_us > 0) {
    text += " It takes " + Rounded(diagnosis.time_us) + " us.";
  }
  if (diagnosis.evidence == "instructions") {
    text += " There were no hardware counters; this is from times and the compiled code.";
  } else if (diagnosis.evidence == "times") {
    text += " There were no hardware counters; this is from times and resources alone.";
  }
  return text;
}

Json MetricsData(const std::optional<Diagnosis>& diagnosis) {
  Json metrics = Json::array();
  if (!diagnosis) return metrics;
  for (const Metric& metric : diagnosis->metrics) {
    metrics.push_back(
        {{"name", metric.name}, {"value", metric.value}, {"hypothesis", metric.hypothesis}});
  }
  return metrics;
}

std::string IfAny(const char* name, const std::string& text, std::size_t most) {
  return text.empty() ? text : AsData(name, text, most);
}

}  // namespace

std::string CasesText(const records::Workload& workload) {
  double all = 0;
  for (const records::Case& one : workload.cases) all += one.weight;
  std::string text;
  const std::vector<std::size_t> places = HeaviestPlaces(workload);
  for (const std::size_t place : places) {
    const records::Case& one = workload.cases[place];
    text += "case " + std::to_string(place + 1) + " (" + WithRoundedNumbers(one.name) + "): ";
    if (all > 0) text += "weight " + Rounded(one.weight / all) + "; ";
    text += "grid (" + Joined(one.grid) + "), block (" + Joined(one.block) + "), shared_bytes " +
            one.shared_bytes;
    for (const records::Argument& argument : one.arguments) text += "; " + ArgumentText(argument);
    text += "\n";
  }
  if (places.size() < workload.cases.size()) {
    text += "and " + std::to_string(workload.cases.size() - places.size()) +
            " more with smaller weights\n";
  }
  return AsData("cases", text, kMostLines);
}

std::string CheckText(const records::Workload& workload, const std::string& detail) {
  const std::string text =
      records::HoldsData(workload) ? records::WithoutElementValues(detail) : detail;
  constexpr std::string_view kName = "case '";
  std::string said;
  std::size_t at = 0;
  for (std::size_t name = text.find(kName); name != std::string::npos;
       name = text.find(kName, at)) {
    name += kName.size();
    const std::size_t end = std::min(text.find('\'', name), text.size());
    said += text.substr(at, name - at) + WithRoundedNumbers(text.substr(name, end - name));
    at = end;
  }
  return said + text.substr(at);
}

std::string KernelText(const records::Kernel& kernel) {
  return AsData("kernel_source", kernel.closure_source, kMostKernelText);
}

std::string KernelName(const records::Kernel& kernel) { return AsName(kernel.name); }

Json BriefData(const KernelBrief& brief) {
  const records::Kernel& kernel = brief.kernel;
  const std::string times = TimesText(brief);
  return {{"kernel_name", KernelName(kernel)},
          {"template_arguments", AsName(Joined(kernel.template_arguments))},
          {"kernel_source", KernelText(kernel)},
          {"kernel_macros", IfAny("macros", kernel.closure_macros, kMostMacros)},
          {"parameters", AsData("parameters", ParametersText(kernel), kMostLines)},
          {"tunables", IfAny("tunables", TunablesText(kernel), kMostLines)},
          {"numerics", NumericsText(brief.workload, brief.bitwise)},
          {"free_order", FreeOrderOutputs(brief.workload)},
          {"overlaps", HasOverlaps(brief.workload)},
          {"device", DeviceText(brief.device)},
          {"host", brief.device.host()},
          {"cases", CasesText(brief.workload)},
          {"times", IfAny("times", times, kMostLines)},
          {"diagnosis", DiagnosisText(brief)},
          {"bound", brief.diagnosis ? brief.diagnosis->bound : std::string()},
          {"metrics", MetricsData(brief.diagnosis)}};
}

}  // namespace cupilot::agents
