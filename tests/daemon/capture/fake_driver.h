// A driver and a CUPTI in one library for machines without either: device memory is the host's, a
// launch is a call, and streams are threads of nobody: everything is done when a call returns. The
// program calls what stands here; the library under test what the real ones have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fake {

struct Kernel {
  const char* name;
  std::vector<std::size_t> sizes, offsets;
  std::function<void(void**)> body;  // of its arguments, one each
};

void* Allocate(std::size_t bytes);
// Addresses for `parts` mappings of `bytes` each, of which `missing` is not mapped.
char* Map(std::size_t bytes, int parts, int missing);
// Of mappings, that were retained and not released.
int Handles();
// A variable of every module.
void SetGlobal(const char* symbol, void* data, std::size_t bytes);

// What the driver would answer, after the callbacks of a launch or another call by that name.
int Launch(Kernel& kernel, unsigned blocks, void** arguments, void** extra = nullptr,
           void* stream = nullptr, int result = 0);
int Call(const char* name, const std::function<void()>& body);
void BeginCapture(void* stream);
void EndCapture();
// A context of a device, which becomes this thread's own. Threads that have none use device 0.
void MakeContext(int device);
// Becomes this thread's.
void UseDevice(int device);
// Work of this thread's context that ends when somebody waits for that context.
void Begin(std::function<void()> work);
// A record of a kernel that a graph launched.
void GraphRan(const Kernel& kernel, unsigned blocks);

// What subscribing ends with (a CUptiResult).
void SetSubscribeResult(int result);
// Whether there is a subscriber.
bool Subscribed();

}  // namespace fake
