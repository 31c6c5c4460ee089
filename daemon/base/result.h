// Errors as values: Result<T> is a T or an Error. We never throw; what a library throws is caught
// in the file that includes the library.
#pragma once

#include <tl/expected.hpp>

#include "base/error.h"

namespace cupilot::base {

template <class T = void>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> Fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace cupilot::base

#define CUPILOT_CONCAT_(a, b) a##b
#define CUPILOT_CONCAT(a, b) CUPILOT_CONCAT_(a, b)

// Returns from the current function with the error of `expression`, if it has one.
#define TRY(expression)                                                    \
  do {                                                                     \
    if (auto cupilot_try_result = (expression); !cupilot_try_result) {     \
      return ::cupilot::base::Fail(std::move(cupilot_try_result.error())); \
    }                                                                      \
  } while (false)

// `declaration` = the value of `expression`, or returns its error.
#define TRY_ASSIGN(declaration, expression) \
  TRY_ASSIGN_(CUPILOT_CONCAT(cupilot_try_, __LINE__), declaration, expression)
// NOLINTBEGIN(bugprone-macro-parentheses): names and a declaration cannot stand in parentheses.
#define TRY_ASSIGN_(name, declaration, expression)                  \
  auto name = (expression);                                         \
  if (!name) return ::cupilot::base::Fail(std::move(name.error())); \
  declaration = std::move(*name)
// NOLINTEND(bugprone-macro-parentheses)
