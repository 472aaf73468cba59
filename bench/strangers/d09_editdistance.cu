// Edit distance of pairs of short strings, a row of the table in each thread; and random permutations.
#include "bench.h"

#define MAX_LEN 40

__global__ void editDistance(const unsigned char *a, const unsigned char *b, int *dist, int pairs, int la, int lb) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= pairs)
    return;
  int row[MAX_LEN + 1];
  for (int j = 0; j <= lb; ++j)
    row[j] = j;
  for (int i = 1; i <= la; ++i) {
    int diag = row[0];
    row[0] = i;
    unsigned char ca = a[(size_t)(i - 1) * pairs + p];
    for (int j = 1; j <= lb; ++j) {
      int sub = diag + (ca != b[(size_t)(j - 1) * pairs + p]);
      diag = row[j];
      int best = min(row[j], row[j - 1]) + 1;
      row[j] = min(best, sub);
    }
  }
  dist[p] = row[lb];
}

__device__ unsigned lcg(unsigned &s) {
  s = s * 1664525u + 1013904223u;
  return s >> 8;
}

// Fisher-Yates shuffle of 32 numbers, written as bytes
__global__ void shuffleDecks(unsigned char *decks, unsigned seed, unsigned n) {
  unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= n)
    return;
  int card[32];
#pragma unroll
  for (int i = 0; i < 32; ++i)
    card[i] = i;
  unsigned s = seed + id * 747796405u;
  for (int i = 31; i > 0; --i) {
    int j = lcg(s) % (i + 1);
    int t = card[i];
    card[i] = card[j];
    card[j] = t;
  }
  for (int i = 0; i < 32; ++i)
    decks[(size_t)i * n + id] = card[i];
}

int main() {
  {
    const int pairs = 400000, la = 30, lb = 32;
    unsigned char *a = toDevice(randomInts<unsigned char>((size_t)pairs * la, 441, 4));
    unsigned char *b = toDevice(randomInts<unsigned char>((size_t)pairs * lb, 442, 4));
    int *dist = deviceAlloc<int>(pairs);
    printTime("editDistance", timeMin([&] { editDistance<<<(pairs + 127) / 128, 128>>>(a, b, dist, pairs, la, lb); }));
    printHash("editDistance", dist, pairs);
  }
  {
    const unsigned n = 2000000;
    unsigned char *d = deviceAlloc<unsigned char>((size_t)n * 32);
    printTime("shuffleDecks", timeMin([&] { shuffleDecks<<<(n + 255) / 256, 256>>>(d, 99u, n); }));
    printHash("shuffleDecks", d, (size_t)n * 32);
  }
}
