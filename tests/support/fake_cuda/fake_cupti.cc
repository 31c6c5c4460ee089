// A libcupti.so.13 for machines without a GPU: its chip has the metrics that are named below and no
// others, and counts 1000 * (place in the list + 1) for each, but only if the work was done once
// for each pass between the begin and the end of a range. FAKE_CUPTI_STATUS=<CUptiResult>: enabling
// the profiler ends so.
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "device/cuda/cupti_api.h"

namespace {

using namespace cupilot::device::cuda;

constexpr const char* kMetrics[] = {
    "gpu__time_duration.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
};
constexpr int kInvalidMetric = 17, kInvalidOperation = 7;
constexpr int kPasses = 3;

int g_passes = 0;
bool g_started = false, g_in_range = false;
int g_object = 0;

int PlaceOf(const char* metric) {
  for (std::size_t i = 0; i < std::size(kMetrics); ++i) {
    if (std::strcmp(kMetrics[i], metric) == 0) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

extern "C" {

int cuptiGetResultString(int, const char** text) {
  *text = "said by the fake CUPTI";
  return 0;
}
int cuptiProfilerInitialize(CuptiInitialize*) { return 0; }
int cuptiProfilerDeviceSupported(CuptiDeviceSupported* params) {
  params->supported = kCuptiSupported;
  return 0;
}
int cuptiDeviceGetChipName(CuptiChipName* params) {
  params->chip = "FAKE100";
  return 0;
}
int cuptiProfilerGetCounterAvailability(CuptiCounterAvailability* params) {
  if (params->image == nullptr) params->image_bytes = 16;
  return 0;
}
int cuptiProfilerHostInitialize(CuptiHostInitialize* params) {
  params->host = &g_object;
  return params->chip != nullptr && params->availability != nullptr ? 0 : kInvalidOperation;
}
int cuptiProfilerHostDeinitialize(CuptiHostDeinitialize*) { return 0; }
int cuptiProfilerHostGetMetricProperties(CuptiMetricProperties* params) {
  return PlaceOf(params->metric) >= 0 ? 0 : kInvalidMetric;
}
int cuptiProfilerHostConfigAddMetrics(CuptiAddMetrics* params) {
  for (std::size_t i = 0; i < params->count; ++i) {
    if (PlaceOf(params->metrics[i]) < 0) return kInvalidMetric;
  }
  return 0;
}
int cuptiProfilerHostGetConfigImageSize(CuptiConfigSize* params) {
  params->bytes = 8;
  return 0;
}
int cuptiProfilerHostGetConfigImage(CuptiConfigImage* params) {
  return params->bytes == 8 ? 0 : kInvalidOperation;
}
int cuptiProfilerHostEvaluateToGpuValues(CuptiEvaluate* params) {
  if (g_passes != kPasses) return kInvalidOperation;
  for (std::size_t i = 0; i < params->count; ++i) {
    params->values[i] = 1000.0 * (PlaceOf(params->metrics[i]) + 1);
  }
  return 0;
}
int cuptiRangeProfilerEnable(CuptiEnable* params) {
  params->profiler = &g_object;
  g_passes = 0;
  const char* status = std::getenv("FAKE_CUPTI_STATUS");
  return status != nullptr ? std::atoi(status) : 0;
}
int cuptiRangeProfilerDisable(CuptiProfilerOnly*) { return 0; }
int cuptiRangeProfilerGetCounterDataSize(CuptiCounterDataSize* params) {
  params->bytes = 32;
  return 0;
}
int cuptiRangeProfilerCounterDataImageInitialize(CuptiCounterDataImage*) { return 0; }
int cuptiRangeProfilerSetConfig(CuptiSetConfig* params) {
  return params->config_bytes == 8 && params->counter_bytes == 32 ? 0 : kInvalidOperation;
}
int cuptiRangeProfilerStart(CuptiProfilerOnly*) {
  if (g_started) return kInvalidOperation;
  g_started = true;
  return 0;
}
int cuptiRangeProfilerPushRange(CuptiPushRange*) {
  if (!g_started || g_in_range) return kInvalidOperation;
  g_in_range = true;
  return 0;
}
int cuptiRangeProfilerPopRange(CuptiProfilerOnly*) {
  if (!g_in_range) return kInvalidOperation;
  g_in_range = false;
  ++g_passes;
  return 0;
}
int cuptiRangeProfilerStop(CuptiStop* params) {
  if (!g_started || g_in_range) return kInvalidOperation;
  g_started = false;
  params->all_passes = g_passes == kPasses ? 1 : 0;
  return 0;
}
int cuptiRangeProfilerDecodeData(CuptiDecode* params) {
  params->dropped = 0;
  return 0;
}

}  // extern "C"
