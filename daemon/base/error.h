// The error value that every fallible function of ours returns; see result.h.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace cupilot::base {

// What kind of failure; callers decide by this, people read the message.
enum class ErrorCode {
  kInvalidArgument,  // bad input: the message names file, line or key and what to do
  kNotFound,
  kTimeout,
  kCancelled,
  kUnavailable,  // the environment lacks something: no compiler, no device, no daemon
  kIo,
  kCorruption,   // stored data that cannot be what we wrote
  kProtocol,     // the peer said something that the protocol does not allow
  kToolFailed,   // a compiler or other program that we ran failed
  kUnsupported,  // valid, but declined with a reason (a construct that cannot be handled)
  kInternal,
};

struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;

  // The same error with its context put in front: "reading x.json: ...". Called once, by the
  // layer that knows the noun.
  Error In(std::string_view context) const {
    return Error{code, std::string(context) + ": " + message};
  }
};

inline Error InvalidArgument(std::string m) { return {ErrorCode::kInvalidArgument, std::move(m)}; }
inline Error NotFound(std::string m) { return {ErrorCode::kNotFound, std::move(m)}; }
inline Error Timeout(std::string m) { return {ErrorCode::kTimeout, std::move(m)}; }
inline Error Cancelled(std::string m) { return {ErrorCode::kCancelled, std::move(m)}; }
inline Error Unavailable(std::string m) { return {ErrorCode::kUnavailable, std::move(m)}; }
inline Error IoError(std::string m) { return {ErrorCode::kIo, std::move(m)}; }
inline Error Corruption(std::string m) { return {ErrorCode::kCorruption, std::move(m)}; }
inline Error ProtocolError(std::string m) { return {ErrorCode::kProtocol, std::move(m)}; }
inline Error ToolFailed(std::string m) { return {ErrorCode::kToolFailed, std::move(m)}; }
inline Error Unsupported(std::string m) { return {ErrorCode::kUnsupported, std::move(m)}; }
inline Error Internal(std::string m) { return {ErrorCode::kInternal, std::move(m)}; }

// "invalid_argument", "not_found", ...: the names in replies and logs.
std::string_view Name(ErrorCode code);
// The code of such a name; kInternal for a name that is not one.
ErrorCode CodeOf(std::string_view name);

}  // namespace cupilot::base
