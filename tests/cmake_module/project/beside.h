#define BESIDE "beside the source"
