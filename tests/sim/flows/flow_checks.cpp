#include "sim/flows/flow_checks.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "engine/rows/call_ids.hpp"
#include "engine/rows/workflow_rows.hpp"
#include "sim/checks/keys.hpp"
#include "sim/flows/courses.hpp"
#include "workflow/matching.hpp"

namespace posthorn::sim {
namespace {

using detail::command_kind;
using detail::event_kind;

const detail::workflow_entry* code_of(const instance_row& of) {
    for (const auto code : courses)
        if (detail::entry_of(code).name() == of.workflow) return &detail::entry_of(code);
    return nullptr;
}

/// What a run did, as its history says when it is repeated.
struct life {
    struct command {
        command_kind kind{};
        std::int64_t due = 0;
        std::int64_t made_at = 0;
        bool is_dropped = false;
        std::optional<event_kind> ended_by{};
        std::string got{};
    };
    std::map<std::uint32_t, command> commands{};
    std::string state{};
};

/// A wait, timer, call or work that is open.
struct open_row {
    std::int64_t instance = 0;
    std::uint32_t command = 0;
    auto operator<=>(const open_row&) const = default;
};

class flow_check {
public:
    flow_check(store_reader& from, const flow_facts& facts, ledger& book)
        : from_(from),
          service_(facts.service),
          clock_went_back_(facts.clock_went_back),
          answers_(facts.answers),
          book_(book) {}

    /// What holds at any time.
    void always() {
        is_quiet_ = false;
        each();
    }

    /// How many steps were repeated.
    std::uint64_t all(const flow_promises& promises) {
        each();
        check_strays();
        check_families();
        check_own_rows();
        check_signals();
        check_promises(promises);
        return steps_;
    }

private:
    void each() {
        read_open_rows();
        std::vector<std::int64_t> numbers;
        read("SELECT instance FROM workflow_instances ORDER BY instance",
             [&](const sql_row& row) { numbers.push_back(row.integer(0)); });
        for (const auto number : numbers) {
            auto row = find_instance(from_, number);
            if (!row) {
                note(row.error());
            } else if (*row) {
                one(**row);
            }
        }
    }

    /// While faults go on a disk may refuse to be read.
    void note(const error& why) {
        if (is_quiet_ || why.code() == error_code::store_corrupt)
            violate("W1", why.what());
        else
            book_.note(std::string("the workflows cannot be looked at: ") + why.what());
    }
    void violate(std::string_view which, const std::string& what) {
        book_.violate(fmt::format("invariant {}: {} of {}", which, what, service_));
    }
    void violate(std::string_view which, const instance_row& of, const std::string& what) {
        violate(which, fmt::format("{} {}: {};", of.workflow, of.id, what));
    }
    template <class Visit, class... Args>
    void read(std::string_view sql, Visit visit, const Args&... args) {
        if (const auto done = ask(from_, sql, visit, args...); !done) note(done.error());
    }

    void read_open_rows() {
        const auto fill = [&](std::string_view table, std::set<open_row>& into) {
            read(fmt::format("SELECT instance, command FROM {}", table), [&](const sql_row& row) {
                into.insert({row.integer(0), row.get<std::uint32_t>(1)});
            });
        };
        fill("workflow_waits", waits_);
        fill("workflow_timers", timers_);
        fill("workflow_calls", calls_);
        fill("workflow_runs", runs_);
        fill("workflow_mailbox", mail_);
        fill("workflow_watches", watches_);
    }

    void one(const instance_row& of) {
        if (of.status == instance_status::starting) {
            if (is_quiet_) violate("W4", of, "it never began");
            return;
        }
        if (of.run > 1) past(of);
        const auto history = read_history(from_, of);
        if (!history && history.error().code() != error_code::store_corrupt)
            return note(history.error());
        if (!history) return violate("W6", of, history.error().what());
        if (history->empty() && !was_ended(of)) return violate("W6", of, "it has no step");
        if (history->empty()) return check_ended(of);
        const auto* const code = code_of(of);
        life led;
        undos_.clear();
        undoing_ = undone_ = 0;
        detail::flow_step scratch;
        const auto built = rebuild(*code, run_name(of), *history, scratch,
                                   [&](const detail::flow_event& event, detail::flow_step& did) {
                                       ++steps_;
                                       note_event(of, led, event);
                                       note_undos(of, event, did);
                                       note_commands(led, event, did);
                                   });
        if (!built) return violate("W1", of, built.error());
        check_end(of, **built, history->back());
        const auto state = read_state(from_, of);
        if (!state) return note(state.error());
        if (*state != led.state) violate("W10", of, "its state is not the last one's");
        check_commands(of, led);
        if (is_active(of.status))
            check_open(of, led);
        else if (of.status != instance_status::quarantined)
            check_ended(of);
        note_ends(of, led);
        for (auto& [number, each] : led.commands)
            if (each.kind == command_kind::wait && !each.ended_by && !each.is_dropped)
                waiting_since_[{of.instance, number}] = each.made_at;
    }

