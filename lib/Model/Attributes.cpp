// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes and specifiers of a kernel, from the tokens of its declarations.

#include "Attributes.h"
#include "Anchors.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringSet.h"

using namespace clang;

namespace rcache {

namespace {

/// What a kernel may have and a second one need not: how it is stored and
/// inlined, warnings, and bounds that the second one gets for its own blocks.
bool isHarmless(llvm::StringRef Attribute) {
  static const llvm::StringSet<> Harmless = {
      "global",
      "launch_bounds",
      "maxnreg",
      "unused",
      "maybe_unused",
      "deprecated",
      "always_inline",
      "noinline",
      "visibility",
      "used",
      "hot",
      "cold",
      "flatten",
      "gnu",
      "nv_no_device_lambda_return_type_check"};
  return Harmless.contains(Attribute.trim('_'));
}

/// Reads the specifiers of one declaration, tokens [I, End).
class Specifiers {
public:
  Specifiers(KernelModel &M, const TokenRecorder::Impl &Tokens,
             const SourceManager &SM)
      : M(M), Tokens(Tokens), SM(SM) {}

  void read(unsigned I, unsigned End) {
    for (; I < End; ++I) {
      const llvm::StringRef Text = spelling(I);
      if (kind(I) == tok::l_square || Text.trim('_') == "attribute")
        I = attributes(I, End);
      else if (kind(I) == tok::kw_requires) // declined
        return;
      else if (kind(I) == tok::l_paren && I && kind(I - 1) == tok::identifier)
        I = behindDeclarator(I, End);
      else if (!isPlain(kind(I)))
        decline(Text);
    }
  }

  /// Each kernel once.
  void decline(llvm::StringRef What) {
    for (const Decline &D : M.Declines)
      if (D.Code == DeclineCode::KernelAttribute)
        return;
    M.Declines.push_back(
        {DeclineCode::KernelAttribute, "'" + What.str() + "'", M.Pos});
  }

private:
  KernelModel &M;
  const TokenRecorder::Impl &Tokens;
  const SourceManager &SM;

  tok::TokenKind kind(unsigned I) const { return Tokens.Tokens[I].Kind; }
  llvm::StringRef spelling(unsigned I) const {
    const RecordedToken &T = Tokens.Tokens[I];
    return llvm::StringRef(SM.getCharacterData(SM.getSpellingLoc(T.Loc)),
                           T.Length);
  }

  static bool isPlain(tok::TokenKind K) {
    switch (K) {
    case tok::kw_extern:
    case tok::kw_static:
    case tok::kw_inline:
    case tok::kw_void:
    case tok::kw_auto:
    case tok::kw_template:
    case tok::less:
    case tok::greater:
    case tok::coloncolon:
    case tok::string_literal:
    case tok::kw___forceinline:
    case tok::identifier: // a scope, or a name for void
      return true;
    default:
      return false;
    }
  }

  /// `__global__ void other(float *), k(float *);`: the comma behind the parameters of
  /// another function, which token \p I begins.
  unsigned behindDeclarator(unsigned I, unsigned End) const {
    for (int Depth = 0; I < End; ++I) {
      Depth += kind(I) == tok::l_paren;
      Depth -= kind(I) == tok::r_paren;
      if (Depth == 0 && kind(I) == tok::comma)
        break;
    }
    return I;
  }

  /// `[[ns::name(args), name]]`, `__attribute__((name(args), name))` from token
  /// \p I on; its last token.
  unsigned attributes(unsigned I, unsigned End) {
    int Depth = 0;
    bool Name = true;
    for (; I < End; ++I) {
      const tok::TokenKind K = kind(I);
      const bool Opens = K == tok::l_paren || K == tok::l_square;
      Depth += Opens;
      if (Opens && Depth == 3 && spelling(I - 1).trim('_') == "launch_bounds")
        launchBounds(I, End);
      if (Depth == 2 && tok::isAnyIdentifier(K) && Name) {
        if (!isHarmless(spelling(I)))
          decline(spelling(I));
        M.LimitsRegisters |= spelling(I).trim('_') == "maxnreg";
        Name = false;
      }
      Name |= Depth == 2 && (K == tok::comma || K == tok::coloncolon || Opens);
      if ((K == tok::r_paren || K == tok::r_square) && --Depth == 0)
        break;
    }
    return I;
  }

  /// What stands between the parentheses that token \p Open begins.
  void launchBounds(unsigned Open, unsigned End) {
    M.LaunchBounds.clear();
    for (unsigned J = Open + 1, In = 1; J < End; ++J) {
      In += kind(J) == tok::l_paren;
      In -= kind(J) == tok::r_paren;
      if (In == 0)
        break;
      const bool Space =
          Tokens.Tokens[J].LeadingSpace && !M.LaunchBounds.empty();
      M.LaunchBounds += (Space ? " " : "") + spelling(J).str();
    }
  }
};

} // namespace

void kernelAttributes(KernelModel &M, const FunctionDecl *F,
                      const TokenRecorder::Impl &Tokens,
                      const SourceManager &SM) {
  Specifiers S(M, Tokens, SM);
  for (const FunctionDecl *D : F->redecls()) {
    auto At = Tokens.ByLocation.find(D->getLocation().getRawEncoding());
    if (At == Tokens.ByLocation.end())
      continue;
    unsigned I = firstTokenOfDeclaration(Tokens, SM, At->second);
    if (auto *T = D->getDescribedFunctionTemplate())
      if (const auto Angle =
              tokenWithAngle(Tokens, T->getTemplateParameters()->getRAngleLoc()))
        I = *Angle + 1;
    S.read(I, At->second);
  }
  // What stands elsewhere, as behind the parameters.
  for (const Attr *A : F->attrs())
    if (!A->isImplicit() && A->getAttrName() &&
        !isHarmless(A->getAttrName()->getName()))
      S.decline(A->getAttrName()->getName());
}

} // namespace rcache
