// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Views.h.

#include "Views.h"

namespace rcache::fuzz {

void Views::add(const std::string &Name, bool Write, const std::string &Count,
                const std::string &Of) {
  Buffers.push_back({Name, Of, "", Write});
  for (Param &P : K.Params)
    if (P.Name == Of) {
      P.Kind = Param::InOut;
      P.Const = false;
    }
  if (!Of.empty())
    return;
  Param P;
  P.Kind = Write ? Param::Out : Param::In;
  P.Type = Type;
  P.Name = Name;
  P.Count = Count;
  P.Const = !Write;
  K.Params.push_back(P);
}

Views::Buffer &Views::buffer(const std::string &Name) {
  for (Buffer &B : Buffers)
    if (B.Name == Name)
      return B;
  return Buffers.front();
}
const Views::Buffer &Views::buffer(const std::string &Name) const {
  return const_cast<Views *>(this)->buffer(Name);
}

std::string Views::type(bool Write) const {
  const std::string V = "View_" + K.Name;
  if (!Template)
    return V;
  return V + (Write ? "<" : "<const ") + Type + ">";
}

std::string Views::typeOf(const std::string &Name) const {
  const Buffer &B = buffer(Name);
  return B.View.empty() ? "" : type(B.Write);
}
std::string Views::viewOf(const std::string &Name) const {
  return buffer(Name).View;
}
void Views::rename(const std::string &Name, const std::string &As) {
  buffer(Name).View = As;
}

/// A view of \p B, from \p Pointer on.
std::string Views::made(const Buffer &B, const std::string &Pointer,
                        const std::string &N) const {
  const std::string P =
      Offset ? Pointer + ", " + N + ", 0" : Pointer + ", " + N;
  return type(B.Write) + (Constructor ? "(" + P + ")" : "{" + P + "}");
}

void Views::structForm() {
  static const char *const Datas[] = {"p", "data", "elements", "ptr"};
  static const char *const Sizes[] = {"n", "size", "count", "width"};
  static const char *const Ints[] = {"int", "size_t", "unsigned", "long long"};
  Data = Datas[C.pick("data", 4)];
  Size = Sizes[C.pick("sizeName", 4)];
  Int = Ints[C.weighted("index", {60, 20, 10, 10})];
  Template = C.chance("template", 35);
  Constructor = C.chance("constructor", 20);
  Offset = C.chance("offset", 15);
  bool TwoOfOne = false;
  for (const Buffer &B : Buffers)
    TwoOfOne |= !B.Of.empty();
  Restrict = !TwoOfOne && C.chance("restrict", 30);
  if (TwoOfOne)
    Used.push_back("two views of one buffer");
}

void Views::hostValue(const std::string &Type, const std::string &Name,
                      const std::string &Value) {
  K.Pack += "    " + Type + " d_" + Name + " = " + Value + ";\n";
  K.Passed.push_back(Name);
  Params += (Params.empty() ? "" : ", ") + Type + " " + Name;
}

/// A parameter a buffer, some of them plain pointers.
void Views::each(bool SomePlain) {
  for (Buffer &B : Buffers) {
    const std::string &Memory = B.Of.empty() ? B.Name : B.Of;
    if (SomePlain && C.chance("plain" + B.Name, 50)) {
      if (!B.Of.empty()) {
        hostValue(Type + " *", B.Name, "d_" + Memory);
        continue;
      }
      K.Passed.push_back(B.Name);
      Params += (Params.empty() ? "" : ", ") +
                std::string(B.Write ? "" : "const ") + Type + " *" + B.Name;
      continue;
    }
    B.View = B.Name + "_view";
    hostValue(type(B.Write), B.View, made(B, "d_" + Memory, "n"));
  }
}

/// One struct of all, views in structs in it.
void Views::nested() {
  Used.push_back("nested views");
  const bool Pair = C.chance("pair", 40),
             Array = !Template && C.chance("array", 25);
  std::string Fields, Values;
  for (size_t I = 0; I < Buffers.size(); ++I) {
    Buffer &B = Buffers[I];
    const std::string &Memory = B.Of.empty() ? B.Name : B.Of;
    B.View = std::string("p.") + (Pair ? "inner." : "") +
             (Array ? "v[" + num(static_cast<long long>(I)) + "]" : B.Name);
    if (!Array)
      Fields += "  " + type(B.Write) + " " + B.Name + ";\n";
    Values += (I ? ", " : "") + made(B, "d_" + Memory, "n");
  }
  const std::string Name = "All_" + K.Name;
  if (Array) {
    Fields = "  " + type(true) + " v[" +
             num(static_cast<long long>(Buffers.size())) + "];\n";
    Values = "{" + Values + "}";
  }
  if (Pair) {
    Outer = "struct Inner_" + K.Name + " {\n" + Fields + "};\n";
    Fields = "  Inner_" + K.Name + " inner;\n";
    Values = "{" + Values + "}";
  }
  Outer += "struct " + Name + " {\n" + Fields + "  int n;\n};\n";
  hostValue(Name, "p", "{" + Values + ", n}");
  N = "p.n";
}

/// Pointers are passed, views are made of them in the kernel.
void Views::insideKernel() {
  Used.push_back("views made in the kernel");
  for (Buffer &B : Buffers) {
    const std::string &Memory = B.Of.empty() ? B.Name : B.Of;
    if (B.Of.empty()) {
      K.Passed.push_back(B.Name);
      Params += (Params.empty() ? "" : ", ") +
                std::string(B.Write ? "" : "const ") + Type + " *" + B.Name;
    }
    B.View = B.Name + "_view";
    if (C.chance("function" + B.Name, 40)) {
      Methods.insert("make");
      Top += "const " + type(B.Write) + " " + B.View + " = make_" + K.Name +
             "(" + Memory + ", n);\n";
    } else
      Top += "const " + type(B.Write) + " " + B.View + " = " +
             made(B, Memory, "n") + ";\n";
  }
}

void Views::passPlain(const std::string &NType) {
  Plain = true;
  const bool Restrict = C.chance("plainRestrict", 50);
  for (Param &P : K.Params) {
    P.Restrict = Restrict;
    K.Passed.push_back(P.Name);
    Params += (Params.empty() ? "" : ", ") + P.decl();
  }
  K.Params.push_back({Param::Scalar, NType, "n", "", "n"});
  K.Passed.push_back("n");
  Params += ", " + NType + " n";
}

void Views::pass() {
  Choices::Scope Sc(C, "pass");
  structForm();
  bool TwoOfOne = false;
  for (const Buffer &B : Buffers)
    TwoOfOne |= !B.Of.empty();
  switch (C.weighted("how", {35, 30, 20, 15})) {
  case 1:
    nested();
    break;
  case 2:
    Template |= !TwoOfOne; // the pointers are const or not
    insideKernel();
    break;
  case 3:
    each(true);
    break;
  default:
    each(false);
  }
  K.Params.push_back({Param::Scalar, "int", "n", "", "n"});
  if (N == "n") {
    K.Passed.push_back("n");
    Params += ", int n";
    // A view knows it as well.
    for (const Buffer &B : Buffers)
      if (!B.View.empty() && C.chance("askView", 30))
        N = B.View + "." + Size;
  }
  for (Buffer &B : Buffers)
    if (!B.View.empty() && C.chance("copy" + B.Name, 12)) {
      static const char *const How[] = {"const $T $N = $V;\n", "$T $N = $V;\n",
                                        "const $T &$N = $V;\n",
                                        "auto $N = $V;\n"};
      const std::string Copy = B.Name + "_here";
      Top += fuzz::sub(How[C.pick("how" + B.Name, 4)],
                       {{"T", type(B.Write)}, {"N", Copy}, {"V", B.View}});
      B.View = Copy;
    }
}

bool Views::shared(const std::string &Array, const std::string &Elements) {
  if (Restrict || !C.chance("shared" + Array, 12))
    return false;
  Used.push_back("view of shared memory");
  Buffers.push_back({Array, "", Array + "_view", true});
  Top += "const " + type(true) + " " + Array +
         "_view = " + made(Buffers.back(), Array, Elements) + ";\n";
  return true;
}

/// A view of \p B from \p Base on, declared at the top.
std::string Views::sub(const Buffer &B, const std::string &Base) {
  const std::string Name = "sub" + num(Subs++) + "_" + B.Name;
  Used.push_back("sub-views");
  static const char *const How[] = {
      "const $T $N = $V.sub($B);\n", "$T $N = sub_$K($V, $B);\n",
      "auto $N = $V.sub($B);\n",
      "$T $N;\n$N.$P = &$V.$P[$B];\n$N.$S = $V.$S - ($B);\n"};
  unsigned F = C.weighted("sub" + Name, {35, 35, 15, 15});
  if (F == 3 && (Constructor || Offset))
    F = 0;
  if (F != 3)
    Methods.insert(F == 1 ? "sub_" : "sub");
  Top += fuzz::sub(How[F], {{"T", type(B.Write)},
                            {"N", Name},
                            {"V", B.View},
                            {"B", Base},
                            {"K", K.Name},
                            {"P", Data},
                            {"S", Size}});
  return Name;
}

std::string Views::load(const std::string &Where, const std::string &Name,
                        const std::string &Base, const std::string &Index) {
  Choices::Scope Sc(C, Where);
  const Buffer &B = buffer(Name);
  std::string I = Base.empty() ? Index : Base + " + " + Index;
  if (B.View.empty())
    return Name + "[" + I + "]";
  std::string V = B.View;
  if (!Base.empty() && (Int == "int" || Int == "long long") &&
      C.chance("sub", 35)) {
    V = sub(B, Base);
    I = Index;
  }
  static const char *const Reads[] = {"$V.get($I)",
                                      "$V($I)",
                                      "$V[$I]",
                                      "$V.$P[$I]",
                                      "get_$K($V, $I)",
                                      "*$V.at($I)",
                                      "$V.sub(1).get($I - 1)",
                                      "sub_$K($V, 2)[$I - 2]"};
  static const char *const Calls[] = {"get",  "()", "[]",  "",
                                      "get_", "at", "get", "[]"};
  unsigned F = C.weighted("read", {24, 16, 14, 16, 18, 5, 4, 3});
  if (Offset && F == 3)
    F = 0;
  if (F >= 6 && Int != "int") // an index below zero
    F = 0;
  if (F >= 6)
    Methods.insert(F == 6 ? "sub" : "sub_");
  Methods.insert(Calls[F]);
  Used.push_back(F < 6 ? std::string("read by ") +
                             (*Calls[F] ? Calls[F] : "member")
                       : "view made for a read");
  return fuzz::sub(Reads[F], {{"V", V}, {"I", I}, {"P", Data}, {"K", K.Name}});
}

std::string Views::storePattern(const std::string &Where,
                                const std::string &Name) {
  Choices::Scope Sc(C, Where);
  const Buffer &B = buffer(Name);
  if (B.View.empty())
    return Name + "[@I] = @V;\n";
  static const char *const Writes[] = {
      "$V.set(@I, @V);\n", "$V(@I) = @V;\n",        "$V[@I] = @V;\n",
      "$V.$P[@I] = @V;\n", "set_$K($V, @I, @V);\n", "*$V.at(@I) = @V;\n"};
  static const char *const Calls[] = {"set", "()", "[]", "", "set_", "at"};
  unsigned F = C.weighted("write", {30, 9, 9, 22, 24, 6});
  if (Offset && F == 3)
    F = 0;
  Methods.insert(Calls[F]);
  Used.push_back(std::string("write by ") + (*Calls[F] ? Calls[F] : "member"));
  return fuzz::sub(Writes[F], {{"V", B.View}, {"P", Data}, {"K", K.Name}});
}

std::string Views::methods() const {
  std::string T;
  const std::string At = Data + (Offset ? "[off + i]" : "[i]");
  auto Add = [&](const char *Name, const char *Text) {
    if (Methods.count(Name))
      T += fuzz::sub(
          Text, {{"A", At},
                 {"I", Int},
                 {"E", Template ? "E" : Type},
                 {"S", Template ? "View_" + K.Name + "<E>" : "View_" + K.Name},
                 {"P", Data},
                 {"N", Size},
                 {"T", Type},
                 {"O", Offset ? ", off" : ""}});
  };
  Add("get", "  __device__ $T get($I i) const { return $A; }\n");
  Add("set", "  __device__ void set($I i, $T v) const { $A = v; }\n");
  Add("()", "  __device__ $E &operator()($I i) const { return $A; }\n");
  Add("[]", "  __device__ $E &operator[]($I i) const { return $A; }\n");
  Add("at", "  __device__ $E *at($I i) const { return &$A; }\n");
  const bool In = Constructor;
  if (Methods.count("sub"))
    T += fuzz::sub(
        "  __device__ $S sub(int by) const { return $S" +
            std::string(In ? "(" : "{") + "$P + by, $N - by$O" +
            (In ? ")" : "}") + "; }\n",
        {{"S", Template ? "View_" + K.Name + "<E>" : "View_" + K.Name},
         {"P", Data},
         {"N", Size},
         {"O", Offset ? ", off" : ""}});
  return T;
}

/// Functions that take a view, or return one.
std::string Views::functions() const {
  std::string T;
  const std::string Head = Template ? "template <class E>\n" : "",
                    S = "View_" + K.Name + (Template ? "<E>" : "");
  const bool Reference = C.chance("functionsByReference", 30);
  const std::string V = Reference ? "const " + S + " &v" : S + " v";
  const std::string At = "v." + Data + (Offset ? "[v.off + i]" : "[i]");
  if (Methods.count("get_"))
    T += Head + "__device__ " + Type + " get_" + K.Name + "(" + V + ", " + Int +
         " i) { return " + At + "; }\n";
  if (Methods.count("set_"))
    T += Head + "__device__ void set_" + K.Name + "(" + V + ", " + Int +
         " i, " + Type + " x) { " + At + " = x; }\n";
  if (Methods.count("sub_"))
    T += Head + "__device__ " + S + " sub_" + K.Name + "(" + S +
         " v, int by) {\n  v." + Data + " += by;\n  v." + Size +
         " -= by;\n  return v;\n}\n";
  if (Methods.count("make"))
    T += Head + "__device__ " + S + " make_" + K.Name + "(" +
         (Template ? "E" : Type) + " *p, int n) {\n  " + S + " v" +
         (Constructor ? "(p, n" + std::string(Offset ? ", 0" : "") + ")" : "") +
         ";\n  v." + Data + " = p;\n  v." + Size + " = n;\n" +
         (Offset ? "  v.off = 0;\n" : "") + "  return v;\n}\n";
  return T;
}

std::string Views::before() const {
  if (Plain)
    return "";
  const std::string S = "View_" + K.Name, E = Template ? "E" : Type;
  std::string T = (Template ? "template <class E>\n" : "") +
                  std::string("struct ") + S + " {\n  " + E + " *" +
                  (Restrict ? "__restrict__ " : "") + Data + ";\n  int " +
                  Size + ";\n" + (Offset ? "  int off;\n" : "");
  if (Constructor)
    T += "  __host__ __device__ " + S + "(" + E + " *p_, int n_" +
         (Offset ? ", int o_" : "") + ") : " + Data + "(p_), " + Size + "(n_)" +
         (Offset ? ", off(o_)" : "") + " {}\n";
  return T + methods() + "};\n" + functions() + Outer;
}

} // namespace rcache::fuzz
