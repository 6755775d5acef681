// posthorn-runner: runs one binary of workflows, confined. An engine starts it; it is of no use to
// people.
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include <dlfcn.h>

#include "workflow/runner/alone/child/confinement.hpp"
#include "workflow/runner/alone/child/own_pipes.hpp"

namespace posthorn::runner_child {
namespace {

using batch_function = int (*)(const char* body, std::size_t bytes,
                               void (*give)(void* to, const char* text, std::size_t size),
                               void* to);

// As inspection.hpp has it, which this program has no use for.
constexpr const char* batch_symbol = "posthorn_workflow_batch_1";

template <class Number>
std::optional<Number> number_of(const char* text) {
    Number value{};
    const auto* const end = text + std::strlen(text);
    const auto [stop, wrong] = std::from_chars(text, end, value);
    if (wrong != std::errc{} || stop != end) return {};
    return value;
}

/// Its constructors run here.
result<batch_function> load() {
    const auto path = "/proc/self/fd/" + std::to_string(binary_fd);
    auto* const binary = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (binary == nullptr)
        return fail(error_code::invalid_argument, "the binary cannot be loaded: {}", ::dlerror());
    auto* const symbol = ::dlsym(binary, batch_symbol);
    if (symbol == nullptr)
        return fail(error_code::invalid_argument, "the binary lacks the function {}", batch_symbol);
    return reinterpret_cast<batch_function>(symbol);
}

result<> serve(batch_function batch) {
    std::string answer;
    const auto append = [](void* to, const char* text, std::size_t size) {
        static_cast<std::string*>(to)->append(text, size);
    };
    while (const auto frame = receive()) {
        if (frame->kind != runner_frame::batch)
            return fail(error_code::malformed_request,
                        "the engine sent something else than a batch");
        answer.clear();
        if (batch(frame->body.data(), frame->body.size(), append, &answer) != 0)
            return fail(error_code::malformed_request, "{}", answer);
        if (!send(runner_frame::completions, answer)) break;
    }
    return {};
}

result<> run(std::uint64_t memory_bytes_max, int engine_process) {
    POSTHORN_TRY(tie_to_engine(engine_process));
    POSTHORN_LET(
        plan, plan_sandbox(ask_kernel(), machine_here(), {.memory_bytes_max = memory_bytes_max}));
    POSTHORN_TRY(confine(plan));
    POSTHORN_LET(batch, load());
    POSTHORN_TRY(confine_further(plan));
    if (!send(runner_frame::ready, {})) return {};
    return serve(batch);
}

}  // namespace
}  // namespace posthorn::runner_child

int main(int count, char** arguments) {
    using namespace posthorn;
    using namespace posthorn::runner_child;
    const auto memory = count == 3 ? number_of<std::uint64_t>(arguments[1]) : std::nullopt;
    const auto engine = count == 3 ? number_of<int>(arguments[2]) : std::nullopt;
    if (!memory || !engine) return EXIT_FAILURE;
    const auto ended = run(*memory, *engine);
    if (ended) std::_Exit(EXIT_SUCCESS);  // Without the binary's destructors.
    static_cast<void>(send(runner_frame::refused, ended.error().what()));
    std::_Exit(EXIT_FAILURE);
}
