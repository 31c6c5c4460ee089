#include "search/evolution/explain.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "search/kernel_search.h"  // TitleOf

namespace cupilot::search::evolution {
namespace {

std::string Factor(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2fx", value);
  return text.data();
}

std::string StateOf(const Node& idea, const Node& parent) {
  switch (idea.state) {
    case Node::State::kDone:
      return "done";
    case Node::State::kDropped:
      return "dropped";
    case Node::State::kOpen:
      break;
  }
  return parent.variant ? "open" : "waits for " + std::to_string(parent.id);
}

std::string LineOf(const IdeaView& idea) {
  std::string line = std::to_string(idea.id) + ": " + idea.step + ", expected " +
                     Factor(idea.expected) + ", difficulty " + std::to_string(idea.difficulty);
  if (idea.measured) line += ", measured " + Factor(*idea.measured);
  if (idea.speedup) line += " (" + Factor(*idea.speedup) + " in all)";
  line += ", " + std::to_string(idea.attempts) + (idea.attempts == 1 ? " attempt" : " attempts");
  line += ", " + idea.state;
  if (!idea.why.empty()) line += ": " + idea.why;
  return line;
}

void AddBelow(const std::vector<IdeaView>& ideas, int parent, int depth,
              std::vector<std::string>& lines) {
  for (const IdeaView& idea : ideas) {
    if (idea.parent != parent) continue;
    lines.push_back(std::string(static_cast<std::size_t>(2 * depth), ' ') + LineOf(idea));
    AddBelow(ideas, idea.id, depth + 1, lines);
  }
}

}  // namespace

std::vector<IdeaView> IdeasOf(const Evolution& evolution) {
  std::vector<IdeaView> views;
  const IdeaTree& tree = evolution.tree();
  for (const Node& idea : tree.nodes()) {
    if (idea.id == 0) continue;
    const Node& parent = tree.at(idea.parent);
    IdeaView view;
    view.id = idea.id;
    view.parent = idea.parent;
    view.title = idea.strategy.title;
    view.step = idea.step ? TitleOf({*idea.step}) : idea.strategy.title;
    if (view.step.empty()) view.step = "improve it";
    view.expected = idea.expected;
    if (idea.log_gain) {
      view.speedup = std::exp(*idea.log_gain);
      view.measured = std::exp(*idea.log_gain - parent.log_gain.value_or(0));
    }
    view.difficulty = idea.difficulty;
    view.attempts = idea.attempts;
    view.state = StateOf(idea, parent);
    if (idea.state == Node::State::kDropped) {
      view.why = idea.dropped;
    } else if (idea.state == Node::State::kOpen && !idea.failures.empty()) {
      view.why = "failed, the last time: " + idea.failures.back().reason;
    }
    views.push_back(std::move(view));
  }
  return views;
}

std::vector<std::string> Explain(const Evolution& evolution) {
  std::vector<std::string> lines;
  lines.push_back("round " + std::to_string(evolution.round()) + ", epoch " +
                  std::to_string(evolution.epoch()) + ": " +
                  Factor(std::exp(evolution.best().log_gain)) + ", " +
                  std::to_string(evolution.requests()) + " requests, " +
                  std::to_string(evolution.evaluations()) + " evaluations");
  if (evolution.stopped()) {
    lines.push_back("stopped (" + std::string(Name(evolution.stop())) +
                    "): " + evolution.stop_detail());
  }
  AddBelow(IdeasOf(evolution), 0, 0, lines);
  return lines;
}

}  // namespace cupilot::search::evolution
