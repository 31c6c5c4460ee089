// Atomic additions into a small table: each thread does the work of many and counts in a copy, its
// own or its block's in shared memory, which is added once at the end. Integers only: their sums do
// not depend on the order.
#include <algorithm>
#include <limits>

#include "source/rewrite/inspect.h"
#include "source/rewrite/mechanical.h"
#include "source/rewrite/parameters.h"
#include "source/rewrite/place.h"

namespace cupilot::source {
namespace {

using records::Json;

constexpr std::int64_t kLargestTable = 1024;

struct Table {
  NodeId pointer = kNone;     // the parameter
  std::vector<NodeId> calls;  // atomicAdd(&pointer[index], value)
  std::int64_t entries = 0;   // all indices are below
  std::string element;
};

// How many values an expression's type has: its table needs no bound of its own then.
std::int64_t ValuesOf(const Tree& tree, NodeId index) {
  index = SkipParens(tree, index);
  if (index == kNone) return 0;
  std::string_view type = tree.at(index).canonical;
  if (type.starts_with("const ")) type.remove_prefix(6);
  if (type == "unsigned char") return 256;
  if (type == "bool") return 2;
  const Node& node = tree.at(index);
  if (!node.value.empty() && node.value[0] != '-' && node.value.size() < 5) {
    return std::stoll(node.value) + 1;
  }
  if (IsA(tree, index, Kind::kBinary)) {
    const NodeId left = Child(tree, index, 0), right = SkipParens(tree, Child(tree, index, 1));
    const std::string& value = tree.at(right).value;
    const bool known = !value.empty() && value[0] != '-' && value.size() < 6;
    const bool is_unsigned =
        tree.at(SkipParens(tree, left)).canonical.find("unsigned") != std::string::npos;
    if (node.name == "&" && known) return std::stoll(value) + 1;
    if (node.name == "%" && known && (is_unsigned || ValuesOf(tree, left) > 0)) {
      return std::stoll(value);
    }
    if (node.name == ">>" && known && ValuesOf(tree, left) > 0 && std::stoll(value) < 16) {
      return std::max<std::int64_t>(1, ValuesOf(tree, left) >> std::stoll(value));
    }
  }
  return 0;
}

base::Result<Table> FindTable(const Draft& draft) {
  TRY(CheckFreePlace(draft));
  const Tree& tree = draft.tree;
  if (!draft.facts.atomics) return base::Fail(base::Unsupported("it has no atomic operations"));
  if (draft.facts.atomic_result_used) {
    return base::Fail(base::Unsupported("it uses what an atomic operation returns"));
  }
  if (draft.facts.device_effects) {
    return base::Fail(base::Unsupported("a function that it calls changes memory"));
  }
  Table table;
  for (const NodeId call : FindAll(tree, draft.facts.body, Kind::kCall)) {
    const std::string name = SystemCallee(tree, call);
    if (!name.starts_with("atomic")) continue;
    const std::vector<NodeId> arguments = Arguments(tree, call);
    const NodeId address = arguments.empty() ? kNone : SkipParens(tree, arguments[0]);
    const NodeId place = IsA(tree, address, Kind::kUnary) && tree.at(address).name == "&"
                             ? SkipParens(tree, Child(tree, address, 0))
                             : kNone;
    if (name != "atomicAdd" || arguments.size() != 2 || !IsA(tree, place, Kind::kSubscript)) {
      return base::Fail(
          base::Unsupported("its atomic operations are not all additions to elements"));
    }
    const NodeId pointer = VariableOf(tree, Child(tree, place, 0));
    if (!IsA(tree, pointer, Kind::kParameter) ||
        (table.pointer != kNone && table.pointer != pointer)) {
      return base::Fail(base::Unsupported("its atomic additions go to more than one array"));
    }
    const std::int64_t values = ValuesOf(tree, Child(tree, place, 1));
    if (values == 0 || values > kLargestTable) {
      return base::Fail(base::Unsupported("nothing bounds the elements that it adds to: '" +
                                          std::string(tree.TextOf(Child(tree, place, 1))) + "'"));
    }
    table.pointer = pointer;
    table.element = tree.at(pointer).element;
    table.entries = std::max(table.entries, values);
    table.calls.push_back(call);
  }
  static constexpr std::string_view kElements[] = {"int", "unsigned int", "unsigned long long"};
  if (std::find(std::begin(kElements), std::end(kElements), table.element) == std::end(kElements)) {
    return base::Fail(base::Unsupported("it does not add integers"));
  }
  const auto uses = draft.facts.references.find(table.pointer);
  if (uses == draft.facts.references.end() || uses->second.size() != table.calls.size()) {
    return base::Fail(base::Unsupported("it uses the array that it adds to otherwise, too"));
  }
  TRY(CheckRepeatable(draft));
  for (const GlobalIndex& index : GlobalIndices(draft)) {
    if (index.axis != 'x')
      return base::Fail(base::Unsupported("its threads have more than one axis"));
  }
  const Geometry geometry = DraftGeometry(draft);
  if (geometry.grid[1] * geometry.grid[2] * geometry.block[1] * geometry.block[2] != 1) {
    return base::Fail(base::Unsupported("its threads have more than one axis"));
  }
  return table;
}

enum class Scope { kThread, kBlock };

// The text in place of a body whose calls go to one table.
class TableWriter {
 public:
  TableWriter(const Draft& draft, const Table& table, Scope scope, std::int64_t items)
      : tree_(draft.tree),
        body_(draft.facts.body),
        indices_(GlobalIndices(draft)),
        table_(table),
        scope_(scope),
        items_(std::to_string(items)),
        entries_(std::to_string(table.entries)),
        own_(FreshPrefix(draft.tree, "own")),
        item_(FreshPrefix(draft.tree, "item")) {}

