// h12: parsing, compression, text and database kernels
#include "shown.h"
#include <cstdint>
#include <string>
#include <vector>

static uint32_t rs = 123456789;
static uint32_t rnd() { rs ^= rs << 13; rs ^= rs >> 17; rs ^= rs << 5; return rs; }
template <typename T> static T *dev(const T *p, size_t n)
{
  T *d; cudaMalloc((void **)&d, n * sizeof(T)); cudaMemcpy(d, p, n * sizeof(T), cudaMemcpyHostToDevice); return d;
}

/* -------- expression evaluator: shunting-yard with two local stacks -------- */
__device__ int prec(char c) { return c == '+' || c == '-' ? 1 : c == '*' ? 2 : 0; }
__device__ void apply(int *val, int &vt, char op)
{
  int b = val[--vt], a = val[--vt];
  val[vt++] = op == '+' ? a + b : op == '-' ? a - b : a * b;
}
__global__ void eval_expressions(const char *txt, const int *start, int *result, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int val[24]; char ops[24];
  int vt = 0, ot = 0;
  const char *p = txt + start[i], *e = txt + start[i + 1];
  while (p < e) {
    char c = *p;
    if (c >= '0' && c <= '9') {
      int v = 0;
      while (p < e && *p >= '0' && *p <= '9') v = v * 10 + (*p++ - '0');
      if (vt < 24) val[vt++] = v;
      continue;
    }
    if (c == '(') { if (ot < 24) ops[ot++] = c; }
    else if (c == ')') {
      while (ot > 0 && ops[ot - 1] != '(') apply(val, vt, ops[--ot]);
      if (ot > 0) --ot;
    } else if (c != ' ') {
      while (ot > 0 && prec(ops[ot - 1]) >= prec(c)) apply(val, vt, ops[--ot]);
      ops[ot++] = c;
    }
    ++p;
  }
  while (ot > 0) apply(val, vt, ops[--ot]);
  result[i] = val[0];
}

/* -------- JSON-ish tokenizer, state table in shared, bracket stack local -------- */
enum { T_WS, T_STR, T_NUM, T_OPEN, T_CLOSE, T_COMMA, T_COLON, T_OTHER, T_KINDS };
__global__ void tokenize_json(const unsigned char *__restrict__ doc, int doclen, const unsigned char *__restrict__ classes, int *__restrict__ stats, int ndocs)
{
  __shared__ unsigned char cls[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) cls[k] = classes[k];
  __syncthreads();
  const int d = blockIdx.x * blockDim.x + threadIdx.x;
  if (d >= ndocs) return;
  int hist[T_KINDS];
  char stack[32];
  for (int k = 0; k < T_KINDS; k++) hist[k] = 0;
  int depth = 0, maxd = 0, errs = 0;
  bool instr = false;
  for (int k = 0; k < doclen; k++) {
    unsigned char c = doc[(size_t)k * ndocs + d];
    if (instr) { if (c == '"') instr = false; continue; }
    int t = cls[c];
    hist[t]++;
    if (t == T_STR) instr = true;
    else if (t == T_OPEN) { if (depth < 32) stack[depth] = c; depth++; if (depth > maxd) maxd = depth; }
    else if (t == T_CLOSE) {
      if (depth == 0) errs++;
      else { depth--; if (depth < 32 && stack[depth] != (c == ']' ? '[' : '{')) errs++; }
    }
  }
  for (int k = 0; k < T_KINDS; k++) stats[k * ndocs + d] = hist[k];
  stats[T_KINDS * ndocs + d] = maxd * 1000 + errs;
}

/* -------- Levenshtein of word against dictionary -------- */
#define MAXW 28
__global__ void levenshtein(const char *words, const uint8_t *lens, const char *q, int qlen, uint8_t *dist, int nw)
{
  __shared__ char sq[MAXW];
  if (threadIdx.x < qlen) sq[threadIdx.x] = q[threadIdx.x];
  __syncthreads();
  int w = threadIdx.x + blockIdx.x * blockDim.x;
  if (w < nw) {
    uint8_t rowA[MAXW + 1], rowB[MAXW + 1];
    uint8_t *prev = rowA, *cur = rowB;
    for (int j = 0; j <= qlen; j++) prev[j] = j;
    for (int i = 0; i < lens[w]; i++) {
      char c = words[(size_t)w * MAXW + i];
      cur[0] = i + 1;
      for (int j = 1; j <= qlen; j++) {
        int sub = prev[j - 1] + (sq[j - 1] != c);
        int ins = cur[j - 1] + 1, del = prev[j] + 1;
        cur[j] = min(sub, min(ins, del));
      }
      uint8_t *t = prev; prev = cur; cur = t;
    }
    dist[w] = prev[qlen];
  }
}

