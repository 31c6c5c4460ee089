// Hardware threads that run blocks. Workers spin a little before they sleep, since launches come in
// rows.
#pragma once

namespace cupilot_host {

// $CUPILOT_HOST_THREADS, else the processors that this process may use.
int ThreadCount();

// Calls run(context, begin, end) for parts of [0, count) on all threads, the caller among them, and
// returns when all is done. One at a time: concurrent callers wait for each other.
void ParallelFor(unsigned long count,
                 void (*run)(void* context, unsigned long begin, unsigned long end), void* context);

}  // namespace cupilot_host
