#include "evaluate/variant_set.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace cupilot::evaluate {
namespace {

// By case: the result that counts; null: the original runs it.
using Results = std::vector<const records::CaseResult*>;

// Nothing if a case has none.
std::optional<Results> ResultsOf(const std::vector<records::CaseResult>& cases,
                                 const records::Workload& workload) {
  Results results;
  for (const records::Case& one : workload.cases) {
    const auto result = BestOf(cases, one.name);
    if (!result) return std::nullopt;
    results.push_back((*result)->admitted ? *result : nullptr);
  }
  return results;
}

double SpeedupOf(const records::CaseResult* result) {
  return result == nullptr ? 1 : result->speedup;
}

// Variants in the order in which they are asked: which, and their results.
struct Member {
  std::size_t which = 0;
  const Results* results = nullptr;
};
using Order = std::vector<Member>;

// What runs each case, as far as those before `end` are asked.
Results Running(const Order& order, std::size_t end, std::size_t cases) {
  Results running(cases, nullptr);
  while (end-- > 0) {
    for (std::size_t i = 0; i < cases; ++i) {
      if ((*order[end].results)[i] != nullptr) running[i] = (*order[end].results)[i];
    }
  }
  return running;
}

// In the sum over the cases that `apart` leaves. Only what changes has a width, and launches.
Change Between(const records::Workload& workload, const Results& apart, const Results& before,
               const Results& after) {
  double was = 0, is = 0, launches = 0, down = 0, up = 0;
  for (std::size_t i = 0; i < workload.cases.size(); ++i) {
    if (apart[i] != nullptr) continue;
    const double weight = workload.cases[i].weight;
    const double then = weight / SpeedupOf(before[i]), now = weight / SpeedupOf(after[i]);
    was += then;
    is += now;
    if (before[i] == after[i]) continue;
    const records::CaseResult& measured = after[i] != nullptr ? *after[i] : *before[i];
    launches += weight / measured.original_us;
    if (after[i] != nullptr) {
      const double width = now * std::log(after[i]->speedup / after[i]->interval[0]);
      down += width * width;
    }
    if (before[i] != nullptr) {
      const double width = then * std::log(before[i]->interval[1] / before[i]->speedup);
      up += width * width;
    }
  }
  Change change;
  if (launches <= 0 || is <= 0 || was <= 0) return change;
  change.speedup = was / is;
  change.low = change.speedup * std::exp(-std::sqrt(down / (is * is) + up / (was * was)));
  change.gain_us = (was - is) / launches;
  return change;
}

double RemainsOf(const records::Workload& workload, const Order& order) {
  const Results running = Running(order, order.size(), workload.cases.size());
  double remains = 0;
  for (std::size_t i = 0; i < running.size(); ++i) {
    remains += workload.cases[i].weight / SpeedupOf(running[i]);
  }
  return remains;
}

// The order with one more where that saves most; nothing where it adds too little.
std::optional<Order> Join(const records::Workload& workload, const Order& order,
                          const Member& one) {
  const std::size_t cases = workload.cases.size();
  const Results before = Running(order, order.size(), cases);
  std::optional<Order> best;
  // Of equal places the last: the others keep theirs.
  for (std::size_t place = order.size() + 1; place-- > 0;) {
    Order with = order;
    with.insert(with.begin() + static_cast<std::ptrdiff_t>(place), one);
    const Results after = Running(with, with.size(), cases);
    bool slower = false;
    for (std::size_t i = 0; i < cases; ++i) {
      slower = slower || SpeedupOf(after[i]) < kWorstCase * SpeedupOf(before[i]);
    }
    const Change change = Between(workload, Running(order, place, cases), before, after);
    if (slower || !WhyNotFaster(change).empty()) continue;
    if (!best || RemainsOf(workload, with) < RemainsOf(workload, *best)) best = std::move(with);
  }
  return best;
}

// Without those that run no case.
Order Pruned(const records::Workload& workload, Order order) {
  for (std::size_t i = order.size(); i-- > 0;) {
    Order without = order;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    const std::size_t cases = workload.cases.size();
    if (Running(without, without.size(), cases) == Running(order, order.size(), cases)) {
      order = std::move(without);
    }
  }
  return order;
}

// With those of `others` that add something, most first.
Order Extended(const records::Workload& workload, Order order, Order others) {
  while (order.size() < kMostBehindOneLaunch) {
    std::optional<Order> best;
    for (const Member& other : others) {
      auto with = Join(workload, order, other);
      if (with && (!best || RemainsOf(workload, *with) < RemainsOf(workload, *best))) {
        best = std::move(with);
      }
    }
    if (!best) break;
    order = std::move(*best);
    std::erase_if(others, [&](const Member& other) {
      return std::any_of(order.begin(), order.end(),
                         [&](const Member& member) { return member.which == other.which; });
    });
  }
  return Pruned(workload, std::move(order));
}

Order Next(const records::Workload& workload, const Order& order, const Member& one) {
  auto joined = Join(workload, order, one);
  if (joined) joined = Pruned(workload, std::move(*joined));
  if (joined && joined->size() > kMostBehindOneLaunch) joined.reset();
  const Order instead = Extended(workload, {one}, order);
  const std::size_t cases = workload.cases.size();
  const Change change =
      Between(workload, Results(cases, nullptr), Running(order, order.size(), cases),
              Running(instead, instead.size(), cases));
  const bool better = WhyNotFaster(change).empty();
  if (!joined) return better ? instead : order;
  return better && RemainsOf(workload, instead) < RemainsOf(workload, *joined) ? instead : *joined;
}

// Those whose order makes no difference, the one that saves most first.
Order Sorted(const records::Workload& workload, Order order) {
  const std::size_t cases = workload.cases.size();
  for (std::size_t pass = 1; pass < order.size(); ++pass) {
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      Order swapped = order;
      std::swap(swapped[i], swapped[i + 1]);
      const bool same =
          Running(swapped, swapped.size(), cases) == Running(order, order.size(), cases);
      if (same && RemainsOf(workload, {order[i + 1]}) < RemainsOf(workload, {order[i]})) {
        order = std::move(swapped);
      }
    }
  }
  return order;
}

