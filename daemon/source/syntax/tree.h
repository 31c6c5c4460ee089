// A CUDA translation unit's syntax as plain values: what clang parsed, without clang's types, so
// that only syntax/*_clang.cc include clang's headers and everything that analyses or rewrites
// (tags, closure, techniques, twin, lowering, whitelist) is ordinary code that compiles fast.
//
// Text. A tree belongs to ONE text (a preprocessed unit, with line markers, or a self-contained
// closure text); all offsets are bytes into it and cover whole tokens: [begin, end). Comments and
// white space between nodes are in no node. Statements that end with a semicolon end before it (but
// kDeclStatement). Where macros are expanded (texts that are not preprocessed), a node covers the
// whole invocation.
//
// What is in it. Every declaration of user text, completely (templates as written, before
// instantiation). Declarations of system headers (line markers with flag 3, and toolkit and
// compiler folders) only as leaves, one for each that user text refers to (parent 0, but nobody's
// child). Implicit casts and other implicit nodes are left out: their operand stands in their
// place. Parentheses are nodes.
//
// Immutable after parsing; safe to read from several threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cupilot::source {

using NodeId = std::int32_t;
inline constexpr NodeId kNone = -1;
// The name of a type that we write in the place of a lambda's begins so.
inline constexpr std::string_view kLambdaPrefix = "cupilot_lambda_";

enum class Kind : std::uint8_t {
  // declarations
  kTranslationUnit,
  kNamespace,
  kLinkage,
  kFunction,
  kVariable,
  kParameter,
  kField,
  kRecord,
  kEnum,
  kEnumerator,
  kAlias /* typedef, using alias */,
  kUsing,
  kTemplateParameter,
  kStaticAssert,
  kFriend,
  kOtherDeclaration,
  // statements
  kCompound,
  kDeclStatement,
  kIf,
  kFor,
  kRangeFor,
  kWhile,
  kDo,
  kSwitch,
  kCase,
  kDefault,
  kBreak,
  kContinue,
  kReturn,
  kGoto,
  kLabel,
  kAsm,
  kNullStatement,
  kOtherStatement,
  // expressions
  kCall,
  kMemberCall,
  kOperatorCall,
  kKernelLaunch,
  kConstruct,
  kDeclRef,
  kMember,
  kSubscript,
  kUnary,
  kBinary,
  kAssign /* = */,
  kCompoundAssign /* += ... */,
  kConditional,
  kCast /* explicit only */,
  kIntLiteral,
  kFloatLiteral,
  kCharLiteral,
  kStringLiteral,
  kBoolLiteral,
  kNullPointer,
  kParen,
  kInitList,
  kLambda,
  kSizeOf /* and alignof */,
  kThis,
  kOtherExpression,
};

// What a type is to a launch: how an argument of it is given.
enum class TypeClass : std::uint8_t {
  kUnknown,
  kPointer,
  kSigned,
  kUnsigned /* bool too */,
  kFloating,
  kArray,
  kRecord,
  kOther,
};

// Bits of Node::flags.
enum Flag : std::uint32_t {
  kGlobalAttr = 1u << 0,    // __global__
  kDeviceAttr = 1u << 1,    // __device__
  kHostAttr = 1u << 2,      // __host__ (explicit)
  kSharedAttr = 1u << 3,    // __shared__
  kConstantAttr = 1u << 4,  // __constant__
  kManagedAttr = 1u << 5,
  kExtern = 1u << 6,
  kStatic = 1u << 7,
  kConst = 1u << 8,  // variable, parameter: its type is const-qualified (top level)
  kConstexpr = 1u << 9,
  kInline = 1u << 10,
  kTemplate = 1u << 11,    // a templated function, record, variable, alias (see template_begin)
  kDefinition = 1u << 12,  // function with body, record with members
  kSystem = 1u << 13,      // declared in a system header: a leaf without children
  kPrefix = 1u << 14,      // unary: operator stands before its operand
  kArrow = 1u << 15,       // member: "->"
  kMember_ = 1u << 16,     // a function or variable that is a class member
  kVolatile = 1u << 17,
  kUnnamed = 1u << 18,       // unnamed namespace or record
  kDependent = 1u << 19,     // expression: type depends on a template parameter
  kLocal = 1u << 20,         // declared inside a function
  kBuiltin = 1u << 21,       // a compiler builtin function
  kReference = 1u << 22,     // variable, parameter: of reference type
  kElementConst = 1u << 23,  // pointer or array of const elements
  kVirtual = 1u << 24,       // function: virtual
  // Variable of static storage: its initialisation or destruction runs code, or may (in a
  // template), or it has parts that may be written though it is a constant. Not asked of __shared__
  // ones, whose types clang itself wants to do nothing.
  kRunsCode = 1u << 25,
  // Device function, lambda: has to return a value, and its end can be reached without one.
  kOpenEnd = 1u << 26,
};

