// A move-only std::function, for callbacks that own what they capture.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace cupilot::base {

template <class Signature>
class UniqueFunction;

template <class R, class... A>
class UniqueFunction<R(A...)> {
 public:
  UniqueFunction() = default;
  UniqueFunction(std::nullptr_t) {}
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, UniqueFunction>)
  UniqueFunction(F&& f)
      : body_(std::make_unique<Body<std::remove_cvref_t<F>>>(std::forward<F>(f))) {}
  R operator()(A... arguments) { return body_->Call(std::forward<A>(arguments)...); }
  explicit operator bool() const { return body_ != nullptr; }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual R Call(A... arguments) = 0;
  };
  template <class F>
  struct Body final : Base {
    explicit Body(F f) : function(std::move(f)) {}
    R Call(A... arguments) override { return function(std::forward<A>(arguments)...); }
    F function;
  };
  std::unique_ptr<Base> body_;
};

}  // namespace cupilot::base
