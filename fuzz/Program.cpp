// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From kernels to a program: the prelude (data, guarded allocations,
// checksums), one host function a kernel, main().
//
// The program prints a line a launch, `<kernel> <launch> <checksum>`. Inputs
// have exactly the size that the kernel may read; outputs stand between guard
// regions that are part of the checksum.

#include "Grammar.h"
#include <algorithm>
#include <set>

namespace rcache::fuzz {

static const char Prelude[] = R"(#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <functional>
#include <utility>

namespace fz {
typedef unsigned char Byte; // types of one word
typedef long long Long;
static unsigned state = 1, rare = 97;
static bool plain = false; // small whole numbers only
static unsigned next() {
  state = state * 1664525u + 1013904223u;
  return state >> 7;
}
static void put(float &v) {
  static const unsigned odd[] = {0xffc00000u, 0x7f800000u, 0xff800000u,
                                 0x00000007u, 0x80000000u, 0x7f7fffffu};
  unsigned r = next();
  if (plain)
    v = (int)(r % 513) - 256;
  else if (r % rare < 6)
    memcpy(&v, &odd[r % rare], 4);
  else
    v = (int)(r % 4001) * 0.37f - 740.0f;
}
static void put(double &v) {
  static const unsigned long long odd[] = {
      0xfff8000000000000ull, 0x7ff0000000000000ull, 0xfff0000000000000ull,
      0x0000000000000009ull, 0x8000000000000000ull};
  unsigned r = next();
  if (plain)
    v = (int)(r % 513) - 256;
  else if (r % rare < 5)
    memcpy(&v, &odd[r % rare], 8);
  else
    v = (int)(r % 4001) * 0.37 - 740.0;
}
static void put(int &v) { v = (int)(next() % 6001) - 3000; }
static void put(unsigned &v) { v = next() * 2654435761u; }
static void put(short &v) { v = (short)next(); }
static void put(unsigned short &v) { v = (unsigned short)next(); }
static void put(signed char &v) { v = (signed char)next(); }
static void put(unsigned char &v) { v = (unsigned char)next(); }
static void put(float4 &v) {
  put(v.x);
  put(v.y);
  put(v.z);
  put(v.w);
}
#ifdef FZ_HALF
static void put(__half &v) {
  unsigned r = next();
  v = __float2half((int)(r % 2001) * 0.013f - 13.0f);
}
#endif
static void put(long long &v) { v = (long long)(next() % 2000001) - 1000000; }
template <class T> static void put(T &v) {
  put(v.x);
  put(v.y);
}

static void *raw[16];
static int raws;
struct Guarded {
  char *p;
  size_t bytes;
  bool doubles;
};
static bool ofDoubles(const double *) { return true; }
static bool ofDoubles(const double2 *) { return true; }
static bool ofDoubles(const void *) { return false; }
/// Numbers of 64 bits that are none are one value: whose sign and payload one has hangs on
/// the order of operands in machine code.
static void sameNaN(char *at) {
  unsigned long long v;
  memcpy(&v, at, 8);
  if ((v & ~0ull >> 1) > 0x7ffull << 52)
    v = 0xfffull << 51;
  memcpy(at, &v, 8);
}
static Guarded outs[8];
static int nouts;

static void *device(size_t bytes) {
  void *p = 0;
  if (cudaMalloc(&p, bytes ? bytes : 1) != cudaSuccess) {
    printf("out of memory\n");
    exit(1);
  }
  raw[raws++] = p;
  return p;
}
/// count elements behind off unused ones; nothing behind them.
template <class T> static T *input(size_t count, size_t off, unsigned seed) {
  T *p = (T *)device((count + off) * sizeof(T));
  T *h = (T *)malloc((count + off + 1) * sizeof(T));
  state = seed;
  for (size_t i = 0; i < count + off; ++i)
    put(h[i]);
  cudaMemcpy(p, h, (count + off) * sizeof(T), cudaMemcpyHostToDevice);
  free(h);
  return p + off;
}
/// count elements between guard regions, filled like an input or with a pattern.
template <class T>
static T *output(size_t count, size_t off, unsigned seed) {
  const size_t guard = 256, bytes = (count + off) * sizeof(T) + 2 * guard;
  char *p = (char *)device(bytes), *h = (char *)malloc(bytes);
  memset(h, 0x5a, bytes);
  state = seed;
  if (seed)
    for (size_t i = 0; i < count + off; ++i) {
      T v;
      put(v);
      memcpy(h + guard + i * sizeof(T), &v, sizeof(T));
    }
  cudaMemcpy(p, h, bytes, cudaMemcpyHostToDevice);
  free(h);
  outs[nouts++] = Guarded{p, bytes, ofDoubles((const T *)0)};
  return (T *)(p + guard) + off;
}
/// Something that the host sees.
static void note(const char *kernel, long long value) {
  printf("%s note %lld\n", kernel, value);
}
/// The rewritten form of a kernel is about to run (see Campaign.cpp).
static void ran(const char *kernel) { printf("ran %s\n", kernel); }
static void finish(const char *kernel, int launch) {
  cudaError_t e = cudaGetLastError(), d = cudaDeviceSynchronize();
  unsigned long long hash = 1469598103934665603ull;
  for (int o = 0; o < nouts; ++o) {
    unsigned char *h = (unsigned char *)malloc(outs[o].bytes);
    cudaMemcpy(h, outs[o].p, outs[o].bytes, cudaMemcpyDeviceToHost);
    for (size_t i = 0; outs[o].doubles && i + 8 <= outs[o].bytes; i += 8)
      sameNaN((char *)h + i);
    for (size_t i = 0; i < outs[o].bytes; ++i)
      hash = (hash ^ h[i]) * 1099511628211ull;
    free(h);
  }
  printf("%s %d %016llx %d %d\n", kernel, launch, hash, (int)e, (int)d);
  for (int r = 0; r < raws; ++r)
    cudaFree(raw[r]);
  raws = nouts = 0;
}
} // namespace fz

)";

