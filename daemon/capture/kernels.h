// What is known of the functions that a program launches, found once for each.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/driver.h"
#include "recording/recorder.h"

namespace cupilot::capture {

struct KernelInfo {
  const Recorder::Kernel* kernel = nullptr;
  bool known = false;                  // its parameters are those of `kernel`
  std::vector<std::uint32_t> offsets;  // of the parameters in a packed buffer; empty: not known
};

// Thread-safe. What it returns stays valid.
class Kernels {
 public:
  Kernels(const Driver& driver, const Plan& plan, Recorder& recorder)
      : driver_(driver), plan_(plan), recorder_(recorder) {}

  // `symbol`: the mangled name, as CUPTI gives it; may be null.
  const KernelInfo& Of(void* function, const char* symbol);
  // After it, handles may mean other functions: a module was unloaded.
  void Forget();
  // By its name alone, as records of activities have it.
  const Recorder::Kernel* Named(const std::string& symbol);

 private:
  const KernelInfo& Look(void* function, const char* symbol);
  bool Layout(void* function, std::vector<std::uint32_t>& sizes,
              std::vector<std::uint32_t>& offsets) const;
  std::vector<std::uint32_t> PlannedSizes(const std::string& symbol) const;
  const Recorder::Kernel* Register(const std::string& symbol,
                                   const std::vector<std::uint32_t>& sizes,
                                   const std::vector<std::uint32_t>& offsets);

  const Driver& driver_;
  const Plan& plan_;
  Recorder& recorder_;
  std::atomic<std::uint32_t> generation_{1};
  std::mutex mutex_;
  std::deque<KernelInfo> infos_;
  std::unordered_map<void*, const KernelInfo*> of_;
  std::unordered_map<std::string, const Recorder::Kernel*> named_;  // those of a known layout
};

}  // namespace cupilot::capture
