// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Launches, geometry, templates, kernels of headers.

#include "ModelTesting.h"
#include <gtest/gtest.h>

using namespace rcache;

namespace {
const char *const K = "__global__ void k(float *p) { __shared__ float s[64]; "
                      "s[threadIdx.x] = *p; }\n";
using Dims = std::array<int64_t, 3>;
} // namespace

TEST(Launch, ConstantBlocks) {
  const char *Texts[] = {
      "k<<<4, 128>>>(p);",
      "dim3 b(128); k<<<4, b>>>(p);",
      "const int B = 128; k<<<4, B>>>(p);",
      "int b = 64; b = b; k<<<dim3(4), dim3(128, 1)>>>(p);",
      "constexpr int W = 64; k<<<4, 2 * W, 0>>>(p);",
      "int threads = 128; k<<<4, threads>>>(p);",
      "dim3 b{128, 1, 1}; dim3 g = 4; k<<<g, b>>>(p);",
      // The last assignment counts, of all or of a part.
      "dim3 b(64); b.x = 128; k<<<4, b>>>(p); b.x = 32;",
      "dim3 b(8, 8); b = dim3(b.x * 16); k<<<4, b>>>(p);",
      "int b = 64; b *= 2; k<<<4, b>>>(p); b = 7;",
      "int b; if (p) { b = 128; k<<<4, b>>>(p); }",
      "for (int i = 0; i < 3; ++i) { dim3 b; b.x = 128; k<<<4, b>>>(p); }",
      ("int b = 1; switch (*(int *)p) { case 1: b = 2; break; case 2: b = 128;"
       " k<<<4, b>>>(p); }"),
      "auto q = &k; q<<<4, 128>>>(p);",
      "void (*q)(float *) = nullptr; q = k; (*q)<<<4, 128>>>(p);",
  };
  for (const char *T : Texts) {
    auto P = parse(std::string(K) + "void f(float *p) { " + T + " }");
    const KernelModel &M = P.only();
    ASSERT_EQ(M.Launches.size(), 1u) << T;
    EXPECT_EQ(M.Geo.ConstBlock, (Dims{128, 1, 1})) << T;
    EXPECT_TRUE(M.Launches[0].Editable);
  }
}

TEST(Launch, UnknownBlocks) {
  const char *Texts[] = {
      "int b = 128; if (p) b = 64; k<<<4, b>>>(p);",
      "int b = 128; for (int i = 0; i < 3; ++i) { k<<<4, b>>>(p); b /= 2; }",
      "int b = 128; do { k<<<4, b>>>(p); } while (--b);",
      "int b = 128; switch (n) { case 1: b = 64; case 2: k<<<4, b>>>(p); }",
      "int b = 128; auto f = [&] { k<<<4, b>>>(p); }; b = 64; f();",
      "int b = 128; int *q = &b; *q = 64; k<<<4, b>>>(p);",
      "int b = 128; auto f = [&] { b = 64; }; f(); k<<<4, b>>>(p);",
      "int b = 128; goto on; on: b = 64; k<<<4, b>>>(p);",
      "dim3 b(128); b.y = n; k<<<4, b>>>(p);",
      "dim3 b(n); k<<<4, b>>>(p);",
      "k<<<4, 128>>>(p); k<<<4, n>>>(p);",
      "k<<<4, 128>>>(p); k<<<4, 64>>>(p);",
  };
  for (const char *T : Texts) {
    auto P = parse(std::string(K) + "void f(float *p, int n) { " + T + " }");
    EXPECT_FALSE(P.only().Geo.ConstBlock) << T;
  }
}

