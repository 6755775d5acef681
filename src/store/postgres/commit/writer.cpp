#include "store/postgres/commit/writer.hpp"

#include <utility>

namespace posthorn::postgres {
namespace {

constexpr std::size_t units_max = 250;

}  // namespace

writer::writer(session_options options, std::unique_ptr<session> first, write_services& with,
               executor& thread)
    : time_(with.time),
      commits_(std::move(options), std::move(first), with, thread),
      queue_(thread, with.time, [this] { work(); }, unit_queue::alone_units::are_alone) {}

void writer::look_again() {
    if (!commits_.must_look_again()) return;
    std::vector<unit> nothing;
    nothing.push_back({.work = [](store_transaction&) { return result<>{}; }});
    submit(std::move(nothing));
}

void writer::work() {
    if (auto members = queue_.take(units_max); !members.empty()) {
        const bool had_looked = !commits_.must_look_again();
        has_news_ |= commits_.commit(std::move(members));
        // Once by itself: the producer with the key may have committed before that could be known.
        if (had_looked) look_again();
    }
    has_news_ |= queue_.was_called();  // What other sessions have to tell.
    tell_news(!queue_.has_work());
    queue_.go_on();
}

// After the commit and apart from it: inside, it would make all commits of the database wait for
// each other. Once for all that came meanwhile.
void writer::tell_news(bool is_idle) {
    constexpr std::chrono::milliseconds distance{5};
    if (!has_news_) return;
    const auto now = time_.steady();
    if (!is_idle && now - told_at_ < distance) return;
    told_at_ = now;
    has_news_ = !commits_.tell_others();
}

void writer::stop() {
    queue_.stop();
    commits_.close();
}

}  // namespace posthorn::postgres