    /// The run before, whose steps are kept.
    void past(instance_row of) {
        --of.run;
        const auto history = read_history(from_, of);
        if (!history && history.error().code() != error_code::store_corrupt)
            return note(history.error());
        if (!history) return violate("W6", of, history.error().what());
        life led;
        detail::flow_step scratch;
        const auto built = rebuild(*code_of(of), run_name(of), *history, scratch,
                                   [&](const detail::flow_event& event, detail::flow_step& did) {
                                       ++steps_;
                                       note_event(of, led, event);
                                       note_commands(led, event, did);
                                   });
        if (!built) return violate("W1", of, built.error());
        note_ends(of, led);
    }

    void note_ends(const instance_row& of, const life& led) {
        for (const auto& [number, each] : led.commands)
            if (each.ended_by == event_kind::signalled)
                heard_.emplace(each.got, of.instance);
            else if (each.kind == command_kind::transact && each.ended_by == event_kind::done)
                reported_.insert(std::stoll(each.got));
    }

    // W2 and W8.
    void note_event(const instance_row& of, life& led, const detail::flow_event& event) {
        if (event.command == 0) return;
        auto& about = led.commands[event.command];
        if (about.ended_by)
            violate("W2", of, fmt::format("command {} came to its end twice", event.command));
        if (about.is_dropped && event.kind != event_kind::died)
            violate("W2", of, fmt::format("command {} was dropped, and ended", event.command));
        about.ended_by = event.kind;
        about.got = event.payload;
        if (event.kind != event_kind::elapsed || clock_went_back_) return;
        if (event.at.time_since_epoch().count() < about.due)
            violate("W8", of, fmt::format("its sleep {} ended early", event.command));
    }

    // W7: what may have taken effect is undone, the last first, each once.
    void note_undos(const instance_row& of, const detail::flow_event& event,
                    const detail::flow_step& did) {
        const bool had_none = event.kind == event_kind::died && !event.may_have_taken_effect;
        if (had_none && event.command != undone_) std::erase(undos_, event.command);
        if (undoing_ != 0 && event.command == undoing_) undoing_ = undone_ = 0;
        for (const auto& command : did.commands) {
            if (!command.undo_name.empty()) undos_.push_back(command.number);
            if (command.undoes == 0) continue;
            if (undos_.empty() || undos_.back() != command.undoes) {
                violate("W7", of, fmt::format("it undoes command {} now", command.undoes));
            } else {
                undos_.pop_back();
            }
            undoing_ = command.number;
            undone_ = command.undoes;
        }
    }

    static void note_commands(life& led, const detail::flow_event& event,
                              const detail::flow_step& did) {
        for (const auto& command : did.commands)
            led.commands[command.number] = {.kind = command.kind,
                                            .due = command.due.time_since_epoch().count(),
                                            .made_at = event.at.time_since_epoch().count()};
        for (const auto number : did.dropped) led.commands[number].is_dropped = true;
        if (did.state) led.state = did.of(*did.state);
    }

    /// With its parent, and by no step of its own.
    static bool was_ended(const instance_row& of) {
        return of.status == instance_status::cancelled &&
               of.reason.find("has begun it, has ended") != std::string::npos;
    }

