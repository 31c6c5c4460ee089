// What an evolution did, for people.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "search/evolution/evolution.h"

namespace cupilot::search::evolution {

// An idea as `explain` lists it.
struct IdeaView {
  int id = 0;
  int parent = 0;
  std::string title;               // of the whole strategy
  std::string step;                // what it adds
  double expected = 1.0;           // of the step, a factor
  std::optional<double> measured;  // of the step, a factor over its parent
  std::optional<double> speedup;   // of the whole, over the original
  int difficulty = 3;
  int attempts = 0;
  std::string state;  // "done", "open", "waits for <id>", "dropped"
  std::string why;    // dropped for what, or the latest failure
};

std::vector<IdeaView> IdeasOf(const Evolution& evolution);

// Readable lines: where it stands, why it stopped, each idea below its parent.
std::vector<std::string> Explain(const Evolution& evolution);

}  // namespace cupilot::search::evolution
