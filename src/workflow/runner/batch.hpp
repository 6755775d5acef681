#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/uuid.hpp>
#include <posthorn/workflow/core.hpp>

#include "workflow/runner/frame.hpp"

/// What a runner is asked, and what it answers. Pure.
namespace posthorn {

/// One instance that is to go on: its history, if the runner has to build it, and what came for it.
struct activation {
    std::uint64_t key = 0;  // Of the frame that the runner keeps of it; the engine's number.
    bool is_fresh = false;  // What is kept under the key goes, and these three count:
    std::string workflow{};
    unsigned version = 0;
    uuid run{};
    std::uint32_t steps_before = 0;   // How many rows came with earlier ones.
    std::vector<std::string> rows{};  // Of the history, to be repeated and compared.
    std::optional<detail::flow_event> event{};
};

struct runner_batch {
    std::vector<std::uint64_t> released{};  // Keys whose frames are not needed any more.
    std::vector<activation> activations{};
};

enum class completion_kind : std::uint8_t {
    stepped,   // The event was taken: `step` says what the code did.
    repeated,  // There was no event; the history came out the same.
    ignored,
    unfit,    // `why` says what does not fit.
    stale,    // The frame is another than the event is for, or there is none: build it anew.
    differs,  // `why` says how a step came out otherwise than it is recorded.
    unknown,  // There is no such workflow in the binary.
    damaged,  // A row of the history cannot be read; `why` says more.
};

struct completion {
    std::uint64_t key = 0;
    completion_kind kind{};
    std::uint64_t bytes = 0;  // That the frame takes now.
    std::string why{};
    detail::flow_step step{};  // Its names are of the pool that it was read into.
};

/// Names that came over the pipe, kept as long as steps are about them. A runner that makes up ever
/// new ones is told from one that has many.
class name_pool {
public:
    /// Empty past the limit.
    [[nodiscard]] std::optional<std::string_view> keep(std::string_view name);

    static constexpr std::size_t names_max = 20'000;
    static constexpr std::size_t name_bytes_max = 1000;

private:
    std::set<std::string, std::less<>> names_;
};

/// How much of each there may be in one frame.
struct batch_limits {
    std::size_t activations_max = 1024;
    std::size_t commands_max = 10'000;  // Of a step.
    std::size_t lines_max = 1000;       // Of its log.
};

/// Bodies of frames.
[[nodiscard]] std::string encode_batch(const runner_batch& batch);
[[nodiscard]] result<runner_batch> decode_batch(std::string_view body,
                                                const batch_limits& limits = {});

void encode_completion(std::string& to, const completion& one);
[[nodiscard]] std::string encode_completions(const std::vector<completion>& all);
/// `malformed_request` for anything that the protocol does not have, such as `transact` and `run`.
[[nodiscard]] result<std::vector<completion>> decode_completions(std::string_view body,
                                                                 name_pool& names,
                                                                 const batch_limits& limits = {});

}  // namespace posthorn
