// What was found out about a kernel's code in an object that the user has built: evidence is about
// our text of the kernel, and it is about the program only where the object's code is the same, or
// passes the gate as well (evaluate::ObjectCheck). In the store, so that a new daemon asks nothing
// twice.
#pragma once

#include <optional>
#include <string>

#include "evaluate/evaluator.h"
#include "service/catalog.h"
#include "service/object_scan.h"

namespace cupilot::service {

// The object's bytes, as far as times tell: "<mtime>,<size>". Empty: there is none yet that was
// compiled by this command from all that the scan has read.
std::string BuiltObjectOf(const ObjectScan& scan);

struct ObjectCode {
  std::string object;      // BuiltObjectOf
  std::string kernel_key;  // of the text that it was compared with
  std::string workload;    // with which it was verified, where it differs
  evaluate::ObjectCheck check;
  bool operator==(const ObjectCode&) const = default;
};

// The last that was found out about the kernel at this place; nothing: it was never looked at.
std::optional<ObjectCode> FindObjectCode(Catalog& catalog, const std::string& object_folder,
                                         const records::Kernel& kernel, const Place& place);
base::Result<> SaveObjectCode(Catalog& catalog, const std::string& object_folder,
                              const records::Kernel& kernel, const Place& place,
                              const ObjectCode& code);

// Whether that says all about this object, text and workload.
bool IsAbout(const ObjectCode& code, const std::string& object, const records::Kernel& kernel,
             const std::string& workload_hash);

// A line for people where the object's code differs and passed; else empty.
std::string NoteOf(const ObjectCode& code);

}  // namespace cupilot::service