    void check_end(const instance_row& of, const detail::flow_base& flow,
                   const recorded_step& last) {
        const bool was_given_up = of.reason.find("which undoes command") != std::string::npos;
        if (of.status == instance_status::quarantined) {
            if (!was_given_up) violate("W1", of, "it is quarantined: " + of.reason);
            return;
        }
        if (was_ended(of) && flow.status() == flow_status::running) return;
        if (of.status != status_of(flow.status()))
            return violate("W1", of, "its row says another end than its history");
        if (of.status == instance_status::running) return;
        if (last.result != (of.status == instance_status::completed ? of.result : of.reason))
            violate("W1", of, "its row has another result than its history");
        if (of.status != instance_status::completed && !undos_.empty())
            violate("W7", of, fmt::format("command {} was not undone", undos_.back()));
    }

    void check_commands(const instance_row& of, const life& led) {
        for (const auto& [number, each] : led.commands) {
            if (each.kind != command_kind::call) continue;
            std::int64_t rows = 0;
            const auto id = posthorn::id_of({of.name, of.run, number}).to_string();
            read(
                "SELECT count(*) FROM outbox_messages WHERE message_id = ?",
                [&](const sql_row& row) { rows = row.integer(0); }, id);
            if (rows != 1) violate("W2", of, fmt::format("call {} has {} rows", number, rows));
        }
        for (const auto& [number, each] : led.commands)
            if (each.ended_by && mail_.contains({of.instance, number}))
                violate("W2", of,
                        fmt::format("what ended command {} is still in its mailbox", number));
    }

    // W4 and W5.
    void check_open(const instance_row& of, const life& led) {
        bool has_any = mail_.lower_bound({of.instance, 0}) != mail_.end() &&
                       mail_.lower_bound({of.instance, 0})->instance == of.instance;
        for (const auto& [number, each] : led.commands) {
            const open_row row{of.instance, number};
            const bool is_open = !each.ended_by && !each.is_dropped;
            const auto expect = [&](const std::set<open_row>& rows, std::string_view what) {
                if (rows.contains(row) == is_open) return;
                violate("W5", of,
                        fmt::format("{} {} {}", what, number,
                                    is_open ? "has no row" : "is over, and its row is there"));
            };
            if (each.kind == command_kind::wait) expect(waits_, "wait");
            if (each.kind == command_kind::sleep && !(is_open && mail_.contains(row)))
                expect(timers_, "sleep");
            const bool is_end =
                each.kind == command_kind::child || each.kind == command_kind::attach;
            if (is_end && !(is_open && mail_.contains(row))) expect(watches_, "the end");
            if (!is_open && (calls_.contains(row) || runs_.contains(row)))
                violate("W5", of, fmt::format("command {} is over, and its row is there", number));
            if (is_open && calls_.contains(row)) check_call(of, number);
            has_any |=
                is_open && (waits_.contains(row) || timers_.contains(row) || calls_.contains(row) ||
                            runs_.contains(row) || watches_.contains(row));
        }
        if (!has_any) violate("W4", of, "it runs, and waits for nothing");
    }

    /// A Response may be given up where it was made; one that was taken in was told.
    void check_call(const instance_row& of, std::uint32_t number) {
        const auto found = answers_.find(to_correlation_id({of.name, of.run, number}));
        if (is_quiet_ && found != answers_.end() && found->second == "Sent" &&
            !book_.was_restored(service_))
            violate("W4", of, fmt::format("call {} was answered, and it still waits", number));
    }

    void check_ended(const instance_row& of) {
        for (const auto* const rows : {&waits_, &timers_, &calls_, &runs_, &mail_, &watches_}) {
            const auto first = rows->lower_bound({of.instance, 0});
            if (first != rows->end() && first->instance == of.instance)
                violate("W5", of,
                        fmt::format("it has ended, and command {} has a row", first->command));
        }
    }

    void check_strays() {
        read(
            "SELECT count(*) FROM workflow_history h WHERE NOT EXISTS"
            " (SELECT 1 FROM workflow_instances i WHERE i.instance = h.instance"
            " AND h.run BETWEEN i.run - 1 AND i.run)",
            [&](const sql_row& row) {
                if (row.integer(0) != 0) violate("W2", "steps without an instance");
            });
    }

