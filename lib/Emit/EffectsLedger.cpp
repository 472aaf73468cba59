// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See EffectsLedger.h. Scopes are those of the text: a small reader follows
// braces, headers of control statements and semicolons.

#include "EffectsLedger.h"
#include "Support/Words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <map>
#include <set>

using namespace rcache;

namespace {

struct Token {
  enum Kind { Mark, Word, Punct } K = Punct;
  std::string Text; ///< Mark: one letter
  unsigned Number = 0;
};

std::vector<Token> tokens(llvm::StringRef T) {
  std::vector<Token> Out;
  const auto IsWord = isNameChar;
  for (size_t I = 0; I < T.size();) {
    const char C = T[I];
    if (C == '\1') {
      const size_t E = T.find('\2', I);
      unsigned N = 0;
      (void)T.slice(I + 2, E).getAsInteger(10, N);
      Out.push_back({Token::Mark, T.substr(I + 1, 1).str(), N});
      I = E + 1;
    } else if (llvm::isSpace(C)) {
      ++I;
    } else if (T.substr(I).starts_with("//") || T.substr(I).starts_with("/*")) {
      I = endOfComment(T, I);
    } else if (C == '#') { // a directive, its line to the end
      while (I < T.size() && T[I] != '\n')
        I += T[I] == '\\' ? 2 : 1;
    } else if (C == '"' || C == '\'') {
      size_t E = I + 1;
      while (E < T.size() && T[E] != C)
        E += T[E] == '\\' ? 2 : 1;
      Out.push_back({Token::Punct, std::string(1, C), 0});
      I = E + 1;
    } else if (llvm::isDigit(C) || (C == '.' && I + 1 < T.size() &&
                                    llvm::isDigit(T[I + 1]))) {
      size_t E = I;
      while (E < T.size() &&
             (IsWord(T[E]) || T[E] == '.' || T[E] == '\'' ||
              ((T[E] == '+' || T[E] == '-') &&
               (llvm::toLower(T[E - 1]) == 'e' ||
                llvm::toLower(T[E - 1]) == 'p') &&
               !(T[I] == '0' && I + 1 < T.size() &&
                 llvm::toLower(T[I + 1]) == 'x' &&
                 llvm::toLower(T[E - 1]) == 'e'))))
        ++E;
      Out.push_back({Token::Punct, "0", 0});
      I = E;
    } else if (IsWord(C)) {
      size_t E = I;
      while (E < T.size() && IsWord(T[E]))
        ++E;
      Out.push_back({Token::Word, T.slice(I, E).str(), 0});
      I = E;
    } else {
      size_t N = 1;
      if (T.substr(I).starts_with("::") || T.substr(I).starts_with("->"))
        N = 2;
      Out.push_back({Token::Punct, T.substr(I, N).str(), 0});
      I += N;
    }
  }
  return Out;
}

class Reader {
public:
  Reader(const KernelModel &M, const Plan &P, const std::string &Body)
      : M(M), P(P), T(tokens(Body)), Now(M.Vars.size()) {
    for (const Var &V : M.Vars)
      if (!V.IsParam)
        Locals.insert(V.Name);
    for (const ArrayPlan &A : P.Arrays)
      if (A.isShared())
        Kept.insert(A.Array);
    for (unsigned A = 0; A < M.Arrays.size(); ++A)
      if (!Kept.count(A))
        Gone.insert(M.Arrays[A].Name);
  }

  std::optional<EffectsLedger::Finding> run() {
    Scopes.emplace_back();
    for (unsigned V = 0; V < M.Vars.size(); ++V)
      if (M.Vars[V].IsParam)
        declare(V);
    Scopes.emplace_back();
    while (At < T.size() && !Found)
      statement();
    if (!Found)
      account();
    return Found;
  }

private:
  const KernelModel &M;
  const Plan &P;
  const std::vector<Token> T;
  size_t At = 0;
  std::optional<EffectsLedger::Finding> Found;
  std::set<std::string> Locals; ///< names of variables, not of parameters
  std::set<unsigned> Kept;      ///< arrays that stay in shared memory
  std::set<std::string> Gone;   ///< names of those that do not