// Of all of `set`; nothing if one lacks a case. The results must outlive it.
std::optional<Order> OrderOf(const std::vector<records::Evaluation>& set,
                             const records::Workload& workload, std::vector<Results>& results) {
  results.clear();
  for (const records::Evaluation& one : set) {
    auto of = ResultsOf(one.cases, workload);
    if (!of) return std::nullopt;
    results.push_back(std::move(*of));
  }
  Order order;
  for (std::size_t i = 0; i < results.size(); ++i) order.push_back({i, &results[i]});
  return order;
}

}  // namespace

std::vector<std::size_t> ChooseSet(const std::vector<records::Evaluation>& evaluations,
                                   const records::Workload& workload) {
  std::vector<std::optional<Results>> results;
  results.reserve(evaluations.size());
  for (const records::Evaluation& one : evaluations) {
    results.push_back(ResultsOf(one.cases, workload));
  }
  Order order;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) continue;
    const Member one{i, &*results[i]};
    if (order.empty() || !AreComparable(evaluations[i], evaluations[order[0].which])) {
      order = {one};
      continue;
    }
    // Of two that run all cases one stands behind a launch: the one that was faster in one run.
    const records::Evaluation& first = evaluations[order[0].which];
    if (const auto dueled = Dueled(evaluations[i], first); dueled && order.size() == 1) {
      if (WhyNotFaster(*dueled).empty()) order = {one};
      continue;
    }
    order = Next(workload, order, one);
  }
  std::vector<std::size_t> chosen;
  for (const Member& member : Sorted(workload, std::move(order))) chosen.push_back(member.which);
  return chosen;
}

bool MayJoin(const std::vector<records::Evaluation>& set,
             const std::vector<records::CaseResult>& candidate, const records::Workload& workload) {
  std::vector<records::CaseResult> hopeful = candidate;
  for (records::CaseResult& result : hopeful) {
    result.speedup = result.interval[0] = result.interval[1];
  }
  const auto of_candidate = ResultsOf(hopeful, workload);
  std::vector<Results> results;
  const auto order = OrderOf(set, workload, results);
  return order && of_candidate && Join(workload, *order, {set.size(), &*of_candidate}).has_value();
}

std::vector<records::CaseResult> CasesOfSet(const std::vector<records::Evaluation>& set,
                                            const records::Workload& workload) {
  std::vector<records::CaseResult> cases;
  for (const records::Case& one : workload.cases) {
    const std::size_t known = cases.size();
    for (const records::Evaluation& evaluation : set) {
      for (const records::CaseResult& result : evaluation.cases) {
        if (result.name == one.name && result.admitted) cases.push_back(result);
      }
      if (cases.size() > known) break;
    }
    if (cases.size() == known) cases.push_back(records::LeftToOriginal(one.name));
  }
  return cases;
}

}  // namespace cupilot::evaluate
