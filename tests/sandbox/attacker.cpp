// A binary of workflows that attacks: as soon as it is loaded, and whenever it is asked to.
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sandbox/attack.hpp"

namespace {

std::string attempts_while_loading() {
    std::string all;
    const auto names = posthorn::attack::names();
    for (std::string_view rest = names; !rest.empty();) {
        const auto end = rest.find('\n');
        const auto name = rest.substr(1, end - 1);
        all.append(rest.substr(0, end)).append(": ") += posthorn::attack::attempt(name) + "\n";
        rest.remove_prefix(end + 1);
    }
    return all;
}

const std::string seen_while_loading = attempts_while_loading();
#ifdef POSTHORN_CONSTRUCTOR_HANGS
const auto hung = posthorn::attack::attempt("spin");
#endif
#ifdef POSTHORN_CONSTRUCTOR_CRASHES
const auto crashed = posthorn::attack::attempt("stack");
#endif

}  // namespace

extern "C" [[gnu::visibility("default")]] int posthorn_workflow_batch_1(
    const char* body, std::size_t bytes, void (*give)(void* to, const char* text, std::size_t size),
    void* to) {
    const std::string_view what(body, bytes);
    const auto answer = what == "names"     ? posthorn::attack::names()
                        : what == "loading" ? seen_while_loading
                                            : posthorn::attack::attempt(what);
    give(to, answer.data(), answer.size());
    return 0;
}
