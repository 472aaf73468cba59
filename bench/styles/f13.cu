// small arrays private to a thread, indexed at run time
#include "shown.h"
#include <cstdint>

// ---- 1. local histogram of a patch of quantised pixels, entropy and mode ----
#define NBINS 16
__global__ void localHistogramKernel(const unsigned char *img, float *entropy, unsigned char *mode,
                                     int width, int height, int radius)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;

    unsigned short hist[NBINS];
    for (int b = 0; b < NBINS; b++) hist[b] = 0;

    int count = 0;
    for (int dy = -radius; dy <= radius; dy++) {
        for (int dx = -radius; dx <= radius; dx++) {
            int xx = x + dx, yy = y + dy;
            if (xx < 0 || yy < 0 || xx >= width || yy >= height) continue;
            hist[img[yy * width + xx] & (NBINS - 1)]++;
            count++;
        }
    }
    float e = 0.0f;
    int best = 0;
    for (int b = 0; b < NBINS; b++) {
        if (hist[b] > hist[best]) best = b;
        if (hist[b] > 0) {
            float p = (float)hist[b] / (float)count;
            e -= p * log2f(p);
        }
    }
    entropy[y * width + x] = e;
    mode[y * width + x] = (unsigned char)best;
}

// ---- 2. reverse polish interpreter with an operand stack ----
enum Op : int { OP_X, OP_Y, OP_CONST, OP_ADD, OP_SUB, OP_MUL, OP_MAX, OP_SIN, OP_DUP, OP_END };
struct Instr { int op; float imm; };
__constant__ Instr prog[64];

template <int MAXSTACK>
__global__ void rpn_eval(float* __restrict__ z, const float* __restrict__ xs, const float* __restrict__ ys, int n)
{
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float stack[MAXSTACK];
    int sp = 0;
    const float x = xs[i], y = ys[i];
    for (int pc = 0; prog[pc].op != OP_END; ++pc) {
      switch (prog[pc].op) {
        case OP_X:     stack[sp++] = x; break;
        case OP_Y:     stack[sp++] = y; break;
        case OP_CONST: stack[sp++] = prog[pc].imm; break;
        case OP_DUP:   stack[sp] = stack[sp - 1]; ++sp; break;
        case OP_SIN:   stack[sp - 1] = sinf(stack[sp - 1]); break;
        case OP_ADD:   --sp; stack[sp - 1] += stack[sp]; break;
        case OP_SUB:   --sp; stack[sp - 1] -= stack[sp]; break;
        case OP_MUL:   --sp; stack[sp - 1] *= stack[sp]; break;
        case OP_MAX:   --sp; stack[sp - 1] = fmaxf(stack[sp - 1], stack[sp]); break;
      }
    }
    z[i] = stack[sp - 1];
  }
}

// ---- 3. traversal of an implicit binary search tree, stack of node numbers ----
__global__ void range_count_sum(const int *heap, int nodes, const int *lo, const int *hi, int *cnt, long long *sum, int queries)
{
	int q = blockIdx.x * blockDim.x + threadIdx.x;
	if (q >= queries)
		return;
	int todo[24], top = 0;
	int c = 0;
	long long s = 0;
	int a = lo[q], b = hi[q];
	todo[top++] = 1;
	while (top) {
		int node = todo[--top];
		int key = heap[node];
		if (key >= a && key <= b) {
			c++;
			s += key;
		}
		if (a < key && 2 * node < nodes)
			todo[top++] = 2 * node;
		if (b > key && 2 * node + 1 < nodes)
			todo[top++] = 2 * node + 1;
	}
	cnt[q] = c;
	sum[q] = s;
}

// ---- 4. LU with partial pivoting of a 5 by 5 system, arrays of structures ----
template <typename Real, int N>
struct SmallSystem {
    Real m[N][N];
    int piv[N];

