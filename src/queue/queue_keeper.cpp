#include "queue/queue_keeper.hpp"

#include <array>

#include "store/async.hpp"

namespace posthorn {
namespace {

constexpr std::chrono::seconds look_every{5};

constexpr std::string_view find_sql =
    "SELECT 1 FROM posthorn_queue WHERE attempts > 0 AND given_up_at IS NULL AND taken_until <= ?"
    " AND attempts >= ? LIMIT 1";

}  // namespace

void log_given_up(logger& log, const std::vector<given_up_job>& jobs) {
    for (const auto& one : jobs)
        log.error("Queue:  Job {Seq} of {Endpoint} given up after {Attempts} attempts: {Error}",
                  {{"Seq", one.seq},
                   {"Endpoint", one.endpoint},
                   {"Attempts", one.attempts},
                   {"Error", one.error},
                   {"MessageId", one.message_id}});
}

task<> queue_keeper::run() {
    if (rules_.attempts_max == 0) co_return;
    do {
        if (co_await finds_one()) co_await give_up();
    } while (co_await env_.timer.sleep_for(look_every));
}

task<bool> queue_keeper::finds_one() {
    bool found = false;
    const auto looked = co_await read(where_, env_.readers, [&](store_reader& from) -> result<> {
        const std::array<sql_param, 2> with{env_.clock.wall().time_since_epoch().count(),
                                            rules_.attempts_max};
        return from.query(find_sql, with, [&](const sql_row&) { found = true; });
    });
    if (!looked)
        env_.log.warn("Queue:  could not look for spent jobs: {Error}",
                      {{"Error", looked.error().what()}});
    co_return found;
}

task<> queue_keeper::give_up() {
    std::vector<given_up_job> jobs;
    const auto done = co_await commit(where_, [&](store_transaction& tx) -> result<> {
        POSTHORN_LET(spent, give_up_spent(tx, rules_, env_.clock.wall()));
        jobs = std::move(spent);
        return {};
    });
    if (done) log_given_up(env_.log, jobs);
}

}  // namespace posthorn
