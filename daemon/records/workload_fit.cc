#include "records/workload_fit.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "records/expression.h"
#include "records/reader.h"

namespace cupilot::records {
namespace {

constexpr std::int64_t kMostBlocks = 2147483647, kMostThreads = 1024;

base::Result<> Impossible(const std::string& path, const std::string& what) {
  return base::Fail(base::InvalidArgument(path + ": " + what));
}

// What expressions of a case name, but for what the device tells.
Environment EnvironmentOf(const Kernel& kernel, const Case& one) {
  Environment environment;
  const std::size_t count = std::min(kernel.parameters.size(), one.arguments.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Parameter& parameter = kernel.parameters[i];
    const std::string& value = one.arguments[i].value;
    if (value.empty()) continue;
    for (const std::string& name : {parameter.name, "$" + std::to_string(i)}) {
      if (name.empty()) continue;
      if (parameter.kind == ParameterKind::kInteger) {
        const auto integer = ReadInteger(value);
        if (integer && integer->readable) environment.integers[name] = integer->value;
      } else if (parameter.kind == ParameterKind::kFloating) {
        if (const auto number = ReadFloating(value)) environment.floats[name] = *number;
      }
    }
  }
  const auto put = [&](const std::string& name, const Size& size) {
    const auto value = EvaluateText(size, environment);
    if (value) environment.integers.emplace(name, *value);
  };
  for (std::size_t i = 0; i < 3; ++i) {
    if (i < one.grid.size()) put(std::string("grid_") + "xyz"[i], one.grid[i]);
    if (i < one.block.size()) put(std::string("block_") + "xyz"[i], one.block[i]);
  }
  put("shared_bytes", one.shared_bytes);
  return environment;
}

class CaseCheck {
 public:
  CaseCheck(const Kernel& kernel, const Case& one, std::string path)
      : kernel_(kernel), case_(one), path_(std::move(path)) {}

  base::Result<> Run() {
    const std::size_t given = case_.arguments.size(), takes = kernel_.parameters.size();
    if (given != takes) {
      return Impossible(Join(path_, "arguments"), std::to_string(given) +
                                                      " arguments, the kernel " + kernel_.name +
                                                      " takes " + std::to_string(takes));
    }
    for (std::size_t i = 0; i < given; ++i) TRY(CheckName(i));
    environment_ = EnvironmentOf(kernel_, case_);
    TRY(CheckGeometry("grid", case_.grid, kMostBlocks));
    TRY(CheckGeometry("block", case_.block, kMostThreads));
    for (std::size_t i = 0; i < given; ++i) {
      const std::string path = Join(Join(path_, "arguments"), i);
      const Argument& argument = case_.arguments[i];
      TRY(CheckSize(Join(path, "count"), argument.count, kernel_.parameters[i].element_bytes));
    }
    for (std::size_t i = 0; i < case_.buffers.size(); ++i) {
      const std::string path = Join(Join(path_, "buffers"), i);
      TRY(CheckSize(Join(path, "bytes"), case_.buffers[i].bytes, 1));
    }
    return {};
  }

 private:
  base::Result<> CheckName(std::size_t i) const {
    const std::string path = Join(Join(path_, "arguments"), i);
    const Argument& argument = case_.arguments[i];
    const Parameter& parameter = kernel_.parameters[i];
    if (!parameter.name.empty() && !argument.name.empty() && argument.name != parameter.name) {
      return Impossible(Join(path, "name"), "'" + argument.name + "', the kernel's parameter " +
                                                std::to_string(i + 1) + " is '" + parameter.name +
                                                "'");
    }
    if (argument.value.empty() || parameter.kind == ParameterKind::kPointer) return {};
    auto fits = records::CheckScalar(parameter, argument.value);
    if (!fits) return base::Fail(fits.error().In(Join(path, "value")));
    return {};
  }

  base::Result<> CheckGeometry(const char* key, const std::vector<Size>& sizes,
                               std::int64_t most) const {
    std::int64_t all = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto size = EvaluateText(sizes[i], environment_);
      if (!size) continue;
      if (*size < 1 || *size > most) {
        return Impossible(Join(Join(path_, key), i), std::to_string(*size) + ", and 1 to " +
                                                         std::to_string(most) + " is possible");
      }
      all = std::min(all * *size, std::numeric_limits<std::int32_t>::max() + std::int64_t{1});
    }
    if (most == kMostThreads && all > most) {
      return Impossible(Join(path_, key), std::to_string(all) + " threads, and " +
                                              std::to_string(most) + " are possible");
    }
    return {};
  }

