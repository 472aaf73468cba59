// The rewritten stencil.
#define REWRITTEN
#define SELECT(c, x, y) ((c) ? (x) : (y))
#include "stencil.cu"
