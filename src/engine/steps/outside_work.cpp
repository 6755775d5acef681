#include "engine/steps/outside_work.hpp"

#include <algorithm>

#include "engine/rows/call_ids.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds pause_min{100};
constexpr milliseconds pause_max = std::chrono::minutes{1};

// The next run counts its commands from 1 again.
constexpr std::string_view awaited_sql =
    "SELECT 1 FROM workflow_runs w JOIN workflow_instances i ON i.instance = w.instance"
    " WHERE w.instance = ? AND w.command = ? AND i.run = ?";

}  // namespace

milliseconds pause_after(std::uint32_t failures) {
    constexpr std::uint32_t doublings_max = 10;
    return std::min(pause_max,
                    milliseconds(pause_min.count() << std::min(failures, doublings_max)));
}

void outside_work::start(const instance_row& of, std::uint32_t command, const frame::work& what) {
    if (under_way_.insert({of.instance, of.run, command}).second) attempt(of, command, what, 0);
}

void outside_work::attempt(const instance_row& of, std::uint32_t command, frame::work what,
                           std::uint32_t tries) {
    const auto key = id_of({of.name, of.run, command});
    with_.env.workers.post([this, of, command, key, tries, what = std::move(what),
                            gate = with_.loop.gate()] {
        auto how = detail::event_kind::done;
        std::string payload;
        bool has_failed = false;
        try {
            payload = (*what)(key);
        } catch (const permanent& why) {
            how = detail::event_kind::refused;
            payload = why.what();
        } catch (const std::exception& why) {
            has_failed = true;
            payload = why.what();
        } catch (...) {
            has_failed = true;
            payload = "something unknown was thrown";
        }
        gate->post([this, of, command, tries, what, how, has_failed,
                    payload = std::move(payload)]() mutable {
            if (!has_failed) return finish(of, command, how, std::move(payload));
            with_.env.log.warn("Workflow {Workflow} {Id}: its work failed, will try again: {Error}",
                               {{"Workflow", of.workflow}, {"Id", of.id}, {"Error", payload}});
            with_.report.note_trouble(of, payload);
            with_.loop.do_later(pause_after(tries + 1), [this, of, command, tries, what] {
                if (is_awaited(of, command)) return attempt(of, command, what, tries + 1);
                under_way_.erase({of.instance, of.run, command});
                with_.report.forget_trouble(of.instance);
            });
        });
    });
}

// What cannot be read now may be.
bool outside_work::is_awaited(const instance_row& of, std::uint32_t command) const {
    bool is_open = false;
    const auto read = with_.where.read([&](store_reader& from) -> result<> {
        POSTHORN_LET(found, is_there(from, awaited_sql, of.instance, command, of.run));
        is_open = found;
        return {};
    });
    return is_open || !read;
}

void outside_work::finish(const instance_row& of, std::uint32_t command, detail::event_kind how,
                          std::string payload) {
    with_.where.submit(
        {.work = [instance = of.instance, run = of.run, command, how,
                  payload](store_transaction& tx) -> result<> {
             POSTHORN_LET(is_open, is_there(tx, awaited_sql, instance, command, run));
             if (!is_open) return {};  // The workflow, or this run of it, has ended.
             POSTHORN_TRY(must_change(tx, "workflow_runs",
                                      "DELETE FROM workflow_runs"
                                      " WHERE instance = ? AND command = ?",
                                      instance, command));
             return must_change(tx, "workflow_mailbox",
                                "INSERT INTO workflow_mailbox (instance, command, kind, payload)"
                                " VALUES (?, ?, ?, ?)",
                                instance, command, cause_text(how, true), payload);
         },
         .done =
             [this, of, command, how, payload, gate = with_.loop.gate()](const result<>& outcome) {
                 gate->post([this, of, command, how, payload, outcome] {
                     if (outcome) {
                         under_way_.erase({of.instance, of.run, command});
                         return with_.loop.wake();
                     }
                     with_.report.note_trouble(of, outcome.error().what());
                     with_.loop.do_later(
                         std::chrono::seconds{1},
                         [this, of, command, how, payload] { finish(of, command, how, payload); });
                 });
             }});
}

}  // namespace posthorn
