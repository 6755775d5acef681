#include "outbox/upkeep/dead_letter_notifier.hpp"

#include <algorithm>
#include <vector>

#include "base/async/cancellation.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

constexpr std::size_t page_rows = 100;
constexpr std::chrono::milliseconds pause_min = std::chrono::seconds{1};
constexpr std::chrono::milliseconds pause_max = std::chrono::minutes{1};

}  // namespace

task<> dead_letter_notifier::run() {
    if (listener_ == nullptr) co_return;
    auto pause = pause_min;
    while (!co_await is_cancelled()) {
        failed_ = 0;
        const auto told = co_await tell_all();
        if (!told)
            env_.log.warn("Outbox: could not look for messages that were given up: {Error}",
                          {{"Error", told.error().what()}});
        if (told && failed_ == 0) {
            pause = pause_min;
            co_await arrived_.wait();
        } else {
            co_await arrived_.wait_for(env_.timer, pause);
            pause = std::min(pause * 2, pause_max);
        }
    }
}

task<result<>> dead_letter_notifier::tell_all() {
    std::int64_t last = 0;
    for (std::vector<final_row> page; !co_await is_cancelled();) {
        POSTHORN_CO_TRY(co_await read(where_, env_.readers, [&](store_reader& reader) -> result<> {
            POSTHORN_LET(rows, reader.outbox().ended(last, page_rows));
            page = std::move(rows);
            return {};
        }));
        if (page.empty()) break;
        last = page.back().row.seq;
        for (const auto& one : page) {
            if (co_await is_cancelled()) break;
            co_await tell(one);
        }
    }
    co_return result<>{};
}

task<> dead_letter_notifier::tell(const final_row& what) {
    bool news = false;
    const auto done = co_await commit(where_, [&](store_transaction& tx) -> result<> {
        const auto first = tx.outbox().mark_notified(what.row.seq);
        POSTHORN_TRY(first);
        news = *first;
        return news ? listener_->ended(tx, what) : result<>{};
    });
    if (done) {
        if (news) listener_->told(what);
        co_return;
    }
    ++failed_;
    env_.log.error("Outbox: the hook for message {MessageId} failed, will try again: {Error}",
                   {{"MessageId", what.row.body.id}, {"Error", done.error().what()}});
}

}  // namespace posthorn
