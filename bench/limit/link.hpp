#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "limit/mac.hpp"
#include "limit/outbox.hpp"
#include "limit/wire.hpp"

namespace posthorn::bench {

/// Brings stored messages to the receiver: several batches on their way at a time, each as large as
/// what has come together meanwhile.
///
/// The thread that committed also sends, so that a lone message waits for no other.
///
/// Lifetime: the outbox outlives it; given before the first message.
/// Threads:  `offer` any; answers are read on a thread of its own.
class link {
public:
    link(framing as, const std::string& address);
    ~link();
    link(const link&) = delete;
    link& operator=(const link&) = delete;

    void start(outbox& from);
    void offer(std::vector<stored_message> batch);

private:
    struct sent_batch {
        mac_bytes signature{};
        std::int64_t first_seq = 0;
        std::int64_t last_seq = 0;
        std::size_t count = 0;
    };

    void send_what_fits();
    void read_answers();
    void take_answer(const frame& answer);

    framing as_;
    stream_socket socket_;
    mac requests_;
    mac answers_;
    outbox* from_ = nullptr;
    std::mutex lock_;
    std::deque<stored_message> waiting_;
    std::deque<sent_batch> on_their_way_;
    std::string buffer_;
    std::jthread reader_;
};

}  // namespace posthorn::bench
