/* Watched runs of kernels on the host device: every access of their threads is looked at, so that what is
 * wrong with one is found whether or not it shows in the results.
 *
 * A program takes part if it was compiled with `nvcc --cupilot-watch`: its accesses call the runtime before
 * they are made. While a watch lasts, launches run block after block on one thread, always in the same order,
 * and what is found follows from what orders the accesses, not from how they happened to come:
 *   - barriers of a block, operations of a warp (of the lanes that take part) and the end of a launch;
 *   - an atomic operation that comes after a fence (or releases itself) and one of another thread that comes
 *     later at the same place. A volatile access to memory that is not shared counts as an atomic one here.
 * Two accesses of different threads to the same bytes that nothing orders are a race if one is a plain write,
 * or the one reads shared memory plainly that the other changes atomically. Storing what is there already is
 * none: of several threads' stores to one place one is performed, as the programming guide says.
 *
 * The calls below come from one thread, while no kernel runs. */
#ifndef CUPILOT_HOST_WATCH_H_
#define CUPILOT_HOST_WATCH_H_

#ifdef __cplusplus
extern "C" {
#endif

/* What is built for it; another number wherever that changes. */
#define CUPILOT_HOST_WATCH_VERSION 2

/* Memory that kernels may read, and whether they may write it. */
struct cupilot_host_watch_range {
  const char* name;
  const void* address;
  unsigned long bytes;
  unsigned int element_bytes;
  unsigned int read_only;
  unsigned int empty; /* what it holds before a kernel has written it means nothing */
};

struct cupilot_host_watch_settings {
  const struct cupilot_host_watch_range* ranges;
  unsigned int range_count;
  /* All that lies in here and in no range belongs to nobody. */
  const void* around;
  unsigned long around_bytes;
  /* The launch that makes more accesses than this ends with an error; 0: no limit. */
  unsigned long most_accesses;
  /* What shared memory holds before a block has written it, byte by byte. */
  unsigned char shared_poison;
};

enum cupilot_host_watch_kind {
  cupilot_host_watch_shared_race = 1,
  cupilot_host_watch_global_race,
  cupilot_host_watch_unwritten_shared, /* a read of shared memory that no thread of the block has written */
  cupilot_host_watch_outside_read,     /* of every range, or of the dynamic shared memory */
  cupilot_host_watch_outside_write,
  cupilot_host_watch_read_only_write,
  cupilot_host_watch_constant_write,
  cupilot_host_watch_unwritten_memory, /* a read of an empty range that no kernel has written since */
  cupilot_host_watch_misaligned, /* an access whose address is no multiple of its type's alignment: a GPU
                                    ends the launch there, a processor need not */
  /* What the language leaves undefined, whatever this build makes of it. */
  cupilot_host_watch_signed_overflow,
  cupilot_host_watch_shift,      /* by less than nothing, or by all bits or more */
  cupilot_host_watch_division,   /* of integers, by zero, or of the least by -1 */
  cupilot_host_watch_conversion, /* of a floating value that the integer type does not hold */
  cupilot_host_watch_index,      /* beyond the bounds of an array */
  cupilot_host_watch_object      /* an access beyond the object that its pointer points into */
};

/* All findings of one kind at one range, or of what is undefined at one line, described by the first of them. */
struct cupilot_host_watch_finding {
  enum cupilot_host_watch_kind kind;
  const char* name;   /* of the range, the shared array, the variable; of what is undefined: the file */
  unsigned int line;  /* of what is undefined */
  const char* detail; /* "a read of 4 bytes by thread (1,0,0) of block (0,0,0) at 'sums'[7] and ..." */
  unsigned long times;
};

struct cupilot_host_watch_report {
  const struct cupilot_host_watch_finding* findings; /* in the order in which they were made */
  unsigned int count;
  unsigned long accesses;
  unsigned int stopped; /* at the limit of accesses */
};

void cupilot_host_watch_begin(const struct cupilot_host_watch_settings* settings);
/* The report is valid until the next watch begins. */
void cupilot_host_watch_end(struct cupilot_host_watch_report* report);

/* What compiled code calls. Kinds: bits of an access. */
enum cupilot_host_watch_access_kind {
  cupilot_host_watch_write = 1,
  cupilot_host_watch_volatile = 2,
  cupilot_host_watch_atomic = 4,
  cupilot_host_watch_release = 8 /* an atomic write with that order */
};
void cupilot_host_watch_access(const void* address, unsigned long bytes, unsigned int kind);
void cupilot_host_watch_fence(void);
/* An access of a type that needs `alignment` is about to be made elsewhere. */
void cupilot_host_watch_misplaced(const void* address, unsigned long alignment);
/* A thread is about to do what is undefined; `what`: "a shift by 32 of an 'int'". Asked first whether it is
 * told for the first time: a loop may do it again and again. */
int cupilot_host_watch_is_new(enum cupilot_host_watch_kind kind, const char* file, unsigned int line);
void cupilot_host_watch_undefined(enum cupilot_host_watch_kind kind, const char* file, unsigned int line,
                                  const char* what);
/* A static shared array, where its declaration is passed. */
void cupilot_host_watch_shared(const char* name, void* address, unsigned long bytes,
                               unsigned int element_bytes);

#ifdef __cplusplus
}

namespace cupilot_host {
template <class T>
struct element_of {
  static constexpr unsigned int bytes = sizeof(T);
};
template <class T, unsigned long N>
struct element_of<T[N]> {
  static constexpr unsigned int bytes = element_of<T>::bytes;
};
/* Behind the declaration of a shared array or object. */
template <class T>
inline void watch_shared(const char* name, T& object) {
  cupilot_host_watch_shared(name, (void*)&reinterpret_cast<const volatile char&>(object), sizeof(T),
                            element_of<T>::bytes);
}
}  // namespace cupilot_host
#endif

#endif
