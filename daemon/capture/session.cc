#include "capture/session.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace cupilot::capture {
namespace {

// What a launch may keep the devices busy, and what they may take to come to rest. Kernels that
// wait for the host never do: a few of those, and nothing is recorded any more.
constexpr std::chrono::seconds kPatience{10};
constexpr int kMostRefusals = 2;
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::uint32_t kFlushMilliseconds = 1000;
constexpr std::size_t kMostPacked = 512;

Session* g_session = nullptr;

bool StartsWith(const std::string& text, const char* begin) { return text.rfind(begin, 0) == 0; }

// The parameters of a launch by `extra`: pairs of a word and a value. False if it has none, or one
// does not lie in its buffer.
bool Unpack(void** extra, const KernelInfo& info, std::array<void*, kMostPacked>& arguments) {
  if (extra == nullptr || info.offsets.size() != info.kernel->parameters.size() ||
      info.offsets.size() > arguments.size()) {
    return false;
  }
  char* buffer = nullptr;
  std::size_t bytes = 0;
  for (; reinterpret_cast<std::uintptr_t>(*extra) != kExtraEnd; extra += 2) {
    const auto word = reinterpret_cast<std::uintptr_t>(*extra);
    if (word == kExtraBuffer) buffer = static_cast<char*>(extra[1]);
    if (word == kExtraSize) bytes = *static_cast<std::size_t*>(extra[1]);
  }
  for (std::size_t i = 0; i < info.offsets.size(); ++i) {
    if (buffer == nullptr || info.offsets[i] + info.kernel->parameters[i].bytes > bytes) {
      return false;
    }
    arguments[i] = buffer + info.offsets[i];
  }
  return true;
}

}  // namespace

struct Session::Thread {
  int depth;    // calls within calls: only the outermost counts
  bool inside;  // the gate
  Recorder::Recording* recording;
};

Session::Thread& Session::This() {
  static thread_local Thread thread = {};
  return thread;
}

Session::Session(const Plan& plan)
    : DeviceMemory(driver_, symbols_),
      plan_(plan),
      symbols_(plan_),
      recorder_(plan_, *this, 1),
      kernels_(driver_, plan_, recorder_),
      timings_(cupti_, recorder_),
      rest_(driver_) {}

Session::CallInfo Session::Classify(std::string name) {
  CallInfo info;
  for (const char* end : {"_ptsz", "_ptds"}) {
    const std::size_t at = name.rfind(end);
    if (at == std::string::npos || at + 5 != name.size()) continue;
    info.per_thread = true;
    name.erase(at);
  }
  static constexpr const char* kWriters[] = {
      "cuGraphLaunch",       "cuMemcpy",        "cuMemset",           "cuMemFree",
      "cu64MemFree",         "cuMemUnmap",      "cuMemHostUnreg",     "cuMemPoolDestroy",
      "cuMemPrefetch",       "cuMemDiscard",    "cuStreamWriteValue", "cuStreamBatchMemOp",
      "cuModuleUnload",      "cuLibraryUnload", "cuCtxDestroy",       "cuGreenCtxDestroy",
      "cuDevicePrimaryCtxRe"};
  if (name == "cuLaunchKernel") {
    info.call = Call::kLaunch;
  } else if (name == "cuLaunchCooperativeKernel") {
    info.call = Call::kCooperativeLaunch;
  } else if (name == "cuLaunchKernelEx") {
    info.call = Call::kExLaunch;
  } else if (StartsWith(name, "cuStreamBeginCapture")) {
    info.call = Call::kBeginCapture;
  } else if (name == "cuStreamEndCapture") {
    info.call = Call::kEndCapture;
  } else if (name != "cuDevicePrimaryCtxRetain") {
    const auto starts = [&](const char* begin) { return StartsWith(name, begin); };
    if (std::any_of(std::begin(kWriters), std::end(kWriters), starts)) info.call = Call::kWriting;
  }
  return info;
}

CuptiChoice Session::Subscribe(const Cupti& cupti, std::string& reason) {
  const CuptiResult result = cupti.cuptiSubscribe(&subscriber_, &Session::OnCallback, this);
  if (result == kCuptiSuccess) return CuptiChoice::kThis;
  const char* text = nullptr;
  cupti.cuptiGetResultString(result, &text);
  if (result == kCuptiTaken) {
    reason = "the program uses CUPTI itself, or another tool does, and only one of them can";
    return CuptiChoice::kNone;
  }
  reason = std::string("CUPTI cannot be used here: ") + (text == nullptr ? "?" : text);
  return CuptiChoice::kAnother;
}

