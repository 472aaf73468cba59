// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines of elements that are staged and read as simply as can be, through
// structs with pointers (Views.h) and with names of their own around each step
// (Names.h): what a kernel reads and writes is the same, who says it is not.
//
// Data are small whole numbers: no sum is rounded.

#include "Names.h"
#include "Views.h"

namespace rcache::fuzz {

namespace {

class ViewsKernel {
public:
  ViewsKernel(Choices &C, const std::string &Name)
      : C(C), V(C, K, type(C)), Nm(names(C, Name)) {
    K.Name = Name;
    K.PlainData = K.Cxx20 = true;
    T = type(C);
  }

  KernelText run() {
    static const unsigned Blocks[] = {64, 32, 128, 96, 48};
    Block = Blocks[C.weighted("block", {45, 15, 25, 10, 5})];
    B = num(Block);
    First = "blockIdx.x * " + B;
    Idiom = C.weighted("idiom", {35, 25, 20, 20});
    R = Idiom == 0 ? 0 : 1 + static_cast<int>(C.pick("right", 3));
    L = Idiom < 2 ? 0 : 1 + static_cast<int>(C.pick("left", 3));
    InPlace = Idiom == 0 && C.chance("inPlace", 45);
    Two = !InPlace && C.chance("twoArrays", 25);
    Bound = InPlace ? 0 : C.weighted("bound", {55, 25, 20});
    buffers();
    emit();
    return std::move(K);
  }

private:
  Choices &C;
  KernelText K;
  Views V;
  Names Nm;
  std::string T, B, Helpers;
  unsigned Block = 64, Idiom = 0, Bound = 0;
  int L = 0, R = 0;
  bool InPlace = false, Two = false;
  std::set<std::string> SharedView; ///< arrays that are read through a view
  std::string First;                ///< the block's first element

  static std::string type(Choices &C) {
    static const char *const Types[] = {"float", "int", "double", "short"};
    return Types[C.weighted("type", {50, 25, 15, 10})];
  }
  static Names names(Choices &C, const std::string &Name) {
    static const unsigned Odd[] = {0, 15, 35, 70};
    return Names(C, Name, type(C), {"t", "g"},
                 Odd[C.weighted("named", {25, 25, 30, 20})]);
  }

  void buffers() {
    const std::string Count =
        Bound == 1 ? "(((n + bx - 1) / bx + 2) * bx + " + num(L + R) + ")"
                   : "n";
    V.add("a", InPlace, Count);
    if (Two)
      V.add("c", false, Count);
    // One view that is read and written, or two of one buffer.
    if (!InPlace)
      V.add("out", true, "n");
    else if (C.chance("twoViews", 75))
      V.add("out", true, "n", "a");
    V.pass();
  }
  std::string outBuffer() const {
    return InPlace && V.viewOf("out") == V.viewOf("a") ? "a" : "out";
  }

  /// Element \p E of the array, whose place in memory is L further left.
  std::string source(const std::string &From, const std::string &E) {
    const std::string &Base = First,
                      X = "(int)(" + Base + " + " + E + ")" +
                          (L && Bound != 1 ? " - " + num(L) : "");
    if (Bound == 1)
      return V.load("load", From, Base, E);
    if (Bound == 2)
      return V.load("load", From, "",
                    "max(0, min(" + X + ", " + V.N + " - 1))");
    const std::string Memory =
        V.load("load", From, Base, E + (L ? " - " + num(L) : ""));
    return "(" + (L ? X + " >= 0 && " : std::string()) + X + " < " + V.N +
           " ? " + Memory + " : " + T + "(0))";
  }

  std::string stage(const std::string &Array, const std::string &From) {
    Choices::Scope Sc(C, "stage" + Array);
    auto At = [&](const std::string &E, const char *Where) {
      Choices::Scope Se(C, Where);
      return Nm.assign("write", Array + "[@I] = @V;\n", E, source(From, E));
    };
    switch (Idiom) {
    case 0:
      return At("t", "own");
    case 1:
      return At("t", "own") + "if (t < " + num(R) + ") {\n" +
             At("t + " + B, "tail") + "}\n";
    case 2:
      return At("t + " + num(L), "own") + "if (t < " + num(L) + ") {\n" +
             At("t", "low") + "}\nif (t < " + num(R) + ") {\n" +
             At("t + " + num(L) + " + " + B, "high") + "}\n";
    default:
      return "for (int e = t; e < " + B + " + " + num(L + R) + "; e += " + B +
             ") {\n" + At("e", "each") + "}\n";
    }
  }

