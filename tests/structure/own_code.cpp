// A check for clang-tidy that finds nothing: it has the others look at our own code alone. Without it
// they visit all that the libraries' headers declare as well, which takes ten times as long.

#include <vector>

#include <clang-tidy/ClangTidyCheck.h>
#include <clang-tidy/ClangTidyModule.h>
#include <clang-tidy/ClangTidyModuleRegistry.h>
#include <clang/AST/ASTContext.h>
#include <clang/ASTMatchers/ASTMatchFinder.h>
#include <clang/Basic/SourceManager.h>

namespace {

using clang::ast_matchers::MatchFinder;

class own_code final : public clang::tidy::ClangTidyCheck {
public:
    using ClangTidyCheck::ClangTidyCheck;

    // The whole is visited first, and its parts are asked for afterwards.
    void registerMatchers(MatchFinder* finder) override {
        finder->addMatcher(clang::ast_matchers::translationUnitDecl().bind("all"), this);
    }

    void check(const MatchFinder::MatchResult& found) override {
        std::vector<clang::Decl*> ours;
        for (auto* one : found.Context->getTranslationUnitDecl()->noload_decls())
            if (is_ours(*one, *found.SourceManager)) ours.push_back(one);
        found.Context->setTraversalScope(ours);
    }

private:
    static bool is_ours(const clang::Decl& one, const clang::SourceManager& sources) {
        const auto where = sources.getExpansionLoc(one.getLocation());
        return !one.isFromASTFile() && where.isValid() && !sources.isInSystemHeader(where);
    }
};

class module final : public clang::tidy::ClangTidyModule {
public:
    // clang-tidy asks its checks in an order that comes from their names. This one comes before
    // readability-identifier-naming, which walks on its own and would walk through everything.
    void addCheckFactories(clang::tidy::ClangTidyCheckFactories& all) override {
        all.registerCheck<own_code>("posthorn-own");
    }
};

const clang::tidy::ClangTidyModuleRegistry::Add<module> added("posthorn", "Our own code alone.");

}  // namespace