  static constexpr unsigned PerThread = 0, PerElement = ~0u;
  /// A variable as declared last: for the thread, in the slot loop of that
  /// number, or with one element a slot.
  struct State {
    unsigned Where = PerThread;
    bool Given = false;
  };
  std::vector<State> Now;
  std::vector<std::vector<unsigned>> Scopes;
  unsigned Loop = PerThread, Loops = 0; ///< the slot loop we are in
  int Muted = 0;                        ///< in another alternative
  std::vector<std::vector<unsigned>> Branch; ///< its effects so far
  std::vector<std::vector<unsigned>> FirstBranch;

  struct Event {
    unsigned Original; ///< place in the model's text
    bool Sets;
  };
  std::map<unsigned, std::vector<Event>> Order; ///< by variable
  std::map<unsigned, std::vector<std::pair<unsigned, unsigned>>>
      Happened; ///< effect -> slot loop, where its variable lives
  std::set<unsigned> Used; ///< variables
  std::map<unsigned, std::set<unsigned>> Declared; ///< variable -> where

  void find(DeclineCode Code, std::string Detail) {
    if (!Found)
      Found = EffectsLedger::Finding{Code, std::move(Detail)};
  }
  std::string quoted(TextRange R) const {
    std::string S;
    for (char C : M.text(R)) {
      const bool Space = llvm::isSpace(C);
      if (!Space || (!S.empty() && S.back() != ' '))
        S += Space ? ' ' : C;
    }
    return "'" + (S.size() > 60 ? S.substr(0, 57) + "..." : S) + "'";
  }

  //===--- Reading ---===//

  bool is(const char *Text) const {
    return At < T.size() && T[At].K != Token::Mark && T[At].Text == Text;
  }
  /// Handles the marks that stand here.
  void marks() {
    while (At < T.size() && T[At].K == Token::Mark && !Found)
      markAt(At++);
  }
  /// One token that is no mark.
  void token() {
    marks();
    if (At >= T.size() || Found)
      return;
    if (T[At].K == Token::Word)
      word();
    ++At;
  }
  /// Everything up to the bracket that closes the one here.
  void bracket() {
    int Depth = 0;
    do {
      marks();
      if (is("(") || is("[") || is("{"))
        ++Depth;
      if (is(")") || is("]") || is("}"))
        --Depth;
      token();
    } while (Depth > 0 && At < T.size() && !Found);
  }

  void statement() {
    marks();
    while (is("[") && !Found) { // an attribute
      bracket();
      marks();
    }
    if (At >= T.size() || Found)
      return;
    if (is("{")) {
      Scopes.emplace_back();
      ++At;
      for (marks(); !is("}") && At < T.size() && !Found; marks())
        statement();
      ++At;
      Scopes.pop_back();
      return;
    }
    if (is("}")) { // none of ours
      ++At;
      return;
    }
    if (is("for") || is("while") || is("switch") || is("if")) {
      const bool If = is("if");
      Scopes.emplace_back();
      for (++At; !is("(") && At < T.size() && !Found;)
        token();
      bracket();
      statement();
      marks();
      if (If && is("else")) {
        ++At;
        statement();
      }
      Scopes.pop_back();
      return;
    }
    if (is("do")) {
      ++At;
      statement();
      simple();
      return;
    }
    if (is("case") || is("default")) {
      for (int Choices = 0; At < T.size() && !Found; token()) {
        marks();
        Choices += is("?");
        if (is(":") && Choices-- == 0)
          break;
      }
      ++At;
      marks();
      if (!is("}"))
        statement();
      return;
    }
    simple();
  }

  /// Up to its semicolon.
  void simple() {
    InType = is("struct") || is("union") || is("enum") || is("typedef") ||
             is("using") || is("class");
    while (At < T.size() && !Found) {
      marks();
      if (is("(") || is("[") || is("{")) {
        bracket();
        continue;
      }
      if (is("}"))
        break;
      const bool End = is(";");
      token();
      if (End)
        break;
    }
    InType = false;
  }
  bool InType = false; ///< in a declaration of a type: names of its members

  //===--- Names ---===//

  void declare(unsigned V) { Scopes.back().push_back(V); }

