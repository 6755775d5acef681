#include "standby/follower.hpp"

#include <algorithm>
#include <condition_variable>
#include <vector>

#include "standby/door/follow_session.hpp"
#include "standby/door/primary_door.hpp"

namespace posthorn::standby {
namespace {

constexpr std::chrono::milliseconds look_every{200};  // Whether it is to stop.

}  // namespace

struct follower::shared {
    shared(const follower_options& how, const parts& given, link_listener at)
        : options(how),
          with(given),
          door(std::move(at), {options.access, given.random, given.log, given.time},
               {.lobby = {.waiting_max = how.strangers_max, .patience = how.patience}}) {}

    void fold();
    void wait_for_folds();
    [[nodiscard]] std::optional<error> failure();

    follower_options options;
    parts with;
    std::atomic<bool> stopping = false;
    std::atomic<bool> has_taken_back = false;

    std::mutex mutex;
    std::condition_variable changed;
    std::size_t folds = 0;  // Under way.
    std::optional<error> fold_failed;
    bool has_primary = false;  // One that was taken.
    std::string service;
    std::optional<steady_time> heard_at;
    std::string trouble;

    primary_door door;  // Its thread ends before the rest.

    void heard();
    void greeted(const std::string& by);
    void ended(std::string why);
    result<follow_end> follow(proven_primary one);
};

void follower::shared::heard() {
    const std::scoped_lock lock(mutex);
    heard_at = with.time.steady();
}

void follower::shared::greeted(const std::string& by) {
    const std::scoped_lock lock(mutex);
    has_primary = true;
    service = by;
    trouble.clear();
}

void follower::shared::ended(std::string why) {
    const std::scoped_lock lock(mutex);
    has_primary = false;
    if (!why.empty()) trouble = std::move(why);
}

void follower::shared::fold() {
    {
        const std::scoped_lock lock(mutex);
        ++folds;
    }
    with.folds.post([this] {
        auto done = with.copy.fold();
        const std::scoped_lock lock(mutex);
        --folds;
        if (!done) fold_failed = std::move(done).error();
        changed.notify_all();
    });
}

void follower::shared::wait_for_folds() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return folds == 0; });
}

std::optional<error> follower::shared::failure() {
    const std::scoped_lock lock(mutex);
    return fold_failed;
}

/// For as long as it is there; `stopped` if another is to be followed next.
result<follow_end> follower::shared::follow(proven_primary one) {
    link_channel link(std::move(one.socket), std::move(one.seal), options.patience);
    door.follows(&link);
    follow_session session({.copy = with.copy,
                            .link = link,
                            .stopping = stopping,
                            .heard = [this] { heard(); },
                            .greeted = [this](const std::string& by) { greeted(by); },
                            .generation_ended = [this] { fold(); }},
                           {.service = options.service, .can_lead = options.can_lead},
                           std::move(one.who));
    const auto over = stopping ? result<>() : session.run();
    door.follows(nullptr);
    ended(over ? "" : over.error().what());
    if (session.has_taken_role()) {
        with.log.info("Standby: the primary has given it its role");
        return follow_end::has_role;
    }
    if (session.broken()) return std::unexpected(*session.broken());
    if (!over && !stopping)
        with.log.warn("Standby: the primary is gone: {Error}", {{"Error", over.error().what()}});
    return follow_end::stopped;
}

follower::follower(std::unique_ptr<shared> own) : own_(std::move(own)) {}
follower::follower(follower&&) noexcept = default;
follower::~follower() {
    if (own_) own_->wait_for_folds();
}

result<follower> follower::open(const follower_options& options, const parts& with) {
    POSTHORN_LET(listener, link_listener::listen(options.listen));
    return follower(std::make_unique<shared>(options, with, std::move(listener)));
}

std::uint16_t follower::port() const { return own_->door.port(); }

result<follow_end> follower::run() {
    auto& own = *own_;
    while (!own.stopping) {
        if (const auto failed = own.failure()) return std::unexpected(*failed);
        auto came = own.door.next(look_every);
        if (!came) continue;
        POSTHORN_LET(over, own.follow(*std::move(came)));
        if (over != follow_end::stopped) return over;
    }
    return own.has_taken_back ? follow_end::took_back : follow_end::stopped;
}

void follower::stop() {
    own_->stopping = true;
    own_->door.stop();
}

result<> follower::take_back() {
    POSTHORN_TRY(own_->with.copy.take_back());
    own_->has_taken_back = own_->with.copy.state().as == pair_state::role::primary &&
                           own_->with.copy.state().phase == standby_phase::promoted;
    if (own_->has_taken_back) stop();
    return {};
}

result<> follower::follow_on(std::uint64_t epoch) { return own_->with.copy.follow_on(epoch); }

follow_report follower::report() const {
    const auto& own = *own_;
    follow_report told{.state = own.with.copy.state(), .at = own.with.copy.place().at};
    const std::scoped_lock lock(own_->mutex);
    told.has_primary = own.has_primary;
    told.service = own.service;
    told.trouble = own.trouble;
    if (const auto at_door = own.door.trouble(); !at_door.empty()) told.trouble = at_door;
    if (own.heard_at)
        told.silent_for =
            std::chrono::floor<std::chrono::milliseconds>(own.with.time.steady() - *own.heard_at);
    return told;
}

}  // namespace posthorn::standby