    // W4 of parents and children, and W9.
    void check_families() {
        const auto none = [&](std::string_view which, const std::string& sql,
                              std::string_view what) {
            read(sql, [&](const sql_row& row) {
                violate(which, fmt::format("workflow {} {},", row.text(0), what));
            });
        };
        none("W4",
             "SELECT p.id FROM workflow_watches w"
             " JOIN workflow_instances p ON p.instance = w.instance"
             " JOIN workflow_instances t ON t.instance = w.target"
             " WHERE t.status IN ('completed', 'failed', 'cancelled')",
             "waits for the end of one that has ended");
        none("W4",
             "SELECT c.id FROM workflow_instances c"
             " JOIN workflow_instances p ON p.instance = c.parent"
             " AND p.status IN ('completed', 'failed', 'cancelled')"
             " WHERE c.fate IN ('cancel', 'terminate') AND c.status = 'running'"
             " AND NOT EXISTS (SELECT 1 FROM workflow_history h WHERE h.instance = c.instance"
             " AND h.cause = 'cancel') AND NOT EXISTS (SELECT 1 FROM workflow_calls k"
             " WHERE k.instance = c.instance AND k.undoes <> 0)",
             "goes on, and its parent has ended");
        none("W9",
             "SELECT i.id FROM workflow_instances i JOIN workflow_history h"
             " ON h.instance = i.instance AND h.run = i.run WHERE h.version <> i.version",
             "took a step by another version than its own");
    }

    // W11: the rows that workflows wrote, and the steps that say so.
    void check_own_rows() {
        std::set<std::string> tags;
        std::set<std::int64_t> written;
        read("SELECT number, tag FROM chain WHERE tag LIKE 'flow %'", [&](const sql_row& row) {
            written.insert(row.integer(0));
            if (!tags.emplace(row.text(1)).second)
                violate("W11", fmt::format("'{}' was written twice, in the chain", row.text(1)));
        });
        for (const auto number : reported_)
            if (!written.contains(number))
                violate("W11",
                        fmt::format("link {} of the chain, which a step wrote, is lost", number));
        read("SELECT c.number, c.tag FROM chain c WHERE c.tag LIKE 'flow %'",
             [&](const sql_row& row) {
                 if (reported_.contains(row.integer(0))) return;
                 // Its workflow ended, or is held, before it heard of it.
                 unreported_.emplace_back(row.text(1));
             });
        for (const auto& tag : unreported_) {
            const auto id = tag.substr(row_tag.size(), tag.rfind(' ') - row_tag.size());
            std::string status;
            read(
                "SELECT status FROM workflow_instances WHERE id = ?",
                [&](const sql_row& row) { status = row.text(0); }, id);
            if (status != "cancelled" && status != "quarantined")
                violate("W11", fmt::format("'{}' is in the chain, and no step says so, ", tag));
        }
    }

    struct signal_row {
        std::int64_t seq = 0;
        std::string payload{};
        std::int64_t matched_at = 0;
        bool is_addressed = false;
        bool is_unclaimed = false;
    };

    // W3.
    void check_signals() {
        std::vector<signal_row> signals;
        read(
            "SELECT s.seq, s.payload, coalesce(s.matched_at, 0), s.id IS NOT NULL,"
            " EXISTS (SELECT 1 FROM workflow_unclaimed u WHERE u.seq = s.seq)"
            " FROM workflow_signals s WHERE s.signal = 'Told'",
            [&](const sql_row& row) {
                signals.push_back({row.integer(0), std::string(row.text(1)), row.integer(2),
                                   row.get<bool>(3), row.get<bool>(4)});
            });
        struct open_wait {
            open_row of;
            match_key wanted;
        };
        std::vector<open_wait> waits;
        read(
            "SELECT w.instance, w.command, w.terms FROM workflow_waits w"
            " JOIN workflow_instances i ON i.instance = w.instance AND i.status = 'running'"
            " WHERE w.taken = 0",
            [&](const sql_row& row) {
                const auto terms = parse_terms(row.text(2));
                if (!terms) return violate("W3", "a wait cannot be read");
                waits.push_back({{row.integer(0), row.get<std::uint32_t>(1)}, key_of(*terms)});
            });
        for (const auto& each : signals) {
            const auto heard = heard_.count(each.payload);
            if (each.matched_at == 0)
                violate("W3", fmt::format("signal {} was not matched", each.seq));
            if (heard == 0 && !each.is_unclaimed && !each.is_addressed)
                violate("W3", fmt::format("signal {} is lost", each.seq));
            if (heard > 0 && each.is_unclaimed)
                violate("W3", fmt::format("signal {} was told, and is unclaimed", each.seq));
            if (heard > 1 && decode<told>(each.payload).key == shared_key)
                violate("W3",
                        fmt::format("signal {} is for one, and was told to {}", each.seq, heard));
            if (each.is_addressed) continue;
            for (const auto& wait : waits)
                if (fits(wait.wanted, each.payload) && is_due(wait.of, each))
                    violate("W3",
                            fmt::format("signal {} fits wait {} of instance {}, which goes on",
                                        each.seq, wait.of.command, wait.of.instance));
        }
    }

