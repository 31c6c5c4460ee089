// Chooses the lane of a GPU's workers (WorkerCall::lane) for a proof. Pure.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cupilot::evaluate {

// A kernel's proofs stay in one lane, since its process caches their references. A proof moves if
// its lane is busy and another one is idle: making references again takes a second, waiting for a
// proof takes several.
class ProofLanes {
 public:
  // Lanes 1 to `lanes`.
  explicit ProofLanes(int lanes)
      : open_(std::make_shared<std::vector<int>>(std::max(lanes, 1))), kernels_(open_->size()) {}

  // Counts as one proof of its lane until destroyed. May outlive the ProofLanes.
  class Place {
   public:
    Place(std::shared_ptr<std::vector<int>> open, std::size_t at)
        : open_(std::move(open)), at_(at) {
      ++(*open_)[at_];
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { --(*open_)[at_]; }
    int lane() const { return static_cast<int>(at_) + 1; }

   private:
    const std::shared_ptr<std::vector<int>> open_;
    const std::size_t at_;
  };

  // A new kernel gets the lane with the fewest proofs, and of those the fewest kernels.
  std::unique_ptr<Place> Enter(const std::string& kernel_key) {
    const std::vector<int>& open = *open_;
    std::size_t at = 0;
    for (std::size_t i = 1; i < open.size(); ++i) {
      if (std::pair(open[i], kernels_[i]) < std::pair(open[at], kernels_[at])) at = i;
    }
    const auto [known, first] = lanes_.try_emplace(kernel_key, at);
    const bool moves = !first && open[known->second] > 0 && open[at] == 0;
    if (moves) --kernels_[std::exchange(known->second, at)];
    if (first || moves) ++kernels_[at];
    return std::make_unique<Place>(open_, known->second);
  }

 private:
  std::shared_ptr<std::vector<int>> open_;  // proofs, by lane
  std::vector<int> kernels_;                // whose proofs are there, by lane
  std::map<std::string, std::size_t> lanes_;
};

}  // namespace cupilot::evaluate
