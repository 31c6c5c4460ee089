// Edits of a text by offset, collected in any order and applied at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cupilot::source {

class Edits {
 public:
  explicit Edits(std::string_view text) : text_(text) {}
  // Insertions at one place appear in the order in which they were made.
  void Insert(std::uint32_t at, std::string what) { Replace(at, at, std::move(what)); }
  void Replace(std::uint32_t begin, std::uint32_t end, std::string what) {
    edits_.push_back({begin, end, static_cast<std::uint32_t>(edits_.size()), std::move(what)});
  }
  // Spaces instead of [begin, end); line ends stay, so that lines keep their numbers.
  void Blank(std::uint32_t begin, std::uint32_t end);
  // Where they begin and end, in any order.
  std::vector<std::uint32_t> Places() const;
  // Edits inside a replaced stretch are lost.
  std::string Apply() const { return Apply(0, static_cast<std::uint32_t>(text_.size())); }
  // What [begin, end) of the text becomes; edits are within it.
  std::string Apply(std::uint32_t begin, std::uint32_t end) const;

 private:
  struct Edit {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t order;
    std::string what;
  };
  std::string_view text_;
  std::vector<Edit> edits_;
};

}  // namespace cupilot::source
