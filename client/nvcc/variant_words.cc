#include "client/nvcc/variant_words.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "source/syntax/query.h"
#include "source/whitelist.h"
#include "source/whitelist_words.h"

namespace cupilot::nvcc {
namespace {

using source::NodeId;

struct Stretch {
  std::size_t begin = 0, end = 0;
};

bool IsVariantName(std::string_view name, std::string_view begin, std::string_view end) {
  if (!name.starts_with(begin) || !name.ends_with(end)) return false;
  if (name.size() <= begin.size() + end.size()) return false;
  name = name.substr(begin.size(), name.size() - begin.size() - end.size());
  return name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// `# 12 "folder/file.cu" 1`: the file; empty: the line is none.
std::string_view MarkedFile(std::string_view line) {
  if (!line.starts_with("# ") || line.size() < 3 ||
      std::isdigit(static_cast<unsigned char>(line[2])) == 0) {
    return {};
  }
  const std::size_t open = line.find('"'), close = line.rfind('"');
  return open == close ? std::string_view() : line.substr(open + 1, close - open - 1);
}

// The stretches of a text that come from variants' files.
std::vector<Stretch> StretchesOf(std::string_view text) {
  std::vector<Stretch> stretches;
  bool inside = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string_view file = MarkedFile(text.substr(begin, end - begin));
    if (!file.empty()) {
      const bool was =
          std::exchange(inside, IsVariantName(file.substr(file.rfind('/') + 1), "variant.", ".cu"));
      if (was && !inside) stretches.back().end = begin;
      if (!was && inside) stretches.push_back({end, text.size()});
    }
    begin = end;
  }
  return stretches;
}

// The marks of lines are the preprocessor's own.
std::string WithoutMarks(std::string_view text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string_view line = text.substr(begin, end - begin);
    out += MarkedFile(line).empty() ? line : "\n";
    begin = end;
  }
  return out;
}

// What stands between a namespace's braces.
std::string_view BodyOf(std::string_view text) {
  const std::size_t open = text.find('{'), close = text.rfind('}');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return text.substr(open + 1, close - open - 1);
}

class Variants {
 public:
  Variants(const source::ParseOutcome& unit, VariantPlace place)
      : unit_(unit), tree_(unit.tree), place_(place) {
    for (NodeId id = 0; id < static_cast<NodeId>(tree_.nodes.size()); ++id) {
      if (source::IsA(tree_, id, source::Kind::kNamespace) &&
          IsVariantNamespace(tree_.at(id).name)) {
        found_.push_back(id);
      }
    }
  }

  std::string Check() const {
    const std::string_view text = tree_.text;
    if (place_ == VariantPlace::kCandidate) {
      if (found_.empty()) return "";  // the original's own
      return CheckOne({tree_.at(found_.front()).begin, text.size()});
    }
    std::size_t inside = 0;
    for (const Stretch& stretch : StretchesOf(text)) {
      if (std::string wrong = CheckOne(stretch); !wrong.empty()) return wrong;
      ++inside;
    }
    return inside == found_.size() ? "" : "a variant stands in no file of its own";
  }

 private:
  std::string CheckOne(const Stretch& stretch) const {
    NodeId one = source::kNone;
    int count = 0;
    for (const NodeId id : found_) {
      if (tree_.at(id).begin < stretch.begin || tree_.at(id).begin >= stretch.end) continue;
      one = id;
      ++count;
    }
    if (count != 1) return "it does not make exactly one namespace";
    if (std::string wrong = CheckNothingBeside(stretch, one); !wrong.empty()) return wrong;
    for (const source::Diagnostic& error : unit_.errors) {
      if (error.offset >= stretch.begin && error.offset < stretch.end) return error.message;
    }
    std::string wrong = source::ForbiddenWords(WithoutMarks(OwnBody(one)));
    if (wrong.empty() && place_ == VariantPlace::kSwapped) {
      wrong = source::ForbiddenBesideHostCode(tree_, tree_.at(one).name, stretch.begin);
    }
    return wrong;
  }

  // A swapped source has the variant in one more namespace, which is all that is in its own.
  std::string_view OwnBody(NodeId one) const {
    const source::Node& node = tree_.at(one);
    const bool nested = node.children.size() == 1 &&
                        source::IsA(tree_, node.children[0], source::Kind::kNamespace) &&
                        tree_.at(node.children[0]).name.starts_with("of_");
    return BodyOf(tree_.TextOf(nested ? node.children[0] : one));
  }

  // But for the namespaces around it.
  std::string CheckNothingBeside(const Stretch& stretch, NodeId one) const {
    for (NodeId id = 1; id < static_cast<NodeId>(tree_.nodes.size()); ++id) {
      const source::Node& node = tree_.at(id);
      if (source::Has(tree_, id, source::kSystem) || node.begin < stretch.begin ||
          node.begin >= stretch.end) {
        continue;
      }
      if (!source::IsInside(tree_, id, one) && !source::IsInside(tree_, one, id)) {
        return "a declaration outside of its namespace: '" +
               std::string(tree_.TextOf(id).substr(0, 80)) + "'";
      }
    }
    return "";
  }

  const source::ParseOutcome& unit_;
  const source::Tree& tree_;
  VariantPlace place_;
  std::vector<NodeId> found_;
};

}  // namespace

bool IsVariantNamespace(std::string_view name) {
  return name.size() == 24 && IsVariantName(name, "cupilot_", "");
}

std::string WhyNotVariants(const source::ParseOutcome& unit, VariantPlace place) {
  return Variants(unit, place).Check();
}

}  // namespace cupilot::nvcc
