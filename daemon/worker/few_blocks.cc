#include "worker/few_blocks.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "source/syntax/lexer.h"

namespace cupilot::worker {
namespace {

constexpr std::array<std::int64_t, 3> kMostBlocks = {8, 2, 1};

// By CUDA's variable, a group of cooperative groups, or a register of PTX; or only so many together
// can be launched.
bool MayAskHowMany(std::string_view code) {
  constexpr std::array<std::string_view, 6> kWords = {"gridDim", "this_grid", "grid_group",
                                                      "asm",     "__asm__",   "__cluster_dims__"};
  const std::vector<source::Token> tokens = source::Lex(code);
  return std::any_of(tokens.begin(), tokens.end(), [&](const source::Token& token) {
    const std::string_view word = source::Spelling(code, token);
    if (token.kind == source::TokenKind::kDirective) {
      return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view one) {
        return word.find(one) != std::string_view::npos;
      });
    }
    return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
  });
}

}  // namespace

bool LeaveFewBlocks(std::string_view code, records::Json& program) {
  records::Json& steps = program["steps"];
  if (steps.size() != 1 || steps[0].value("kernel", "").empty() || MayAskHowMany(code)) {
    return false;
  }
  bool fewer = false;
  for (std::size_t i = 0; i < kMostBlocks.size(); ++i) {
    records::Json& blocks = steps[0]["grid"][i];
    if (blocks.get<std::int64_t>() <= kMostBlocks[i]) continue;
    blocks = kMostBlocks[i];
    fewer = true;
  }
  return fewer;
}

}  // namespace cupilot::worker