/* -------- LZSS match finder with sliding window in shared -------- */
#define LZ_WIN 128
#define LZ_LOOK 18
#define LZ_BLK 256
__global__ void lzss_match(const uint8_t *in, uint16_t *match, unsigned len)
{
  __shared__ uint8_t buf[LZ_WIN + LZ_BLK + LZ_LOOK];
  const unsigned b0 = blockIdx.x * LZ_BLK;
  for (unsigned i = threadIdx.x; i < LZ_WIN + LZ_BLK + LZ_LOOK; i += blockDim.x) {
    int g = (int)(b0 + i) - LZ_WIN;
    buf[i] = g >= 0 && g < (int)len ? in[g] : 0;
  }
  __syncthreads();
  unsigned p = b0 + threadIdx.x;
  if (p >= len) return;
  int maxlen = (int)min((unsigned)LZ_LOOK, len - p), back = (int)min((unsigned)LZ_WIN, p);
  int bl = 0, bo = 0;
  const uint8_t *cur = buf + LZ_WIN + threadIdx.x;
  for (int o = 1; o <= back; o++) {
    int l = 0;
    while (l < maxlen && cur[l - o] == cur[l]) l++;
    if (l > bl) { bl = l; bo = o; if (l == maxlen) break; }
  }
  match[p] = (uint16_t)(bl << 8 | bo);
}

/* -------- CRC32 of records, slice-by-4 tables in shared -------- */
__global__ void crc32_records(const uint32_t *data, const uint32_t *table, uint32_t *crc, int words, int nrec)
{
  extern __shared__ uint32_t tab[];
  for (int i = threadIdx.x; i < 4 * 256; i += blockDim.x) tab[i] = table[i];
  __syncthreads();
  for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < nrec; r += blockDim.x * gridDim.x) {
    uint32_t c = ~0u;
    for (int w = 0; w < words; w++) {
      c ^= data[(size_t)w * nrec + r];
      c = tab[3 * 256 + (c & 255)] ^ tab[2 * 256 + ((c >> 8) & 255)] ^ tab[256 + ((c >> 16) & 255)] ^ tab[c >> 24];
    }
    crc[r] = ~c;
  }
}

/* -------- hash join probe: small build side in an open-addressing table -------- */
struct Slot { int key; int payload; };
template <int CAP>
__global__ void hash_probe(const int *bkeys, const int *bpay, int nb, const int *pkeys, int *out, size_t np)
{
  __shared__ Slot ht[CAP];
  for (int i = threadIdx.x; i < CAP; i += blockDim.x) { ht[i].key = -1; ht[i].payload = 0; }
  __syncthreads();
  if (threadIdx.x == 0)          // deterministic order
    for (int i = 0; i < nb; i++) {
      unsigned h = (bkeys[i] * 2654435769u) >> 16;
      int s = h % CAP;
      while (ht[s].key != -1 && ht[s].key != bkeys[i]) s = s + 1 == CAP ? 0 : s + 1;
      ht[s].key = bkeys[i];
      ht[s].payload += bpay[i];
    }
  __syncthreads();
  const size_t stride = (size_t)gridDim.x * blockDim.x;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < np; i += stride) {
    int k = pkeys[i];
    int s = ((k * 2654435769u) >> 16) % CAP;
    int r = -1;
    while (ht[s].key != -1) {
      if (ht[s].key == k) { r = ht[s].payload; break; }
      if (++s == CAP) s = 0;
    }
    out[i] = r;
  }
}

/* -------- run-length of a block: flags, scan, scatter in shared -------- */
__global__ void rle_blocks(const uint8_t *in, uint8_t *vals, uint16_t *runs, int *nruns, int n)
{
  __shared__ int pos[512];
  __shared__ uint8_t sv[512];
  __shared__ short first[513];
  int t = threadIdx.x, g = blockIdx.x * 512 + t, cnt = min(512, n - (int)blockIdx.x * 512);
  sv[t] = t < cnt ? in[g] : 0;
  __syncthreads();
  int flag = t < cnt && (t == 0 || sv[t] != sv[t - 1]);
  pos[t] = flag;
  __syncthreads();
  for (int o = 1; o < 512; o += o) {
    int v = t >= o ? pos[t - o] : 0;
    __syncthreads();
    pos[t] += v;
    __syncthreads();
  }
  if (flag) first[pos[t] - 1] = t;
  if (t == 0) first[pos[511]] = cnt;
  __syncthreads();
  if (t < pos[511]) {
    vals[blockIdx.x * 512 + t] = sv[first[t]];
    runs[blockIdx.x * 512 + t] = first[t + 1] - first[t];
  }
  if (t == 0) nruns[blockIdx.x] = pos[511];
}