std::string num(long long V) { return std::to_string(V); }

std::string sub(const std::string &Text,
                const std::vector<std::pair<std::string, std::string>> &Names) {
  std::string Out;
  for (size_t I = 0; I < Text.size();) {
    if (Text[I] != '$') {
      Out += Text[I++];
      continue;
    }
    size_t E = I + 1;
    while (E < Text.size() &&
           (isalnum(static_cast<unsigned char>(Text[E])) || Text[E] == '_'))
      ++E;
    std::string Key = Text.substr(I + 1, E - I - 1);
    bool Found = false;
    for (auto &[K, V] : Names)
      if (K == Key) {
        Out += V;
        Found = true;
        break;
      }
    if (!Found)
      Out += Text.substr(I, E - I);
    I = E;
  }
  return Out;
}

static const ElemType Types[] = {
    {"float", ElemType::Float, 4, "float", nullptr},
    {"int", ElemType::Int, 4, "int", nullptr},
    {"double", ElemType::Float, 8, "double", nullptr},
    {"unsigned", ElemType::Int, 4, "unsigned", nullptr},
    {"short", ElemType::Int, 2, "int", nullptr},
    {"unsigned char", ElemType::Int, 1, "int", nullptr},
    {"signed char", ElemType::Int, 1, "int", nullptr},
    {"unsigned short", ElemType::Int, 2, "int", nullptr},
    {"long long", ElemType::Int, 8, "long long", nullptr},
    {"float2", ElemType::Pair, 8, "float", nullptr},
    {"int2", ElemType::Pair, 8, "int", nullptr},
    {"Halves", ElemType::Pair, 4, "int",
     "struct Halves {\n  short x, y;\n};\n"},
    {"Mixed", ElemType::Pair, 8, "float",
     "struct Mixed {\n  float x;\n  int y;\n};\n"},
};

const ElemType &elemType(unsigned I) { return Types[I]; }
unsigned elemTypes() { return sizeof(Types) / sizeof(Types[0]); }

