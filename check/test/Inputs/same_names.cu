// The other half of run/same-names.cu.
#define FILE_NUMBER 2
#define SHOW second
#include "same_names.h"
int secondsSeven() {
  int seen = 0;
  cudaMemcpyFromSymbol(&seen, seven, sizeof(seen));
  return seen;
}
