#define BESIDE "on the include path"
