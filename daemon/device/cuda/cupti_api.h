// The part of CUPTI (its range profiler and what comes before it) that cuPilot calls, declared by
// ourselves for the reason that api.h gives. Names, members and values are those of
// cupti_profiler_host.h, cupti_profiler_target.h, cupti_range_profiler.h and cupti_target.h
// (toolkit 13.0; 12.6 is the first that has them); tests/daemon/device/cupti_api_test.cc holds them
// against the toolkit's headers where there are any.
//
// Every call takes one structure that begins with its size, counted to the end of the last member:
// kSize. Members that are not set are zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cuda/api.h"

namespace cupilot::device::cuda {

using CuptiStatus = int;  // CUptiResult
inline constexpr CuptiStatus kCuptiSuccess = 0;
inline constexpr CuptiStatus kCuptiInsufficientPrivileges = 35;
inline constexpr CuptiStatus kCuptiVirtualInsufficientPrivileges = 40;

inline constexpr int kCuptiSupported = 3;      // CUPTI_PROFILER_CONFIGURATION_SUPPORTED
inline constexpr int kCuptiRangeProfiler = 0;  // CUPTI_PROFILER_TYPE_RANGE_PROFILER
// CUpti_ProfilerRange, CUpti_ProfilerReplayMode: we say what a range is, and repeat it.
inline constexpr int kCuptiUserRange = 2;
inline constexpr int kCuptiUserReplay = 3;

struct CuptiInitialize {
  std::size_t size;
  void* priv;
  static constexpr std::size_t kSize = 16;
};
struct CuptiDeviceSupported {
  std::size_t size;
  void* priv;
  DeviceHandle device;
  int supported, architecture, sli, vgpu, confidential, cmp, wsl;
  int api;
  static constexpr std::size_t kSize = 52;
};
struct CuptiChipName {
  std::size_t size;
  void* priv;
  std::size_t device;
  const char* chip;
  static constexpr std::size_t kSize = 32;
};
struct CuptiCounterAvailability {
  std::size_t size;
  void* priv;
  Context context;
  std::size_t image_bytes;
  std::uint8_t* image;
  static constexpr std::size_t kSize = 40;
};
struct CuptiHostInitialize {
  std::size_t size;
  void* priv;
  int profiler;
  const char* chip;
  const std::uint8_t* availability;
  void* host;
  static constexpr std::size_t kSize = 48;
};
struct CuptiHostDeinitialize {
  std::size_t size;
  void* priv;
  void* host;
  static constexpr std::size_t kSize = 24;
};
struct CuptiMetricProperties {
  std::size_t size;
  void* priv;
  void* host;
  const char* metric;
  const char *description, *unit, *dimension;
  int type;
  static constexpr std::size_t kSize = 60;
};
struct CuptiAddMetrics {
  std::size_t size;
  void* priv;
  void* host;
  const char** metrics;
  std::size_t count;
  static constexpr std::size_t kSize = 40;
};
struct CuptiConfigSize {
  std::size_t size;
  void* priv;
  void* host;
  std::size_t bytes;
  static constexpr std::size_t kSize = 32;
};
struct CuptiConfigImage {
  std::size_t size;
  void* priv;
  void* host;
  std::size_t bytes;
  std::uint8_t* image;
  static constexpr std::size_t kSize = 40;
};
struct CuptiEvaluate {
  std::size_t size;
  void* priv;
  void* host;
  const std::uint8_t* counters;
  std::size_t counter_bytes;
  std::size_t range;
  const char** metrics;
  std::size_t count;
  double* values;
  static constexpr std::size_t kSize = 72;
};
// Enable: `context` in, `profiler` out.
struct CuptiEnable {
  std::size_t size;
  void* priv;
  Context context;
  void* profiler;
  static constexpr std::size_t kSize = 32;
};
// Disable, Start, PopRange.
struct CuptiProfilerOnly {
  std::size_t size;
  void* priv;
  void* profiler;
  static constexpr std::size_t kSize = 24;
};
struct CuptiPushRange {
  std::size_t size;
  void* priv;
  void* profiler;
  const char* name;
  static constexpr std::size_t kSize = 32;
};
struct CuptiStop {
  std::size_t size;
  void* priv;
  void* profiler;
  std::size_t pass, nesting_level;
  std::uint8_t all_passes;
  static constexpr std::size_t kSize = 41;
};
struct CuptiDecode {
  std::size_t size;
  void* priv;
  void* profiler;
  std::size_t dropped;
  static constexpr std::size_t kSize = 32;
};
struct CuptiCounterDataSize {
  std::size_t size;
  void* priv;
  void* profiler;
  const char** metrics;
  std::size_t count;
  std::size_t ranges;
  std::uint32_t nodes;
  std::size_t bytes;
  static constexpr std::size_t kSize = 64;
};
struct CuptiCounterDataImage {
  std::size_t size;
  void* priv;
  void* profiler;
  std::size_t bytes;
  std::uint8_t* image;
  static constexpr std::size_t kSize = 40;
};
struct CuptiSetConfig {
  std::size_t size;
  void* priv;
  void* profiler;
  std::size_t config_bytes;
  const std::uint8_t* config;
  std::size_t counter_bytes;
  std::uint8_t* counters;
  int range, replay;
  std::size_t ranges_a_pass;
  std::uint16_t nesting_levels, least_nesting_level;
  std::size_t pass;
  std::uint16_t target_nesting_level;
  static constexpr std::size_t kSize = 90;
};

// libcupti; all of it is there once a RangeProfiler is open.
struct CuptiApi {
  CuptiStatus (*cuptiGetResultString)(CuptiStatus, const char**);
  CuptiStatus (*cuptiProfilerInitialize)(CuptiInitialize*);
  CuptiStatus (*cuptiProfilerDeviceSupported)(CuptiDeviceSupported*);
  CuptiStatus (*cuptiDeviceGetChipName)(CuptiChipName*);
  CuptiStatus (*cuptiProfilerGetCounterAvailability)(CuptiCounterAvailability*);
  CuptiStatus (*cuptiProfilerHostInitialize)(CuptiHostInitialize*);
  CuptiStatus (*cuptiProfilerHostDeinitialize)(CuptiHostDeinitialize*);
  CuptiStatus (*cuptiProfilerHostGetMetricProperties)(CuptiMetricProperties*);
  CuptiStatus (*cuptiProfilerHostConfigAddMetrics)(CuptiAddMetrics*);
  CuptiStatus (*cuptiProfilerHostGetConfigImageSize)(CuptiConfigSize*);
  CuptiStatus (*cuptiProfilerHostGetConfigImage)(CuptiConfigImage*);
  CuptiStatus (*cuptiProfilerHostEvaluateToGpuValues)(CuptiEvaluate*);
  CuptiStatus (*cuptiRangeProfilerEnable)(CuptiEnable*);
  CuptiStatus (*cuptiRangeProfilerDisable)(CuptiProfilerOnly*);
  CuptiStatus (*cuptiRangeProfilerGetCounterDataSize)(CuptiCounterDataSize*);
  CuptiStatus (*cuptiRangeProfilerCounterDataImageInitialize)(CuptiCounterDataImage*);
  CuptiStatus (*cuptiRangeProfilerSetConfig)(CuptiSetConfig*);
  CuptiStatus (*cuptiRangeProfilerStart)(CuptiProfilerOnly*);
  CuptiStatus (*cuptiRangeProfilerStop)(CuptiStop*);
  CuptiStatus (*cuptiRangeProfilerPushRange)(CuptiPushRange*);
  CuptiStatus (*cuptiRangeProfilerPopRange)(CuptiProfilerOnly*);
  CuptiStatus (*cuptiRangeProfilerDecodeData)(CuptiDecode*);
};

}  // namespace cupilot::device::cuda
