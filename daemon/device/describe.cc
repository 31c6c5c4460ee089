#include "device/describe.h"

#include <charconv>
#include <map>

#include "device/cuda/cuda_properties.h"
#include "device/cuda/driver.h"
#include "device/host/host_properties.h"

namespace cupilot::device {
namespace {

base::Result<Properties> Describe(const std::string& device) {
  if (device == "host") return DescribeHost();
  const int index = CudaIndexOf(device);
  if (index < 0) {
    return base::Fail(base::InvalidArgument("'" + device + "' is no device; write host or cuda:0"));
  }
  TRY_ASSIGN(const cuda::DriverApi* api, cuda::OpenDriver());
  TRY_ASSIGN(const cuda::DeviceHandle handle, cuda::HandleOf(*api, index));
  return cuda::DescribeGpu(*api, handle);
}

}  // namespace

int CudaIndexOf(const std::string& device) {
  constexpr std::string_view kPrefix = "cuda:";
  if (!device.starts_with(kPrefix)) return -1;
  int index = -1;
  const char *begin = device.data() + kPrefix.size(), *end = device.data() + device.size();
  const auto [stop, error] = std::from_chars(begin, end, index);
  return error == std::errc() && stop == end ? index : -1;
}

base::Result<Properties> DescribeDevice(const std::string& device) {
  static std::map<std::string, Properties>& known = *new std::map<std::string, Properties>();
  const auto it = known.find(device);
  if (it != known.end()) return it->second;
  TRY_ASSIGN(Properties properties, Describe(device));
  return known[device] = std::move(properties);
}

base::Result<std::vector<Gpu>> ListGpus() {
  TRY_ASSIGN(const cuda::DriverApi* api, cuda::OpenDriver());
  int count = 0;
  if (api->cuDeviceGetCount(&count) != cuda::kSuccess || count == 0) {
    return base::Fail(base::Unavailable("the driver sees no GPU"));
  }
  std::vector<Gpu> gpus;
  for (int i = 0; i < count; ++i) {
    const std::string name = "cuda:" + std::to_string(i);
    TRY_ASSIGN(Properties properties, DescribeDevice(name));
    gpus.push_back({name, std::move(properties)});
  }
  return gpus;
}

}  // namespace cupilot::device
