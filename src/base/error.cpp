#include <array>

#include <posthorn/error.hpp>

#include "base/assert.hpp"

namespace posthorn {
namespace {

using enum error_code;

constexpr std::array catalogue{
    error_info{cancelled, "cancelled", "the operation was cancelled before it finished"},
    error_info{timed_out, "timed_out", "the operation did not finish in its time", true},
    error_info{closed, "closed", "the other end is closed and takes or gives nothing more"},
    error_info{overloaded, "overloaded", "a bounded queue is full", true},
    error_info{invalid_argument, "invalid_argument", "a value given to a call is not usable"},
    error_info{invalid_configuration, "invalid_configuration", "the configuration is not usable"},
    error_info{address_unavailable, "address_unavailable", "an address cannot be listened on"},
    error_info{io_failed, "io_failed", "the operating system refused an operation", true},
    error_info{store_unavailable, "store_unavailable", "the database cannot be opened"},
    error_info{store_read_only, "store_read_only", "the database cannot be written to"},
    error_info{store_corrupt, "store_corrupt", "the database file is damaged"},
    error_info{store_full, "store_full", "the disk is full; nothing was stored", true},
    error_info{buffer_full, "buffer_full", "as much work is held for targets as may be", true},
    error_info{store_busy, "store_busy", "another process kept the database locked", true},
    error_info{store_too_new, "store_too_new",
               "a newer Posthorn has changed the database's tables"},
    error_info{store_failed, "store_failed", "the store has stopped because a sync failed"},
    error_info{commit_in_doubt, "commit_in_doubt", "it is not known whether a commit took hold",
               true, true},
    error_info{statement_failed, "statement_failed", "a SQL statement failed"},
    error_info{statement_interrupted, "statement_interrupted", "a transaction ran too long", true},
    error_info{statement_forbidden, "statement_forbidden",
               "a statement tried to control its transaction"},
    error_info{called_in_transaction, "called_in_transaction",
               "a blocking call was made inside a transaction"},
    error_info{no_transaction, "no_transaction", "a message was sent outside a transaction"},
    error_info{not_committed, "not_committed", "the transaction of a ticket is not committed"},
    error_info{duplicate_id, "duplicate_id", "a message with this id was stored before"},
    error_info{lease_lost, "lease_lost", "another node has taken over"},
    error_info{message_too_large, "message_too_large", "a message is larger than allowed"},
    error_info{message_expired, "message_expired", "a message is past its time"},
    error_info{invalid_payload, "invalid_payload", "a payload is not what it claims to be"},
    error_info{no_handler, "no_handler", "the receiver has no handler for the message"},
    error_info{handler_unreachable, "handler_unreachable",
               "the web service behind a handler gives no answer", true},
    error_info{id_reused, "id_reused", "an id was used before for another body"},
    error_info{clock_jumped, "clock_jumped", "a clock was set, so a time cannot be judged", true},
    error_info{malformed_request, "malformed_request", "what arrived is not a message of ours"},
    error_info{bad_signature, "bad_signature", "a request or an answer is not signed as it must be",
               true},
    error_info{unreachable, "unreachable", "a peer could not be reached, or broke off", true},
    error_info{secret_unavailable, "secret_unavailable", "a secret is missing or cannot be used"},
    error_info{certificate_unusable, "certificate_unusable",
               "a TLS certificate or key cannot be used"},
    error_info{access_denied, "access_denied", "the key given does not allow this"},
    error_info{not_found, "not_found", "there is nothing of that name or id"},
    error_info{state_changed, "state_changed", "it was changed since it was looked at"},
    error_info{unroutable, "unroutable", "a broker has no place for the message", true},
};

consteval bool in_order() {
    for (std::size_t i = 0; i < catalogue.size(); ++i)
        if (static_cast<std::size_t>(catalogue[i].code) != i) return false;
    return true;
}
static_assert(in_order(), "describe() finds an entry by the value of its code");

}  // namespace

std::span<const error_info> error_catalogue() noexcept { return catalogue; }

const error_info& describe(error_code code) noexcept {
    const auto index = static_cast<std::size_t>(code);
    POSTHORN_ASSERT(index < catalogue.size());
    return catalogue[index];
}

}  // namespace posthorn
