#include "source/constructs.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "source/syntax/query.h"

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

// System functions that no variant may rely on, with the reason.
std::string_view Forbidden(std::string_view name) {
  static const std::map<std::string_view, std::string_view> kNames = {
      {"printf", "it prints"},
      {"vprintf", "it prints"},
      {"clock", "it reads a clock"},
      {"clock64", "it reads a clock"},
      {"__clock", "it reads a clock"},
      {"__globaltimer", "it reads a clock"},
      {"__nanosleep", "it sleeps"},
      {"__threadfence_system", "it orders memory across devices"},
      {"malloc", "it allocates memory on the device"},
      {"free", "it frees memory on the device"},
      {"this_grid", "it synchronises the whole grid"},
      {"__prof_trigger", "it triggers a profiler"},
      {"__trap", "it traps"},
      {"__brkpt", "it stops in a debugger"}};
  const auto found = kNames.find(name);
  if (found != kNames.end()) return found->second;
  static const std::vector<std::string_view> kTextures = {
      "tex1D",  "tex2D",  "tex3D",  "texCubemap", "tex1Dfetch",
      "surf1D", "surf2D", "surf3D", "surfCubemap"};
  if (StartsWithAny(name, kTextures)) return "it uses textures or surfaces";
  return {};
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
        return Decline(id, "the kernel launches another kernel, which is not tuned");
      case Kind::kAsm:
        return Assembly(id);
      case Kind::kVariable:
      case Kind::kParameter:
      case Kind::kField:
        if (Has(tree_, id, kSharedAttr)) result_.synchronises = true;
        if (Has(tree_, id, kVolatile)) Decline(id, "'" + node.name + "' is volatile");
        if (IsGlobal(tree_, id)) AddGlobal(id);
        return Textures(id);
      case Kind::kFunction:
        if (Has(tree_, id, kVirtual)) Decline(id, "the function '" + node.name + "' is virtual");
        return;
      case Kind::kCast:
        if (node.type.find("volatile") != std::string::npos) Decline(id, "it casts to volatile");
        return;
      case Kind::kOtherExpression:
        if (node.name == "CXXNewExpr" || node.name == "CXXDeleteExpr") {
          Decline(id, "it allocates memory on the device");
        }
        return;
      case Kind::kDeclRef:
      case Kind::kMember:
        return Reference(id);
      default:
        return;
    }
  }

  void Reference(NodeId id) {
    const NodeId target = tree_.at(id).declaration;
    if (target == kNone) return;
    const Node& declaration = tree_.at(target);
    if (IsGlobal(tree_, target)) {
      const bool writable = (declaration.flags & (kConstantAttr | kConst)) == 0;
      if (Has(tree_, target, kManagedAttr)) {
        Decline(id, "it uses the managed variable '" + declaration.name + "'");
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
        Decline(id, "'" + declaration.name + "' acts across devices");
      }
    }
    const std::string_view why = Forbidden(declaration.name);
    if (!why.empty()) Decline(id, "'" + declaration.name + "': " + std::string(why));
  }

  void Assembly(NodeId id) {
    if (host_) return Decline(id, "the host device does not run assembly");
    const std::string_view text = tree_.TextOf(id);
    for (const std::string_view word : {"clock", "globaltimer", "smid", "warpid", "nsmid", "bar.",
                                        "st.global", "st.volatile", "red.", "atom."}) {
      if (text.find(word) != std::string_view::npos) {
        return Decline(id, "its assembly uses '" + std::string(word) + "'");
      }
    }
    result_.synchronises = true;
  }

  void Textures(NodeId id) {
    const std::string& type = tree_.at(id).canonical;
    if (type.find("texture<") != std::string::npos || type.find("surface<") != std::string::npos ||
        tree_.at(id).type.find("cudaTextureObject_t") != std::string::npos ||
        tree_.at(id).type.find("cudaSurfaceObject_t") != std::string::npos) {
      Decline(id, "'" + tree_.at(id).name + "' is a texture or a surface");
    }
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
    if (global.element.find('*') != std::string::npos) {
      Decline(id, "the variable '" + node.name + "' holds a pointer");
    }
    if (Initialiser(tree_, id) == kNone) result_.uninitialised.push_back(node.qualified);
    result_.globals.push_back(std::move(global));
  }

  const Tree& tree_;
  const Closure& closure_;
  const Places& places_;
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