  int resolve(const std::string &Name) const {
    for (const auto &S : llvm::reverse(Scopes))
      for (unsigned V : llvm::reverse(S))
        if (M.Vars[V].Name == Name)
          return static_cast<int>(V);
    return -1;
  }

  /// The word here, with the mark in front of it.
  void word() {
    const std::string &Name = T[At].Text;
    const Token *Before = At > 0 ? &T[At - 1] : nullptr;
    int Meant = -1;
    bool Declares = false;
    if (Before && Before->K == Token::Mark) {
      const char K = Before->Text[0];
      if (K == 'U')
        Meant = static_cast<int>(M.VarUses[Before->Number].Var);
      else if (K == 'N')
        Meant = static_cast<int>(Before->Number);
      Declares = K == 'D' || K == 'X' || K == 'I';
    }
    if (Declares)
      return;
    if (Meant >= 0) {
      if (M.Vars[Meant].Name != Name)
        return find(DeclineCode::NameNotVisible, "'" + M.Vars[Meant].Name + "'");
      const int Seen = resolve(Name);
      if (Seen != Meant)
        return find(DeclineCode::NameNotVisible, "'" + Name + "'");
      if (M.Vars[Meant].HasInit && !Now[Meant].Given)
        find(DeclineCode::EffectsNotKept,
             "'" + Name + "' would be used before it has its value");
      return;
    }
    if (InType)
      return;
    const Token *Last = nullptr; // but for marks
    for (size_t B = At; B-- > 0 && !Last;)
      if (T[B].K != Token::Mark)
        Last = &T[B];
    if (Last && (Last->Text == "." || Last->Text == "->" || Last->Text == "::"))
      return;
    if (At + 1 < T.size() && T[At + 1].Text == "::")
      return;
    // A name of outside, or of a parameter.
    const int Seen = resolve(Name);
    if (Seen >= 0 ? !M.Vars[Seen].IsParam
                  : Locals.count(Name) && !M.OuterNames.count(Name))
      find(DeclineCode::NameNotVisible, "'" + Name + "'");
    // What left shared memory must not be named any more.
    if (Seen < 0 && Gone.count(Name))
      find(DeclineCode::EscapingArray,
           "'" + Name + "' is used other than by its elements");
  }

  //===--- Marks ---===//

  void markAt(size_t I) {
    const unsigned N = T[I].Number;
    switch (T[I].Text[0]) {
    case 'S':
      Loop = ++Loops;
      return;
    case 'Z':
      Loop = PerThread;
      return;
    case 'A':
      Branch.emplace_back();
      return;
    case 'B':
      endBranch();
      Branch.emplace_back();
      ++Muted;
      return;
    case 'C':
      endBranch();
      FirstBranch.pop_back();
      return;
    case 'D':
    case 'X':
      Now[N].Where = T[I].Text == "X" ? PerElement : Loop;
      // `T x = v`: the mark of the value may stand in front of the name.
      Now[N].Given = I > 0 && T[I - 1].K == Token::Mark &&
                     T[I - 1].Text == "I" && T[I - 1].Number == N;
      declare(N);
      if (!Muted)
        Declared[N].insert(Now[N].Where);
      return;
    case 'I':
      Now[N].Given = true;
      if (!Muted)
        Order[N].push_back({M.Vars[N].NameRange.Begin, true});
      return;
    case 'U': {
      const VarUse &U = M.VarUses[N];
      if (Muted)
        return;
      Order[U.Var].push_back({U.Range.Begin, false});
      if (!U.Write || !assignsOnly(U))
        Used.insert(U.Var);
      return;
    }
    case 'N':
      Used.insert(N);
      return;
    case 'E': {
      const Effect &X = M.Effects[N];
      if (!Branch.empty())
        Branch.back().push_back(N);
      if (Muted)
        return;
      Happened[N].push_back({Loop, X.Var >= 0 ? Now[X.Var].Where : PerThread});
      if (X.K == Effect::SetsVariable)
        Order[unsigned(X.Var)].push_back({X.At.Begin, true});
      return;
    }
    }
  }