bool Session::Start(std::string& reason) {
  g_session = this;
  const auto choose = [this](const Cupti& cupti, std::string& why) {
    return Subscribe(cupti, why);
  };
  const std::string theirs = LoadedCupti();
  if (!FindDriver(driver_)) {
    reason = "the driver is too old";
  } else if (FindCupti(plan_.cupti, cupti_, choose, reason)) {
    if (!theirs.empty()) {
      recorder_.Note(nullptr, "the program has loaded CUPTI itself (" + theirs +
                                  "): if it uses it, too, its times or ours are missing");
    }
    const bool recorded = !plan_.kernels.empty();
    const char* name = nullptr;
    for (std::uint32_t id = 1; id < calls_.size(); ++id) {
      if (cupti_.cuptiGetCallbackName(kDriverDomain, id, &name) != kCuptiSuccess) break;
      const CallInfo info = Classify(name == nullptr ? "" : name);
      calls_[id] = info;
      if (info.call == Call::kOther || (info.call == Call::kWriting && !recorded)) continue;
      cupti_.cuptiEnableCallback(1, subscriber_, kDriverDomain, id);
    }
    for (const std::uint32_t id : {kContextCreated, kContextDestroyed, kModuleUnloaded}) {
      cupti_.cuptiEnableCallback(1, subscriber_, kResourceDomain, id);
    }
    if (symbols_.wanted()) {
      cupti_.cuptiEnableCallback(1, subscriber_, kResourceDomain, kModuleLoaded);
    }
    std::uint8_t zeroed = 1;
    std::size_t bytes = sizeof zeroed;
    cupti_.cuptiActivitySetAttribute(kZeroedBuffers, &bytes, &zeroed);
    if (cupti_.cuptiActivityRegisterCallbacks(&OnBufferRequested, &OnBufferCompleted) !=
            kCuptiSuccess ||
        cupti_.cuptiActivityEnable(kConcurrentKernels) != kCuptiSuccess) {
      recorder_.Note(nullptr, "launches are not timed: CUPTI gives no records of kernels here");
    } else if (cupti_.cuptiActivityFlushPeriod != nullptr) {
      // So that of a program that is killed the times are not lost.
      cupti_.cuptiActivityFlushPeriod(kFlushMilliseconds);
    }
    return true;
  }
  recorder_.Note(nullptr, reason);
  off_ = true;
  recorder_.Finish();
  return false;
}

void Session::Finish() {
  if (off_.exchange(true)) return;
  InsideOurs() = true;
  // From now on no call is told of, also not the end of one that is recorded now. Others wait for
  // that, and for these whoever ends the program may wait.
  gate_.Abandon();
  // Nothing waits for the devices: a program may end while they are busy.
  cupti_.cuptiActivityFlushAll(kFlushAll);
  timings_.Finish(kernels_);
  recorder_.Finish();
}

void Session::Abandon() {
  off_ = true;
  recorder_.Abandon();
}

void Session::OnBufferRequested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
  *buffer = static_cast<std::uint8_t*>(std::calloc(1, kBufferBytes));
  *bytes = *buffer == nullptr ? 0 : kBufferBytes;
  *records = 0;
}

void Session::OnBufferCompleted(void*, std::uint32_t, std::uint8_t* buffer, std::size_t,
                                std::size_t valid) {
  if (valid > 0) g_session->timings_.Take(buffer, valid);
  std::free(buffer);
}

void Session::OnCallback(void* self, int domain, std::uint32_t id, const void* data) {
  Session& session = *static_cast<Session*>(self);
  if (session.off_ || InsideOurs()) return;
  InsideOurs() = true;
  if (domain == kResourceDomain) {
    session.OnResource(id, *static_cast<const ResourceData*>(data));
  } else if (domain == kDriverDomain && id < session.calls_.size()) {
    const auto& call = *static_cast<const CallbackData*>(data);
    if (call.site == kEnter) {
      session.OnEnter(session.calls_[id], call);
    } else {
      session.OnExit(session.calls_[id], call);
    }
  }
  InsideOurs() = false;
}

void Session::OnResource(std::uint32_t id, const ResourceData& data) {
  if (id == kContextCreated) rest_.Add(data.context);
  if (id == kContextDestroyed) rest_.Remove(data.context);
  if (id == kModuleUnloaded) kernels_.Forget();
  if (id == kModuleLoaded && data.descriptor != nullptr) {
    const auto& module = *static_cast<const ModuleData*>(data.descriptor);
    symbols_.Read(module.image, module.bytes);
  }
}

void Session::OnEnter(const CallInfo& info, const CallbackData& data) {
  Thread& thread = This();
  if (thread.depth++ > 0) return;
  const bool launch = info.call == Call::kLaunch || info.call == Call::kCooperativeLaunch ||
                      info.call == Call::kExLaunch;
  if (launch) OnLaunch(info, data);
  if (plan_.kernels.empty() || thread.recording != nullptr || info.call == Call::kEndCapture) {
    return;
  }
  gate_.Enter();
  thread.inside = true;
}

