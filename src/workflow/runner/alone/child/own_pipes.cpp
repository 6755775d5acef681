#include "workflow/runner/alone/child/own_pipes.hpp"

#include <cerrno>

#include <unistd.h>

namespace posthorn::runner_child {
namespace {

bool read_all(char* to, std::size_t size) {
    while (size > 0) {
        const auto count = ::read(batches_fd, to, size);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        to += count;
        size -= static_cast<std::size_t>(count);
    }
    return true;
}

bool write_all(std::string_view text) {
    while (!text.empty()) {
        const auto count = ::write(answers_fd, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

}  // namespace

std::optional<received_frame> receive() {
    std::string head(frame_head_bytes, '\0');
    if (!read_all(head.data(), head.size())) return {};
    const auto read = read_frame_head(head);
    if (!read) return {};
    received_frame frame{.kind = read->kind, .body = std::string(read->body_bytes, '\0')};
    if (!read_all(frame.body.data(), frame.body.size())) return {};
    return frame;
}

bool send(runner_frame kind, std::string_view body) {
    std::string head;
    write_frame_head(head, {kind, static_cast<std::uint32_t>(body.size())});
    return write_all(head) && write_all(body);
}

}  // namespace posthorn::runner_child