std::string Param::decl() const {
  if (Kind == Scalar)
    return (Const ? "const " : "") + Type + " " + Name;
  return (Const ? "const " : "") + Type + " *" +
         (Restrict ? "__restrict__ " : "") + Name;
}

/// Setting up the memory of one launch; the launch's variables are in scope.
static std::string setUp(const KernelText &K) {
  std::string T;
  unsigned Seed = 11;
  for (const Param &P : K.Params) {
    Seed += 2;
    std::string N = "d_" + P.Name;
    if (P.Kind == Param::Scalar) {
      T += "    " + P.Type + " " + N + " = " + P.Value + ";\n";
      continue;
    }
    std::string Call = "(" + P.Count + ", off, ";
    std::string Fill = num(Seed) + " + launch";
    std::string Fresh = P.Kind == Param::In
                            ? "fz::input<" + P.Type + ">" + Call + Fill + ")"
                        : P.Kind == Param::Out
                            ? "fz::output<" + P.Type + ">" + Call + "0)"
                            : "fz::output<" + P.Type + ">" + Call + Fill + ")";
    if (!K.AliasOf.empty() && P.Name == K.AliasOf)
      Fresh = "alias ? fz::output<" + P.Type + ">(" + P.Count + " + 8, off, " +
              Fill + ") : " + Fresh;
    if (!K.Aliased.empty() && P.Name == K.Aliased)
      Fresh = "alias ? d_" + K.AliasOf + " + (alias - 1) : " + Fresh;
    T += "    " + P.Type + " *" + N + " = " + Fresh + ";\n";
  }
  return T + K.Pack;
}

static std::string launchCode(const KernelText &K, unsigned Style,
                              const std::string &Bx, const std::string &By) {
  std::string Args, Pointers;
  std::vector<std::string> Passed = K.Passed;
  if (Passed.empty())
    for (const Param &P : K.Params)
      Passed.push_back(P.Name);
  for (const std::string &Name : Passed) {
    Args += (Args.empty() ? "d_" : ", d_") + Name;
    Pointers += (Pointers.empty() ? "&d_" : ", &d_") + Name;
  }
  std::string Grid = K.GridX, Block = Bx;
  bool TwoDim = K.GridY != "1" || By != "1";
  if (TwoDim) {
    Grid = "dim3(" + K.GridX + ", " + K.GridY + ")";
    Block = "dim3(" + Bx + ", " + By + ")";
  }
  std::string Name = K.Name + K.TemplateArgs;
  switch (Style) {
  case 1: // variables of type dim3
    return "    dim3 grid(" + K.GridX + ", " + K.GridY + ");\n    dim3 block(" +
           Bx + ", " + By + ");\n    " + Name + "<<<grid, block, " +
           K.SharedBytes + ">>>(" + Args + ");\n";
  case 2: // a stream
    return "    cudaStream_t stream;\n    cudaStreamCreate(&stream);\n    " +
           Name + "<<<" + Grid + ", " + Block + ", " + K.SharedBytes +
           ", stream>>>(" + Args + ");\n    cudaStreamSynchronize(stream);\n" +
           "    cudaStreamDestroy(stream);\n";
  case 3: // the runtime function
    return "    void *args[] = {" + Pointers +
           "};\n    cudaLaunchKernel((const void *)" + Name + ", dim3(" +
           K.GridX + ", " + K.GridY + "), dim3(" + Bx + ", " + By +
           "), args, " + K.SharedBytes + ", 0);\n";
  default:
    if (K.SharedBytes == "0")
      return "    " + Name + "<<<" + Grid + ", " + Block + ">>>(" + Args +
             ");\n";
    return "    " + Name + "<<<" + Grid + ", " + Block + ", " + K.SharedBytes +
           ">>>(" + Args + ");\n";
  }
}

