#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <posthorn/workflow/hosting.hpp>

#include "base/result.hpp"
#include "store/transaction.hpp"

/// How signals and waits find each other, inside a transaction. The rules that need no database are
/// in workflow/matching.hpp.
///
/// A signal goes to every workflow that waits for it, to each once, and of exclusive waits to the
/// oldest. If none waits it is unclaimed for a while, and the first wait that it fits takes it. The
/// row of a wait stays, as taken, until the workflow has made its step: if that no longer wants the
/// signal, it is given back.
///
/// A shape is a set of fields by which a signal is waited for. The first wait of one lets unclaimed
/// signals be found by it: the oldest at once, the others in slices, since there may be a million. A
/// wait gets those of a slice that it fits when their turn comes.
namespace posthorn {

/// A workflow that a signal starts.
struct starting_rule {
    std::string workflow;
    std::int64_t version = 0;
    detail::start_rule on;
};

struct match_rules {
    std::span<const starting_rule> starts;
    std::chrono::milliseconds unclaimed_kept = std::chrono::days{7};
};

/// The id under which a signal starts a workflow; an error says which field it lacks.
[[nodiscard]] result<std::string> started_id(const detail::start_rule& rule,
                                             std::string_view payload);

/// Finds who waits for a signal that was stored, or lets it wait. If it lacks a field of each shape by
/// which it is waited for, or has one of another type, the fields that it should have, for people.
result<std::string> match_signal(store_transaction& tx, std::int64_t seq, const match_rules& rules,
                                 wall_time now);

/// One slice of signals that came before a shape; false if there is none.
result<bool> index_early_signals(store_transaction& tx, std::int64_t at_most);

struct new_wait {
    std::int64_t instance = 0;
    std::uint32_t command = 0;
    std::string_view signal;
    std::string_view terms;  // As `encode_terms` wrote them.
    bool exclusive = false;
};
/// Stores a wait, and gives it the oldest unclaimed signal that it fits. `invalid_argument` if its
/// signal is waited for by too many different sets of fields.
result<> add_wait(store_transaction& tx, const new_wait& wait);
/// The wait is over without its signal, which is given back if one had come.
result<> drop_wait(store_transaction& tx, std::int64_t instance, std::uint32_t command);
/// The signal that it was given was none: it goes on.
result<> rearm_wait(store_transaction& tx, std::int64_t instance, std::uint32_t command);
/// Lets the signals that came for a workflow, and were not told to it, wait for its next run. What
/// else came for commands of this run goes; a cancellation stays.
result<> hand_on_signals(store_transaction& tx, std::int64_t instance);
/// All that is left for a workflow that has ended.
result<> give_back_signals(store_transaction& tx, std::int64_t instance);

}  // namespace posthorn