// The largest grid that host code tells, in blocks; 0: none.
TEST(Launch, Grids) {
  struct {
    int64_t Blocks;
    const char *Text;
  } Cases[] = {
      {12, "void f(float *p) { k<<<dim3(3, 4), 64>>>(p); }"},
      // A lambda called where it stands, and in another lambda.
      {144, "void f(float *p) { const int n = 384;"
            "  const auto go = [&](int x, int y) {"
            "    k<<<dim3((x + 31) / 32, (y + 32 - 1) / 32), 64>>>(p); };"
            "  go(1, 1); go(n, n); }"},
      {144,
       "template <typename F> void timed(F f) { f(); }"
       "void f(float *p) { const int n = 384;"
       "  auto go = [&](int x, int y) { k<<<dim3(x / 32, y / 32), 64>>>(p); };"
       "  timed([&] { go(n, n); }); }"},
      // What a lambda captures: a parameter of the function around it.
      {7, "void f(float *p, int n) { auto go = [=] { k<<<n + 2, 64>>>(p); };"
          "  auto twice = [&] { go(); go(); }; twice(); }"
          "void g(float *p) { f(p, 5); }"},
      {6,
       "void f(float *p) { auto go = [p, n = 6] { k<<<n, 64>>>(p); }; go(); }"},
      // Arguments of functions and methods, the largest of several calls.
      {9, "void f(float *p, int n) { k<<<n, 64>>>(p); }"
          "void g(float *p, int n) { f(p, n * n); }"
          "void h(float *p) { g(p, 2); g(p, 3); g(p, 1); }"},
      {5, "struct S { void f(float *p, int n) { k<<<n, 64>>>(p); } };"
          "void g(float *p, S &s) { s.f(p, 5); }"},
      {8, "struct S { void operator()(float *p, int n) { k<<<n, 64>>>(p); } };"
          "void g(float *p, S &s) { s(p, 8); }"},
      // Functions that branch and return.
      {4, "int parts(int a, int b) { return (a + b - 1) / b; }"
          "void f(float *p, int n) { k<<<parts(n, 32), 64>>>(p); }"
          "void g(float *p) { f(p, 100); }"},
      {6, "dim3 shape(int a) { const int b = a >> 1; return dim3(b, b - 1); }"
          "void f(float *p, int n) { k<<<shape(n), 64>>>(p); }"
          "void g(float *p) { f(p, 7); }"},
      {5, "template <typename T> const T &less(const T &a, const T &b) {"
          "  if (b < a) return b; return a; }"
          "void f(float *p, int n) { k<<<less(n % 7, 12), 64>>>(p); }"
          "void g(float *p) { f(p, 19); }"},
      {3, "void f(float *p, unsigned n) { auto up = [](auto a, unsigned b) {"
          "    return a / b + (a % b != 0); };"
          "  k<<<up(n, 32u), 64>>>(p); }"
          "void g(float *p) { f(p, 65); }"},
      {16, "void f(float *p, int n) { k<<<n > 64 ? 16 : 1 << 20, 64>>>(p); }"
           "void g(float *p) { f(p, 65); }"},
      {6, "void f(float *p, int n) { const int &r = n; k<<<r, 64>>>(p); }"
          "void g(float *p) { f(p, 6); }"},
      // Two instantiations of one text.
      {20, "template <int N> void f(float *p) { k<<<N, 64>>>(p); }"
           "void g(float *p) { f<10>(p); f<20>(p); }"},
      // Nothing tells, or what tells may be changed.
      {0, "void f(float *p, int n) { k<<<n, 64>>>(p); }"},
      {0, "int some(); void f(float *p) { k<<<some(), 64>>>(p); }"},
      {6, "void f(float *p, int n) { n += 1; k<<<n, 64>>>(p); }"
          "void g(float *p) { f(p, 5); }"},
      {3, "static int n = 3; void f(float *p) { k<<<n, 64>>>(p); }"},
      {0, "static int n = 3; void f(float *p) { k<<<n, 64>>>(p); }"
          "void g(int x) { n = x; }"},
      {0, "void f(float *p) { int n = 5; auto grow = [](int &x) { ++x; };"
          "  grow(n); k<<<n, 64>>>(p); }"},
      {0, "struct In { In &operator>>(int &x); };"
          "void f(float *p, In &in) { int n = 5; in >> n; k<<<n, 64>>>(p); }"},
      {0, "struct Ref { Ref(int &x); };"
          "void f(float *p) { int n = 5; Ref r(n); k<<<n, 64>>>(p); }"},
      {0, "void f(float *p, void (*set)(int &)) {"
          "  int n = 5; set(n); k<<<n, 64>>>(p); }"},
      {0, "void f(float *p) { int n = 5; const int &r = n; n = 7;"
          "  k<<<r, 64>>>(p); }"},
      {0, "int loop(int n) { int s = 0; while (s < n) ++s; return s; }"
          "void f(float *p, int n) { k<<<loop(n), 64>>>(p); }"
          "void g(float *p) { f(p, 5); }"},
      {0, "int deep(int n) { if (n == 0) return 1; return deep(n - 1) + deep(n "
          "- 2); }"
          "void f(float *p, int n) { k<<<deep(n), 64>>>(p); f(p, n); }"
          "void g(float *p) { f(p, 500); }"},
      {0, "void f(float *p, int n) { k<<<(signed char)n / 2, 64>>>(p); }"
          "void g(float *p) { f(p, 300); }"},
      {0, "void f(float *p, int n) { k<<<int(float(n) / 0.3f), 64>>>(p); }"
          "void g(float *p) { f(p, 300); }"},
      {0, "void f(float *p, unsigned n) { k<<<n / (n - 300u), 64>>>(p);"
          "  k<<<(n - 301u) / 2, 64>>>(p); }"
          "void g(float *p) { f(p, 300); }"},
  };
  for (const auto &C : Cases) {
    auto P = parse(std::string(K) + C.Text);
    ASSERT_TRUE(P.Ok) << C.Text;
    EXPECT_EQ(P.only().Geo.MostBlocks.value_or(0), C.Blocks) << C.Text;
  }
}

