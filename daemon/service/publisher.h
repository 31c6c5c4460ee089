// Puts selections into the user's build tree, in an order in which a kill at any moment leaves
// something that fits together: first the swapped source under the name of its hash (never changed
// afterwards), then the selection by rename and only when its bytes differ, then the stamp's time.
#pragma once

#include <string>
#include <vector>

#include "records/selection.h"
#include "service/catalog.h"
#include "service/object_scan.h"

namespace cupilot::service {

// The writes of the publisher; a test interrupts them.
class PublishFiles {
 public:
  virtual ~PublishFiles() = default;
  // By rename; false if the file had these bytes already.
  virtual base::Result<bool> Write(const std::string& path, const std::string& bytes);
  // Sets the modification time of an existing file to now.
  virtual base::Result<> Touch(const std::string& path);
};

struct Published {
  bool changed = false;    // selection.json got other bytes
  bool stamp_due = false;  // the object was compiled with another selection than is published
  std::string selection;   // hash of selection.json's bytes; empty: none
  std::string swap;        // file name of the swapped source; empty: none
  std::vector<std::string> problems;  // variants that could not be written out, with the reason
};

class Publisher {
 public:
  Publisher(Catalog& catalog, PublishFiles& files) : catalog_(catalog), files_(files) {}

  // Writes what is best now for the kernels of the scan. Without any proven variant, and no
  // selection there, nothing is written; with an older one, an empty selection is.
  base::Result<Published> Publish(const ObjectScan& scan, const std::string& toolchain);

  // Makes the object's next build compile it again. Only while no build runs.
  base::Result<> TouchStamp(const std::string& object_folder);

 private:
  base::Result<records::Selection> Select(const ObjectScan& scan, const std::string& toolchain,
                                          std::string& swap_text, Published& published);

  Catalog& catalog_;
  PublishFiles& files_;
};

// True if applied.json names another selection than `selection`.
bool StampIsDue(const std::string& object_folder, const std::string& selection);

}  // namespace cupilot::service