  Edits Run() const {
    Edits edits(tree_.text);
    for (const GlobalIndex& index : indices_) {
      const Node& node = tree_.at(index.sum);
      edits.Replace(node.begin, node.end, "((" + node.canonical + ")(" + Element() + "))");
    }
    for (const NodeId call : table_.calls) ToOwn(call, edits);
    for (const NodeId id : FindAll(tree_, body_, Kind::kReturn)) {
      edits.Replace(tree_.at(id).begin, tree_.at(id).end, "continue");
    }
    const bool block = scope_ == Scope::kBlock;
    const std::string wait = block ? "__syncthreads();\n" : "";
    edits.Insert(tree_.at(body_).begin, "{\n" + std::string(block ? "__shared__ " : "") +
                                            table_.element + " " + own_ + "[" + entries_ + "];\n" +
                                            OverTable() + own_ + "[" + item_ + "] = 0;\n" + wait +
                                            "for (unsigned int " + item_ + " = 0; " + item_ +
                                            " < " + items_ + "u; ++" + item_ + ") ");
    edits.Insert(tree_.at(body_).end, "\n" + wait + OverTable() + "{\nif (" + own_ + "[" + item_ +
                                          "] != 0) atomicAdd(&" + tree_.at(table_.pointer).name +
                                          "[" + item_ + "], " + own_ + "[" + item_ + "]);\n}\n}");
    return edits;
  }

 private:
  // A thread's elements lie side by side; those of a block's threads too, at each moment.
  std::string Element() const {
    if (scope_ == Scope::kThread) {
      return "(blockIdx.x * blockDim.x + threadIdx.x) * " + items_ + "u + " + item_;
    }
    return "blockIdx.x * (blockDim.x * " + items_ + "u) + " + item_ + " * blockDim.x + threadIdx.x";
  }

  std::string OverTable() const {
    const bool block = scope_ == Scope::kBlock;
    return "for (unsigned int " + item_ + " = " + (block ? "threadIdx.x" : "0") + "; " + item_ +
           " < " + entries_ + "u; " + (block ? item_ + " += blockDim.x" : "++" + item_) + ") ";
  }

  void ToOwn(NodeId call, Edits& edits) const {
    const std::vector<NodeId> arguments = Arguments(tree_, call);
    const NodeId place = SkipParens(tree_, Child(tree_, SkipParens(tree_, arguments[0]), 0));
    const NodeId index = Child(tree_, place, 1);
    if (scope_ == Scope::kBlock) {
      const Node& pointer = tree_.at(Child(tree_, place, 0));
      edits.Replace(pointer.begin, pointer.end, own_);
      return;
    }
    edits.Replace(tree_.at(call).begin, tree_.at(index).begin, own_ + "[");
    edits.Replace(tree_.at(index).end, tree_.at(arguments[1]).begin,
                  "] += (" + table_.element + ")(");
    edits.Replace(tree_.at(arguments[1]).end, tree_.at(call).end, ")");
  }

