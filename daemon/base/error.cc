#include "base/error.h"

#include <array>

namespace cupilot::base {
namespace {

struct Row {
  ErrorCode code;
  std::string_view name;
};
constexpr std::array kRows = {
    Row{ErrorCode::kInvalidArgument, "invalid_argument"},
    Row{ErrorCode::kNotFound, "not_found"},
    Row{ErrorCode::kTimeout, "timeout"},
    Row{ErrorCode::kCancelled, "cancelled"},
    Row{ErrorCode::kUnavailable, "unavailable"},
    Row{ErrorCode::kIo, "io"},
    Row{ErrorCode::kCorruption, "corruption"},
    Row{ErrorCode::kProtocol, "protocol"},
    Row{ErrorCode::kToolFailed, "tool_failed"},
    Row{ErrorCode::kUnsupported, "unsupported"},
    Row{ErrorCode::kInternal, "internal"},
};

}  // namespace

std::string_view Name(ErrorCode code) {
  for (const Row& row : kRows) {
    if (row.code == code) return row.name;
  }
  return "internal";
}

ErrorCode CodeOf(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.code;
  }
  return ErrorCode::kInternal;
}

}  // namespace cupilot::base
