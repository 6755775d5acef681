#include "sim/checks/picture.hpp"

#include <fmt/format.h>

#include "sim/checks/keys.hpp"
#include "sim/checks/payloads.hpp"

namespace posthorn::sim {
namespace {

/// Asks one service's database; what cannot be asked is wrong.
class questions {
public:
    questions(const std::string& service, const question& how, ledger& book)
        : service_(service), how_(how), book_(book) {}

    void ask(const std::string& sql, const std::function<void(const answer_row&)>& row) {
        try {
            how_(sql, row);
        } catch (const std::exception& why) {
            book_.violate(fmt::format("{}: {}: {}", service_, sql, why.what()));
        }
    }

private:
    const std::string& service_;
    const question& how_;
    ledger& book_;
};

void read_outbox(questions& to, picture& seen, const std::string& service, ledger& book) {
    to.ask(
        "SELECT message_id, destination, endpoint, status, causation_id, tenant, payload, seq,"
        " retry_count, expires_at, last_error, message_type FROM outbox_messages",
        [&](const answer_row& row) {
            const auto id = id_of(row.text(0));
            seen.outbox[id] = {
                .destination = row.text(1),
                .endpoint = row.text(2),
                .status = row.text(3),
                .cause = row.text(4),
                .tenant = row.text(5),
                .order_key = order_key_in(row.text(6)),
                .is_for_workflow = row.text(11) == "Response" || row.text(2) == "Told",
                .seq = row.number(7),
                .charged = row.number(8),
                .expires_at = row.number(9)};
            if (shows_canary(row.text(10)))
                book.violate("invariant 8: its error shows a canary: " + row.text(10), id);
        });
    to.ask("SELECT error FROM outbox_attempts", [&](const answer_row& row) {
        if (shows_canary(row.text(0)))
            book.violate(fmt::format("invariant 8: an attempt of {} shows a canary: {}", service,
                                     row.text(0)));
    });
    to.ask("SELECT 1 FROM posthorn_meta WHERE name = 'order_policy' AND value = 'pass'",
           [&](const answer_row&) { seen.lets_pass = true; });
}

void read_chain(questions& to, picture& seen, const std::string& service, ledger& book) {
    std::uint64_t hash = hash_start;
    to.ask("SELECT number, tag, hash FROM chain ORDER BY number", [&](const answer_row& row) {
        hash = hash_text(hash, row.text(1));
        const chain_link found{row.number(0), static_cast<std::uint64_t>(row.number(2))};
        seen.chain.push_back(found);
        if (found != chain_link{static_cast<std::int64_t>(seen.chain.size()), hash})
            book.violate(
                fmt::format("invariant 6: the chain of {} breaks at {}", service, found.number));
    });
}

}  // namespace

uuid id_of(const std::string& text) { return uuid::parse(text).value_or(uuid{}); }

picture read_picture(const std::string& service, const question& ask, ledger& book) {
    picture seen;
    questions to(service, ask, book);
    read_outbox(to, seen, service, book);
    to.ask("SELECT message_id, response_payload FROM inbox_messages WHERE processed_at IS NOT NULL",
           [&](const answer_row& row) { seen.responses[id_of(row.text(0))] = row.text(1); });
    to.ask("SELECT message_id, source, sent, rowid, expires_at FROM effects",
           [&](const answer_row& row) {
               seen.effects.emplace(id_of(row.text(0)),
                                    effect{row.text(1), row.text(2), row.number(3), row.number(4)});
           });
    read_chain(to, seen, service, book);
    return seen;
}

}  // namespace posthorn::sim