  void endBranch() {
    if (Branch.empty())
      return;
    if (Muted) {
      --Muted;
      if (Branch.back() != FirstBranch.back())
        find(DeclineCode::EffectsNotKept, "two forms of a loop");
    } else {
      FirstBranch.push_back(Branch.back());
    }
    Branch.pop_back();
  }

  /// The left-hand side of a plain assignment: its value is not asked for.
  bool assignsOnly(const VarUse &U) const {
    for (const Effect &X : M.Effects)
      if (X.K == Effect::SetsVariable && X.Target == U.Range &&
          M.text(X.At) == "=")
        return true;
    return false;
  }

  //===--- Accounts ---===//

  void account() {
    for (unsigned I = 0; I < M.Effects.size() && !Found; ++I) {
      const auto It = Happened.find(I);
      const size_t Times = It == Happened.end() ? 0 : It->second.size();
      const Effect &X = M.Effects[I];
      const std::string Text = quoted(X.Range);
      if (!Times) {
        if (!dead(X))
          find(DeclineCode::EffectsNotKept, Text + " would be left out");
        continue;
      }
      if (Times > 1) {
        find(DeclineCode::EffectsNotKept, Text + " would be done more than once");
        continue;
      }
      if (P.slots() < 2)
        continue;
      const auto [In, Where] = It->second.front();
      if (In == PerThread) {
        if (X.K != Effect::SetsVariable || Where != PerThread ||
            !sameForAll(X))
          find(DeclineCode::EffectsNotKept,
               Text + " would be done once for several threads");
      } else if (X.K == Effect::SetsVariable && Where != In &&
                 Where != PerElement) {
        find(DeclineCode::EffectsNotKept, Text + " would be done again for each slot");
      }
    }
    for (auto &[V, Events] : Order)
      if (!Found)
        inOrder(V, Events);
    for (unsigned V = 0; V < M.Vars.size() && !Found; ++V)
      keptAddress(V);
  }

  /// Does nothing that is left depend on it?
  bool dead(const Effect &X) const {
    if (X.K == Effect::SetsShared)
      return !Kept.count(unsigned(X.Array));
    return X.K == Effect::SetsVariable && !Used.count(unsigned(X.Var)) &&
           !M.Vars[X.Var].IsReference;
  }

  /// Every thread does the same to the same value: told from the data flow, or
  /// the count of a loop that all slots run together.
  bool sameForAll(const Effect &X) const {
    if (!(M.Vars[X.Var].Depends & P.Map.slotDependence()))
      return true;
    return llvm::any_of(M.Stmts, [&](const Stmt &S) {
      return S.K == Stmt::For && S.IterVar == X.Var &&
             S.HeaderRange.contains(X.At);
    });
  }

  /// What is used in front of a change stays in front of it.
  void inOrder(unsigned V, const std::vector<Event> &Events) {
    if (!M.Vars[V].Assigned &&
        llvm::none_of(M.Effects, [&](const Effect &X) {
          return X.K == Effect::SetsVariable && unsigned(X.Var) == V;
        }))
      return;
    for (size_t A = 0; A < Events.size(); ++A)
      for (size_t B = A + 1; B < Events.size(); ++B)
        if ((Events[A].Sets || Events[B].Sets) &&
            Events[A].Original > Events[B].Original)
          return find(DeclineCode::EffectsNotKept,
                      "'" + M.Vars[V].Name + "' would be used " +
                          (Events[A].Sets ? "after" : "before") +
                          " it changes");
  }

  /// The variables that share an address live equally long.
  void keptAddress(unsigned V) {
    std::set<unsigned> Where;
    for (unsigned H : M.Vars[V].Holders)
      if (auto It = Declared.find(H); It != Declared.end())
        Where.insert(It->second.begin(), It->second.end());
    const bool Together =
        Where.size() < 2 &&
        (P.slots() == 1 || (!Where.count(PerElement) && !Where.count(PerThread)));
    if (!Where.empty() && !Together)
      find(DeclineCode::EffectsNotKept,
           "the address of '" + M.Vars[V].Name + "' is kept");
  }
};

} // namespace

std::optional<EffectsLedger::Finding>
EffectsLedger::check(const std::string &Body) const {
  return Reader(M, P, Body).run();
}
