// The stages of an evaluation, in their order.
#pragma once

namespace cupilot::evaluate {

// What a rejection says when the worker process itself did not survive the candidate.
struct Stage {
  const char* name;
  const char* crashed;  // reasons of records::kReasons
  // Null: it says nothing about the candidate, whose own runs have limits inside.
  const char* timed_out;
};
inline constexpr Stage kCheck{"check", "unsupported_construct", "unsupported_construct"};
inline constexpr Stage kBuild{"build", "build_failed", "build_failed"};
inline constexpr Stage kVerify{"verify", "crashed", nullptr};
inline constexpr Stage kMeasure{"measure", "crashed", nullptr};
inline constexpr Stage kConfirm{"confirm", "crashed", nullptr};
inline constexpr Stage kProfile{"profile", "", ""};

}  // namespace cupilot::evaluate
