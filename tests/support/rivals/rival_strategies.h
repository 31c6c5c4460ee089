// Strategies of the literature, with its settings, for comparisons only: no product links them.
// After the descriptions of Kernel Tuner (van Werkhoven, FGCS 2019), whose defaults since 2025 are
// those that Willemsen, van Nieuwpoort, van Werkhoven (Tuning the tuner, arXiv 2509.26300) found by
// tuning them:
//
//   simulated_annealing  T 0.5 down to 0.0001, alpha 0.9975, two steps a temperature; a step is one
//                        of the points strictly adjacent (each parameter by at most one place), of
//                        five steps one to any point that differs in one parameter
//   genetic              26 individuals, 90 generations, single-point crossover, one mutation in
//                        55, parents by rank with Beta(1, 2.5), what is not valid is repaired
//   greedy_ils           first improvement among the points that differ in one parameter, in random
//                        order; from a local optimum 0.3 of the parameters are changed, after 50
//                        optima that were no better a new start (Kernel Tuner's defaults)
//
// Where a strategy of the literature would end before the budget does, it begins again.
#pragma once

#include <span>

#include "search/strategy.h"

namespace cupilot::search {

std::span<const StrategyRow> RivalStrategies();

}  // namespace cupilot::search
