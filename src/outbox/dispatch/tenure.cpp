#include "outbox/dispatch/tenure.hpp"

#include <tuple>
#include <utility>

#include "base/async/cancellation.hpp"
#include "base/planted.hpp"

namespace posthorn {

tenure::tenure(const deps& around, std::int64_t epoch)
    : around_(around),
      epoch_(epoch),
      agenda_(around.options.agenda_times_max),
      claims_(around.with.store, epoch),
      teller_(around.with.env, around.with.store, around.with.ended),
      settler_(
          around.with.env, around.with.store, around.counters.settling, around.options.settler,
          epoch, [this] { around_.refused(epoch_); }, [this] { teller_.look(); }),
      batches_(around.where),
      lanes_(make_lane_deps()),
      sweeper_(make_sweeper_deps()),
      order_(around.with.env, around.with.store, around.options.order),
      expiry_({around.with.env, around.with.store, around.clocks, lanes_, around.options}),
      dead_expiry_(around.with.env, around.with.store, around.clocks, [this] { teller_.look(); }),
      seats_({around.with.env, around.with.store, around.owner_is_gone,
              [this] {
                  around_.sweep.want();
                  order_.look();
              }},
             around.options.lease),
      health_({around.with.env, around.with.store, around.owner_is_gone}, around.options.lease,
              "health", [this] { return look_after_all(); }) {}

lane_deps tenure::make_lane_deps() {
    return {.env = around_.with.env,
            .clocks = around_.clocks,
            .routes = around_.with.routes,
            .counters = around_.counters,
            .retries = around_.retries,
            .options = around_.options,
            .settler = settler_,
            .agenda = agenda_,
            .batches = batches_,
            .claims = claims_,
            .sweep = around_.sweep,
            .batch_ended = batch_ended_};
}

sweeper::deps tenure::make_sweeper_deps() {
    return {.env = around_.with.env,
            .where = around_.with.store,
            .clocks = around_.clocks,
            .guard = around_.guard,
            .claims = claims_,
            .lanes = lanes_,
            .agenda = agenda_,
            .call = around_.sweep,
            .counters = around_.counters,
            .board = around_.board,
            .rounds = around_.rounds,
            .options = around_.options};
}

task<> tenure::run() {
    task_group settling(around_.where);
    settling.spawn(settler_.run());
    task_group intake(around_.where);
    // Opened before the first sweep reads: a row committed in between comes both ways, never none.
    around_.hot.open(claims_.are_needed() ? epoch_ : 0);
    if (!POSTHORN_PLANTED(recovered_rows_unsynced)) around_.guard.distrust();
    intake.spawn(take_hot_rows());
    intake.spawn(sweeper_.run());
    intake.spawn(expiry_.run());
    intake.spawn(teller_.run());
    intake.spawn(claims_.are_needed() ? health_.run() : look_after_all());
    if (claims_.are_needed()) intake.spawn(seats_.run());

    co_await ending_.wait();
    around_.hot.close();
    intake.cancel();
    lanes_.for_each([](lane& one) { one.stop(); });
    co_await intake.join();
    co_await drain();
    batches_.cancel();
    co_await batches_.join();
    if (!is_cut_off_) co_await settler_.flush(around_.options.flush_time);
    settling.cancel();
    co_await settling.join();
}

task<> tenure::look_after_all() {
    task_group looks(around_.where);
    looks.spawn(order_.run());
    if (around_.options.expiry.dead_too) looks.spawn(dead_expiry_.run());
    bell never;
    std::ignore = co_await never.wait();
    looks.cancel();
    co_await looks.join();
}

void tenure::stop() { ending_.ring(); }

void tenure::routes_changed() {
    lanes_.for_each([](lane& one) { one.routes_changed(); });
}

void tenure::try_now(std::string_view destination) {
    lanes_.for_each([destination](lane& one) {
        if (one.destination() == destination) one.try_now();
    });
}

void tenure::cut_off() {
    if (std::exchange(is_cut_off_, true)) return;
    settler_.cut_off();
    around_.hot.close();
    lanes_.cut_off();
    ending_.ring();
    batch_ended_.ring();  // A drain under way has nothing to wait for any more.
}

task<> tenure::take_hot_rows() {
    while (co_await around_.hot_arrivals.wait()) {
        auto [rows, overflowed, expected] = around_.hot.take();
        if (expected) lanes_.get(expected->body.destination).prepare(expected->body);
        const auto now = around_.with.env.clock.wall();
        std::vector<lane*> touched;
        std::vector<outbox_row> left;
        for (auto& row : rows) {
            if (const auto due = row.body.deliver_at; due && *due > now) {
                if (agenda_.note(*due, row.body.destination)) around_.sweep.look_at_agenda();
                continue;
            }
            if (!claims_.cover(row)) {
                overflowed = true;
                continue;
            }
            auto& to = lanes_.get(row.body.destination);
            const auto offered = to.offer(row);
            if (offered == lane::offered::full) ++around_.counters.overflowed;
            if (to.is_for_others(offered)) left.push_back(std::move(row));
            if (touched.empty() || touched.back() != &to) touched.push_back(&to);
        }
        for (auto* one : touched) one->pump();
        claims_.let_go(left);
        if (overflowed) around_.sweep.want();
    }
}

bool tenure::batches_in_flight() {
    bool some = false;
    lanes_.for_each([&](lane& one) { some |= one.batches_in_flight() > 0; });
    return some;
}

task<> tenure::drain() {
    const auto& clock = around_.with.env.clock;
    const auto end = clock.steady() + around_.options.drain_time;
    while (!is_cut_off_ && batches_in_flight()) {
        const auto now = clock.steady();
        if (now >= end) co_return;
        co_await batch_ended_.wait_for(around_.with.env.timer, end - now);
    }
}

}  // namespace posthorn
