// The process group of tools that a worker starts, and of all that these start.
#pragma once

#include <sys/types.h>

namespace cupilot::worker {

// A time limit ends it, and not the worker; but who kills the worker kills the worker's group, and
// knows nothing of this one. So its leader is a process that does nothing but wait for the worker's
// death, of whatever cause, and then takes the group with it. (A tool in the worker's own group
// would need no such process, but at a limit its descendants would have to be told from others
// there, and the orphans among them cannot be. A death signal for the tool itself does not reach
// what it has started.)
class ToolGroup {
 public:
  // On the thread that lives as long as the process.
  ToolGroup();
  ToolGroup(const ToolGroup&) = delete;
  ToolGroup& operator=(const ToolGroup&) = delete;
  // The guard alone: what a tool has left running on purpose may stay.
  ~ToolGroup();

  pid_t id() const { return id_; }  // negative: there is none, for the reason in errno
  void Kill() const;                // all of it
  // Kills all of it, and waits until nothing of it is left, a second at most: who dies on a GPU
  // takes a while, and must not be beside what is measured next. Who has children in it waits for
  // them before.
  void End();

 private:
  pid_t id_ = -1;
};

}  // namespace cupilot::worker