  base::Result<> CheckSize(const std::string& path, const Size& size,
                           std::int64_t element_bytes) const {
    if (size.empty()) return {};
    const auto count = EvaluateText(size, environment_);
    if (!count) return {};
    const std::int64_t each = std::max<std::int64_t>(1, element_bytes);
    if (*count >= 0 && *count <= kMostBufferBytes / each) return {};
    return Impossible(path, std::to_string(*count) + " times " + std::to_string(each) +
                                " bytes, and a buffer may have " +
                                std::to_string(kMostBufferBytes >> 30) + " GiB");
  }

  const Kernel& kernel_;
  const Case& case_;
  std::string path_;
  Environment environment_;
};

}  // namespace

base::Result<double> ReadFloating(const std::string& text) {
  if (text == "true") return 1;
  if (text == "false") return 0;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size()) {
    return base::Fail(base::InvalidArgument("'" + text + "' is no number"));
  }
  return value;
}

base::Result<WholeNumber> ReadInteger(const std::string& text) {
  if (text == "true" || text == "false") {
    const bool yes = text == "true";
    return WholeNumber{yes ? 1u : 0u, true, yes ? 1 : 0};
  }
  char* end = nullptr;
  errno = 0;
  if (text.starts_with("-")) {
    const long long value = std::strtoll(text.c_str(), &end, 0);
    if (errno == 0 && end == text.c_str() + text.size()) {
      return WholeNumber{static_cast<std::uint64_t>(value), true, value};
    }
  } else if (!text.empty()) {
    const unsigned long long value = std::strtoull(text.c_str(), &end, 0);
    if (errno == 0 && end == text.c_str() + text.size()) {
      const bool readable = value <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
      return WholeNumber{value, readable, static_cast<std::int64_t>(value)};
    }
  }
  return base::Fail(base::InvalidArgument("'" + text + "' is no integer of 64 bits"));
}

base::Result<> CheckScalar(const Parameter& parameter, const std::string& text) {
  const auto beyond = [&] {
    return base::Fail(base::InvalidArgument(text + " is no value of '" + parameter.name +
                                            "', which is of type " + parameter.type));
  };
  if (parameter.kind == ParameterKind::kFloating) {
    TRY_ASSIGN(const double value, ReadFloating(text));
    const bool infinite = text.find("inf") != std::string::npos;
    const double most = parameter.bytes == 4 ? std::numeric_limits<float>::max()
                                             : std::numeric_limits<double>::max();
    if (!infinite && !std::isnan(value) && std::fabs(value) > most) return beyond();
  }
  if (parameter.kind != ParameterKind::kInteger || parameter.bytes < 1 || parameter.bytes > 8) {
    return {};
  }
  TRY_ASSIGN(const WholeNumber number, ReadInteger(text));
  const bool negative = number.readable && number.value < 0;
  const auto bits = static_cast<int>(8 * parameter.bytes);
  if (parameter.canonical == "bool") {
    if (number.bits > 1) return beyond();
  } else if (parameter.is_signed) {
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
    if (!number.readable || number.value > most || number.value < -most - 1) return beyond();
  } else if (negative || (bits < 64 && number.bits >> bits != 0)) {
    return beyond();
  }
  return {};
}

base::Result<> CheckWorkload(const Kernel& kernel, const Workload& workload) {
  for (std::size_t i = 0; i < workload.cases.size(); ++i) {
    TRY(CaseCheck(kernel, workload.cases[i], Join("cases", i)).Run());
  }
  return {};
}

std::string ExcessiveWorkspace(const Kernel& kernel, const Workload& workload,
                               const Variant& variant) {
  for (const Case& one : workload.cases) {
    Environment environment = EnvironmentOf(kernel, one);
    for (const auto& [name, value] : variant.values) {
      if (value.is_number_integer()) environment.integers.emplace(name, value.get<std::int64_t>());
    }
    std::int64_t left = kMostBufferBytes;
    for (const Workspace& workspace : variant.workspace) {
      const auto bytes = EvaluateText(workspace.bytes, environment);
      if (!bytes || *bytes < 0) continue;
      if (*bytes > left) {
        return "case '" + one.name + "': the workspace '" + workspace.name + "' would have " +
               std::to_string(*bytes) + " bytes; all together may have " +
               std::to_string(kMostBufferBytes >> 30) + " GiB";
      }
      left -= *bytes;
    }
  }
  return {};
}

}  // namespace cupilot::records