    static bool fits(const match_key& wanted, std::string_view payload) {
        return key_in(wanted.shape, payload) == wanted.key && passes(wanted.filter, payload);
    }
    /// Whether the wait was there when the signal was matched, or finds it now.
    [[nodiscard]] bool is_due(const open_row& wait, const signal_row& signal) const {
        if (signal.is_unclaimed) return true;
        const auto since = waiting_since_.find(wait);
        return !clock_went_back_ && since != waiting_since_.end() &&
               since->second < signal.matched_at && !heard_before(wait, signal);
    }
    /// A workflow gets a signal once, whatever it waits for.
    [[nodiscard]] bool heard_before(const open_row& wait, const signal_row& signal) const {
        const auto [first, last] = heard_.equal_range(signal.payload);
        return std::any_of(first, last,
                           [&](const auto& one) { return one.second == wait.instance; });
    }

    void check_promises(const flow_promises& promises) {
        if (book_.was_restored(service_)) return;  // To what it was before them.
        const auto count = [&](std::string_view sql, const std::string& what) {
            std::int64_t found = 0;
            read(sql, [&](const sql_row& row) { found = row.integer(0); }, what);
            return found;
        };
        for (const auto& [service, id] : promises.started)
            if (service == service_ &&
                count("SELECT count(*) FROM workflow_instances WHERE id = ?", id) != 1)
                violate("W2", fmt::format("workflow {} was started, and is not there;", id));
        for (const auto& [service, token] : promises.told)
            if (service == service_ &&
                count("SELECT count(*) FROM workflow_signals WHERE payload LIKE ?",
                      "%" + token + "%") != 1)
                violate("W3",
                        fmt::format("a signal was accepted, and is not there once: {}", token));
    }

    store_reader& from_;
    std::string service_;
    bool clock_went_back_;
    bool is_quiet_ = true;  // Nothing moves any more.
    const std::map<std::string, std::string>& answers_;
    ledger& book_;
    std::set<open_row> waits_, timers_, calls_, runs_, mail_, watches_;
    std::multimap<std::string, std::int64_t> heard_;  // Payloads of signals, and who got them.
    std::map<open_row, std::int64_t> waiting_since_;
    std::set<std::int64_t> reported_;  // Links of the chain that steps tell of.
    std::vector<std::string> unreported_;
    std::uint64_t steps_ = 0;
    std::vector<std::uint32_t> undos_;
    std::uint32_t undoing_ = 0, undone_ = 0;
};

}  // namespace

void look_at_flows(process& at, ledger& book) {
    for (const auto& each : at.core().worries())
        if (shows_canary(each.what))
            book.violate(fmt::format("invariant W12: health shows a payload: {}", each.what));
    const std::map<std::string, std::string> no_answers;
    const auto read = at.core().store().read([&](store_reader& from) -> result<> {
        flow_check(from, {at.service(), true, no_answers}, book).always();
        return {};
    });
    if (!read) book.note(std::string("the workflows cannot be looked at: ") + read.error().what());
}

void read_answers(process& at, std::map<std::string, std::string>& into) {
    value_or_throw(at.core().store().read([&](store_reader& from) {
        return ask(from,
                   "SELECT correlation_id, status FROM outbox_messages"
                   " WHERE message_type = 'Response'",
                   [&](const sql_row& row) { into.emplace(row.text(0), row.text(1)); });
    }));
}

std::uint64_t check_flows(process& at, const flow_facts& facts, const flow_promises& promises,
                          ledger& book) {
    look_at_flows(at, book);
    std::uint64_t steps = 0;
    const auto read = at.core().store().read([&](store_reader& from) -> result<> {
        steps = flow_check(from, facts, book).all(promises);
        return {};
    });
    if (!read) book.violate(std::string("the workflows cannot be checked: ") + read.error().what());
    return steps;
}

}  // namespace posthorn::sim
