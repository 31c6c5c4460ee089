// Our declarations of CUPTI's interfaces against the toolkit's headers, where there are any.
#include "device/cuda/cupti_api.h"

#include <gtest/gtest.h>

#include <type_traits>

#if __has_include(<cupti_range_profiler.h>) && __has_include(<cuda.h>)
#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>

namespace cupilot::device::cuda {
namespace {

static_assert(kCuptiSuccess == CUPTI_SUCCESS);
static_assert(kCuptiInsufficientPrivileges == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
static_assert(kCuptiVirtualInsufficientPrivileges ==
              CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
static_assert(kCuptiSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED);
static_assert(kCuptiRangeProfiler == CUPTI_PROFILER_TYPE_RANGE_PROFILER);
static_assert(kCuptiUserRange == CUPTI_UserRange && kCuptiUserReplay == CUPTI_UserReplay);

// The size that a call is given, and where each member lies.
#define CUPILOT_SIZE(Ours, Theirs) \
  static_assert(Ours::kSize == Theirs##_STRUCT_SIZE && sizeof(Ours) == sizeof(Theirs))
#define CUPILOT_MEMBER(Ours, ours, Theirs, theirs)                  \
  static_assert(offsetof(Ours, ours) == offsetof(Theirs, theirs) && \
                sizeof(Ours::ours) == sizeof(Theirs::theirs))

CUPILOT_SIZE(CuptiInitialize, CUpti_Profiler_Initialize_Params);
CUPILOT_SIZE(CuptiDeviceSupported, CUpti_Profiler_DeviceSupported_Params);
CUPILOT_MEMBER(CuptiDeviceSupported, device, CUpti_Profiler_DeviceSupported_Params, cuDevice);
CUPILOT_MEMBER(CuptiDeviceSupported, supported, CUpti_Profiler_DeviceSupported_Params, isSupported);
CUPILOT_MEMBER(CuptiDeviceSupported, api, CUpti_Profiler_DeviceSupported_Params, api);
CUPILOT_SIZE(CuptiChipName, CUpti_Device_GetChipName_Params);
CUPILOT_MEMBER(CuptiChipName, device, CUpti_Device_GetChipName_Params, deviceIndex);
CUPILOT_MEMBER(CuptiChipName, chip, CUpti_Device_GetChipName_Params, pChipName);
CUPILOT_SIZE(CuptiCounterAvailability, CUpti_Profiler_GetCounterAvailability_Params);
CUPILOT_MEMBER(CuptiCounterAvailability, context, CUpti_Profiler_GetCounterAvailability_Params,
               ctx);
CUPILOT_MEMBER(CuptiCounterAvailability, image_bytes, CUpti_Profiler_GetCounterAvailability_Params,
               counterAvailabilityImageSize);
CUPILOT_SIZE(CuptiHostInitialize, CUpti_Profiler_Host_Initialize_Params);
CUPILOT_MEMBER(CuptiHostInitialize, profiler, CUpti_Profiler_Host_Initialize_Params, profilerType);
CUPILOT_MEMBER(CuptiHostInitialize, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
CUPILOT_MEMBER(CuptiHostInitialize, availability, CUpti_Profiler_Host_Initialize_Params,
               pCounterAvailabilityImage);
CUPILOT_SIZE(CuptiHostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params);
CUPILOT_SIZE(CuptiMetricProperties, CUpti_Profiler_Host_GetMetricProperties_Params);
CUPILOT_MEMBER(CuptiMetricProperties, metric, CUpti_Profiler_Host_GetMetricProperties_Params,
               pMetricName);
CUPILOT_SIZE(CuptiAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params);
CUPILOT_MEMBER(CuptiAddMetrics, metrics, CUpti_Profiler_Host_ConfigAddMetrics_Params,
               ppMetricNames);
CUPILOT_SIZE(CuptiConfigSize, CUpti_Profiler_Host_GetConfigImageSize_Params);
CUPILOT_SIZE(CuptiConfigImage, CUpti_Profiler_Host_GetConfigImage_Params);
CUPILOT_MEMBER(CuptiConfigImage, bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
CUPILOT_SIZE(CuptiEvaluate, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
CUPILOT_MEMBER(CuptiEvaluate, counters, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
               pCounterDataImage);
CUPILOT_MEMBER(CuptiEvaluate, range, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
CUPILOT_MEMBER(CuptiEvaluate, metrics, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
               ppMetricNames);
CUPILOT_MEMBER(CuptiEvaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
               pMetricValues);
CUPILOT_SIZE(CuptiEnable, CUpti_RangeProfiler_Enable_Params);
CUPILOT_MEMBER(CuptiEnable, context, CUpti_RangeProfiler_Enable_Params, ctx);
CUPILOT_SIZE(CuptiProfilerOnly, CUpti_RangeProfiler_Disable_Params);
CUPILOT_SIZE(CuptiProfilerOnly, CUpti_RangeProfiler_Start_Params);
CUPILOT_SIZE(CuptiProfilerOnly, CUpti_RangeProfiler_PopRange_Params);
CUPILOT_SIZE(CuptiPushRange, CUpti_RangeProfiler_PushRange_Params);
CUPILOT_SIZE(CuptiStop, CUpti_RangeProfiler_Stop_Params);
CUPILOT_MEMBER(CuptiStop, all_passes, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted);
CUPILOT_SIZE(CuptiDecode, CUpti_RangeProfiler_DecodeData_Params);
CUPILOT_SIZE(CuptiCounterDataSize, CUpti_RangeProfiler_GetCounterDataSize_Params);
CUPILOT_MEMBER(CuptiCounterDataSize, metrics, CUpti_RangeProfiler_GetCounterDataSize_Params,
               pMetricNames);
CUPILOT_MEMBER(CuptiCounterDataSize, nodes, CUpti_RangeProfiler_GetCounterDataSize_Params,
               maxNumRangeTreeNodes);
CUPILOT_MEMBER(CuptiCounterDataSize, bytes, CUpti_RangeProfiler_GetCounterDataSize_Params,
               counterDataSize);
CUPILOT_SIZE(CuptiCounterDataImage, CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
CUPILOT_MEMBER(CuptiCounterDataImage, image, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
               pCounterData);
CUPILOT_SIZE(CuptiSetConfig, CUpti_RangeProfiler_SetConfig_Params);
CUPILOT_MEMBER(CuptiSetConfig, config, CUpti_RangeProfiler_SetConfig_Params, pConfig);
CUPILOT_MEMBER(CuptiSetConfig, counters, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
CUPILOT_MEMBER(CuptiSetConfig, range, CUpti_RangeProfiler_SetConfig_Params, range);
CUPILOT_MEMBER(CuptiSetConfig, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
CUPILOT_MEMBER(CuptiSetConfig, ranges_a_pass, CUpti_RangeProfiler_SetConfig_Params,
               maxRangesPerPass);
CUPILOT_MEMBER(CuptiSetConfig, least_nesting_level, CUpti_RangeProfiler_SetConfig_Params,
               minNestingLevel);
CUPILOT_MEMBER(CuptiSetConfig, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
CUPILOT_MEMBER(CuptiSetConfig, target_nesting_level, CUpti_RangeProfiler_SetConfig_Params,
               targetNestingLevel);
#undef CUPILOT_MEMBER
#undef CUPILOT_SIZE

TEST(CuptiApi, IsTheToolkits) { SUCCEED() << "held at compile time"; }

}  // namespace
}  // namespace cupilot::device::cuda
#else
TEST(CuptiApi, IsTheToolkits) { GTEST_SKIP() << "no CUPTI here"; }
#endif
