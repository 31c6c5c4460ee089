// What won elsewhere, as a search takes it. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "records/json.h"
#include "records/variant.h"
#include "search/number_space.h"

namespace cupilot::service {

struct Elsewhere {
  std::vector<records::Strategy> seeds;   // to be tried as they are, at most eight
  std::vector<search::Values> champions;  // values of the source's own tunables
};

// Of winners elsewhere so many are taken: measured again, the 50 best points of another GPU reach
// 89 to 100 % of what this one's best reaches (published spaces of autotuners).
inline constexpr std::size_t kMostWinners = 50;

// `winners`: the most promising first.
Elsewhere SplitWinners(std::vector<records::Strategy> winners);

// As a record of the job keeps them; what is no list of names and whole numbers is left out.
records::Json ChampionsJson(const std::vector<search::Values>& champions);
std::vector<search::Values> ParseChampions(const std::vector<records::Json>& list);

}  // namespace cupilot::service
