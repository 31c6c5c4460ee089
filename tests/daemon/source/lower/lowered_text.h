// Texts for the host device, parsed and lowered.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "source/lower/lower.h"
#include "source/syntax/parse.h"

namespace cupilot::source {

// Fails the test where the text does not parse.
inline Tree ParseText(const std::string& text) {
  ParseOptions options;
  options.include_runtime = true;
  options.system_folders = {std::string(CUPILOT_TEST_SOURCE_DIR) + "/daemon/host_runtime/include"};
  auto outcome = Parse(text, options);
  EXPECT_TRUE(outcome.has_value());
  for (const Diagnostic& error : outcome->errors) ADD_FAILURE() << error.message << "\n" << text;
  return std::move(outcome->tree);
}

inline std::string LoweredText(const Tree& tree, const LowerOptions& options = {}) {
  return Lower(tree, options).value_or("");
}

}  // namespace cupilot::source
