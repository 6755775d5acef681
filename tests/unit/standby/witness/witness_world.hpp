#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "standby/witness/standby_watch.hpp"
#include "standby/witness/witness_register.hpp"

namespace posthorn::standby {

/// A pair and its witness in virtual time, with a network that loses, delays and reorders, and
/// clocks that do not run alike. It holds that two nodes never act as the primary at a time, and
/// that what was answered is never lost.
class witness_world {
public:
    struct rules {
        double loss = 0;
        std::chrono::milliseconds delay_max = std::chrono::milliseconds{5};
        bool may_go_alone = true;
        bool epochs_rise = true;      // Not where the witness may come from a backup.
        bool expects_no_loss = true;  // Not where a person, or a backup, has had a hand in it.
        witness_timing timing{.lease = std::chrono::seconds{3},
                              .every = std::chrono::milliseconds{300}};
    };
    enum end : std::uint8_t { one, two, witness };

    witness_world(std::uint64_t seed, const rules& how) : dice_(seed), how_(how) {
        for (const auto at : {one, two}) {
            auto& self = nodes_.at(at);
            self.at = at;
            self.id.stream = {std::byte{5}};
            self.id.node[0] = std::byte{static_cast<unsigned char>(at + 1)};
            self.id.epoch = 1;
            self.rate = 0.98 + (0.04 * dice_.unit());
            self.is_primary = at == one;
            self.is_whole = at == two;
            start(at);
        }
        kept_.name = {std::byte{0xcc}};
        start_witness(kept_);
    }

    void run(std::chrono::milliseconds time) {
        for (const auto until = now_ + time; now_ < until; now_ += tick) {
            deliver();
            for (auto& each : nodes_)
                if (is_awake(each)) act(each);
            hold();
        }
    }

    void kill(end who) {
        auto& self = nodes_.at(who);
        self.is_up = false;
        self.primary.reset();
        self.standby.reset();
    }
    void start(end who) {
        auto& self = nodes_.at(who);
        self.is_up = true;
        ++self.id.starts;
        self.acked = 0;
        // What of it was answered, and how, it does not know any more.
        self.alone_until = self.log.size();
        self.answered = self.log.size();
        take_role(self);
    }
    void pause(end who, std::chrono::milliseconds time) { nodes_.at(who).awake_at = now_ + time; }
    void cut(end from, end to, std::chrono::milliseconds time) { cut_[from][to] = now_ + time; }
    void kill_witness() { register_.reset(); }
    void start_witness(const witness_state& kept) {
        kept_ = kept;
        register_.emplace(kept,
                          witness_register::options{.lease = how_.timing.lease,
                                                    .run = dice_.next() | 1U,
                                                    .started_at = steady_time(now_),
                                                    .save = [this](const witness_state& state) {
                                                        kept_ = state;
                                                        return result<>();
                                                    }});
    }
    [[nodiscard]] const witness_state& kept() const { return kept_; }
    /// As an operator does who has seen to it that the other one is off.
    void promote_by_hand(end who) {
        auto& self = nodes_.at(who);
        if (self.is_primary || !self.is_whole || !self.is_up) return;
        how_.expects_no_loss = false;
        become_primary(self);
    }

    [[nodiscard]] int promotions() const { return promotions_; }
    [[nodiscard]] std::size_t answered() const { return answered_.size(); }
    [[nodiscard]] bool acts(end who) const { return has_right(nodes_.at(who)); }
    [[nodiscard]] bool is_up(end who) const { return nodes_.at(who).is_up; }
    [[nodiscard]] bool is_primary(end who) const { return nodes_.at(who).is_primary; }
    [[nodiscard]] bool witness_is_up() const { return register_.has_value(); }
    [[nodiscard]] std::chrono::milliseconds now() const { return now_; }
    [[nodiscard]] seeded_random& dice() { return dice_; }

private:
    using history = std::vector<std::uint32_t>;
    static constexpr std::chrono::milliseconds tick = std::chrono::milliseconds{50};
    static constexpr std::chrono::milliseconds link_every = std::chrono::milliseconds{500};

