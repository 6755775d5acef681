// What a runner calls in a binary of workflows. Bytes go in and out, so that a binary that was built
// with another version of Posthorn's insides is still understood.
#include <cstddef>
#include <cstdlib>
#include <source_location>
#include <string_view>

#include "base/assert.hpp"
#include "workflow/runner/batch.hpp"
#include "workflow/runner/flow_server.hpp"

namespace posthorn {

// Instead of that of src/base, which prints: there is nothing to print to.
void assertion_failed(const char* /*condition*/, std::source_location /*where*/) noexcept {
    std::abort();
}

}  // namespace posthorn

extern "C" [[gnu::visibility("default")]] int posthorn_workflow_batch_1(
    const char* body, std::size_t bytes, void (*give)(void* to, const char* text, std::size_t size),
    void* to) noexcept;

/// Gives the body of the completions and zero, or what is wrong with the batch and one. What the code
/// throws beyond a workflow's own exceptions, such as for want of memory, ends the process.
extern "C" int posthorn_workflow_batch_1(const char* body, std::size_t bytes,
                                         void (*give)(void* to, const char* text, std::size_t size),
                                         void* to) noexcept {
    using namespace posthorn;
    static flow_server server([](std::string_view name, unsigned version) -> const auto* {
        return static_cast<const detail::workflow_entry*>(
            detail::named_workflow::find(name, version));
    });
    const auto batch = decode_batch({body, bytes});
    if (!batch) {
        const std::string_view why = batch.error().what();
        give(to, why.data(), why.size());
        return 1;
    }
    const auto text = encode_completions(server.answer(*batch));
    give(to, text.data(), text.size());
    return 0;
}