// With -rdc clang takes a launch in a lambda for one that the device may do.
TEST(Launch, InLambdas) {
  auto P = parse(std::string(K) + "void f(float *p, cudaStream_t st) {"
                                  "  auto go = [=] { k<<<4, 64>>>(p); };"
                                  "  auto on = [&](int n) {"
                                  "    k<<<n, dim3(64), 16, st>>>(p); };"
                                  "  go(); on(3); }");
  const auto &L = P.only().Launches;
  ASSERT_EQ(L.size(), 2u);
  EXPECT_EQ(L[0].Grid + "|" + L[0].Block + "|" + L[0].SharedBytes + "|" +
                L[0].Stream,
            "4|64||");
  EXPECT_EQ(L[1].Grid + "|" + L[1].Block + "|" + L[1].SharedBytes + "|" +
                L[1].Stream,
            "n|dim3(64)|16|st");
  EXPECT_EQ(P.only().Geo.ConstBlock, (Dims{64, 1, 1}));
}

TEST(Launch, InDeviceCode) {
  const char *Texts[] = {
      "__global__ void f(float *p) { k<<<4, 64>>>(p); }",
      "__device__ void f(float *p) { k<<<4, 64>>>(p); }",
      "__global__ void f(float *p) { [=] { k<<<4, 64>>>(p); }(); }",
      "void f(float *p) { [=] __device__ { k<<<4, 64>>>(p); }(); }",
  };
  for (const char *T : Texts) {
    auto P = parse(std::string(K) + T);
    ASSERT_EQ(P.Models.front()->Launches.size(), 1u) << T;
    const LaunchSite &L = P.Models.front()->Launches[0];
    EXPECT_EQ(L.WhyNot, "the launch stands in device code") << T;
    EXPECT_EQ(L.Grid, "4") << T;
  }
}

TEST(Launch, BlocksThroughLambdas) {
  auto P = parse(std::string(K) + "void f(float *p) {"
                                  "  auto go = [&](dim3 b) { k<<<4, b>>>(p); };"
                                  "  go(dim3(32, 8)); go(dim3(16, 16)); }");
  EXPECT_EQ(P.only().Geo.SeenBlocks,
            (std::vector<Dims>{{32, 8, 1}, {16, 16, 1}}));
}

TEST(Launch, Texts) {
  std::string Code =
      std::string(K) +
      "void f(float *p, cudaStream_t st) {\n"
      "  k<<<dim3(2, 3), 64, 4 * sizeof(float), st>>>(p + 1);\n}";
  auto P = parse(Code);
  const LaunchSite &L = P.only().Launches.at(0);
  EXPECT_EQ(L.Callee, "k");
  EXPECT_EQ(L.Grid, "dim3(2, 3)");
  EXPECT_EQ(L.Block, "64");
  EXPECT_EQ(L.SharedBytes, "4 * sizeof(float)");
  EXPECT_EQ(L.Stream, "st");
  EXPECT_EQ(L.Args, std::vector<std::string>{"p + 1"});
  EXPECT_EQ(Code.substr(L.Begin, L.End - L.Begin),
            "k<<<dim3(2, 3), 64, 4 * sizeof(float), st>>>(p + 1)");
}

TEST(Launch, RuntimeCall) {
  auto P = parse(
      std::string(K) +
      "void f(float *p) { void *args[] = {&p};\n"
      "  cudaLaunchKernel((const void *)k, dim3(2), dim3(64), args, 16, 0); }");
  const LaunchSite &L = P.only().Launches.at(0);
  EXPECT_EQ(L.K, LaunchSite::CudaLaunchKernel);
  EXPECT_EQ(L.ConstBlock, (Dims{64, 1, 1}));
  EXPECT_EQ(L.Args, std::vector<std::string>{"args"});
  EXPECT_EQ(L.SharedBytes, "16");
}

