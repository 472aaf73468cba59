// One lane off for one of the phases.
#define REWRITTEN
#define SELECT(c, x, y) ((c) && lane != 1 ? (x) : (y))
#include "stencil.cu"
