#include "limit/link.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace posthorn::bench {
namespace {

constexpr std::size_t batches_max = 4;
constexpr std::size_t batch_size_max = 512;
constexpr std::string_view shared_key = "a secret that both ends of this measurement know";

std::string_view text_of(const mac_bytes& signature) {
    return {reinterpret_cast<const char*>(signature.data()), signature.size()};
}

}  // namespace

link::link(framing as, const std::string& address)
    : as_(as), socket_(connect_to(as, address)), requests_(shared_key), answers_(shared_key) {}

link::~link() { socket_.shut(); }

void link::start(outbox& from) {
    from_ = &from;
    reader_ = std::jthread([this] { read_answers(); });
}

void link::offer(std::vector<stored_message> batch) {
    const std::scoped_lock guard(lock_);
    std::ranges::move(batch, std::back_inserter(waiting_));
    send_what_fits();
}

void link::send_what_fits() {
    while (!waiting_.empty() && on_their_way_.size() < batches_max) {
        const auto count = std::min(waiting_.size(), batch_size_max);
        const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
        const std::vector<stored_message> batch(std::make_move_iterator(waiting_.begin()),
                                                std::make_move_iterator(end));
        waiting_.erase(waiting_.begin(), end);
        const auto body = encode(batch);
        const auto signature = requests_.sign(body);
        on_their_way_.push_back({.signature = signature,
                                 .first_seq = batch.front().seq,
                                 .last_seq = batch.back().seq,
                                 .count = batch.size()});
        buffer_.clear();
        append_frame(buffer_, as_, direction::request, signature, body);
        socket_.write_all(buffer_);
    }
}

void link::read_answers() {
    std::string stream;
    while (socket_.read_some(stream)) {
        std::size_t used = 0;
        while (const auto answer = next_frame(std::string_view(stream).substr(used), as_)) {
            take_answer(*answer);
            used += answer->size;
        }
        stream.erase(0, used);
    }
}

// Answers come in the order of the requests.
void link::take_answer(const frame& answer) {
    sent_batch sent;
    {
        const std::scoped_lock guard(lock_);
        sent = on_their_way_.front();
        on_their_way_.pop_front();
        send_what_fits();
    }
    if (!mac::equal(answer.signature, answers_.sign(text_of(sent.signature), answer.body)))
        throw std::runtime_error("an answer is not signed by the receiver");
    if (answer.body != std::string(sent.count, '\1'))
        throw std::runtime_error("a message was refused");
    from_->settle(sent.first_seq, sent.last_seq);
}

}  // namespace posthorn::bench
