// Made-up times for the points of a space, for comparing searches where no device has measured it.
// Four kinds, so that no search is fitted to one; each on a family of devices that resemble each
// other. Functions of the space, the kind, the seed and the device.
//
//   kFactors    a valley for each parameter, tables for pairs: products of simple effects
//   kRoofline   threads, registers and shared memory by parameters in random roles; occupancy in
//               steps, waves with tails, the slower of computing and traffic
//   kRugged     factors, and regions of two or three parameters that are much better or worse
//   kValleys    a few centres in the scaled space, each with its own depth and widths
//
// Some points fail: those beyond a hidden limit, and a few at random. Evaluations take seconds for
// building and as long as the times say for measuring.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "search/measured.h"

namespace cupilot::search {

enum class LandscapeKind { kFactors, kRoofline, kRugged, kValleys };
inline constexpr LandscapeKind kLandscapeKinds[] = {
    LandscapeKind::kFactors, LandscapeKind::kRoofline, LandscapeKind::kRugged,
    LandscapeKind::kValleys};
std::string_view NameOf(LandscapeKind kind);

base::Result<MeasuredSpace> MakeLandscape(const SpaceFile& file, LandscapeKind kind,
                                          std::uint64_t seed, std::uint64_t device);

}  // namespace cupilot::search
