#include "source/swap/hook_runtime.h"

namespace cupilot::source {

std::string HookModes() {
  return R"hook(
enum { mode_known = 1, mode_disabled = 2, mode_statistics = 4 };

// A path in CUPILOT_STATS (what has a slash) is a file that gets lines for programs, behind those of other objects and
// processes: fields between tabs, of which later ones may become more.
FILE* statistics_file() {
  const char* path = getenv("CUPILOT_STATS");
  FILE* file = path != 0 && strchr(path, '/') != 0 ? fopen(path, "ae") : 0;
  if (file != 0) setvbuf(file, 0, _IOLBF, BUFSIZ);  // each line by itself: they never mix
  return file;
}

void write_counts(FILE* file, const char* name, unsigned long long ran, unsigned long long not_ran,
                  unsigned long long in_graphs) {
#if defined(CUPILOT_HOST_ABI_VERSION)
  const char* const device = "host";
#else
  const char* const device = "cuda";
#endif
  if (file != 0) {
    fprintf(file, "%s\t%llu\t%llu\t%llu\t%s\n", name, ran, not_ran, in_graphs, device);
    return;
  }
  fprintf(stderr, "cupilot: %s: %llu launches tuned, %llu outside the guard", name, ran, not_ran);
  if (in_graphs != 0) fprintf(stderr, ", %llu captured", in_graphs);
  fprintf(stderr, "\n");
}

void print_statistics() {
  FILE* file = statistics_file();
  for (int i = 0; i < kernel_count; ++i) {
    const unsigned long long ran = __atomic_load_n(&hits[i], __ATOMIC_RELAXED);
    const unsigned long long not_ran = __atomic_load_n(&misses[i], __ATOMIC_RELAXED);
    const unsigned long long in_graphs = __atomic_load_n(&captures[i], __ATOMIC_RELAXED);
    if (ran + not_ran + in_graphs != 0) write_counts(file, kernels[i].name, ran, not_ran, in_graphs);
  }
  if (file != 0) fclose(file);
}

bool is_set(const char* variable) {
  const char* value = getenv(variable);
  return value != 0 && value[0] != 0 && strcmp(value, "0") != 0;
}

// Kernels that CUPILOT_DISABLE names; read with the mode.
bool disabled[kernel_count];

// Whether the name stands between commas. One that holds commas itself (scale<int, 4>) is found as a whole.
bool is_listed(const char* list, const char* name) {
  const size_t length = strlen(name);
  for (const char* at = strstr(list, name); at != 0; at = strstr(at + 1, name)) {
    if ((at == list || at[-1] == ',') && (at[length] == 0 || at[length] == ',')) return true;
  }
  return false;
}

// CUPILOT_DISABLE is a yes, or names of kernels. True: all are disabled.
bool read_disabled() {
  if (!is_set("CUPILOT_DISABLE")) return false;
  const char* value = getenv("CUPILOT_DISABLE");
  if (strcmp(value, "1") == 0 || strcasecmp(value, "yes") == 0 || strcasecmp(value, "on") == 0 ||
      strcasecmp(value, "true") == 0) {
    return true;
  }
  for (int i = 0; i < kernel_count; ++i) {
    if (is_listed(value, kernels[i].name)) __atomic_store_n(&disabled[i], true, __ATOMIC_RELAXED);
  }
  return false;
}

__attribute__((noinline)) int read_mode() {
  const int word = mode_known | (read_disabled() ? mode_disabled : 0) |
         (is_set("CUPILOT_STATS") ? mode_statistics : 0);
  int expected = 0;
  if (__atomic_compare_exchange_n(&hot.mode, &expected, word, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_RELAXED) &&
      (word & mode_statistics) != 0) {
    atexit(print_statistics);
  }
  return word;
}

__attribute__((always_inline)) inline int mode() {
  const int word = __atomic_load_n(&hot.mode, __ATOMIC_ACQUIRE);
  return word != 0 ? word : read_mode();
}
)hook";
}

}  // namespace cupilot::source
