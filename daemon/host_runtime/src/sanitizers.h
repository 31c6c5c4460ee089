// Tells the address and thread sanitizers when a fiber goes on, and the latter what happens before
// what, where the program has them: their functions are weak, so that one library serves programs
// with and without. The library itself is compiled without, so its own atomics tell them nothing.
#pragma once

#include <cstddef>

// NOLINTBEGIN(bugprone-reserved-identifier): the sanitizers' own names.
extern "C" {
__attribute__((weak)) void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom,
                                                          std::size_t size);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom,
                                                           std::size_t* size);
__attribute__((weak)) void* __tsan_create_fiber(unsigned flags);
__attribute__((weak)) void __tsan_destroy_fiber(void* fiber);
__attribute__((weak)) void* __tsan_get_current_fiber();
__attribute__((weak)) void __tsan_switch_to_fiber(void* fiber, unsigned flags);
__attribute__((weak)) void __tsan_acquire(void* object);
__attribute__((weak)) void __tsan_release(void* object);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace cupilot_host {

inline bool HasThreadSanitizer() { return __tsan_create_fiber != nullptr; }
// What a thread did before it released `object` happens before what another does that acquires it.
inline void Release(const void* object) {
  if (__tsan_release != nullptr) __tsan_release(const_cast<void*>(object));
}
inline void Acquire(const void* object) {
  if (__tsan_acquire != nullptr) __tsan_acquire(const_cast<void*>(object));
}

// What the sanitizers know of one fiber. Freely copied.
class SanitizerFiber {
 public:
  void Create() {
    if (__tsan_create_fiber != nullptr) thread_ = __tsan_create_fiber(0);
  }
  void Destroy() {
    if (__tsan_destroy_fiber != nullptr && thread_ != nullptr) __tsan_destroy_fiber(thread_);
    thread_ = fake_stack_ = nullptr;
  }
  // For the stack of the operating-system thread itself.
  void Adopt() {
    if (__tsan_get_current_fiber != nullptr) thread_ = __tsan_get_current_fiber();
  }
  // Right before the jump from `leaving` to this one. Without a stack: back to the thread's own,
  // which was noted when it was left.
  void Enter(SanitizerFiber& leaving, const void* stack, std::size_t bytes) {
    if (__sanitizer_start_switch_fiber != nullptr) {
      if (stack == nullptr) {
        stack = bottom_;
        bytes = size_;
      }
      __sanitizer_start_switch_fiber(&leaving.fake_stack_, stack, bytes);
      came_from() = &leaving;
    }
    // A switch orders nothing: threads of a block are ordered by what they wait for.
    constexpr unsigned kNoSync = 1;
    if (__tsan_switch_to_fiber != nullptr) __tsan_switch_to_fiber(thread_, kNoSync);
  }
  // Right after the jump, on the new stack; `self` is null when the fiber begins.
  static void Entered(SanitizerFiber* self) {
    if (__sanitizer_finish_switch_fiber == nullptr) return;
    SanitizerFiber* from = came_from();
    __sanitizer_finish_switch_fiber(self == nullptr ? nullptr : self->fake_stack_, &from->bottom_,
                                    &from->size_);
  }

 private:
  static SanitizerFiber*& came_from() {
    static thread_local SanitizerFiber* from = nullptr;
    return from;
  }
  void* thread_ = nullptr;
  void* fake_stack_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace cupilot_host
