#include "search/portfolio/learned_number.h"

#include <algorithm>

namespace cupilot::search {
namespace {

constexpr std::size_t kLeastNumbers = 12;
constexpr std::size_t kMostNumbers = 500;
constexpr BoostedTrees::Settings kNumberTrees = {40, 4, 0.2, 1};
constexpr std::size_t kFew = 100;
constexpr int kNumberTreesAStep = 10, kTreesAStepOfMany = 3;

}  // namespace

LearnedNumber::LearnedNumber() : trees_(kNumberTrees) {}

void LearnedNumber::Begin() {
  std::vector<double> sorted = numbers_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  middle_ = *middle;
  trees_.Begin(rows_, rows_.size() / numbers_.size(), numbers_);
  fitted_ = numbers_.size();
}

void LearnedNumber::Learn(const std::vector<float>& features, double number, bool may_fit) {
  rows_.insert(rows_.end(), features.begin(), features.end());
  numbers_.push_back(number);
  if (numbers_.size() > kMostNumbers) {
    const auto old = static_cast<std::ptrdiff_t>(kMostNumbers / 4);
    numbers_.erase(numbers_.begin(), numbers_.begin() + old);
    rows_.erase(rows_.begin(), rows_.begin() + old * static_cast<std::ptrdiff_t>(features.size()));
    fitted_ = std::min(fitted_, numbers_.size());
  }
  if (!may_fit || numbers_.size() < kLeastNumbers) return;
  const bool more = !trees_.IsFitted() || numbers_.size() > fitted_ + fitted_ / 8 + 4;
  // To begin takes as long as several trees do.
  if (!trees_.IsFitting() && more) return Begin();
  trees_.Work(numbers_.size() < kFew ? kNumberTreesAStep : kTreesAStepOfMany);
}

}  // namespace cupilot::search
