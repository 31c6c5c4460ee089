// How often each byte occurs: one atomic addition an element.
#include "gallery.h"

// cupilot: tune
#ifdef GALLERY_LARGE
// cupilot: workload 16M grid=65536 block=256 n=16777216 data=integers(0,255)[n] bins=inout constant(0)[256]
#else
// cupilot: workload 1M grid=4096 block=256 n=1048576 data=integers(0,255)[n] bins=inout constant(0)[256]
#endif
__global__ void histogram(const unsigned char* data, unsigned int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[data[i]], 1u);
}

Timing RunHistogram(const Options& options) {
  const int n = kHistogramElements;
  std::mt19937 generator(19);
  const auto data =
      Values<unsigned char>(n, [&] { return static_cast<unsigned char>(generator() >> 11); });
  const std::vector<unsigned int> zero(256, 0u);
  DeviceBuffer<unsigned char> device_data(data);
  DeviceBuffer<unsigned int> device_bins(zero);
  const double time = MedianMicroseconds(options, [&] { device_bins.Set(zero); }, [&] {
    histogram<<<(n + 255) / 256, 256>>>(device_data.get(), device_bins.get(), n);
  });
  WriteOutput(options, "histogram", device_bins.Get());  // integers: compared exactly
  return {"histogram", time};
}
