// How many characters of a pattern of twelve agree at each place of a text.
#include "validation.cuh"

#define PAT 12
__constant__ char pattern[PAT];

__global__ void agreements(const char *text, unsigned char *score,
                           long length) {
  __shared__ char piece[512 + PAT];
  long at = (long)blockIdx.x * blockDim.x + threadIdx.x;
  piece[threadIdx.x] = text[at];
  if (threadIdx.x < PAT)
    piece[512 + threadIdx.x] = text[at + 512];
  __syncthreads();
  if (at < length) {
    unsigned char hits = 0;
    for (int j = 0; j < PAT; j++)
      hits += piece[threadIdx.x + j] == pattern[j];
    score[at] = hits;
  }
}

void match(const char *text, unsigned char *score, long length) {
  agreements<<<(unsigned)((length + 511) / 512), 512>>>(text, score, length);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  check(cudaMemcpyToSymbol(pattern, "abacadabbbca", PAT));
  for (int n : sizes({1 << 27, 1 << 20}, 2000)) {
    size_t m = (size_t)ceil_div(n, 512) * 512 + PAT;
    char *t = filled<char>(m, 31, 'a', 'e');
    unsigned char *s = zeros<unsigned char>(n);
    measure("agreements", text(n), [&] { match(t, s, n); }, {result(s, n)});
    release(t, s);
  }
}
