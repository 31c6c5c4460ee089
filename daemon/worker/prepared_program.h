// A program as the runner gets it (program.h), bound to the loaded modules and to a place in the
// device's memory: ready to be launched again and again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "records/json.h"
#include "worker/tables.h"

namespace cupilot::worker {

class PreparedProgram {
 public:
  // `base`: where the program's place 0 lies in the memory. kInvalidArgument: the artifact has no
  // such kernel or variable, or takes other arguments.
  static base::Result<PreparedProgram> Make(const records::Json& program, device::ModuleId module,
                                            const device::ModuleInfo& info, std::uint64_t address,
                                            std::int64_t base);

  // Variables from the memory, and what is wanted of them back into it.
  base::Result<> SetVariables(device::Device& device) const;
  base::Result<> GetVariables(device::Device& device) const;

  // The memory's tables of pointers (tables.h), from what the judge has there to addresses, and
  // back. Launches need the former; what has no copy of its own in a device is uploaded after it.
  void SetTables(std::span<std::byte> memory) const { tables_.ToAddresses(memory); }
  void GetTables(std::span<std::byte> memory) const { tables_.ToEntries(memory); }
  const Tables& tables() const { return tables_; }

  // All steps, in order; does not wait.
  base::Result<> Launch(device::Device& device);

  std::size_t step_count() const { return steps_.size(); }
  // In order, without the fills; their arguments live as long as this.
  std::vector<device::Launch> launches() const;

 private:
  struct Step {
    device::Launch launch;
    std::vector<std::vector<std::byte>> values;
    std::vector<void*> addresses;
    std::int64_t fill_offset = 0, fill_bytes = 0;
    int byte = 0;
    bool is_fill = false;
  };
  struct Variable {
    device::ModuleId module;
    int variable;
    std::int64_t offset, bytes;
    bool copy_back;
  };

  static base::Result<> PrepareLaunch(const records::Json& json, device::ModuleId module,
                                      const device::ModuleInfo& info, std::uint64_t address,
                                      Step& step);

  std::vector<Step> steps_;
  std::vector<Variable> variables_;
  Tables tables_;
};

}  // namespace cupilot::worker
