// Puts selections into the user's build tree, in an order in which a kill at any moment leaves
// something that fits together: first the variants' files and the swapped source that includes
// them, under the names of their hashes (never changed afterwards), then the selection by rename
// and only when its bytes differ, then the stamp's time.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "records/lock.h"
#include "records/selection.h"
#include "service/catalog.h"
#include "service/object_scan.h"
#include "service/place.h"
#include "source/swap/portable_command.h"
#include "source/swap/swapped_source.h"

namespace cupilot::service {

// The writes of the publisher; a test interrupts them.
class PublishFiles {
 public:
  virtual ~PublishFiles() = default;
  // By rename; false if the file had these bytes already. Reads and syncs nothing where it is
  // still the file that an earlier call left on the disk: most of what is published was there.
  virtual base::Result<bool> Write(const std::string& path, const std::string& bytes);
  // Sets the modification time of an existing file to now.
  virtual base::Result<> Touch(const std::string& path);

 private:
  struct OnDisk {
    std::string hash;  // of the bytes
    base::FileIdentity file;
  };
  std::map<std::string, OnDisk> on_disk_;  // by path
};

struct Published {
  bool changed = false;   // selection.json got other bytes
  bool wrote = false;     // some file did
  std::string selection;  // hash of selection.json's bytes; empty: there is none
  std::string swap;       // file name of the swapped source; empty: none
  std::map<std::string, std::set<std::string>> variants;  // ids by kernel
  std::map<std::string, std::string> problems;            // by kernel: why a variant is left out
};

class Publisher {
 public:
  Publisher(Catalog& catalog, PublishFiles& files) : catalog_(catalog), files_(files) {}

  // Writes what is best now for the kernels of the scan at each place and size, but for what this
  // object's compile refused before. Without any proven variant, and no selection there, nothing is
  // written; with an older one, an empty selection is.
  base::Result<Published> Publish(const ObjectScan& scan, const std::vector<Place>& places);

  // Entries of a lock file for what is published of the object's kernels.
  struct Locked {
    std::vector<records::LockedKernel> kernels;
    std::vector<std::string> problems;  // what cannot be pinned, with the reason
  };
  Locked Lock(const ObjectScan& scan, const std::vector<Place>& places, const Published& published,
              const source::ProjectFolders& folders);

  // Makes the object's next build compile it again. Only while no build runs.
  base::Result<> TouchStamp(const std::string& object_folder);

 private:
  // With `each`, one that cannot be written out does not take the others with it.
  base::Result<records::Selection> Select(const ObjectScan& scan, const std::vector<Place>& places,
                                          bool each, std::vector<source::SwappedText>& texts,
                                          Published& published);
  // The kernel's proven variants (with `each`, those that can be written out): of each place those
  // for different sizes, in the order in which a launch asks them.
  struct Chosen {
    std::vector<source::SwappedVariant> swapped;
    std::vector<records::SelectedVariant> selected;
    ProvenSet evidence;
    std::vector<records::Workload> workloads;
    std::vector<std::int64_t> ranks;  // within their place
  };
  Chosen Choose(const ObjectScan& scan, const records::Kernel& kernel,
                const std::vector<Place>& places, const std::vector<Refusal>& refusals, bool each,
                Published& published);

  Catalog& catalog_;
  PublishFiles& files_;
};

// What is published there now, by an earlier daemon or by hand.
Published ReadPublished(const std::string& object_folder);

// What its last compile took. A selection that is written again because files changed elsewhere has
// another id, but asks for the same object.
struct Applied {
  std::string selection;  // id; empty: the original, or there was no compile yet
  std::string compiled;   // records::CompiledHash of it; empty: an older launcher's
  bool Is(const std::string& id, const records::Selection& other) const;
};
Applied ReadAppliedSelection(const std::string& object_folder);

// The variants that the object's last refused compile may blame: those that the compiler named, or
// all of the selection. Empty if nothing was refused, or not the selection that is there now.
std::vector<Refusal> ReadRefusal(const std::string& object_folder);

// The ids of `refusals` that hold for the kernel, the compiler and the target.
std::set<std::string> RefusedVariants(const std::vector<Refusal>& refusals,
                                      const std::string& kernel_key, const std::string& toolchain,
                                      const std::string& target);

// Whether a refusal is about this kernel, compiler and target.
bool Holds(const Refusal& refusal, const std::string& kernel_key, const std::string& toolchain,
           const std::string& target);

// A variant that the object was compiled with.
struct AppliedVariant {
  std::string kernel_key;
  std::string variant;
  std::string target;
  std::string toolchain;
};
// Those of the object's last compile. Empty if it took the original, or not the selection that is
// there now.
std::vector<AppliedVariant> ReadApplied(const std::string& object_folder);

}  // namespace cupilot::service
