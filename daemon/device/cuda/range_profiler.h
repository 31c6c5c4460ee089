// Hardware counters of what runs between two points, through CUPTI's range profiler. The library is
// the toolkit's and is opened at run time; who may read counters is the administrator's choice
// (https://developer.nvidia.com/ERR_NVGPUCTRPERM).
//
// One profiler a process, on the thread of the device. A process that has one is slower to launch:
// it measures no times that count.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/cuda/cuda_device.h"
#include "device/cuda/cupti_api.h"

namespace cupilot::device::cuda {

class RangeProfiler {
 public:
  // Where the loader looks, or else from one of these toolkit folders. kUnavailable: there is no
  // CUPTI, the GPU or its configuration is none that it serves, or counters are not permitted, and
  // what to do.
  static base::Result<std::unique_ptr<RangeProfiler>> Open(
      const CudaDevice& device, const std::vector<std::string>& toolkits);
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;
  ~RangeProfiler();

  // The values of those of `metrics` that this chip has. Hardware counts a few at a time: `work` is
  // done once for each pass, and `before` puts back what it changed, uncounted; neither may leave
  // anything running. Not a number: what was counted does not give the metric.
  struct Counted {
    std::map<std::string, double> values;
    int passes = 0;
  };
  base::Result<Counted> Count(const std::vector<std::string>& metrics,
                              const std::function<base::Result<>()>& before,
                              const std::function<base::Result<>()>& work);

 private:
  struct Config {
    void* host = nullptr;
    std::vector<std::string> names;
    std::vector<const char*> pointers;  // to them
    std::vector<std::uint8_t> image;
  };

  RangeProfiler(const CuptiApi& api, Context context) : api_(api), context_(context) {}
  base::Result<> Check(CuptiStatus status, const char* call) const;
  base::Result<> Prepare(const CudaDevice& device);
  base::Result<void*> NewHost() const;
  base::Result<const Config*> ConfigFor(const std::vector<std::string>& metrics);
  base::Result<int> RunPasses(void* profiler, const Config& config,
                              std::vector<std::uint8_t>& counters,
                              const std::function<base::Result<>()>& before,
                              const std::function<base::Result<>()>& work);

  const CuptiApi& api_;
  Context context_;
  std::string chip_;
  std::vector<std::uint8_t> availability_;
  std::map<std::vector<std::string>, Config> configs_;
};

}  // namespace cupilot::device::cuda
