/* Schedules of the host device: in which order the blocks of a launch and the threads of a block run.
 *
 * A kernel may rely on none, but for what its barriers, warp operations, atomics and cooperative launches
 * order. Threads change places only where they wait, so each schedule is one of a program's legal
 * executions, the same one every time. Under "threads-forward" and "threads-reversed" any two threads
 * run what lies between two of their barriers in both orders: where a barrier is missing, or two threads
 * write one place, the results differ. They are the same for kernels without races (where atomics add up
 * floating-point numbers, up to rounding). What no order shows is an update that another one may
 * interrupt, such as a counter that is no atomic: the thread sanitizer does.
 *
 * A schedule is a text of words: at most one of each group, separated by spaces or commas.
 *   threads-forward, threads-reversed, warps-reversed   the next of a block's threads that can go on is always
 *                 the one of the lowest number; of the highest; the lowest of the last warp
 *   blocks-reversed, blocks-shuffled=SEED               (decimal; the same order for the same seed and grid)
 *   one-block                                           nothing but what holds under each: one block at a time, on a
 *                 thread of its own, whose static shared memory is zeros at first; dynamic shared memory
 *                 is poisoned before each block
 * "" is the default: blocks in parallel, the fastest order of threads. Cooperative launches run all blocks at
 * once under any schedule. Where a kernel waits in a loop for blocks that come later, it does not end. */
#ifndef CUPILOT_HOST_SCHEDULE_H_
#define CUPILOT_HOST_SCHEDULE_H_

#ifdef __cplusplus
extern "C" {
#endif

/* For the launches of this process that come after; at first it is what $CUPILOT_HOST_SCHEDULE says. Returns 0,
 * or 1 for a text that is not understood, which changes nothing. Not while a launch runs. */
int cupilot_host_set_schedule(const char* text);

#ifdef __cplusplus
}
#endif

#endif
