// The functions that compilers call where what was compiled with -fsanitize=undefined is about to
// do what the language does not define, for programs and candidates that are watched
// (cupilot_host_watch.h): instead of the sanitizer's own library, which knows no threads of a
// block. Linked into what was compiled with `nvcc --cupilot-watch`, and visible there only. The
// program goes on.
#include <cstdarg>
#include <cstdint>
#include <cstdio>

#include "cupilot_host_watch.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the compilers' own names.

namespace {

// What compilers hand over (compiler-rt, ubsan_handlers.h). Of a value its bits, or where it lies
// if it is larger than a register.
using Value = unsigned long;
struct Place {
  const char* file;
  std::uint32_t line, column;
};
struct Type {
  std::uint16_t kind;  // 0: an integer, 1: a floating type
  std::uint16_t info;  // integers: whether it is signed, and the binary logarithm of its bits
  char name[1];        // in quotes
};
struct Operation {  // also of arrays (the array's and the index's type) and conversions (from, to)
  Place at;
  const Type* type;
  const Type* other;
};
struct Mismatch {
  Place at;
  const Type* type;
  unsigned char log_alignment;
  unsigned char kind;
};

struct Number {
  Number(const Type& type, Value value) {
    const unsigned int bits = type.kind == 0 ? 1u << (type.info >> 1) : type.info;
    if (type.kind == 0 && bits <= 64) {
      const auto left = static_cast<std::int64_t>(value << (64 - bits));
      const long long number = (type.info & 1) != 0 ? left >> (64 - bits) : 0;
      if ((type.info & 1) != 0) {
        std::snprintf(text, sizeof text, "%lld", number);
      } else {
        std::snprintf(text, sizeof text, "%lu", value);
      }
    } else if (type.kind == 1 && bits == 32) {
      const auto low = static_cast<std::uint32_t>(value);
      float number;
      static_assert(sizeof number == sizeof low);
      __builtin_memcpy(&number, &low, sizeof low);
      std::snprintf(text, sizeof text, "%g", static_cast<double>(number));
    } else if (type.kind == 1 && bits == 64) {
      double number;
      static_assert(sizeof number == sizeof value);
      __builtin_memcpy(&number, &value, sizeof value);
      std::snprintf(text, sizeof text, "%g", number);
    } else {
      std::snprintf(text, sizeof text, "a value");
    }
  }
  char text[32];
};

__attribute__((format(printf, 3, 4))) void Tell(cupilot_host_watch_kind kind, const Place& at,
                                                const char* format, ...) {
  const char* file = at.file != nullptr ? at.file : "";
  if (cupilot_host_watch_is_new(kind, file, at.line) == 0) return;
  char what[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  cupilot_host_watch_undefined(kind, file, at.line, what);
}

void TellOverflow(const Operation& what, Value left, const char* sign, Value right) {
  Tell(cupilot_host_watch_signed_overflow, what.at, "a signed overflow, %s %s %s in %s,",
       Number(*what.type, left).text, sign, Number(*what.type, right).text, what.type->name);
}

}  // namespace

extern "C" {

void __ubsan_handle_add_overflow(Operation* what, Value left, Value right) {
  TellOverflow(*what, left, "+", right);
}
void __ubsan_handle_sub_overflow(Operation* what, Value left, Value right) {
  TellOverflow(*what, left, "-", right);
}
void __ubsan_handle_mul_overflow(Operation* what, Value left, Value right) {
  TellOverflow(*what, left, "*", right);
}
void __ubsan_handle_negate_overflow(Operation* what, Value value) {
  Tell(cupilot_host_watch_signed_overflow, what->at, "a signed overflow, -(%s) in %s,",
       Number(*what->type, value).text, what->type->name);
}
void __ubsan_handle_divrem_overflow(Operation* what, Value left, Value right) {
  Tell(cupilot_host_watch_division, what->at, "a division of %s by %s in %s",
       Number(*what->type, left).text, Number(*what->type, right).text, what->type->name);
}
void __ubsan_handle_shift_out_of_bounds(Operation* what, Value, Value by) {
  Tell(cupilot_host_watch_shift, what->at, "a shift of %s by %s", what->type->name,
       Number(*what->other, by).text);
}
void __ubsan_handle_float_cast_overflow(Operation* what, Value value) {
  Tell(cupilot_host_watch_conversion, what->at, "a conversion of %s to %s, which cannot hold it,",
       Number(*what->type, value).text, what->other->name);
}
void __ubsan_handle_out_of_bounds(Operation* what, Value index) {
  Tell(cupilot_host_watch_index, what->at, "index %s of %s", Number(*what->other, index).text,
       what->type->name);
}
// An access through a pointer that points nowhere, where its type may not lie, or beyond the object
// that the compiler knows it to point into.
void __ubsan_handle_type_mismatch_v1(Mismatch* what, void* address) {
  const Value alignment = Value{1} << what->log_alignment;
  if (address == nullptr) return;  // what follows ends the process
  if ((reinterpret_cast<Value>(address) & (alignment - 1)) != 0) {
    cupilot_host_watch_misplaced(address, alignment);
  } else {
    Tell(cupilot_host_watch_object, what->at, "an access of %s beyond the object that it is in",
         what->type->name);
  }
}
}
// NOLINTEND(bugprone-reserved-identifier)
