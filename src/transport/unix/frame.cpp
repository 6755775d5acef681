#include "transport/unix/frame.hpp"

#include <algorithm>
#include <limits>

#include "base/assert.hpp"
#include "base/planted.hpp"

namespace posthorn {
namespace {

constexpr std::size_t prefix_bytes = 8;
constexpr std::size_t read_bytes_min = std::size_t{16} * 1024;
// A buffer that one large frame left behind is given back, for there may be many connections.
constexpr std::size_t kept_bytes_max = std::size_t{64} * 1024;
// Enough of a head that is too large to say whose it is: a number and a space.
constexpr std::size_t beginning_bytes = 21;

void append_size(std::string& out, std::size_t size) {
    POSTHORN_ASSERT(size <= std::numeric_limits<std::uint32_t>::max());
    for (const int shift : {24, 16, 8, 0}) out += static_cast<char>((size >> shift) & 0xff);
}

std::size_t read_size(std::string_view bytes) {
    std::size_t size = 0;
    for (const char each : bytes.substr(0, 4)) size = size << 8 | static_cast<unsigned char>(each);
    return size;
}

}  // namespace

std::string frame_prefix(std::size_t head_bytes, std::size_t body_bytes) {
    std::string prefix;
    append_size(prefix, head_bytes);
    append_size(prefix, body_bytes);
    return prefix;
}

std::span<char> frame_decoder::prepare() {
    if (begin_ == end_) {
        begin_ = end_ = 0;
        if (buffer_.size() > kept_bytes_max) buffer_ = std::string();
    }
    if (buffer_.size() - end_ < read_bytes_min) {
        buffer_.erase(0, begin_);
        end_ -= begin_;
        begin_ = 0;
        // Twice as much each time, so that a large body is not moved once for every piece of it.
        buffer_.resize(std::max(end_ * 2, end_ + read_bytes_min));
    }
    return std::span(buffer_).subspan(end_);
}

void frame_decoder::commit(std::size_t bytes) {
    POSTHORN_ASSERT(bytes <= buffer_.size() - end_);
    end_ += bytes;
}

std::string_view frame_decoder::unread() const noexcept {
    return std::string_view(buffer_).substr(begin_, end_ - begin_);
}

std::optional<frame_decoder::sizes> frame_decoder::announced() const noexcept {
    const auto bytes = unread();
    if (bytes.size() < prefix_bytes) return std::nullopt;
    return sizes{read_size(bytes), read_size(bytes.substr(4))};
}

// True if the frame may be taken once it is whole.
bool frame_decoder::check(const sizes& of) {
    const auto head = unread().substr(prefix_bytes);
    if (of.head == 0) {
        breach_ = frame_breach::no_head;
    } else if (of.head > limits_.head_bytes_max) {
        if (head.size() < std::min(of.head, beginning_bytes)) return false;
        breach_ = frame_breach::head_too_large;
        breached_head_ = head.substr(0, std::min(of.head, beginning_bytes));
    } else if (of.body > limits_.body_bytes_max && !POSTHORN_PLANTED(frame_length_unchecked)) {
        if (head.size() < of.head) return false;
        breach_ = frame_breach::body_too_large;
        breached_head_ = head.substr(0, of.head);
    }
    return !breach_;
}

std::optional<frame> frame_decoder::next() {
    if (breach_) return std::nullopt;
    const auto size = announced();
    if (!size || !check(*size)) return std::nullopt;
    const auto bytes = unread().substr(prefix_bytes);
    if (bytes.size() < size->head + size->body) return std::nullopt;
    frame whole{.head = std::string(bytes.substr(0, size->head)),
                .body = std::string(bytes.substr(size->head, size->body))};
    begin_ += prefix_bytes + size->head + size->body;
    return whole;
}

frame_decoder::progress frame_decoder::at() const noexcept {
    const auto bytes = unread();
    if (bytes.empty()) return progress::between;
    const auto size = announced();
    return size && bytes.size() - prefix_bytes >= size->head ? progress::in_body
                                                             : progress::in_head;
}

}  // namespace posthorn
