// Atomic additions into a small table: each thread does the work of many and counts in a copy, its
// own or its block's in shared memory, which is added once at the end. Integers only: their sums do
// not depend on the order. A block's threads may load several elements at once and count in several
// copies, lane beside lane, so that a warp's threads meet in fewer banks (J. Gomez-Luna and others,
// An optimized approach to histogram computation on GPU).
#include <algorithm>
#include <numeric>
#include <optional>

#include "source/rewrite/inspect.h"
#include "source/rewrite/lane_loads.h"
#include "source/rewrite/mechanical.h"
#include "source/rewrite/parameters.h"
#include "source/rewrite/place.h"

namespace cupilot::source {
namespace {

using records::Json;

constexpr std::int64_t kLargestTable = 1024;
constexpr std::int64_t kSharedTableBytes = 48 * 1024;  // that every device gives a block
constexpr std::int64_t kMostTableCopies = 32;
// Threads of a block that find room whatever the compiler does with registers: larger ones are said
// to it.
constexpr std::int64_t kPlainBlock = 256;

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

// The text in place of a body of which each thread counts in a table of its own.
class ThreadTableWriter {
 public:
  ThreadTableWriter(const Draft& draft, const Table& table, std::int64_t items)
      : tree_(draft.tree),
        body_(draft.facts.body),
        indices_(GlobalIndices(draft)),
        table_(table),
        items_(std::to_string(items)),
        entries_(std::to_string(table.entries)),
        own_(FreshPrefix(draft.tree, "own")),
        item_(FreshPrefix(draft.tree, "item")) {}

  Edits Run() const {
    Edits edits(tree_.text);
    for (const GlobalIndex& index : indices_) {
      const Node& node = tree_.at(index.sum);
      // A thread's elements lie side by side.
      edits.Replace(node.begin, node.end,
                    "((" + node.canonical + ")((blockIdx.x * blockDim.x + threadIdx.x) * " +
                        items_ + "u + " + item_ + "))");
    }
    for (const NodeId call : table_.calls) ToOwn(call, edits);
    for (const NodeId id : FindAll(tree_, body_, Kind::kReturn)) {
      edits.Replace(tree_.at(id).begin, tree_.at(id).end, "continue");
    }
    edits.Insert(tree_.at(body_).begin, "{\n" + table_.element + " " + own_ + "[" + entries_ +
                                            "];\n" + Over(entries_) + own_ + "[" + item_ +
                                            "] = 0;\n" + Over(items_));
    edits.Insert(tree_.at(body_).end, "\n" + Over(entries_) + "{\nif (" + own_ + "[" + item_ +
                                          "] != 0) atomicAdd(&" + tree_.at(table_.pointer).name +
                                          "[" + item_ + "], " + own_ + "[" + item_ + "]);\n}\n}");
    return edits;
  }

 private:
  std::string Over(const std::string& count) const {
    return "for (unsigned int " + item_ + " = 0; " + item_ + " < " + count + "u; ++" + item_ + ") ";
  }

  void ToOwn(NodeId call, Edits& edits) const {
    const std::vector<NodeId> arguments = Arguments(tree_, call);
    const NodeId place = SkipParens(tree_, Child(tree_, SkipParens(tree_, arguments[0]), 0));
    const NodeId index = Child(tree_, place, 1);
    edits.Replace(tree_.at(call).begin, tree_.at(index).begin, own_ + "[");
    edits.Replace(tree_.at(index).end, tree_.at(arguments[1]).begin,
                  "] += (" + table_.element + ")(");
    edits.Replace(tree_.at(arguments[1]).end, tree_.at(call).end, ")");
  }

  const Tree& tree_;
  const NodeId body_;
  const std::vector<GlobalIndex> indices_;
  const Table& table_;
  const std::string items_, entries_, own_, item_;
};

// How a block shares a table.
struct Shared {
  std::int64_t items = 1;   // elements a thread
  std::int64_t width = 1;   // elements a load
  std::int64_t copies = 1;  // of the table, for threads whose numbers differ by less
  std::int64_t block = 0;   // threads; 0: as many as before
};

// The text in place of a body of which a block's threads count in shared memory.
class BlockTableWriter {
 public:
  // `loads` is null where each element is loaded where it is used.
  BlockTableWriter(const Draft& draft, const Table& table, const Shared& shared,
                   const LaneLoads* loads)
      : draft_(draft),
        tree_(draft.tree),
        table_(table),
        shared_(shared),
        steps_(shared.items / shared.width),
        slots_(std::gcd(steps_, SlotsFor(draft, shared, loads))),
        vectors_(loads != nullptr),
        own_(FreshPrefix(draft.tree, "own")),
        item_(FreshPrefix(draft.tree, "item")),
        lanes_(draft, vectors_ ? *loads : none_, static_cast<int>(shared.width),
               FreshPrefix(draft.tree, "loaded"), [this](PartEdits& edits) { ToOwn(edits); }) {}

