#include "device/cuda/range_profiler.h"

#include <dlfcn.h>

#include <utility>

#include "device/cuda/find_function.h"

namespace cupilot::device::cuda {
namespace {

constexpr int kMostPasses = 100;
constexpr const char* kRangeName = "launches";

// A structure that says its size, as every call wants it.
template <class Params>
Params Make() {
  Params params{};
  params.size = Params::kSize;
  return params;
}

// Where the loader looks first: who sets its path has chosen.
void* OpenCupti(const std::vector<std::string>& toolkits) {
  for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) {
    if (void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    for (const std::string& toolkit : toolkits) {
      for (const char* folder : {"/extras/CUPTI/lib64/", "/lib64/", "/targets/x86_64-linux/lib/"}) {
        // It opens this one by its bare name, which the loader may not find.
        ::dlopen((toolkit + folder + "libnvperf_host.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        if (void* library = ::dlopen((toolkit + folder + name).c_str(), RTLD_NOW | RTLD_LOCAL)) {
          return library;
        }
      }
    }
  }
  return nullptr;
}

base::Result<const CuptiApi*> FindApi(const std::vector<std::string>& toolkits) {
  void* library = OpenCupti(toolkits);
  if (library == nullptr) {
    return base::Fail(base::Unavailable(
        "no CUPTI (libcupti.so.13 or .12) in the toolkit or on the loader's path: install the CUDA "
        "toolkit, or its package cuda-cupti"));
  }
  auto* api = new CuptiApi();  // for the rest of the process's life, as the library
#define CUPILOT_FIND(name)                                                          \
  if (!FindFunction(library, #name, api->name)) {                                   \
    return base::Fail(base::Unavailable("this CUPTI is too old: it has no " #name   \
                                        "; that of toolkit 12.6 or newer has it")); \
  }
  CUPILOT_FIND(cuptiGetResultString)
  CUPILOT_FIND(cuptiProfilerInitialize)
  CUPILOT_FIND(cuptiProfilerDeviceSupported)
  CUPILOT_FIND(cuptiDeviceGetChipName)
  CUPILOT_FIND(cuptiProfilerGetCounterAvailability)
  CUPILOT_FIND(cuptiProfilerHostInitialize)
  CUPILOT_FIND(cuptiProfilerHostDeinitialize)
  CUPILOT_FIND(cuptiProfilerHostGetMetricProperties)
  CUPILOT_FIND(cuptiProfilerHostConfigAddMetrics)
  CUPILOT_FIND(cuptiProfilerHostGetConfigImageSize)
  CUPILOT_FIND(cuptiProfilerHostGetConfigImage)
  CUPILOT_FIND(cuptiProfilerHostEvaluateToGpuValues)
  CUPILOT_FIND(cuptiRangeProfilerEnable)
  CUPILOT_FIND(cuptiRangeProfilerDisable)
  CUPILOT_FIND(cuptiRangeProfilerGetCounterDataSize)
  CUPILOT_FIND(cuptiRangeProfilerCounterDataImageInitialize)
  CUPILOT_FIND(cuptiRangeProfilerSetConfig)
  CUPILOT_FIND(cuptiRangeProfilerStart)
  CUPILOT_FIND(cuptiRangeProfilerStop)
  CUPILOT_FIND(cuptiRangeProfilerPushRange)
  CUPILOT_FIND(cuptiRangeProfilerPopRange)
  CUPILOT_FIND(cuptiRangeProfilerDecodeData)
#undef CUPILOT_FIND
  return api;
}

}  // namespace

base::Result<> RangeProfiler::Check(CuptiStatus status, const char* call) const {
  if (status == kCuptiSuccess) return {};
  const char* text = nullptr;
  api_.cuptiGetResultString(status, &text);
  std::string message =
      std::string(call) + ": " + (text != nullptr ? text : std::to_string(status).c_str());
  if (status == kCuptiInsufficientPrivileges || status == kCuptiVirtualInsufficientPrivileges) {
    message +=
        "; counters are for administrators only here: the option "
        "NVreg_RestrictProfilingToAdminUsers=0 of the kernel module nvidia opens them to everybody";
  }
  return base::Fail(base::Unavailable(message));
}

base::Result<std::unique_ptr<RangeProfiler>> RangeProfiler::Open(
    const CudaDevice& device, const std::vector<std::string>& toolkits) {
  TRY_ASSIGN(const CuptiApi* api, FindApi(toolkits));
  std::unique_ptr<RangeProfiler> profiler(new RangeProfiler(*api, device.context()));
  TRY(profiler->Prepare(device));
  return profiler;
}

base::Result<> RangeProfiler::Prepare(const CudaDevice& device) {
  auto initialize = Make<CuptiInitialize>();
  TRY(Check(api_.cuptiProfilerInitialize(&initialize), "cuptiProfilerInitialize"));
  auto supported = Make<CuptiDeviceSupported>();
  supported.device = device.handle();
  TRY(Check(api_.cuptiProfilerDeviceSupported(&supported), "cuptiProfilerDeviceSupported"));
  if (supported.supported != kCuptiSupported) {
    return base::Fail(base::Unavailable(
        "CUPTI's range profiler does not serve this GPU as it is set up (its architecture, a "
        "virtual GPU, SLI, confidential computing or WSL)"));
  }
  auto name = Make<CuptiChipName>();
  name.device = static_cast<std::size_t>(device.handle());
  TRY(Check(api_.cuptiDeviceGetChipName(&name), "cuptiDeviceGetChipName"));
  chip_ = name.chip;
  auto available = Make<CuptiCounterAvailability>();
  available.context = context_;
  TRY(Check(api_.cuptiProfilerGetCounterAvailability(&available),
            "cuptiProfilerGetCounterAvailability"));
  availability_.resize(available.image_bytes);
  available.image = availability_.data();
  return Check(api_.cuptiProfilerGetCounterAvailability(&available),
               "cuptiProfilerGetCounterAvailability");
}

RangeProfiler::~RangeProfiler() {
  for (auto& [metrics, config] : configs_) {
    auto end = Make<CuptiHostDeinitialize>();
    end.host = config.host;
    api_.cuptiProfilerHostDeinitialize(&end);
  }
}

base::Result<void*> RangeProfiler::NewHost() const {
  auto host = Make<CuptiHostInitialize>();
  host.profiler = kCuptiRangeProfiler;
  host.chip = chip_.c_str();
  host.availability = availability_.data();
  TRY(Check(api_.cuptiProfilerHostInitialize(&host), "cuptiProfilerHostInitialize"));
  return host.host;
}

// What the hardware is told to count: kept, since it costs a fifth of a second.
base::Result<const RangeProfiler::Config*> RangeProfiler::ConfigFor(
    const std::vector<std::string>& metrics) {
  if (const auto known = configs_.find(metrics); known != configs_.end()) return &known->second;
  Config config;
  TRY_ASSIGN(config.host, NewHost());
  for (const std::string& metric : metrics) {
    auto properties = Make<CuptiMetricProperties>();
    properties.host = config.host;
    properties.metric = metric.c_str();
    if (api_.cuptiProfilerHostGetMetricProperties(&properties) == kCuptiSuccess) {
      config.names.push_back(metric);
    }
  }
  const auto it = configs_.emplace(metrics, std::move(config)).first;
  Config& kept = it->second;
  for (const std::string& name : kept.names) kept.pointers.push_back(name.c_str());
  const auto fill = [&]() -> base::Result<> {
    auto add = Make<CuptiAddMetrics>();
    add.host = kept.host;
    add.metrics = kept.pointers.data();
    add.count = kept.pointers.size();
    TRY(Check(api_.cuptiProfilerHostConfigAddMetrics(&add), "cuptiProfilerHostConfigAddMetrics"));
    auto size = Make<CuptiConfigSize>();
    size.host = kept.host;
    TRY(Check(api_.cuptiProfilerHostGetConfigImageSize(&size),
              "cuptiProfilerHostGetConfigImageSize"));
    kept.image.resize(size.bytes);
    auto image = Make<CuptiConfigImage>();
    image.host = kept.host;
    image.bytes = kept.image.size();
    image.image = kept.image.data();
    return Check(api_.cuptiProfilerHostGetConfigImage(&image), "cuptiProfilerHostGetConfigImage");
  };
  if (auto filled = fill(); !filled) {
    auto end = Make<CuptiHostDeinitialize>();
    end.host = kept.host;
    api_.cuptiProfilerHostDeinitialize(&end);
    configs_.erase(it);
    return base::Fail(filled.error());
  }
  return &kept;
}

base::Result<int> RangeProfiler::RunPasses(void* profiler, const Config& config,
                                           std::vector<std::uint8_t>& counters,
                                           const std::function<base::Result<>()>& before,
                                           const std::function<base::Result<>()>& work) {
  auto size = Make<CuptiCounterDataSize>();
  size.profiler = profiler;
  size.metrics = const_cast<const char**>(config.pointers.data());
  size.count = config.pointers.size();
  size.ranges = 1;
  size.nodes = 1;
  TRY(Check(api_.cuptiRangeProfilerGetCounterDataSize(&size),
            "cuptiRangeProfilerGetCounterDataSize"));
  counters.assign(size.bytes, 0);
  auto image = Make<CuptiCounterDataImage>();
  image.profiler = profiler;
  image.bytes = counters.size();
  image.image = counters.data();
  TRY(Check(api_.cuptiRangeProfilerCounterDataImageInitialize(&image),
            "cuptiRangeProfilerCounterDataImageInitialize"));
  auto set = Make<CuptiSetConfig>();
  set.profiler = profiler;
  set.config_bytes = config.image.size();
  set.config = config.image.data();
  set.counter_bytes = counters.size();
  set.counters = counters.data();
  set.range = kCuptiUserRange;
  set.replay = kCuptiUserReplay;
  set.ranges_a_pass = 1;
  set.nesting_levels = 1;
  set.least_nesting_level = 1;
  set.target_nesting_level = 1;
  TRY(Check(api_.cuptiRangeProfilerSetConfig(&set), "cuptiRangeProfilerSetConfig"));
  auto only = Make<CuptiProfilerOnly>();
  only.profiler = profiler;
  auto push = Make<CuptiPushRange>();
  push.profiler = profiler;
  push.name = kRangeName;
  auto stop = Make<CuptiStop>();
  stop.profiler = profiler;
  int passes = 0;
  bool all = false;
  for (; !all && passes < kMostPasses; ++passes) {
    TRY(before());
    TRY(Check(api_.cuptiRangeProfilerStart(&only), "cuptiRangeProfilerStart"));
    TRY(Check(api_.cuptiRangeProfilerPushRange(&push), "cuptiRangeProfilerPushRange"));
    TRY(work());
    TRY(Check(api_.cuptiRangeProfilerPopRange(&only), "cuptiRangeProfilerPopRange"));
    TRY(Check(api_.cuptiRangeProfilerStop(&stop), "cuptiRangeProfilerStop"));
    all = stop.all_passes != 0;
  }
  if (!all) return base::Fail(base::Unavailable("CUPTI wants more passes than are reasonable"));
  auto decode = Make<CuptiDecode>();
  decode.profiler = profiler;
  TRY(Check(api_.cuptiRangeProfilerDecodeData(&decode), "cuptiRangeProfilerDecodeData"));
  if (decode.dropped > 0) {
    return base::Fail(base::Unavailable("CUPTI dropped what it had counted"));
  }
  return passes;
}

base::Result<RangeProfiler::Counted> RangeProfiler::Count(
    const std::vector<std::string>& metrics, const std::function<base::Result<>()>& before,
    const std::function<base::Result<>()>& work) {
  TRY_ASSIGN(const Config* config, ConfigFor(metrics));
  auto enable = Make<CuptiEnable>();
  enable.context = context_;
  TRY(Check(api_.cuptiRangeProfilerEnable(&enable), "cuptiRangeProfilerEnable"));
  std::vector<std::uint8_t> counters;
  const auto passes = RunPasses(enable.profiler, *config, counters, before, work);
  auto disable = Make<CuptiProfilerOnly>();
  disable.profiler = enable.profiler;
  api_.cuptiRangeProfilerDisable(&disable);
  TRY(passes);
  std::vector<double> values(config->names.size());
  auto evaluate = Make<CuptiEvaluate>();
  evaluate.host = config->host;
  evaluate.counters = counters.data();
  evaluate.counter_bytes = counters.size();
  evaluate.metrics = const_cast<const char**>(config->pointers.data());
  evaluate.count = values.size();
  evaluate.values = values.data();
  TRY(Check(api_.cuptiProfilerHostEvaluateToGpuValues(&evaluate),
            "cuptiProfilerHostEvaluateToGpuValues"));
  Counted counted;
  counted.passes = *passes;
  for (std::size_t i = 0; i < values.size(); ++i) counted.values[config->names[i]] = values[i];
  return counted;
}

}  // namespace cupilot::device::cuda
