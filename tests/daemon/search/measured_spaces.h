// Measured spaces that tests write by hand.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "search/measured.h"
#include "search/random_numbers.h"

namespace cupilot::search {

inline SpaceParameter NumberParameter(const std::string& name, std::vector<std::int64_t> values) {
  SpaceParameter parameter;
  parameter.name = name;
  parameter.standard = values.front();
  parameter.values = std::move(values);
  return parameter;
}

// One parameter, a point for each time in this order; nothing: it failed. An evaluation costs
// `seconds`.
inline MeasuredSpace LineOf(const std::vector<std::optional<double>>& times, double seconds = 1) {
  MeasuredSpace::Parts parts;
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < times.size(); ++i) {
    values.push_back(static_cast<std::int64_t>(i));
    MeasuredRow row;
    row.point = {static_cast<std::uint16_t>(i)};
    row.microseconds = times[i];
    if (!times[i]) row.reason = "runtime";
    row.measure_seconds = seconds;
    parts.rows.push_back(std::move(row));
  }
  parts.space.parameters = {NumberParameter("x", std::move(values))};
  auto measured = MeasuredSpace::Make(std::move(parts));
  EXPECT_TRUE(measured) << measured.error().message;
  return std::move(*measured);
}

// A landscape like those of kernels: products of factors of each value and of pairs, some noise,
// some failures, and costs that go with the times.
inline MeasuredSpace LandscapeOf(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  MeasuredSpace::Parts parts;
  parts.name = "landscape " + std::to_string(seed);
  for (const char* name : {"a", "b", "c", "d"}) {
    parts.space.parameters.push_back(NumberParameter(name, {1, 2, 4, 8, 16, 32}));
  }
  parts.space.require = {"a * b <= 256", "c * d >= 4"};
  std::vector<std::vector<double>> factors(4, std::vector<double>(6));
  for (auto& of_parameter : factors) {
    const double best = Unit(random) * 5;
    for (std::size_t i = 0; i < 6; ++i) {
      of_parameter[i] = 1 + 0.15 * std::pow(static_cast<double>(i) - best, 2);
    }
  }
  const auto space = SpaceOf(parts.space);
  EXPECT_TRUE(space);
  for (std::uint64_t number = 0; number < space->size(); ++number) {
    MeasuredRow row;
    row.point = space->At(number);
    double time = 100 * (1 + 0.2 * Unit(random));
    for (std::size_t i = 0; i < 4; ++i) time *= factors[i][row.point[i]];
    if (Unit(random) < 0.05) {
      row.reason = "runtime";
    } else {
      row.microseconds = time;
      row.samples = 10;
    }
    row.compile_seconds = 0.5 + Unit(random);
    row.measure_seconds = time * 1e-3;
    parts.rows.push_back(std::move(row));
  }
  auto measured = MeasuredSpace::Make(std::move(parts));
  EXPECT_TRUE(measured) << measured.error().message;
  return std::move(*measured);
}

}  // namespace cupilot::search