    __device__ bool factor()
    {
        for (int i = 0; i < N; ++i) piv[i] = i;
        for (int c = 0; c < N; ++c) {
            int p = c;
            Real big = fabs(m[piv[c]][c]);
            for (int r = c + 1; r < N; ++r) {
                Real v = fabs(m[piv[r]][c]);
                if (v > big) { big = v; p = r; }
            }
            if (big == Real(0)) return false;
            int t = piv[p]; piv[p] = piv[c]; piv[c] = t;
            for (int r = c + 1; r < N; ++r) {
                Real f = m[piv[r]][c] / m[piv[c]][c];
                m[piv[r]][c] = f;
                for (int k = c + 1; k < N; ++k) m[piv[r]][k] -= f * m[piv[c]][k];
            }
        }
        return true;
    }
    __device__ void solve(const Real *b, Real *x) const
    {
        Real y[N];
        for (int r = 0; r < N; ++r) {
            y[r] = b[piv[r]];
            for (int k = 0; k < r; ++k) y[r] -= m[piv[r]][k] * y[k];
        }
        for (int r = N - 1; r >= 0; --r) {
            Real s = y[r];
            for (int k = r + 1; k < N; ++k) s -= m[piv[r]][k] * x[k];
            x[r] = s / m[piv[r]][r];
        }
    }
};

template <typename Real, int N>
__global__ void batchedSolve(const Real *A, const Real *B, Real *X, int batch)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= batch) return;
    SmallSystem<Real, N> sys;
    Real rhs[N], sol[N];
    for (int r = 0; r < N; ++r) {
        for (int c = 0; c < N; ++c)
            sys.m[r][c] = A[(size_t)(r * N + c) * batch + s] + (((r + s) % N) == c ? Real(20) : Real(0));
        rhs[r] = B[(size_t)r * batch + s];
    }
    bool ok = sys.factor();
    if (ok) sys.solve(rhs, sol);
    for (int r = 0; r < N; ++r) X[(size_t)r * batch + s] = ok ? sol[r] : Real(0);
}

// ---- 5. Levenshtein distance of two short words, one row of the table is kept ----
__global__ void editDistance( const char* words, const int* lens, int* dist, int pairs )
{
  const int id = threadIdx.x + blockIdx.x * blockDim.x;
  if( id >= pairs ) return;
  const char* u = words + (size_t)id * 32;
  const char* v = u + 16;
  int lu = lens[ 2 * id ], lv = lens[ 2 * id + 1 ];
  unsigned char row[ 17 ];
  for( int j = 0; j <= lv; ++j ) row[ j ] = j;
  for( int i = 1; i <= lu; ++i )
  {
    int diag = row[ 0 ];
    row[ 0 ] = i;
    for( int j = 1; j <= lv; ++j )
    {
      int sub = diag + ( u[ i - 1 ] != v[ j - 1 ] );
      int del = row[ j ] + 1;
      int ins = row[ j - 1 ] + 1;
      diag = row[ j ];
      row[ j ] = min( sub, min( del, ins ) );
    }
  }
  dist[ id ] = row[ lv ];
}

// ---- 6. running median: a ring of the last values and a sorted copy kept by insertion ----
__global__ void running_median(const float *series, float *med, int nseries, int len, int w)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= nseries) return;
    float ring[16], ord[16];
    int head = 0, have = 0;
    for (int t = 0; t < len; t++) {
        float v = series[(size_t)t * nseries + id];
        if (have == w) {
            // drop the oldest
            float old = ring[head];
            int p = 0;
            while (p < have - 1 && ord[p] != old) p++;
            for (; p + 1 < have; p++) ord[p] = ord[p + 1];
            have--;
        }
        ring[head] = v;
        head = (head + 1 == w) ? 0 : head + 1;
        int q = have;
        while (q > 0 && ord[q - 1] > v) { ord[q] = ord[q - 1]; q--; }
        ord[q] = v;
        have++;
        med[(size_t)t * nseries + id] = (have & 1) ? ord[have / 2] : 0.5f * (ord[have / 2 - 1] + ord[have / 2]);
    }
}

static int fill_inorder(int *heap, int nodes, int node, int next)
{
    if (node >= nodes) return next;
    next = fill_inorder(heap, nodes, 2 * node, next);
    heap[node] = next * 3;
    return fill_inorder(heap, nodes, 2 * node + 1, next + 1);
}

template <class F> static auto up(size_t n, F f) -> decltype(f(0)) *
{
    typedef decltype(f(0)) T;
    T *h = (T *)malloc(n * sizeof(T)), *d;
    for (size_t i = 0; i < n; i++) h[i] = f((unsigned)i);
    cudaMalloc(&d, n * sizeof(T));
    cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice);
    free(h);
    return d;
}
static unsigned mix(unsigned x)
{
    x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
    return x;
}