// What grid, block, shared bytes and integer arguments are made from.
TEST(Launch, Locals) {
  auto P = parse(R"(
__global__ void k(float *p, int n) { __shared__ float s[64]; s[threadIdx.x] = *p; }
int divUp(int a, int b) { return (a + b - 1) / b; }
void f(float *p, int n, int m) {
  const int threads = 2 * 64;
  int blocks = divUp(n, threads), changed = 3;
  dim3 block(threads), unused(7);
  changed += m;
  k<<<blocks, block, changed * sizeof(float)>>>(p, n - 1);
}
struct S { int n; void g(float *p) { k<<<n, 64>>>(p, n); } };
)");
  const auto &Launches = P.only().Launches;
  ASSERT_EQ(Launches.size(), 2u);
  std::string Text;
  for (const HostLocal &L : Launches[0].Locals) {
    Text += L.Type + " " + L.Name + " = " + (L.Init.empty() ? "?" : L.Init);
    for (unsigned U : L.Uses)
      Text += " " + Launches[0].Locals.at(U).Name;
    Text += "; ";
  }
  EXPECT_EQ(Text, "int n = ?; int threads = 2 * 64; "
                  "int blocks = divUp(n, threads) n threads; "
                  "dim3 block = dim3(threads) threads; int changed = ?; ");
  ASSERT_FALSE(Launches[1].Locals.empty());
  EXPECT_EQ(Launches[1].Locals[0].Name, "");
}

TEST(Launch, InMacros) {
  auto P =
      parse(std::string("#define CHECK(x) do { x; } while (0)\n"
                        "#define LAUNCH(n) if (n) k<<<4, n>>>(p); else g()\n"
                        "#define TWO(n) k<<<4, n>>>(p); k<<<5, n>>>(p)\n"
                        "void g();\n") +
            K +
            "void f(float *p) { CHECK((k<<<2, 64>>>(p))); LAUNCH(32); }\n"
            "void h(float *p) { TWO(8); }");
  const auto &L = P.only().Launches;
  ASSERT_EQ(L.size(), 3u);
  EXPECT_TRUE(L[0].Editable) << L[0].WhyNot;
  // The invocation gives way to its expansion.
  EXPECT_TRUE(L[1].Editable) << L[1].WhyNot;
  EXPECT_EQ(L[1].End - L[1].Begin, std::string("LAUNCH(32)").size());
  EXPECT_EQ(L[1].Before, "if (32) ");
  EXPECT_EQ(L[1].Block, "32");
  EXPECT_EQ(L[1].Args, std::vector<std::string>{"p"});
  EXPECT_EQ(L[1].After, "; else g()");
  // Two launches of one invocation (one place) stay.
  EXPECT_FALSE(L[2].Editable);
  EXPECT_NE(L[2].WhyNot.find("TWO"), std::string::npos);
}

TEST(Launch, Templates) {
  auto P = parse(R"(
namespace ns {
template <typename T, int B> __global__ void k(T *p) {
  __shared__ T s[B];
  s[threadIdx.x] = *p;
}
template <typename T> void go(T *p) { k<T, 64><<<1, 64>>>(p); }
}
void f(float *x, int *y) { ns::go(x); ns::go(y); ns::k<float, 32><<<1, 32>>>(x); }
)");
  ASSERT_EQ(P.Models.size(), 3u);
  for (auto &M : P.Models) {
    ASSERT_EQ(M->Launches.size(), 1u) << print(*M);
    EXPECT_TRUE(M->IsTemplate);
    EXPECT_EQ(M->Namespaces, std::vector<std::string>{"ns"});
    EXPECT_EQ(M->Launches[0].InTemplate, M->TemplateArgs.at(1).Value == "64");
  }
}

TEST(Launch, KernelsOfHeaders) {
  std::string Main = "#include \"k.h\"\nint before;\n"
                     "static inline void f(float *p) { k<<<1, 64>>>(p); }\n";
  auto P = parse(
      Main, {{"k.h", std::string(K) +
                         "__global__ void unused(float *p) { *p = 0; }\n"}});
  const KernelModel &M = P.only();
  EXPECT_FALSE(M.InMainFile);
  EXPECT_EQ(M.InsertOffset, Main.find("static inline"));
}

TEST(Launch, InsertionInsideAlternatives) {
  std::string Tail = "void f(float *p) { k<<<1, 64>>>(p); }\n";
  auto P = parse("#define A 1\n#if A\n" + std::string(K) + "#endif\n" + Tail);
  EXPECT_TRUE(P.only().InsertOffset);
  // The other alternative may define another k for the same launch.
  auto Q =
      parse("#define A 1\n#if A\n" + std::string(K) + "#else\n#endif\n" + Tail);
  EXPECT_FALSE(Q.only().InsertOffset);
  auto R = parse("#define A 1\n#ifdef A\n" + std::string(K) +
                 "#elifdef B\n#endif\n" + Tail);
  EXPECT_FALSE(R.only().InsertOffset);
}