// Children, by kind (a missing part is no child; use the accessors in query.h):
//   kFunction     its kTemplateParameter nodes, its kParameter nodes, a constructor's initialisers,
//   then the
//                 body (kCompound) if it is a definition
//   kVariable     kTemplateParameter nodes, then the initialiser expression, if any
//   kIf           [init statement, condition, then, else]   kFor    [init, condition, increment,
//   body] kWhile        [condition, body]     kDo  [body, condition]     kReturn [value]
//     -- in kIf, kFor, kWhile, kDo, kConditional positions are fixed and kNone stands for a missing
//     part
//   kCall         callee expression, then arguments        kMemberCall  callee (kMember), arguments
//   kOperatorCall operands in order (`name` is the operator: "+", "[]", "()")
//   kKernelLaunch callee expression, grid, block, [shared, stream as written], then arguments;
//                 `value` holds the count of configuration expressions (2 to 4)
//   kSubscript    [base, index]   kBinary, kAssign, kCompoundAssign [left, right]   kUnary
//   [operand] kConditional  [condition, yes, no]   kCast [operand]   kMember [base] kDeclStatement
//   its variables
struct Node {
  Kind kind{};
  std::uint32_t flags = 0;
  NodeId parent = kNone;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  // Declarations: where the name stands; [0,0) if unnamed. Functions, variables with template head:
  // template_begin is where `template` stands (== begin without one).
  std::uint32_t name_begin = 0;
  std::uint32_t name_end = 0;
  std::uint32_t template_begin = 0;
  // Functions: body's "{" is children.back()'s begin. Where the parameter list's "(" and ")" stand.
  std::uint32_t parameters_begin = 0;
  std::uint32_t parameters_end = 0;  // of the ")" itself
  // Variables, parameters, fields, casts, functions (result): the written type specifier and
  // declarator before the name, e.g. "const float *"; [0,0) if implicit.
  std::uint32_t type_begin = 0;
  std::uint32_t type_end = 0;
  // Declaration that a kDeclRef, kMember, or a type-naming node refers to (may be a kSystem leaf).
  NodeId declaration = kNone;
  // Declarations: name ("blur"). Operators: spelling ("+", "+=", "++"). kCall: callee's name if it
  // is a plain function name. Literals: as written.
  std::string name;
  std::string qualified;  // declarations: "image::blur", with "(anonymous namespace)" left out
  std::string type;       // as clang prints it: "const float *"
  std::string canonical;  // canonical, fully qualified
  std::string
      value;  // integer constant expressions whose value clang knows: decimal text;
              // kSizeOf: "sizeof" | "alignof"; kTemplateParameter: "type" | "value" | "template"
  std::string header;   // kSystem: as the user would include it ("cmath", "cuda_fp16.h")
  std::string mangled;  // functions: mangled name
  // Variables, parameters, fields (records: type_bytes), where the type is complete and not
  // dependent.
  TypeClass type_class = TypeClass::kUnknown;
  std::int64_t type_bytes = 0;
  std::string element;  // pointers, arrays: canonical (innermost) element without const
  std::int64_t element_bytes = 0;
  std::int64_t element_count = 0;  // arrays: elements of all dimensions
  std::int64_t pointee_bytes = 0;  // pointers to pointers: of what these lead to; 0: not known
  // Declarations of user text that its types and template arguments name (not its body's
  // expressions): for the closure.
  std::vector<NodeId> types_used;
  std::vector<NodeId> children;
};

