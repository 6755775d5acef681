#include "outbox/dispatch/tenure.hpp"

#include <tuple>
#include <utility>

#include "base/async/cancellation.hpp"
#include "base/planted.hpp"

namespace posthorn {

tenure::tenure(const surroundings& around, std::int64_t epoch)
    : around_(around),
      epoch_(epoch),
      agenda_(around.options.agenda_times_max),
      claims_(around.with.store, epoch),
      teller_({around.with.store, around.with.readers, around.with.timer, around.with.log},
              around.with.ended),
      settler_(
          {around.with.store, around.with.clock, around.with.timer, around.with.log},
          around.options.settler, epoch, [this] { around_.refused(epoch_); },
          [this] { teller_.look(); }),
      batches_(around.where),
      lanes_(make_lane_services()),
      sweeper_(make_sweeper_services()),
      order_({around.with.store, around.with.readers, around.with.timer, around.with.log},
             around.options.order),
      expiry_({around.with.store, around.with.readers, around.with.clock, around.clocks,
               around.with.timer, around.with.log, lanes_, around.options}),
      dead_expiry_({around.with.store, around.with.readers, around.clocks, around.with.timer,
                    around.with.log, [this] { teller_.look(); }}),
      seats_({around.with.store, around.with.clock, around.with.timer, around.with.log,
              around.owner_is_gone,
              [this] {
                  around_.sweep.want();
                  order_.look();
              }},
             around.options.lease),
      health_({around.with.store, around.with.clock, around.with.timer, around.with.log,
               around.owner_is_gone},
              around.options.lease, "health", [this] { return look_after_all(); }) {}

lane_services tenure::make_lane_services() {
    const auto& with = around_.with;
    return {.clock = with.clock,
            .clocks = around_.clocks,
            .timer = with.timer,
            .random = with.random,
            .log = with.log,
            .routes = with.routes,
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

sweeper::services tenure::make_sweeper_services() {
    const auto& with = around_.with;
    return {.where = with.store,
            .readers = with.readers,
            .clock = with.clock,
            .clocks = around_.clocks,
            .timer = with.timer,
            .log = with.log,
            .guard = around_.guard,
            .claims = claims_,
            .lanes = lanes_,
            .agenda = agenda_,
            .call = around_.sweep,
            .counters = around_.counters,
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
    lanes_.for_each([](lane& one) { one.close(); });
    co_await intake.join();
    co_await drain();
    batches_.cancel();
    co_await batches_.join();
    if (!abandoned_) co_await settler_.flush(around_.options.flush_time);
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

void tenure::abandon() {
    if (std::exchange(abandoned_, true)) return;
    settler_.abandon();
    around_.hot.close();
    lanes_.abandon();
    ending_.ring();
    batch_ended_.ring();  // A drain under way has nothing to wait for any more.
}

task<> tenure::take_hot_rows() {
    while (co_await around_.hot_arrivals.wait()) {
        auto [rows, overflowed, expected] = around_.hot.take();
        if (expected) lanes_.get(expected->body.destination).prepare(expected->body);
        const auto now = around_.with.clock.wall();
        std::vector<lane*> touched;
        std::vector<outbox_row> left;
        for (auto& row : rows) {
            if (const auto due = row.body.deliver_at; due && *due > now) {
                if (agenda_.note(*due)) around_.sweep.look_at_agenda();
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
    const auto& clock = around_.with.clock;
    const auto end = clock.steady() + around_.options.drain_time;
    while (!abandoned_ && batches_in_flight()) {
        const auto now = clock.steady();
        if (now >= end) co_return;
        co_await batch_ended_.wait_for(around_.with.timer, end - now);
    }
}

}  // namespace posthorn