int main()
{
    {
        int w = 2050, h = 1537;
        unsigned char *img = up(w * h, [](unsigned i) { return (unsigned char)(mix(i) & (mix(i / 900) | 3)); });
        float *e = mk<float>(w * h);
        unsigned char *m = mk<unsigned char>(w * h);
        dim3 block(32, 8);
        dim3 grid((w + 31) / 32, (h + 7) / 8);
        localHistogramKernel<<<grid, block>>>(img, e, m, w, h, 3);
        show("localHistogram.entropy", e, w * h * 4);
        show("localHistogram.mode", m, w * h);
    }
    {
        int n = 3000007;
        Instr p[] = {{OP_X, 0}, {OP_Y, 0}, {OP_MUL, 0}, {OP_DUP, 0}, {OP_CONST, 2.5f}, {OP_SUB, 0}, {OP_SIN, 0},
                     {OP_X, 0}, {OP_CONST, 0.3f}, {OP_MUL, 0}, {OP_MAX, 0}, {OP_ADD, 0}, {OP_Y, 0}, {OP_ADD, 0}, {OP_END, 0}};
        cudaMemcpyToSymbol(prog, p, sizeof(p));
        float *x = mk<float>(n), *y = up(n, [](unsigned i) { return (float)(mix(i) % 1000) * 0.004f; }), *z = mk<float>(n);
        rpn_eval<8><<<2048, 128>>>(z, x, y, n);
        show("rpn_eval<8>", z, n * 4);
    }
    {
        int nodes = 1 << 18, q = 1 << 20;
        int *h = (int *)malloc(nodes * 4), *d;
        h[0] = 0;
        fill_inorder(h, nodes, 1, 0);
        cudaMalloc(&d, nodes * 4);
        cudaMemcpy(d, h, nodes * 4, cudaMemcpyHostToDevice);
        free(h);
        int *lo = up(q, [](unsigned i) { return (int)(mix(i) % 700000); });
        int *hi = up(q, [](unsigned i) { return (int)(mix(i) % 700000 + mix(i + 77) % 100); });
        int *c = mk<int>(q);
        long long *s = mk<long long>(q);
        range_count_sum<<<q / 256, 256>>>(d, nodes, lo, hi, c, s, q);
        show("range_count_sum.cnt", c, q * 4);
        show("range_count_sum.sum", s, q * 8);
    }
    {
        int b = 500000;
        float *A = up(25 * (size_t)b, [](unsigned i) { return (float)(mix(i) % 2001) * 0.001f - 1.0f; });
        float *B = mk<float>(5 * (size_t)b), *X = mk<float>(5 * (size_t)b);
        batchedSolve<float, 5><<<(b + 127) / 128, 128>>>(A, B, X, b);
        show("batchedSolve<float,5>", X, 5 * (size_t)b * 4);
        int b2 = 200000;
        double *A2 = up(16 * (size_t)b2, [](unsigned i) { return (double)(mix(i) % 2001) * 0.001 - 1.0; });
        double *B2 = mk<double>(4 * (size_t)b2), *X2 = mk<double>(4 * (size_t)b2);
        batchedSolve<double, 4><<<(b2 + 63) / 64, 64>>>(A2, B2, X2, b2);
        show("batchedSolve<double,4>", X2, 4 * (size_t)b2 * 8);
    }
    {
        int pairs = 1000003;
        char *w = up(32 * (size_t)pairs, [](unsigned i) { return (char)('a' + mix(i) % 4); });
        int *l = up(2 * pairs, [](unsigned i) { return (int)(4 + mix(i) % 13); });
        int *d = mk<int>(pairs);
        editDistance<<<(pairs + 191) / 192, 192>>>(w, l, d, pairs);
        show("editDistance", d, pairs * 4);
    }
    {
        int ns = 200000, len = 64;
        float *s = up((size_t)ns * len, [](unsigned i) { return (float)(mix(i) % 10007) * 0.01f; });
        float *m = mk<float>((size_t)ns * len);
        running_median<<<(ns + 255) / 256, 256>>>(s, m, ns, len, 9);
        show("running_median w=9", m, (size_t)ns * len * 4);
        running_median<<<(ns + 255) / 256, 256>>>(s, m, ns, len, 16);
        show("running_median w=16", m, (size_t)ns * len * 4);
    }
    return 0;
}