static void gen(std::string &o, int d)
{
  if (d == 0 || rnd() % 4 == 0) { o += std::to_string(rnd() % 12); return; }
  bool par = rnd() % 2;
  if (par) o += '(';
  gen(o, d - 1);
  o += " +"; o.back() = "+-*"[rnd() % 3];
  gen(o, d - 1);
  if (par) o += ')';
}

int main()
{
  {
    int n = 300000;
    std::string all; std::vector<int> st(1, 0);
    for (int i = 0; i < n; i++) { gen(all, 3); st.push_back((int)all.size()); }
    int *r = mk<int>(n);
    eval_expressions<<<(n + 255) / 256, 256>>>(dev(all.data(), all.size()), dev(st.data(), st.size()), r, n);
    show("eval_expressions", r, n * 4ull);
  }
  {
    int nd = 50001, L = 300;
    std::vector<unsigned char> doc((size_t)nd * L), cl(256, T_OTHER);
    const char *alpha = "{}[]\",:0123 ab";
    for (auto &c : doc) c = alpha[rnd() % 14];
    cl[' '] = T_WS; cl['"'] = T_STR; cl[','] = T_COMMA; cl[':'] = T_COLON;
    cl['{'] = cl['['] = T_OPEN; cl['}'] = cl[']'] = T_CLOSE;
    for (int c = '0'; c <= '9'; c++) cl[c] = T_NUM;
    int *s = mk<int>((T_KINDS + 1) * nd);
    tokenize_json<<<(nd + 127) / 128, 128>>>(dev(doc.data(), doc.size()), L, dev(cl.data(), 256), s, nd);
    show("tokenize_json", s, 4ull * (T_KINDS + 1) * nd);
  }
  {
    int nw = 400003;
    std::vector<char> w((size_t)nw * MAXW, 0); std::vector<uint8_t> l(nw);
    for (int i = 0; i < nw; i++) { l[i] = 3 + rnd() % 24; for (int k = 0; k < l[i]; k++) w[(size_t)i * MAXW + k] = 'a' + rnd() % 8; }
    const char *q = "abcdefghabcdefgha";
    uint8_t *d = mk<uint8_t>(nw);
    levenshtein<<<(nw + 127) / 128, 128>>>(dev(w.data(), w.size()), dev(l.data(), nw), dev(q, 17), 17, d, nw);
    show("levenshtein", d, nw);
  }
  {
    unsigned n = (1 << 23) - 3;
    std::vector<uint8_t> b(n);
    for (unsigned i = 0; i < n; i++) b[i] = i > 100 && rnd() % 3 ? b[i - 1 - rnd() % 4] : rnd() % 16;
    uint8_t *d = dev(b.data(), n);
    uint16_t *m = mk<uint16_t>(n);
    lzss_match<<<(n + LZ_BLK - 1) / LZ_BLK, LZ_BLK>>>(d, m, n);
    show("lzss_match", m, 2ull * n);
    int nb = (n + 511) / 512;
    uint8_t *v = mk<uint8_t>(512ull * nb); uint16_t *r = mk<uint16_t>(512ull * nb); int *nr = mk<int>(nb);
    rle_blocks<<<nb, 512>>>(d, v, r, nr, n);
    show("rle_vals", v, 512ull * nb);
    show("rle_runs", r, 1024ull * nb);
    show("rle_n", nr, 4ull * nb);
  }
  {
    uint32_t t[1024];
    for (uint32_t i = 0; i < 256; i++) { uint32_t c = i; for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1; t[i] = c; }
    for (int s = 1; s < 4; s++) for (int i = 0; i < 256; i++) t[s * 256 + i] = t[(s - 1) * 256 + i] >> 8 ^ t[t[(s - 1) * 256 + i] & 255];
    int nrec = 300007, words = 64;
    uint32_t *d = mk<uint32_t>((size_t)nrec * words), *c = mk<uint32_t>(nrec);
    crc32_records<<<660, 256, 4096>>>(d, dev(t, 1024), c, words, nrec);
    show("crc32_records", c, 4ull * nrec);
  }
  {
    int nb = 300; size_t np = (1 << 24) + 5;
    std::vector<int> bk(nb), bp(nb), pk(np);
    for (int i = 0; i < nb; i++) { bk[i] = rnd() % 700; bp[i] = i; }
    for (auto &k : pk) k = rnd() % 700;
    int *o = mk<int>(np);
    hash_probe<1021><<<264, 512>>>(dev(bk.data(), nb), dev(bp.data(), nb), nb, dev(pk.data(), np), o, np);
    show("hash_probe", o, 4ull * np);
  }
  return 0;
}
