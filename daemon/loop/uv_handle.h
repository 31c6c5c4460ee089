// Ownership of libuv handles. libuv keeps a handle's memory until its close callback has run, so
// the memory belongs to the handle, not to its owner: the owner's destructor asks for the close,
// and the close callback frees. Only files of this folder include it.
#pragma once

#include <uv.h>

#include <utility>

namespace cupilot::loop {

template <class T>
class UvHandle {
 public:
  // `owner` is what callbacks find in handle->data; cleared when the owner lets go.
  explicit UvHandle(void* owner) : handle_(new T{}) { handle_->data = owner; }
  UvHandle(UvHandle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  UvHandle& operator=(UvHandle&&) = delete;
  ~UvHandle() { Close(); }

  // For a handle whose uv_*_init failed: libuv does not know it.
  void Discard() { delete std::exchange(handle_, nullptr); }

  void Close() {
    T* handle = std::exchange(handle_, nullptr);
    if (handle == nullptr) return;
    handle->data = nullptr;
    CloseAbandoned(handle);
  }

  // Leaves it open without an owner. A callback that finds none calls CloseAbandoned().
  void Abandon() {
    if (T* handle = std::exchange(handle_, nullptr)) handle->data = nullptr;
  }
  static void CloseAbandoned(T* handle) {
    uv_close(Base(handle), [](uv_handle_t* closed) { delete reinterpret_cast<T*>(closed); });
  }

  T* get() const { return handle_; }
  uv_handle_t* base() const { return Base(handle_); }
  uv_stream_t* stream() const { return reinterpret_cast<uv_stream_t*>(handle_); }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  static uv_handle_t* Base(T* handle) { return reinterpret_cast<uv_handle_t*>(handle); }
  T* handle_;
};

}  // namespace cupilot::loop