  // How many loads of each array a thread makes before it counts: what they hold are registers,
  // and the statements are written out for each lane.
  static std::int64_t SlotsFor(const Draft& draft, const Shared& shared, const LaneLoads* loads) {
    constexpr std::int64_t kMostBytes = 128;
    std::int64_t slots = shared.width >= 8 ? 2 : 8, bytes = 0;
    if (loads == nullptr) return slots;
    for (const LaneLoads::Pointer& pointer : loads->pointers) {
      bytes += draft.tree.at(pointer.parameter).element_bytes * shared.width;
    }
    while (slots > 1 && slots * bytes > kMostBytes) slots /= 2;
    return slots;
  }

  std::string total() const { return item_ + "_total"; }
  void Guard(Draft& draft) const { lanes_.Guard(draft); }

  std::string Run() const {
    const std::string entries = std::to_string(table_.entries);
    const std::string words = std::to_string(table_.entries * shared_.copies);
    const std::string step = item_ + "_step", slot = item_ + "_slot";
    const std::string over_slots = "for (int " + slot + " = 0; " + slot + " < " +
                                   std::to_string(slots_) + "; ++" + slot + ") {\n";
    // The elements of a block's threads lie side by side at each moment.
    const std::string first = "const unsigned int " + item_ + "_first = ((blockIdx.x * " +
                              std::to_string(steps_) + "u + " + step + " + " + slot +
                              ") * blockDim.x + threadIdx.x) * " + std::to_string(shared_.width) +
                              "u;\n";
    std::string text = "{\n__shared__ " + table_.element + " " + own_ + "[" + words + "];\n" +
                       Over(words) + own_ + "[" + item_ + "] = 0;\n__syncthreads();\n";
    if (shared_.copies > 1) {
      text += "const unsigned int " + own_ + "_copy = threadIdx.x % " +
              std::to_string(shared_.copies) + "u;\n";
    }
    text += "for (unsigned int " + step + " = 0; " + step + " < " + std::to_string(steps_) + "u; " +
            step + " += " + std::to_string(slots_) + "u) {\n";
    if (vectors_) {
      text += "bool " + item_ + "_ok[" + std::to_string(slots_) + "];\n" +
              lanes_.Declarations(static_cast<int>(slots_)) + over_slots + first + "bool " + item_ +
              "_all = " + item_ + "_first + " + std::to_string(shared_.width - 1) +
              "u < (unsigned int)" + total() + ";\n" +
              lanes_.Load(slot, "(int)" + item_ + "_first", item_ + "_all") + item_ + "_ok[" +
              slot + "] = " + item_ + "_all;\n}\n";
    }
    text += over_slots + first;
    if (vectors_) text += "if (" + item_ + "_ok[" + slot + "]) {\n" + Lanes(slot) + "} else ";
    text += Alone() + "}\n}\n__syncthreads();\n" + Over(entries) + Flush() + "}";
    return text;
  }

 private:
  std::string Over(const std::string& count) const {
    return "for (unsigned int " + item_ + " = threadIdx.x; " + item_ + " < " + count + "u; " +
           item_ + " += blockDim.x) ";
  }

  // A body that can be left.
  std::string Once(const std::string& body) const { return "do " + body + " while (false);\n"; }

  std::string Lanes(const std::string& slot) const {
    std::string text;
    for (int lane = 0; lane < static_cast<int>(shared_.width); ++lane) {
      text += Once(lanes_.Lane(draft_.facts.body, slot, "(int)" + item_ + "_first", lane));
    }
    return text;
  }

  std::string Alone() const {
    const std::string at = item_ + "_at";
    return "for (unsigned int " + at + " = " + item_ + "_first; " + at + " < " + item_ +
           "_first + " + std::to_string(shared_.width) + "u && " + at + " < (unsigned int)" +
           total() + "; ++" + at + ") " + lanes_.Alone(draft_.facts.body, "(int)" + at);
  }

