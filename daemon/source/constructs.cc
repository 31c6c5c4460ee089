#include "source/constructs.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "source/beyond_arguments.h"
#include "source/syntax/query.h"
#include "source/waiting.h"

namespace cupilot::source {
namespace {

bool StartsWithAny(std::string_view name, const std::vector<std::string_view>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool Synchronises(std::string_view name) {
  return StartsWithAny(name, {"__syncthreads", "__syncwarp", "__shfl", "__ballot", "__any", "__all",
                              "__activemask", "__reduce_", "__match_", "__barrier"}) ||
         name.ends_with("_sync") || name == "sync" || name == "this_thread_block" ||
         name == "__cluster_barrier_wait";
}

constexpr const char* kTakeOut = "; take it out to have the kernel tuned";

// System functions that no variant may rely on, with the reason.
std::string Forbidden(std::string_view name) {
  const std::string outside = BeyondArguments(name);
  if (!outside.empty()) return "it " + outside + kTakeOut;
  if (name == "this_grid") return std::string("it synchronises the whole grid") + kTakeOut;
  if (name == "__trap") return std::string("it traps") + kTakeOut;
  const std::string cannot = ", whose contents no workload can give; use an array instead";
  if (name.starts_with("tex") && name.size() > 3 &&
      (name[3] == '1' || name[3] == '2' || name[3] == '3' || name.starts_with("texCubemap"))) {
    return "reads a texture" + cannot;
  }
  if (StartsWithAny(name, {"surf1D", "surf2D", "surf3D", "surfCubemap"})) {
    return (name.find("write") == std::string_view::npos ? "reads" : "writes") +
           (" a surface" + cannot);
  }
  return {};
}

// Words of assembly: registers that differ from run to run, and what other threads or blocks see.
constexpr std::string_view kRegisters[] = {
    "clock",          "clock64", "clock_hi", "globaltimer", "globaltimer_lo",
    "globaltimer_hi", "smid",    "nsmid",    "warpid",      "gridid"};
constexpr std::string_view kInstructions[] = {
    "bar.",       "st.global",  "st.volatile", "st.release",     "st.relaxed", "ld.volatile",
    "ld.acquire", "ld.relaxed", "ld.mmio",     "red.",           "atom.",      "fence.",
    "membar.",    "nanosleep",  "trap",        "brkpt",          "exit",       "tex.",
    "suld.",      "sust.",      "tld4.",       "griddepcontrol."};

bool IsWordPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

bool HasWord(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool ends = word.back() == '.' || end == text.size() || !IsWordPart(text[end]);
    if ((at == 0 || !IsWordPart(text[at - 1])) && (ends || word.find('.') != word.npos))
      return true;
  }
  return false;
}

bool IsGlobal(const Tree& tree, NodeId id) {
  return IsA(tree, id, Kind::kVariable) && !Has(tree, id, kSystem) && !Has(tree, id, kLocal) &&
         (tree.at(id).flags & (kDeviceAttr | kConstantAttr | kManagedAttr)) != 0 &&
         !Has(tree, id, kSharedAttr);
}

// True if a reference to a __device__ variable does anything but read an element.
bool MayWrite(const Tree& tree, NodeId reference) {
  NodeId child = reference;
  bool element = tree.at(tree.at(reference).declaration).type_class != TypeClass::kArray;
  for (NodeId up = tree.at(child).parent; up != kNone; child = up, up = tree.at(up).parent) {
    const Node& node = tree.at(up);
    switch (node.kind) {
      case Kind::kParen:
      case Kind::kMember:
        continue;
      case Kind::kSubscript:
        if (node.children.front() != child) return false;  // it is the index
        element = tree.at(up).type.find('[') == std::string::npos;
        continue;
      case Kind::kAssign:
      case Kind::kCompoundAssign:
        return node.children.front() == child || !element;
      case Kind::kUnary:
        if (node.name == "*") {
          element = true;
          continue;
        }
        return node.name == "&" || node.name == "++" || node.name == "--";
      case Kind::kBinary:
        if (element) return false;
        continue;  // pointer arithmetic on an array
      case Kind::kSizeOf:
        return false;
      default:
        return !element;
    }
  }
  return false;
}

class Inspector {
 public:
  Inspector(const Tree& tree, const Closure& closure, const Places& places, bool host)
      : tree_(tree), closure_(closure), places_(places), host_(host) {}

