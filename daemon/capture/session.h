// One captured process: CUPTI's callbacks, and what they tell the recorder.
//
// A launch that is recorded has the devices for itself: the calls of other threads that write or
// free memory wait (gate.h), and the devices come to rest before it and after it (rest.h). What the
// program's own threads write to memory that devices see, too, cannot be held.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "capture/cupti.h"
#include "capture/device_memory.h"
#include "capture/gate.h"
#include "capture/image_symbols.h"
#include "capture/kernels.h"
#include "capture/rest.h"
#include "capture/timings.h"
#include "recording/recorder.h"

namespace cupilot::capture {

// Lives as long as the process.
class Session : private DeviceMemory {
 public:
  explicit Session(const Plan& plan);

  // Whether there is a file to write to.
  bool good() const { return recorder_.good(); }
  // Subscribes and enables all that is needed. False, with a sentence that is also in the
  // recording, if CUPTI cannot be had.
  bool Start(std::string& reason);
  // At the process's end: what is counted is written.
  void Finish();
  // In a forked child: the device and the recording are its parent's.
  void Abandon();

 private:
  enum class Call : std::uint8_t {
    kOther,
    kLaunch,             // cuLaunchKernel
    kCooperativeLaunch,  // cuLaunchCooperativeKernel
    kExLaunch,           // cuLaunchKernelEx
    kWriting,            // writes memory, or frees it
    kBeginCapture,
    kEndCapture,
  };
  struct CallInfo {
    Call call = Call::kOther;
    bool per_thread = false;  // its stream 0 is the thread's own
  };
  struct Thread;
  static Thread& This();
  static CallInfo Classify(std::string name);

  CuptiChoice Subscribe(const Cupti& cupti, std::string& reason);
  static void OnCallback(void* self, int domain, std::uint32_t id, const void* data);
  static void OnBufferRequested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records);
  static void OnBufferCompleted(void* context, std::uint32_t stream, std::uint8_t* buffer,
                                std::size_t bytes, std::size_t valid);
  void OnResource(std::uint32_t id, const ResourceData& data);
  void OnEnter(const CallInfo& info, const CallbackData& data);
  void OnExit(const CallInfo& info, const CallbackData& data);
  void OnLaunch(const CallInfo& info, const CallbackData& data);
  void OnLaunched(const CallbackData& data);
  void Count(const KernelInfo& info, const CallbackData& data, Launch& launch);
  bool IsCapturing(void* stream, bool per_thread) const;
  bool Hold() override;
  void Release() override;

  const Plan plan_;
  Driver driver_{};
  Cupti cupti_{};
  ImageSymbols symbols_;
  Recorder recorder_;
  Kernels kernels_;
  Timings timings_;
  Gate gate_;
  Rest rest_;
  void* subscriber_ = nullptr;
  std::array<CallInfo, 2048> calls_{};  // by callback id
  std::atomic<bool> off_{false};
  std::atomic<int> captures_{0};  // of streams, under way
  std::atomic<int> refusals_{0};  // to come to rest
};

}  // namespace cupilot::capture