  // Threads begin with different copies: these lie in different banks.
  std::string Flush() const {
    const std::string name = "&" + tree_.at(table_.pointer).name + "[" + item_ + "]";
    if (shared_.copies == 1) {
      return "{\nif (" + own_ + "[" + item_ + "] != 0) atomicAdd(" + name + ", " + own_ + "[" +
             item_ + "]);\n}\n";
    }
    const std::string copies = std::to_string(shared_.copies) + "u", sum = own_ + "_sum";
    const std::string copy = item_ + "_copy";
    return "{\n" + table_.element + " " + sum + " = 0;\nfor (unsigned int " + copy + " = 0; " +
           copy + " < " + copies + "; ++" + copy + ") " + sum + " += " + own_ + "[" + item_ +
           " * " + copies + " + (" + copy + " + " + item_ + ") % " + copies + "];\nif (" + sum +
           " != 0) atomicAdd(" + name + ", " + sum + ");\n}\n";
  }

  void ToOwn(PartEdits& edits) const {
    for (const NodeId call : table_.calls) {
      const NodeId address = SkipParens(tree_, Arguments(tree_, call)[0]);
      const NodeId place = SkipParens(tree_, Child(tree_, address, 0));
      const Node& index = tree_.at(Child(tree_, place, 1));
      edits.Replace(tree_.at(place).begin, index.begin, own_ + "[(");
      edits.Replace(index.end, tree_.at(place).end,
                    shared_.copies == 1
                        ? ")]"
                        : ") * " + std::to_string(shared_.copies) + "u + " + own_ + "_copy]");
    }
    for (const NodeId id : FindAll(tree_, draft_.facts.body, Kind::kReturn)) {
      edits.Replace(tree_.at(id).begin, tree_.at(id).end, "continue");
    }
  }