  Constructs Run() {
    for (const Chunk& chunk : closure_.chunks) {
      for (const NodeId id : NodesOf(tree_, chunk)) {
        if (Has(tree_, id, kGlobalAttr | kDefinition)) kernels_.insert(tree_.at(id).qualified);
      }
    }
    for (const Chunk& chunk : closure_.chunks) {
      for (const NodeId id : NodesOf(tree_, chunk)) Visit(id);
    }
    return std::move(result_);
  }

 private:
  void Decline(NodeId id, const std::string& why) {
    if (result_.declined.empty()) {
      result_.declined = places_.Name(tree_.at(id).begin) + ": " + why;
    }
  }

  void Visit(NodeId id) {
    const Node& node = tree_.at(id);
    switch (node.kind) {
      case Kind::kKernelLaunch:
        return Decline(id,
                       "the kernel launches another kernel, which no variant may; launch it "
                       "from the host");
      case Kind::kAsm:
        return Assembly(id);
      case Kind::kVariable:
      case Kind::kParameter:
      case Kind::kField:
        if (Has(tree_, id, kSharedAttr)) result_.synchronises = true;
        if (Has(tree_, id, kVolatile)) Volatile(id);
        if (IsGlobal(tree_, id)) AddGlobal(id);
        SystemAtomic(id);
        return Textures(id);
      case Kind::kFunction:
        if (IsA(tree_, node.parent, Kind::kFriend) && kernels_.count(node.qualified) > 0) {
          Decline(id, "'" + node.name +
                          "' is a friend of this class, which no copy of it is; make public what "
                          "it uses");
        }
        if (Has(tree_, id, kVirtual)) {
          Decline(id, "the function '" + node.name +
                          "' is virtual, which code of its own cannot call; call it by its type");
        }
        return;
      case Kind::kCall:
      case Kind::kMemberCall:
        return Call(id);
      case Kind::kFor:
      case Kind::kWhile:
      case Kind::kDo:
        return Wait(id);
      case Kind::kCast:
        if (node.type.find("volatile") != std::string::npos) {
          Decline(id,
                  "it casts to volatile: other threads may change what it reads; use an "
                  "atomic or a barrier");
        }
        return;
      case Kind::kOtherExpression:
        if (node.name == "CXXNewExpr" || node.name == "CXXDeleteExpr") {
          Decline(id, "it allocates memory on the device" + std::string(kTakeOut));
        }
        return;
      case Kind::kDeclRef:
      case Kind::kMember:
        return Reference(id);
      default:
        return;
    }
  }

  // What is called must be known: a variant is compiled apart from the program.
  void Call(NodeId id) {
    const NodeId callee = SkipParens(tree_, Callee(tree_, id));
    if (IsA(tree_, callee, Kind::kMember)) SystemAtomic(Child(tree_, callee, 0));
    if (callee == kNone || Has(tree_, callee, kDependent)) return;
    const Node& node = tree_.at(callee);
    if (node.kind == Kind::kBinary && (node.name == ".*" || node.name == "->*")) {
      return Decline(id, "it calls through a pointer to a member; call the function by its name");
    }
    if (IsA(tree_, node.declaration, Kind::kFunction)) return;
    for (const char* pointer : {"(*)(", "(&)(", "(*const)(", "(*const &)("}) {
      if (node.canonical.find(pointer) == std::string::npos) continue;
      return Decline(id,
                     "it calls through a pointer to a function; call it by its name, or hand "
                     "over a function object");
    }
  }

  void Volatile(NodeId id) {
    Decline(id, "'" + tree_.at(id).name +
                    "' is volatile: other threads may change it; use an atomic or a barrier");
  }

  void Wait(NodeId loop) {
    const NodeId call = WaitingCall(tree_, loop);
    if (call == kNone) return;
    Decline(call,
            "it waits for other threads in a loop (a lock or a barrier of its own), which no "
            "variant may rely on; split the kernel there");
  }

  void SystemAtomic(NodeId id) {
    if (id == kNone || !IsOfSystemScope(tree_.at(id).canonical)) return;
    Decline(id,
            "its atomic is of system scope, which reaches beyond the device; give it "
            "cuda::thread_scope_device");
  }