static std::string hostFunction(Choices &C, const KernelText &K) {
  unsigned Style = C.weighted("launchStyle", {50, 20, 15, 15});
  bool Runtime = C.chance("blockAtRunTime", 35);
  std::string T = "static void run_" + K.Name + "() {\n";
  auto Value = [](const Launch &L, const std::string &Name) {
    for (auto &[N, V] : L)
      if (N == Name)
        return V;
    return 1ll;
  };
  const std::string Data =
      K.PlainData ? "    fz::plain = true;\n" : "    fz::plain = false;\n";
  auto Body = [&](const std::string &Bx, const std::string &By) {
    return Data + setUp(K) + launchCode(K, Style, Bx, By) +
           "    fz::finish(\"" + K.Name + "\", launch);\n";
  };
  if (Runtime) {
    const Launch &First = K.Launches.front();
    T += "  static const int table[][" + num(First.size()) + "] = {";
    for (size_t I = 0; I < K.Launches.size(); ++I) {
      T += I ? ", {" : "{";
      for (size_t J = 0; J < First.size(); ++J)
        T += (J ? ", " : "") + num(K.Launches[I][J].second);
      T += "}";
    }
    T += "};\n  for (int launch = 0; launch < " + num(K.Launches.size()) +
         "; ++launch) {\n";
    for (size_t J = 0; J < First.size(); ++J)
      T += "    const int " + First[J].first + " = table[launch][" + num(J) +
           "];\n";
    T += "    fz::rare = launch % 2 ? 1000003 : 97;\n";
    bool HasBy = false;
    for (auto &V : First)
      HasBy |= V.first == "by";
    T += Body("bx", HasBy ? "by" : "1") + "  }\n";
  } else
    for (size_t I = 0; I < K.Launches.size(); ++I) {
      T += "  {\n    const int launch = " + num(I) + ";\n    const int ";
      for (size_t J = 0; J < K.Launches[I].size(); ++J)
        T += (J ? ", " : "") + K.Launches[I][J].first + " = " +
             num(K.Launches[I][J].second);
      T += ";\n    fz::rare = launch % 2 ? 1000003 : 97;\n";
      T += Body(num(Value(K.Launches[I], "bx")),
                num(Value(K.Launches[I], "by")));
      T += "  }\n";
    }
  return T + "}\n\n";
}

/// A comment that names the kernel's forms, each once.
static std::string forms(const KernelText &K) {
  std::string T;
  for (const std::string &F : std::set<std::string>(K.Forms.begin(), K.Forms.end()))
    T += (T.empty() ? "// with " : "; ") + F;
  return T.empty() ? T : T + "\n";
}

std::string program(const std::vector<KernelText> &Kernels) {
  std::string T, Main;
  for (const KernelText &K : Kernels)
    if (T.empty() && K.Device.find("__half") != std::string::npos)
      T = "#define FZ_HALF\n#include <cuda_fp16.h>\n";
  T += Prelude;
  for (unsigned I = 0; I < elemTypes(); ++I)
    if (const char *D = elemType(I).Definition)
      for (const KernelText &K : Kernels)
        if (K.Device.find(elemType(I).Name) != std::string::npos) {
          T += std::string(D) + "\n";
          break;
        }
  for (const KernelText &K : Kernels) {
    T += forms(K) + K.Device + "\n" + K.Host;
    Main += "  run_" + K.Name + "();\n";
  }
  return T + "int main() {\n" + Main + "  return 0;\n}\n";
}