  const Draft& draft_;
  const Tree& tree_;
  const Table& table_;
  const Shared shared_;
  const std::int64_t steps_, slots_;
  const bool vectors_;
  const LaneLoads none_;
  const std::string own_, item_;
  const LaneWriter lanes_;
};

void GuardOneRow(Draft& draft) {
  AddGuard(draft, "(" + draft.grid[0] + ") * (" + draft.block[0] + ") <= 2147483647");
  for (const char* axis : {"y", "z"}) {
    AddGuard(draft, std::string("grid_") + axis + " == 1 && block_" + axis + " == 1");
  }
}

// As many blocks as there are such threads on the host device; elsewhere blocks of one warp.
void DivideLaunch(Draft& draft, std::int64_t items) {
  const std::string total = "(" + draft.grid[0] + ") * (" + draft.block[0] + ")";
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

base::Result<Shared> SharedOf(const Table& table, const Draft& draft, const Json& parameters) {
  Shared shared;
  TRY_ASSIGN(shared.items, IntegerOf(parameters, "items", 64));
  TRY_ASSIGN(shared.width, IntegerOf(parameters, "width", 1));
  TRY_ASSIGN(shared.copies, IntegerOf(parameters, "copies", 1));
  TRY_ASSIGN(shared.block, IntegerOf(parameters, "block", 0));
  const auto within = [](std::int64_t value, std::int64_t low, std::int64_t high) {
    return value >= low && value <= high;
  };
  if (!within(shared.items, 2, 1048576) || !within(shared.width, 1, 16) ||
      !within(shared.copies, 1, kMostTableCopies) || !within(shared.block, 0, 1024)) {
    return base::Fail(base::InvalidArgument(
        "items must be 2 to 1048576, width 1 to 16, copies 1 to 32, block 0 to 1024"));
  }
  if (shared.items % shared.width != 0) {
    return base::Fail(base::InvalidArgument("items must be a multiple of width"));
  }
  if (shared.block != 0 && draft.facts.launch_bounds) {
    return Declined("its launch bounds are those of its own blocks");
  }
  const std::int64_t bytes = draft.tree.at(table.pointer).element_bytes;
  if (table.entries * shared.copies * bytes > kSharedTableBytes) {
    return Declined("so many copies do not fit into shared memory");
  }
  return shared;
}

// Loads of elements that can be made before a block's threads count.
std::optional<LaneLoads> LoadsBefore(const Draft& draft, std::int64_t width) {
  auto loads = FindLaneLoads(draft, draft.tree.at(draft.facts.body).children);
  const int wanted[] = {static_cast<int>(width)};
  if (!loads || WidthsOf(draft, *loads, wanted).empty()) return std::nullopt;
  return std::move(*loads);
}

void ProposeShared(const Draft& draft, const Table& table, std::vector<Json>& parameters) {
  const Geometry geometry = DraftGeometry(draft);
  const std::int64_t total = geometry.grid[0] * geometry.block[0];
  const std::int64_t bytes = draft.tree.at(table.pointer).element_bytes;
  std::int64_t width = 1;
  for (const std::int64_t wide : {16, 8, 4, 2}) {
    if (width == 1 && LoadsBefore(draft, wide)) width = wide;
  }
  struct Form {
    std::int64_t block, items, copies;
  };
  static constexpr Form kForms[] = {{1024, 64, 8},  {512, 64, 8}, {1024, 64, 32}, {1024, 64, 1},
                                    {1024, 32, 8},  {256, 64, 8}, {512, 32, 8},   {256, 32, 8},
                                    {1024, 128, 8}, {256, 16, 8}, {256, 16, 1},   {128, 16, 1},
                                    {64, 16, 1}};
  // Blocks for all multiprocessors; where there is too little for that, for some.
  for (const std::int64_t least : {128, 2}) {
    for (const Form& form : kForms) {
      const bool pays = form.block * form.items >= 4 * table.entries &&
                        2 * form.block * form.items >= table.entries * form.copies;
      if (total / (form.block * form.items) < least || !pays) continue;
      if (table.entries * form.copies * bytes > kSharedTableBytes) continue;
      Json row = {{"scope", "block"}, {"items", form.items}, {"copies", form.copies}};
      row["width"] = width;
      if (!draft.facts.launch_bounds) row["block"] = form.block;
      if (std::find(parameters.begin(), parameters.end(), row) == parameters.end()) {
        parameters.push_back(row);
      }
    }
    if (!parameters.empty()) return;
  }
}

}  // namespace

base::Result<std::vector<Json>> ProposePrivateAtomics(const Draft& draft) {
  TRY_ASSIGN(const Table table, FindTable(draft));
  const Geometry geometry = DraftGeometry(draft);
  const std::int64_t total = geometry.grid[0] * geometry.block[0];
  std::vector<Json> parameters;
  if (draft.device != "host") {
    // Shared memory adds for all threads of a block at once on a GPU.
    ProposeShared(draft, table, parameters);
    return parameters;
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
  TRY_ASSIGN(const Scope scope, ScopeOf(parameters));
  const std::string entries = std::to_string(table.entries);
  if (scope == Scope::kThread) {
    TRY_ASSIGN(const std::int64_t items, IntegerOf(parameters, "items", 16384));
    if (items < 2 || items > 1048576) {
      return base::Fail(base::InvalidArgument("items must be 2 to 1048576"));
    }
    const Edits edits = ThreadTableWriter(draft, table, items).Run();
    GuardOneRow(draft);
    DivideLaunch(draft, items);
    TRY(Change(draft, edits));
    return "a private table of " + entries + " for each " + std::to_string(items) + " elements";
  }
  TRY_ASSIGN(const Shared shared, SharedOf(table, draft, parameters));
  const std::optional<LaneLoads> loads = LoadsBefore(draft, shared.width);
  if (!loads && shared.width > 1) {
    return Declined("its elements cannot be loaded " + std::to_string(shared.width) + " at once");
  }
  const BlockTableWriter writer(draft, table, shared, loads ? &*loads : nullptr);
  Edits edits(draft.tree.text);
  const Node& body = draft.tree.at(draft.facts.body);
  edits.Replace(body.begin, body.end, writer.Run());
  const std::string total = "(" + draft.grid[0] + ") * (" + draft.block[0] + ")";
  GuardOneRow(draft);
  writer.Guard(draft);
  AddParameter(draft, edits, writer.total(), total);
  const std::string block =
      shared.block == 0 ? "(" + draft.block[0] + ")" : std::to_string(shared.block);
  draft.grid[0] = "ceil_div(" + total + ", " + block + " * " + std::to_string(shared.items) + ")";
  if (shared.block != 0) draft.block[0] = block;
  if (shared.block > kPlainBlock && draft.device != "host") {
    edits.Insert(draft.tree.at(draft.function).name_begin, "__launch_bounds__(" + block + ") ");
  }
  draft.any_block = true;
  TRY(Change(draft, edits));
  return "a table of " + entries + " in shared memory, " + std::to_string(shared.items) +
         " elements a thread" +
         (shared.width > 1 ? ", " + std::to_string(shared.width) + " a load" : "") +
         (shared.copies > 1 ? ", " + std::to_string(shared.copies) + " copies" : "");
}

}  // namespace cupilot::source
