#include "standby/shipping.hpp"

#include <array>

#include "standby/rejoin.hpp"

namespace posthorn::standby {
namespace {

using state = ship_report::state;

bool must_wait(const standby_settings& how) {
    return how.mode == ship_mode::sync && how.lost == when_lost::wait;
}

double seconds_of(std::chrono::milliseconds time) {
    return std::chrono::duration<double>(time).count();
}

std::string lag_of(const ship_report& seen) {
    return fmt::format("{} bytes of the log, {:.1f} s", seen.behind, seconds_of(seen.behind_for));
}

health_worry worry_about_absence(const ship_report& seen, const standby_settings& how) {
    const auto where = to_string(*how.to);
    const bool waits = must_wait(how);
    const auto level = waits ? health_level::red : health_level::yellow;
    const auto* const meanwhile =
        waits ? "nothing is taken in or sent without it" : "commits are answered without it";
    if (seen.is_refused)
        return {level, fmt::format("the standby {} refuses this node, and {}: {}; if it was "
                                   "promoted, stop this node and run 'posthorn standby rejoin'",
                                   where, meanwhile, seen.trouble)};
    return {level,
            fmt::format("the standby {} does not follow, and {}: {}; see that 'posthorn standby "
                        "follow' runs there and has the same key",
                        where, meanwhile, seen.trouble.empty() ? "no connection" : seen.trouble)};
}

}  // namespace

shipping::shipping(const standby_settings& how, const pair_state& as, pair_access access,
                   const environment& env, std::string service)
    : settings_(how),
      as_(as),
      shipper_({.to = *how.to,
                .access = std::move(access),
                .stream = as.stream,
                .epoch = as.epoch,
                .began = as.began,
                .first_log = as.first_log,
                .service = std::move(service),
                .mode = how.mode,
                .lost = how.lost,
                .patience = how.patience,
                .log_kept = how.wal_keep},
               {thread_, env.random, env.log, env.clock}) {}

std::string refuse_switch(const ship_report& seen, const standby_settings& how) {
    if (!how.can_switch())
        return "the configuration has no standby.listen, where this machine would follow; set it";
    if (seen.how != state::following)
        return fmt::format("the standby is {}; wait until it is following", to_string(seen.how));
    if (!seen.can_lead)
        return "the standby has no standby.to, which would lead it to this machine; set it there, "
               "and start 'posthorn serve' or 'posthorn standby follow' anew";
    if (seen.alone) return "this disk alone has what was answered lately; wait for the standby";
    return {};
}

result<> shipping::begin_switch() {
    if (const auto why = refuse_switch(report(), settings_); !why.empty())
        return fail(error_code::state_changed, "{}", why);
    if (!begin_switch_)
        return fail(error_code::state_changed,
                    "this node is not run by 'posthorn serve', which alone can change its role");
    begin_switch_();
    return {};
}

std::vector<health_worry> worries_of(const ship_report& seen, const standby_settings& how) {
    if (!seen.has_tried) return {};  // A moment after the start.
    std::vector<health_worry> all;
    if (seen.how == state::away) all.push_back(worry_about_absence(seen, how));
    if (seen.how == state::copying)
        all.push_back({health_level::yellow,
                       fmt::format("the standby {} is being copied to; until that is done it "
                                   "cannot be promoted",
                                   to_string(*how.to))});
    if (seen.alone)
        all.push_back({health_level::yellow,
                       fmt::format("this disk alone has what was answered lately ({}); it is on "
                                   "the standby's too once that has caught up",
                                   lag_of(seen))});
    if (seen.how == state::following && !seen.alone && seen.behind_for >= how.lag_alarm)
        all.push_back({health_level::yellow,
                       fmt::format("the standby {} is behind by {}; see whether its disk and the "
                                   "network keep up",
                                   to_string(*how.to), lag_of(seen))});
    return all;
}

std::string loss_of(const ship_report& seen, const standby_settings& how) {
    if (seen.how == state::copying)
        return "everything: the copy is not whole, and cannot be promoted";
    if (must_wait(how)) return "nothing that was answered";
    if (seen.behind == 0 && seen.how == state::following && !seen.alone) return "nothing";
    if (seen.how == state::away)
        return fmt::format("what was answered since the standby left, at least {}", lag_of(seen));
    return lag_of(seen);
}

std::string began_of(const pair_state& kept) {
    if (!kept.began) return {};
    return to_text(new_history{kept.stream, kept.epoch, *kept.began});
}

boost::json::object to_json(const shipping& of) {
    const auto seen = of.report();
    const auto& how = of.settings();
    return {{"role", "primary"},
            {"standby", to_string(*how.to)},
            {"state", to_string(seen.how)},
            {"mode", how.mode == ship_mode::sync ? "sync" : "async"},
            {"whenLost", how.lost == when_lost::wait ? "wait" : "alone"},
            {"alone", seen.alone},
            {"epoch", of.as().epoch},
            {"stream", to_hex(of.as().stream)},
            {"began", began_of(of.as())},
            {"noSwitch", refuse_switch(seen, how)},
            {"switchTrouble", of.switch_trouble()},
            {"position", seen.position},
            {"lagBytes", seen.behind},
            {"lagSeconds", seconds_of(seen.behind_for)},
            {"copies", seen.copies},
            {"lostByPromotion", loss_of(seen, how)},
            {"trouble", seen.trouble}};
}

void write_metrics(prometheus_text& text, const ship_report& seen, std::uint64_t epoch) {
    text.begin("posthorn_standby_state", "gauge", "1 for the state that the standby is in.");
    for (const auto each : {state::away, state::copying, state::following})
        text.sample(seen.how == each ? 1 : 0, {{"state", to_string(each)}});
    text.gauge("posthorn_standby_alone", "Whether commits are answered that the standby lacks.",
               seen.alone ? 1 : 0);
    text.gauge("posthorn_standby_lag_bytes",
               "Bytes of the log that the standby has not answered for.",
               static_cast<double>(seen.behind));
    text.gauge("posthorn_standby_lag_seconds", "How long it has not.", seconds_of(seen.behind_for));
    text.gauge("posthorn_standby_position_bytes", "Where the present log ends.",
               static_cast<double>(seen.position));
    text.counter("posthorn_standby_copies_total",
                 "How often the standby was compared page by page since this node was started.",
                 seen.copies);
    text.gauge("posthorn_standby_epoch", "Raised by each promotion.", static_cast<double>(epoch));
}

}  // namespace posthorn::standby