    struct machine {
        end at = one;
        double rate = 1;
        bool is_up = false;
        std::chrono::milliseconds awake_at{};
        // On its disk.
        witness_identity id{};
        bool is_primary = false;
        bool is_whole = false;
        history log{};
        // In its memory.
        std::optional<primary_watch> primary{};
        std::optional<standby_watch> standby{};
        std::size_t acked = 0;
        std::size_t answered = 0;
        std::size_t alone_until = 0;
        std::chrono::milliseconds linked_at{-link_every};
        std::optional<steady_time> acked_at{};
    };

    [[nodiscard]] steady_time local(const machine& self) const {
        return steady_time(std::chrono::nanoseconds(static_cast<std::int64_t>(
            static_cast<double>(std::chrono::nanoseconds(now_ + std::chrono::hours{100}).count()) *
            self.rate)));
    }
    [[nodiscard]] bool is_awake(const machine& self) const {
        return self.is_up && now_ >= self.awake_at;
    }
    [[nodiscard]] bool has_right(const machine& self) const {
        if (!is_awake(self) || !self.primary) return false;
        const auto may = self.primary->may(local(self));
        return may == primary_may::alone || may == primary_may::with_standby;
    }

    void take_role(machine& self) {
        self.primary.reset();
        self.standby.reset();
        if (self.is_primary)
            self.primary.emplace(self.id, how_.timing, how_.may_go_alone);
        else
            self.standby.emplace(self.id, how_.timing, local(self));
    }

    void send(end from, end to, std::function<void()> what) {
        if (cut_[from][to] > now_ || dice_.unit() < how_.loss) return;
        const auto delay = std::chrono::milliseconds(static_cast<std::int64_t>(
            dice_.below(static_cast<std::uint64_t>(how_.delay_max.count()) + 1)));
        mail_.emplace(now_ + delay, letter{to, std::move(what)});
    }
    void deliver() {
        while (!mail_.empty() && mail_.begin()->first <= now_) {
            auto next = std::move(mail_.begin()->second);
            mail_.erase(mail_.begin());
            const auto* const to = next.to == witness ? nullptr : &nodes_.at(next.to);
            if (to == nullptr || is_awake(*to))
                next.what();
            else if (to->is_up &&
                     to->awake_at <
                         now_ + std::chrono::seconds{10})  // Longer, and its connections break.
                mail_.emplace(to->awake_at, std::move(next));
        }
    }

    void act(machine& self) {
        if (self.primary) act_as_primary(self);
        if (self.standby) act_as_standby(self);
    }
    void act_as_primary(machine& self) {
        const auto now = local(self);
        if (self.primary->may(now) == primary_may::stop) {
            // It rejoins: what it has is compared, or copied anew.
            self.is_primary = false;
            self.is_whole = false;
            take_role(self);
            return;
        }
        if (now_ - self.linked_at >= link_every) {
            self.linked_at = now_;
            ship(self);
        }
        if (has_right(self) && dice_.below(20) == 0) {
            self.log.push_back(next_commit_++);
            ship(self);
        }
        answer_commits(self);
        const bool follows = self.acked_at && now - *self.acked_at < how_.timing.lease;
        self.primary->standby_has_all(follows && self.acked >= self.alone_until);
        if (const auto asked = self.primary->next_question(now)) ask(self, *asked);
        self.id = self.primary->self();
    }
    void answer_commits(machine& self) {
        const bool is_alone = self.primary->may(local(self)) == primary_may::alone;
        for (; self.answered < self.log.size(); ++self.answered) {
            if (self.acked <= self.answered) {
                if (!is_alone) return;
                self.alone_until = self.answered + 1;
            }
            answered_.push_back(self.log[self.answered]);
        }
    }
    void act_as_standby(machine& self) {
        self.standby->copy_is_whole(self.is_whole);
        if (const auto asked = self.standby->next_question(local(self))) ask(self, *asked);
        self.id = self.standby->self();
        if (self.standby->is_granted(local(self))) become_primary(self);
    }
    void become_primary(machine& self) {
        ++promotions_;
        ++self.id.epoch;
        self.is_primary = true;
        self.acked = 0;
        self.acked_at.reset();
        self.answered = self.alone_until = self.log.size();
        if (how_.expects_no_loss)
            for (const auto each : answered_)
                ASSERT_TRUE(std::ranges::binary_search(self.log, each))
                    << "lost " << each << " at " << now_.count();
        take_role(self);
    }