  /// Staging in a function that takes the view and the array.
  std::string stagedByHelper(const std::string &Array,
                             const std::string &From) {
    const std::string Type = V.typeOf(From), Was = V.viewOf(From), N = V.N;
    const std::string H = "stage_" + Array + "_" + K.Name;
    V.rename(From, "view");
    V.N = "n";
    const std::string Place = First;
    First = "first";
    const std::string Top = V.Top;
    V.Top.clear();
    const std::string Body = stage("tile", From);
    Helpers += "__device__ " +
               std::string(C.chance("inlined", 50) ? "__forceinline__ " : "") +
               "void " + H + "(" + (C.chance("const", 40) ? "const " : "") +
               Type + " view, " + T +
               " *tile, int t, int g, int first, int n) {\n" + V.Top + Body +
               "}\n";
    V.Top = Top;
    V.rename(From, Was);
    V.N = N;
    First = Place;
    K.Forms.push_back("view passed to a helper");
    return H + "(" + Was + ", " + Array + ", t, g, " + First + ", " + N +
           ");\n";
  }

  std::string read(const std::string &Array, const std::string &Where) {
    static const char *const Own[] = {"t", "$B - 1 - t", "(t + 1) % $B",
                                      "(t ^ 1)"};
    std::string Index = "t";
    if (Idiom == 0)
      Index = sub(Own[C.weighted(Where, {35, 25, 20, 20})], {{"B", B}});
    else if (const auto D = C.pick(Where, static_cast<unsigned>(L + R + 1)))
      Index = "t + " + num(D);
    return SharedView.count(Array) ? V.load(Where + "Viewed", Array, "", Index)
                                   : Array + "[" + Index + "]";
  }

  std::string use() {
    const std::string Acc = T == "short" ? "int" : T;
    std::string Text = Acc + " acc = " + read("s", "first") + ";\n";
    const unsigned More = 1 + C.pick("reads", 3);
    for (unsigned I = 0; I < More; ++I) {
      Choices::Scope Sc(C, "read" + num(I));
      static const char *const Adds[] = {
          "acc += @V;\n", "acc = 2 * acc - @V;\n", "if (t > 3)\nacc += @V;\n"};
      Text +=
          Nm.assign("add", Adds[C.weighted("how", {60, 20, 20})], "0",
                    read(Two && C.chance("other", 50) ? "q" : "s", "element"));
    }
    if (Idiom && C.chance("loop", 30))
      Text += "for (int k = 0; k < " + num(L + R + 1) + "; ++k) {\n" +
              Nm.assign("round", "acc += @V;\n", "0", "s[t + k]") + "}\n";
    return Text;
  }

  void emit() {
    const std::string Extent =
        "[" + B + (L + R ? " + " + num(L + R) : "") + "];\n";
    std::string Body = "__shared__ " + T + " s" + Extent;
    if (Two)
      Body += "__shared__ " + T + " q" + Extent;
    std::string Steps;
    for (const char *Array : {"s", "q"})
      if ((*Array == 's' || Two) &&
          V.shared(Array, num(Block + static_cast<unsigned>(L + R))))
        SharedView.insert(Array);
    for (const char *Array : {"s", "q"}) {
      const std::string From = *Array == 's' ? "a" : "c";
      if (*Array == 'q' && !Two)
        continue;
      const bool Helper = !V.typeOf(From).empty() &&
                          C.chance(std::string("helper") + Array, 30);
      Steps += Helper ? stagedByHelper(Array, From) : stage(Array, From);
    }
    Steps += "__syncthreads();\n";
    std::string Store;
    {
      Choices::Scope Sc(C, "store");
      Store = Nm.assign("store", V.storePattern("out", outBuffer()), "g",
                        T + "(acc)");
    }
    // Whether the element is read or written in one step.
    if (InPlace && C.chance("addsTo", 25))
      Store = Nm.assign("storeToo", V.storePattern("outToo", outBuffer()), "g",
                        T + "(" + V.load("again", outBuffer(), "", "g") +
                            " + acc)");
    if (C.chance("guardFirst", 40))
      Steps += "if (g >= " + V.N + ")\nreturn;\n" + use() + Store;
    else if (C.chance("storeGuarded", 40))
      Steps += use() + "if (g < " + V.N + ") {\n" +
               Nm.around("storing", Store) + "}\n";
    else
      Steps += "if (g < " + V.N + ") {\n" + use() + Store + "}\n";
    K.Device = V.before() + Nm.Before + Helpers + "__global__ void " + K.Name +
               "(" + V.Params + ") {\n" + Body +
               "const int t = threadIdx.x, g = blockIdx.x * " + B + " + t;\n" +
               V.Top + Steps + "}\n";
    for (const std::vector<std::string> *Of : {&V.Used, &Nm.Used})
      K.Forms.insert(K.Forms.end(), Of->begin(), Of->end());
    SizeForm Size;
    Size.Kind = SizeForm::Literal;
    Size.Block = Block;
    Size.Exact = true;
    K.Launches = lineLaunches(C, Size, 1, false);
  }
};

} // namespace

KernelText viewsKernel(Choices &C, const std::string &Name) {
  if (C.chance("matrices", 22))
    return matrixKernel(C, Name);
  return ViewsKernel(C, Name).run();
}

} // namespace rcache::fuzz