SizeForm sizeForm(Choices &C, const std::string &Name, bool AllowDynamic) {
  static const unsigned Blocks[] = {64, 128, 32, 256, 96, 48, 512};
  SizeForm S;
  S.Block = Blocks[C.weighted("block", {30, 30, 10, 20, 5, 3, 2})];
  unsigned K = C.weighted("size", {30, 20, 15, 15, 20});
  S.Kind = static_cast<SizeForm::KindType>(K);
  if (S.Kind == SizeForm::Dynamic && !AllowDynamic)
    S.Kind = SizeForm::Literal;
  std::string B = num(S.Block);
  switch (S.Kind) {
  case SizeForm::Literal:
    S.Const = B;
    break;
  case SizeForm::Macro:
    S.Const = "BLOCK_" + Name;
    S.Before = "#define " + S.Const + " " + B + "\n";
    break;
  case SizeForm::Constexpr:
    S.Const = "block_" + Name;
    S.Before = "constexpr int " + S.Const + " = " + B + ";\n";
    break;
  case SizeForm::Template:
    S.Const = "BLOCK";
    S.Head = "template <int BLOCK>\n";
    S.Args = "<" + B + ">";
    break;
  case SizeForm::Dynamic:
    S.Const = B;
    break;
  }
  S.Exact = S.Kind != SizeForm::Dynamic && C.chance("constantInIndex", 40);
  S.Bd = S.Exact ? S.Const : "blockDim.x";
  if (C.chance("launchBounds", 20))
    S.Bounds = "__launch_bounds__(" + B + ") ";
  return S;
}

std::vector<Launch> lineLaunches(Choices &C, const SizeForm &S,
                                 unsigned MinBlock, bool MayAlias,
                                 bool MayBig) {
  std::vector<Launch> Out;
  auto Add = [&](long long N, long long Bx, long long Off, long long Alias,
                 long long Extra, long long Big) {
    Out.push_back({{"n", N},
                   {"bx", Bx},
                   {"off", Off},
                   {"alias", Alias},
                   {"extra", Extra},
                   {"big", Big}});
  };
  unsigned N = 2 + C.pick("launches", 3);
  for (unsigned I = 0; I < N; ++I) {
    Choices::Scope Sc(C, "launch" + num(I));
    long long Bx = S.Block;
    if (!S.Exact)
      switch (I ? C.weighted("blockSize", {50, 15, 10, 10, 15}) : 0) {
      case 1:
        Bx = S.Block / 2;
        break;
      case 2:
        Bx = S.Block - 1;
        break;
      case 3:
        Bx = 33;
        break;
      case 4:
        Bx = 32;
        break;
      }
    if (Bx < MinBlock || Bx > S.Block)
      Bx = S.Block;
    long long Alias = MayAlias && I ? C.weighted("alias", {60, 25, 15}) : 0;
    long long Ns[] = {2 * Bx, 2 * Bx + 1, 3 * Bx - 1, 5 * Bx + 7, 1,
                      Bx,     Bx - 1,     9 * Bx + 3, 33,         Bx + 2};
    long long Count = Ns[C.pick("n", 10)];
    long long Off = C.weighted("offset", {60, 20, 10, 10});
    long long Extra = 0;
    if (Alias)
      Count = std::min(Count, Bx); // one block: its barrier orders everything
    else
      switch (I ? C.weighted("grid", {76, 8, 8, 8}) : 0) {
      case 1: // blocks without elements
        Extra = 1;
        break;
      case 2: // elements without a block
        Extra = Count > Bx ? -1 : 0;
        break;
      case 3:
        Count = 0;
        break;
      }
    Add(Count, Bx, Off, Alias, Extra, 0);
  }
  // What a plan asks for is met by these; both ends of the grid are ragged.
  const long long B = S.Block;
  Add(5 * B + 7, B, 0, 0, 0, 0);
  Add(9 * B + 3, B, 0, 0, -2, 0);
  if (MayAlias)
    Add(B, B, 0, 1 + C.pick("aliasedBlock", 3), 0, 0);
  if (MayBig)
    Add(3 * B, B, 0, 0, 0, 1);
  return Out;
}

const std::vector<std::string> &families() {
  static const std::vector<std::string> All = {"window", "block", "plane", "outside", "tile",
                                               "text",   "host",  "sums",  "owned",   "joined",
                                               "cut",    "views", "rows",  "batch", "private",
                                               "overlap"};
  return All;
}