  const Tree& tree_;
  const NodeId body_;
  const std::vector<GlobalIndex> indices_;
  const Table& table_;
  const Scope scope_;
  const std::string items_, entries_, own_, item_;
};

// Each thread has so many elements: there are fewer.
void DivideLaunch(Draft& draft, Scope scope, std::int64_t items) {
  const std::string total = "(" + draft.grid[0] + ") * (" + draft.block[0] + ")";
  AddGuard(draft, total + " <= 2147483647");
  for (const char* axis : {"y", "z"}) {
    AddGuard(draft, std::string("grid_") + axis + " == 1 && block_" + axis + " == 1");
  }
  if (scope == Scope::kBlock) {
    AddGuard(draft, "(" + draft.grid[0] + ") % " + std::to_string(items) + " == 0");
    draft.grid[0] = "(" + draft.grid[0] + ") / " + std::to_string(items);
    return;
  }
  // As many blocks as there are such threads on the host device; elsewhere blocks of one warp.
  const Geometry geometry = DraftGeometry(draft);
  const std::int64_t threads = geometry.grid[0] * geometry.block[0] / items;
  const std::int64_t width = draft.device == "host" || threads % 32 != 0 ? 1 : 32;
  AddGuard(draft, total + " % " + std::to_string(items * width) + " == 0");
  draft.grid[0] = total + " / " + std::to_string(items * width);
  draft.block[0] = std::to_string(width);
}

base::Result<Scope> ScopeOf(const Json& parameters) {
  const std::string scope = WordOf(parameters, "scope", "thread");
  if (scope != "thread" && scope != "block") {
    return base::Fail(base::InvalidArgument("scope must be thread or block"));
  }
  return scope == "block" ? Scope::kBlock : Scope::kThread;
}

}  // namespace

base::Result<std::vector<Json>> ProposePrivateAtomics(const Draft& draft) {
  TRY_ASSIGN(const Table table, FindTable(draft));
  const Geometry geometry = DraftGeometry(draft);
  const std::int64_t total = geometry.grid[0] * geometry.block[0];
  std::vector<Json> parameters;
  // Shared memory adds for all threads of a block at once on a GPU.
  for (const std::int64_t items : {32, 64, 16, 128, 8}) {
    if (draft.device != "host" && geometry.grid[0] % items == 0 &&
        items * geometry.block[0] >= 4 * table.entries) {
      parameters.push_back(Json{{"scope", "block"}, {"items", items}});
    }
  }
  for (const std::int64_t items : {65536, 16384, 262144, 4096, 1024}) {
    // A copy pays where it holds less than what is counted in it, and all processors have work.
    if (items >= 4 * table.entries && items * 4 <= total && total % items == 0) {
      parameters.push_back(Json{{"scope", "thread"}, {"items", items}});
    }
  }
  return parameters;
}

base::Result<std::string> ApplyPrivateAtomics(Draft& draft, const Json& parameters) {
  TRY(FindTable(draft));
  TRY(NormalisePlace(draft));
  TRY_ASSIGN(const Table table, FindTable(draft));
  TRY_ASSIGN(const std::int64_t items, IntegerOf(parameters, "items", 16384));
  TRY_ASSIGN(const Scope scope, ScopeOf(parameters));
  if (items < 2 || items > 1048576) {
    return base::Fail(base::InvalidArgument("items must be 2 to 1048576"));
  }
  const Edits edits = TableWriter(draft, table, scope, items).Run();
  DivideLaunch(draft, scope, items);
  TRY(Change(draft, edits));
  const std::string entries = std::to_string(table.entries);
  if (scope == Scope::kBlock) {
    return "a table of " + entries + " in shared memory, " + std::to_string(items) +
           " elements a thread";
  }
  return "a private table of " + entries + " for each " + std::to_string(items) + " elements";
}

}  // namespace cupilot::source
