#include "capture/kernels.h"

#include "capture/names.h"

namespace cupilot::capture {
namespace {

constexpr std::size_t kMostParameters = 8192;

}  // namespace

const KernelInfo& Kernels::Of(void* function, const char* symbol) {
  struct Line {
    void* function;
    const KernelInfo* info;
    std::uint32_t generation;
  };
  static thread_local Line lines[64] = {};
  const std::uint32_t generation = generation_;
  Line& line = lines[(reinterpret_cast<std::uintptr_t>(function) >> 4) % 64];
  if (line.function == function && line.generation == generation) return *line.info;
  line = {function, &Look(function, symbol), generation};
  return *line.info;
}

void Kernels::Forget() {
  const std::lock_guard lock(mutex_);
  of_.clear();
  ++generation_;
}

const Recorder::Kernel* Kernels::Named(const std::string& symbol) {
  const std::lock_guard lock(mutex_);
  const auto at = named_.find(symbol);
  return at != named_.end() ? at->second : Register(symbol, PlannedSizes(symbol), {});
}

std::vector<std::uint32_t> Kernels::PlannedSizes(const std::string& symbol) const {
  std::vector<std::uint32_t> sizes;
  const PlannedKernel* planned = FindPlanned(plan_.kernels, symbol);
  if (planned == nullptr) return sizes;
  for (const PlannedParameter& parameter : planned->parameters) sizes.push_back(parameter.bytes);
  return sizes;
}

const KernelInfo& Kernels::Look(void* function, const char* symbol) {
  const std::lock_guard lock(mutex_);
  const auto at = of_.find(function);
  if (at != of_.end()) return *at->second;
  const char* name = symbol;
  if (name == nullptr && driver_.cuFuncGetName != nullptr) driver_.cuFuncGetName(&name, function);
  const std::string mangled = name == nullptr ? "" : name;
  KernelInfo& info = infos_.emplace_back();
  std::vector<std::uint32_t> sizes;
  info.known = Layout(function, sizes, info.offsets);
  if (!info.known) {
    sizes = PlannedSizes(mangled);
    info.known = !sizes.empty();
  }
  info.kernel = Register(mangled, sizes, info.offsets);
  if (info.known) {
    named_.emplace(mangled, info.kernel);
  } else {
    recorder_.Note(info.kernel, "this driver does not tell the layout of its parameters");
  }
  of_.emplace(function, &info);
  return info;
}

// From the driver: of 12.4 or newer.
bool Kernels::Layout(void* function, std::vector<std::uint32_t>& sizes,
                     std::vector<std::uint32_t>& offsets) const {
  for (const auto& get : {driver_.cuFuncGetParamInfo, driver_.cuKernelGetParamInfo}) {
    if (get == nullptr) continue;
    for (std::size_t i = 0; i < kMostParameters; ++i) {
      std::size_t offset = 0, size = 0;
      const DriverResult result = get(function, i, &offset, &size);
      if (result != kDriverSuccess) {
        if (i > 0 || result == kDriverInvalidValue) return true;
        break;
      }
      sizes.push_back(static_cast<std::uint32_t>(size));
      offsets.push_back(static_cast<std::uint32_t>(offset));
    }
  }
  return false;
}

const Recorder::Kernel* Kernels::Register(const std::string& symbol,
                                          const std::vector<std::uint32_t>& sizes,
                                          const std::vector<std::uint32_t>& offsets) {
  // Whoever reads the recording looks for what the plan says. The name alone decides only where the
  // compiler made up a part of the rest: an overload, or another instantiation, has the same.
  const PlannedKernel* planned = FindPlanned(plan_.kernels, symbol);
  if (planned != nullptr) return recorder_.Find(planned->signature, planned->name, sizes, offsets);
  return recorder_.Find(symbol, NamedByCompiler(symbol) ? QualifiedName(symbol) : "", sizes,
                        offsets);
}

}  // namespace cupilot::capture