std::string largeLaunch(const KernelText &K, unsigned Bx, unsigned By) {
  std::string Params, Args;
  for (const Param &P : K.Params) {
    Args += Args.empty() ? "" : ", ";
    if (P.Kind == Param::Scalar) {
      Args += "4096";
      continue;
    }
    Params += (Params.empty() ? "" : ", ") + P.decl();
    Args += P.Name;
  }
  return "void large_" + K.Name + "(" + Params + ") {\n" + K.Name + "<<<dim3(" +
         num(4096 / Bx) + ", " + num(4096 / By) + "), dim3(" + num(Bx) + ", " +
         num(By) + ")>>>(" + Args + ");\n}\n";
}

Choices choicesOf(unsigned Seed, const std::string &Family) {
  Choices C(Seed);
  for (unsigned I = 0; I < families().size(); ++I)
    if (Family == families()[I])
      C.fix("kernel/family", I);
  return C;
}

static KernelText ofFamily(Choices &C, const std::string &Name) {
  Choices::Scope S(C, "kernel");
  switch (C.weighted("family", {48, 15, 15, 5, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})) {
  case 15:
    return overlapKernel(C, Name);
  case 14:
    return privateKernel(C, Name);
  case 13:
    return batchKernel(C, Name);
  case 12:
    return rowsKernel(C, Name);
  case 11:
    return viewsKernel(C, Name);
  case 10:
    return cutKernel(C, Name);
  case 9:
    return joinedKernel(C, Name);
  case 8:
    return ownedKernel(C, Name);
  case 7:
    return sumsKernel(C, Name);
  case 6:
    return hostKernel(C, Name);
  case 5:
    return textKernel(C, Name);
  case 4:
    return tileKernel(C, Name);
  case 1:
    return blockKernel(C, Name);
  case 2:
    return planeKernel(C, Name);
  case 3:
    return outsideKernel(C, Name);
  default:
    return windowKernel(C, Name);
  }
}

/// Spells declarations of shared arrays in other ways.
static void respell(Choices &C, std::string &Text) {
  static const char *const All[] = {"__shared__ ", "__shared__ alignas(16) ",
                                    "__shared__ __align__(16) ", "alignas(16) __shared__ ",
                                    "__attribute__((shared)) alignas(16) "};
  const std::string Plain = All[0], How = All[C.weighted("shared", {16, 3, 1, 1, 1})];
  const auto Has = [&](size_t At, llvm::StringRef Word) {
    return llvm::StringRef(Text).substr(At).starts_with(Word);
  };
  for (size_t At = 0; How != Plain && (At = Text.find(Plain, At)) != std::string::npos;) {
    const size_t Next = At + Plain.size();
    const bool First = At == 0 || Text[At - 1] == '\n';
    if (First && !Has(Next, "volatile") && !Has(Next, "__align__") && !Has(Next, "alignas")) {
      Text.replace(At, Plain.size(), How);
      At += How.size();
    } else {
      At = Next;
    }
  }
}

/// Declares the kernel of \p K where it stood, and defines it behind the host's
/// function. Nothing is done to templates and in namespaces.
static void defineLater(KernelText &K) {
  const std::string Global = "__global__ ";
  const size_t Begin = K.Device.find(Global);
  const size_t Body = Begin == std::string::npos ? Begin : K.Device.find(") {", Begin);
  if (!K.TemplateArgs.empty() || Body == std::string::npos ||
      K.Device.find(Global, Begin + 1) != std::string::npos ||
      std::count(K.Device.begin(), K.Device.begin() + Begin, '{') !=
          std::count(K.Device.begin(), K.Device.begin() + Begin, '}') ||
      K.Device.rfind("template", Begin) != std::string::npos)
    return;
  const std::string Definition = K.Device.substr(Begin);
  K.Device = K.Device.substr(0, Body + 1) + ";\n";
  K.Host += "\n" + Definition + "\n";
}

KernelText anyKernel(Choices &C, const std::string &Name) {
  KernelText K = ofFamily(C, Name);
  {
    Choices::Scope Declared(C, "declared");
    respell(C, K.Device);
  }
  Choices::Scope S(C, "host");
  if (K.Host.empty())
    K.Host = hostFunction(C, K);
  if (C.chance("definedLater", 8))
    defineLater(K);
  return K;
}

} // namespace rcache::fuzz