    void ship(machine& self) {
        const auto to = self.at == one ? two : one;
        send(self.at, to,
             [this, from = self.at, to, epoch = self.id.epoch, starts = self.id.starts,
              asked_at = local(self), log = std::make_shared<history>(self.log)] {
                 take(nodes_.at(to), from, {epoch, starts}, asked_at, *log);
             });
    }
    struct sender {
        std::uint64_t epoch = 0;
        std::uint32_t starts = 0;
    };
    void take(machine& self, end from, const sender& by, steady_time asked_at, const history& log) {
        if (by.epoch < self.id.epoch || (self.is_primary && by.epoch == self.id.epoch)) {
            send(self.at, from, [this, from, epoch = self.id.epoch] {
                auto& it = nodes_.at(from);
                if (it.primary && it.id.epoch < epoch) it.primary->standby_refuses();
            });
            return;
        }
        if (self.is_primary) {  // Of an older epoch.
            if (self.primary) self.primary->standby_refuses();
            return;
        }
        if (!self.standby || !self.standby->may_answer()) return;
        if (by.epoch > self.id.epoch) {
            self.id.epoch = by.epoch;
            self.is_whole = false;
            take_role(self);
        }
        const bool follows = log.size() >= self.log.size() &&
                             std::equal(self.log.begin(), self.log.end(), log.begin());
        // One that was overtaken has nothing new; another history is copied over.
        if (!follows && self.is_whole) return;
        self.log = log;
        self.is_whole = true;
        self.standby->heard_primary(local(self));
        send(self.at, from, [this, from, by, asked_at, has = self.log.size()] {
            auto& it = nodes_.at(from);
            if (!it.primary || it.id.epoch != by.epoch || it.id.starts != by.starts) return;
            it.primary->standby_answered(asked_at);
            it.acked_at = std::max(it.acked_at.value_or(asked_at), asked_at);
            it.acked = std::max(it.acked, has);
        });
    }
    void ask(machine& self, const witness_question& asked) {
        send(self.at, witness,
             [this, from = self.at, asked, starts = self.id.starts, asked_at = local(self)] {
                 if (!register_) return;
                 const auto told = register_->answer(asked, steady_time(now_)).value();
                 send(witness, from, [this, from, asked, told, starts, asked_at] {
                     auto& it = nodes_.at(from);
                     if (it.id.starts != starts) return;
                     if (it.primary && it.id.epoch == asked.epoch)
                         it.primary->witness_answered(asked, told, asked_at);
                     if (it.standby && it.id.epoch == asked.epoch)
                         it.standby->witness_answered(asked, told, local(it));
                 });
             });
    }

    void hold() {
        std::optional<std::uint64_t> epoch;
        for (const auto& each : nodes_) {
            if (!has_right(each)) continue;
            ASSERT_FALSE(epoch) << "both act at " << now_.count();
            epoch = each.id.epoch;
        }
        if (!epoch) return;
        if (how_.epochs_rise) {
            ASSERT_GE(*epoch, newest_epoch_) << "an older epoch acts at " << now_.count();
        }
        newest_epoch_ = *epoch;
    }

    struct letter {
        end to;
        std::function<void()> what;
    };

    seeded_random dice_;
    rules how_;
    std::chrono::milliseconds now_{};
    std::array<machine, 2> nodes_;
    std::optional<witness_register> register_;
    witness_state kept_;
    std::map<end, std::map<end, std::chrono::milliseconds>> cut_;
    std::multimap<std::chrono::milliseconds, letter> mail_;
    history answered_;
    std::uint32_t next_commit_ = 1;
    std::uint64_t newest_epoch_ = 0;
    int promotions_ = 0;
};

}  // namespace posthorn::standby