// A lambda that a kernel template is instantiated with, as what a function object needs that says
// the same (see source/lambda.h).
struct Lambda {
  struct Member {
    std::string declaration;  // "const int *in"
    std::string name;
    // Of a constant of the function around it that [=] allows to use: nvcc captures it, by its
    // first use, where other compilers take the value.
    std::string value;
    TypeClass type_class = TypeClass::kUnknown;
    std::int64_t bytes = 0;
    std::int64_t alignment = 1;
    bool operator==(const Member&) const = default;
  };
  std::string problem;  // why there is none; what follows is incomplete then, but for places
  std::string printed;  // the type in the callees of its instantiations
  std::string shown;    // for people: "image::run::lambda_1"
  std::string name;     // of the function object's type
  std::vector<std::string> namespaces;  // around it, outermost first; "" is an unnamed one
  std::vector<Member> members;          // what it captures, in its own order
  std::vector<Member> constants;        // what it uses without a capture: no part of its bytes
  std::string call;                     // "void operator()(int i) const { ... }"
  bool host_device = false;             // __host__ __device__, else __device__
  // Compilers count the lambdas of a function by their parameters or all together; the number of
  // this one is the same both ways.
  bool counted_alike = false;
  std::uint32_t begin = 0;  // where it stands
  std::uint32_t function_begin = 0;
  std::uint32_t function_end = 0;     // the definition of the function around it
  std::vector<std::string> mentions;  // as Tree::mentions
};

// One argument of an instantiated template.
struct TemplateArgument {
  enum class Form : std::uint8_t { kType, kValue, kTemplate, kPack };
  Form form = Form::kType;
  // As a template argument: canonical type ("unsigned int"), value ("4", "true",
  // "static_cast<image::Mode>(2)", "&image::clamp"). Empty: it cannot be written (a type without a
  // name, say); `problem` says why.
  std::string text;
  std::string literal;  // values: in an expression, with the parameter's own type ("4ul")
  std::string problem;
  std::vector<TemplateArgument> pack;
  std::shared_ptr<const Lambda> lambda;  // of a type that is one; `text` is the function object's
};

// A kernel template with the arguments that this text launches it with (or takes its address with,
// or instantiates explicitly).
struct Instantiation {
  NodeId kernel = kNone;  // the template's definition; an explicit specialisation's own
  NodeId uses = kNone;    // nobody's child; its types_used: all that arguments and calls reach
  std::vector<TemplateArgument> arguments;  // of each parameter in order, defaults too
  std::string mangled;
  std::string type_name;  // of the function's type, as typeid has it: "FvPfiE"
  // What its body calls once the arguments are known, as Tree::callees.
  std::vector<std::string> callees;
};

struct Tree {
  std::string text;
  std::vector<Node> nodes;  // nodes[0] is the translation unit; parents come before children
  std::vector<Instantiation> instantiations;  // of kernels
  // What the bodies of kernels that are no templates call, by definition: "image::lerp float
  // (float, float)", sorted. Operators left out.
  std::map<NodeId, std::vector<std::string>> callees;
  // What the call operator of a function object says by names that are declared outside of it:
  // functions (operators, too), variables and types, each with its type, sorted. Of types that are
  // named as ours for lambdas are (kLambdaPrefix) alone.
  std::map<NodeId, std::vector<std::string>> mentions;
  const Node& at(NodeId id) const { return nodes[static_cast<std::size_t>(id)]; }
  std::string_view TextOf(NodeId id) const {
    return std::string_view(text).substr(at(id).begin, at(id).end - at(id).begin);
  }
};

}  // namespace cupilot::source
