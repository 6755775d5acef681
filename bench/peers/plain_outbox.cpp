#include "peers/plain_outbox.hpp"

#include <algorithm>

namespace posthorn::bench {

plain_outbox::plain_outbox(const std::string& file)
    : file_(file, outbox_tables),
      begin_(file_.raw(), "BEGIN IMMEDIATE"),
      add_order_(file_.raw(), "INSERT INTO orders(text) VALUES (?)"),
      add_message_(file_.raw(), "INSERT INTO outbox VALUES (?, ?, 'billing', ?, ?, ?, ?, NULL)"),
      mark_sent_(file_.raw(), "UPDATE outbox SET sent_at = ? WHERE seq BETWEEN ? AND ?"),
      commit_(file_.raw(), "COMMIT"),
      reading_(file, ""),
      due_(reading_.raw(),
           "SELECT seq, message_id, created_at, expires_at, payload FROM outbox WHERE seq > ?"
           " ORDER BY seq LIMIT ?") {}

void plain_outbox::add(std::uint64_t index) {
    const std::scoped_lock guard(lock_);
    const auto made = maker_.make(last_seq_ + 1, index, wall_ms());
    begin_.must_run();
    add_order_.bind_text(1, made.payload);
    add_order_.must_run();
    add_message_.bind(1, made.seq);
    add_message_.bind_blob(2, made.id);
    add_message_.bind_text(3, endpoint_name);
    add_message_.bind_text(4, made.payload);
    add_message_.bind(5, made.created_ms);
    add_message_.bind(6, made.expires_ms);
    add_message_.must_run();
    commit_.must_run();
    last_seq_ = made.seq;
    ++pending_;
    changed_.notify_all();
}

std::vector<stored_message> plain_outbox::take_due(std::size_t count_max) {
    {
        std::unique_lock held(lock_);
        changed_.wait(held, [this] { return closed_ || last_seq_ > taken_seq_; });
        if (closed_) return {};
    }
    std::vector<stored_message> due;
    due_.bind(1, taken_seq_);
    due_.bind(2, static_cast<std::int64_t>(count_max));
    due_.for_each([&due](sqlite3_stmt* row) {
        auto& one = due.emplace_back(
            stored_message{.seq = sqlite3_column_int64(row, 0),
                           .created_ms = sqlite3_column_int64(row, 2),
                           .expires_ms = sqlite3_column_int64(row, 3),
                           .payload = {reinterpret_cast<const char*>(sqlite3_column_text(row, 4)),
                                       static_cast<std::size_t>(sqlite3_column_bytes(row, 4))}});
        const auto* id = static_cast<const std::uint8_t*>(sqlite3_column_blob(row, 1));
        std::copy_n(id, one.id.size(), one.id.begin());
    });
    taken_seq_ = due.back().seq;
    return due;
}

void plain_outbox::settle(std::int64_t first_seq, std::int64_t last_seq) {
    const std::scoped_lock guard(lock_);
    begin_.must_run();
    mark_sent_.bind(1, wall_ms());
    mark_sent_.bind(2, first_seq);
    mark_sent_.bind(3, last_seq);
    mark_sent_.must_run();
    commit_.must_run();
    pending_ -= last_seq - first_seq + 1;
    changed_.notify_all();
}

void plain_outbox::wait_settled() {
    std::unique_lock held(lock_);
    changed_.wait(held, [this] { return pending_ == 0; });
}

void plain_outbox::close() {
    const std::scoped_lock guard(lock_);
    closed_ = true;
    changed_.notify_all();
}

}  // namespace posthorn::bench
