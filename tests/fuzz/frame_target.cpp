#include "fuzz/frame_target.hpp"

#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "transport/unix/frame_head.hpp"

namespace posthorn {
namespace {

constexpr frame_limits limits{.head_bytes_max = 512, .body_bytes_max = 1024};

void demand(bool promise) {
    if (!promise) std::abort();
}

struct meaning {
    std::vector<frame> frames;
    std::optional<frame_breach> breach;
    std::string breached_head;
    frame_decoder::progress at;

    bool operator==(const meaning&) const = default;
};

meaning decode(std::string_view bytes, std::size_t piece) {
    frame_decoder decoder(limits);
    meaning found{};
    while (!bytes.empty()) {
        const auto room = decoder.prepare();
        const auto taken = bytes.substr(0, piece).copy(room.data(), room.size());
        decoder.commit(taken);
        bytes.remove_prefix(taken);
        while (auto whole = decoder.next()) found.frames.push_back(*std::move(whole));
        if (decoder.breach()) break;
    }
    found.breach = decoder.breach();
    found.breached_head = decoder.breached_head();
    found.at = found.breach ? frame_decoder::progress::between : decoder.at();
    return found;
}

template <class Read, class Start>
void read_and_write(const frame& whole, Read read, Start start) {
    const auto first = read(whole);
    if (!first) return demand(first.error().code() == error_code::malformed_request);
    demand(number_of(whole.head) == first->number);
    const std::string written = start(*first);
    const auto second = read(frame{written.substr(8), whole.body});
    demand(second && second->number == first->number && start(*second) == written);
}

}  // namespace

void fuzz_frames(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto found = decode(bytes, size);
    demand(found == decode(bytes, 1));
    demand(found == decode(bytes, 7));
    for (const auto& each : found.frames) {
        demand(!each.head.empty() && each.head.size() <= limits.head_bytes_max);
        demand(each.body.size() <= limits.body_bytes_max);
        read_and_write(each, read_request, [](const numbered_request& one) {
            return request_start(one.number, one.request).value();
        });
        read_and_write(each, read_reply, [](const numbered_reply& one) {
            return reply_start(one.number, one.reply).value();
        });
    }
}

}  // namespace posthorn