void Session::OnExit(const CallInfo& info, const CallbackData& data) {
  Thread& thread = This();
  if (thread.depth == 0) return;
  --thread.depth;
  if (thread.depth > 0) return;
  const DriverResult result =
      data.result == nullptr ? kDriverSuccess : *static_cast<const DriverResult*>(data.result);
  if (info.call == Call::kBeginCapture && result == kDriverSuccess) ++captures_;
  if (info.call == Call::kEndCapture &&
      (result == kDriverSuccess || result == kCaptureInvalidated || result == kCaptureUnjoined) &&
      captures_ > 0) {
    --captures_;
  }
  const bool launch = info.call == Call::kLaunch || info.call == Call::kCooperativeLaunch ||
                      info.call == Call::kExLaunch;
  if (launch && result != kDriverSuccess) timings_.Forget(data.correlation);
  if (thread.recording != nullptr) OnLaunched(data);
  if (thread.inside) gate_.Leave();
  thread.inside = false;
}

bool Session::IsCapturing(void* stream, bool per_thread) const {
  if (stream == nullptr && per_thread) stream = AtAddress(kPerThreadStream);
  int status = 0;
  return stream != nullptr && driver_.cuStreamIsCapturing(stream, &status) == kDriverSuccess &&
         status != 0;
}

void Session::OnLaunch(const CallInfo& info, const CallbackData& data) {
  Launch launch;
  void* stream = nullptr;
  void** parameters = nullptr;
  void** extra = nullptr;
  void* function = nullptr;
  if (info.call == Call::kExLaunch) {
    const auto& call = *static_cast<const LaunchKernelExCall*>(data.parameters);
    if (call.config == nullptr) return;
    const LaunchConfig& config = *call.config;
    std::copy_n(config.grid, 3, launch.grid.begin());
    std::copy_n(config.block, 3, launch.block.begin());
    launch.shared_bytes = config.shared_bytes;
    for (unsigned i = 0; i < config.attribute_count; ++i) {
      const LaunchAttribute& attribute = config.attributes[i];
      if (attribute.id == kAttributeCooperative) launch.cooperative = attribute.value[0] != 0;
      if (attribute.id == kAttributeCluster)
        std::copy_n(attribute.value, 3, launch.cluster.begin());
    }
    function = call.function;
    stream = config.stream;
    parameters = call.parameters;
    extra = call.extra;
  } else {
    const auto& call = *static_cast<const LaunchKernelCall*>(data.parameters);
    std::copy_n(call.grid, 3, launch.grid.begin());
    std::copy_n(call.block, 3, launch.block.begin());
    launch.shared_bytes = call.shared_bytes;
    launch.cooperative = info.call == Call::kCooperativeLaunch;
    function = call.function;
    stream = call.stream;
    parameters = call.parameters;
    if (!launch.cooperative) extra = call.extra;
  }
  if (function == nullptr) return;
  // What is captured does not run now; when its graph does, records tell of it.
  if (captures_ > 0 && IsCapturing(stream, info.per_thread)) return;
  const KernelInfo& kernel = kernels_.Of(function, data.symbol);
  launch.kernel = function;
  std::array<void*, kMostPacked> packed;
  if (kernel.known && parameters != nullptr) {
    launch.arguments = parameters;
  } else if (kernel.known && Unpack(extra, kernel, packed)) {
    launch.arguments = packed.data();
  } else if (kernel.known && kernel.kernel->parameters.empty()) {
    launch.arguments = packed.data();
  }
  Count(kernel, data, launch);
}

void Session::Count(const KernelInfo& info, const CallbackData& data, Launch& launch) {
  const std::uint32_t counter = recorder_.Count(*info.kernel, launch);
  timings_.Expect(data.correlation, counter);
  if (info.kernel->planned == nullptr || launch.arguments == nullptr) return;
  int value = 0;
  if (driver_.cuCtxGetDevice(&value) == kDriverSuccess) {
    launch.device = static_cast<std::uint32_t>(value);
  }
  if (driver_.cuFuncGetAttribute(&value, kMaxDynamicSharedBytes,
                                 const_cast<void*>(launch.kernel)) == kDriverSuccess) {
    launch.max_dynamic_shared_bytes = static_cast<std::uint64_t>(value);
  }
  This().recording = recorder_.Before(*info.kernel, counter, launch).release();
}

void Session::OnLaunched(const CallbackData& data) {
  Thread& thread = This();
  Recorder::Begun recording(thread.recording);
  thread.recording = nullptr;
  const auto* result = static_cast<const DriverResult*>(data.result);
  if (result != nullptr && *result == kDriverSuccess) {
    if (rest_.Wait(kPatience)) return recorder_.After(std::move(recording));
    ++refusals_;
  }
  recorder_.Drop(std::move(recording));
}

bool Session::Hold() {
  if (refusals_ >= kMostRefusals) {
    recorder_.Note(nullptr,
                   "kernels wait for the program while others are launched: nothing is recorded "
                   "beside them");
    return false;
  }
  if (captures_ > 0) {
    recorder_.Note(nullptr, "launches are counted, but not recorded, while a graph is captured");
    return false;
  }
  if (!gate_.Close(kPatience)) {
    ++refusals_;
    return false;
  }
  if (captures_ == 0 && rest_.Wait(kPatience)) return true;
  if (captures_ == 0) ++refusals_;
  gate_.Open();
  return false;
}

void Session::Release() { gate_.Open(); }

}  // namespace cupilot::capture
