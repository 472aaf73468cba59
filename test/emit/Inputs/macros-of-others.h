// Macros of a header that have names of rewrite.cuh and of generated code.
#define ARGS_TAIL b.Data, n - 1
#define Count 17
#define Size 3
#define apart 1
#define word int
#define rc_s 4
#define fills nothing
#define launches ?
#define Element float
#define Bytes 12
#define pack 0
#define first 3
#define Words +
#define load_run 0
#define store_run 0