  void Reference(NodeId id) {
    const NodeId target = tree_.at(id).declaration;
    if (target == kNone) return;
    const Node& declaration = tree_.at(target);
    if (IsGlobal(tree_, target)) {
      const bool writable = (declaration.flags & (kConstantAttr | kConst)) == 0;
      if (Has(tree_, target, kManagedAttr)) {
        Decline(id, "it uses the managed variable '" + declaration.name +
                        "', which the host may change; pass it as a parameter");
      } else if (writable && MayWrite(tree_, id)) {
        Decline(id, "it writes the device variable '" + declaration.name +
                        "', or passes it on as a pointer");
      }
      return;
    }
    if (!Has(tree_, target, kSystem) || declaration.kind != Kind::kFunction) return;
    if (Synchronises(declaration.name)) result_.synchronises = true;
    if (declaration.name.starts_with("atomic") || declaration.name.starts_with("__iAtomic")) {
      result_.uses_atomics = true;
      if (declaration.name.ends_with("_system")) {
        Decline(id, "'" + declaration.name + "' acts across devices; use '" +
                        declaration.name.substr(0, declaration.name.rfind('_')) + "'");
      }
    }
    const std::string why = Forbidden(declaration.name);
    if (why.empty()) return;
    const bool says = why.starts_with("it ");
    Decline(id, "'" + declaration.name + (says ? "': " : "' ") + why);
  }

  void Assembly(NodeId id) {
    if (host_) return Decline(id, "the host device does not run assembly");
    const std::string_view text = tree_.TextOf(id);
    for (const std::string_view word : kRegisters) {
      if (HasWord(text, word)) {
        return Decline(id, "its assembly reads '%" + std::string(word) +
                               "', which differs from run to run" + kTakeOut);
      }
    }
    for (const std::string_view word : kInstructions) {
      if (HasWord(text, word)) {
        return Decline(id, "its assembly uses '" + std::string(word) +
                               "', which reaches beyond its thread; use CUDA's functions for it");
      }
    }
    result_.synchronises = true;
  }

  void Textures(NodeId id) {
    const Node& node = tree_.at(id);
    const auto is = [&](const char* old, const char* object) {
      return node.canonical.find(old) != std::string::npos ||
             node.type.find(object) != std::string::npos;
    };
    const bool texture = is("texture<", "cudaTextureObject_t");
    if (!texture && !is("surface<", "cudaSurfaceObject_t")) return;
    Decline(id, "'" + node.name + "' is a " + (texture ? "texture" : "surface") +
                    ", whose contents no workload can give; use an array instead");
  }

  // Of a variable or a field: whether there is an address in it.
  bool HoldsPointer(NodeId id, int deep = 4) const {
    const Node& node = tree_.at(id);
    if (node.canonical.find('*') != std::string::npos ||
        node.element.find('*') != std::string::npos) {
      return true;
    }
    if (deep == 0) return false;
    for (const NodeId used : node.types_used) {
      if (!IsA(tree_, used, Kind::kRecord)) continue;
      for (const NodeId field : tree_.at(used).children) {
        if (IsA(tree_, field, Kind::kField) && HoldsPointer(field, deep - 1)) return true;
      }
    }
    return false;
  }

  void AddGlobal(NodeId id) {
    const Node& node = tree_.at(id);
    if (Has(tree_, id, kExtern) && !Has(tree_, id, kDefinition)) {
      Decline(id, "the variable '" + node.name + "' is defined in another translation unit");
    }
    if (!seen_.insert(node.qualified).second) return;
    records::ClosureGlobal global;
    global.symbol = node.qualified;
    global.space = Has(tree_, id, kConstantAttr) ? "constant" : "device";
    const bool array = node.type_class == TypeClass::kArray;
    global.element = array ? node.element : node.canonical;
    if (global.element.starts_with("const ")) global.element.erase(0, 6);
    global.element_bytes = array ? node.element_bytes : node.type_bytes;
    global.count = array ? node.element_count : 1;
    if (HoldsPointer(id)) {
      Decline(id, "the variable '" + node.name +
                      "' holds a pointer, which no workload can give; pass it as a parameter");
    }
    if (Initialiser(tree_, id) == kNone) result_.uninitialised.push_back(node.qualified);
    result_.globals.push_back(std::move(global));
  }

  const Tree& tree_;
  const Closure& closure_;
  const Places& places_;
  std::set<std::string> kernels_;  // that are defined in the closure
  bool host_;
  std::set<std::string> seen_;
  Constructs result_;
};

}  // namespace

Constructs InspectClosure(const Tree& tree, const Closure& closure, const Places& places,
                          bool host) {
  return Inspector(tree, closure, places, host).Run();
}

}  // namespace cupilot::source
