#include "sim/network.hpp"

#include <fmt/format.h>

#include "message/wire/envelope.hpp"
#include "security/signature.hpp"

namespace posthorn::sim {

using namespace std::chrono_literals;

struct network::visit {
    std::shared_ptr<const parcel> what;
    answer given;
    std::shared_ptr<waiter> ended = waiter::make();
};

network::network(world_loop& loop, ledger& book, random_source& dice,
                 std::vector<std::string> services)
    : loop_(loop),
      book_(book),
      dice_(dice),
      services_(std::move(services)),
      late_(loop.executor()) {}

void network::find_with(std::function<process*(const std::string&)> find) {
    find_ = std::move(find);
}

bool network::happens(unsigned chance) { return chance > 0 && dice_.below(1000) < chance; }

std::chrono::nanoseconds network::travel() {
    if (happens(now.delayed))
        return std::chrono::milliseconds(
            dice_.below(static_cast<std::uint64_t>(now.delay_max.count()) + 1));
    return std::chrono::microseconds(100 + dice_.below(2000));
}

task<result<wire_reply>> network::carry(process& from, std::string to, wire_request request) {
    if (from.is_dead()) co_return co_await nothing();
    const auto what =
        std::make_shared<const parcel>(parcel{from.service(), std::move(to), std::move(request)});
    if (on_leaving) on_leaving(*what);
    if (from.is_dead()) co_return co_await nothing();
    const bool lost = happens(now.lost), ack_lost = happens(now.ack_lost);
    if (happens(now.doubled)) late_.spawn(bring_late(what, travel() + travel()));
    co_await loop_.time().sleep_for(travel());
    if (lost || cut.contains({what->from, what->to})) co_return co_await nothing();
    auto given = co_await bring(what);
    if (!given || ack_lost || cut.contains({what->to, what->from})) co_return co_await nothing();
    co_await loop_.time().sleep_for(travel());
    co_return *std::move(given);
}

// Either side may notice at once, or wait in vain.
task<result<wire_reply>> network::nothing() {
    if (dice_.below(2) == 0) co_await loop_.time().sleep_for(1h);
    co_return fail(error_code::unreachable, "the connection was lost");
}

task<> network::bring_late(std::shared_ptr<const parcel> what, std::chrono::nanoseconds delay) {
    const bool was_restored = book_.was_restored(what->to);
    if (!co_await loop_.time().sleep_for(delay)) co_return;
    // Connections do not outlive the seconds that a restore takes. A receiver that has forgotten a
    // message would take its late copy for new, whatever of its order key is to come.
    if (book_.was_restored(what->to) != was_restored) co_return;
    ++seen_.duplicates;
    book_.note(fmt::format("a request of {} arrives at {} once more", what->from, what->to));
    co_await bring(std::move(what));
}

task<network::answer> network::bring(std::shared_ptr<const parcel> what) {
    auto* const at = find_(what->to);
    if (at == nullptr) co_return std::nullopt;
    const auto here = std::make_shared<visit>();
    here->what = std::move(what);
    at->visits().spawn(serve(*at, here));
    co_await here->ended->wait();
    co_return std::move(here->given);
}

task<> network::serve(process& at, std::shared_ptr<visit> here) {
    const auto& what = *here->what;
    ++seen_.deliveries;
    if (on_arriving) on_arriving(what, at);
    if (!at.is_dead()) {
        auto given = co_await at.server().answer(what.request);
        if (on_answered) on_answered(what, at);
        if (given.status == 401) ++seen_.refused;
        if (!at.is_dead()) here->given = std::move(given);
    }
    here->ended->wake();
}

void network::remember(const message& left) {
    constexpr std::size_t kept_max = 64;
    if (++left_ % 8 != 0) return;
    auto copy = std::make_shared<const message>(left);
    if (kept_.size() < kept_max)
        kept_.push_back(std::move(copy));
    else
        kept_[dice_.below(kept_max)] = std::move(copy);
}

std::shared_ptr<const parcel> network::seal(const message& what, const key_ring& with,
                                            wall_time at) {
    auto made = std::make_shared<parcel>(
        parcel{what.source, what.destination, {.path = std::string(receive_path)}});
    auto& request = made->request;
    append_envelope(request.body, what);
    request.signature = value_or_throw(sign(
        with, {what.source, what.destination},
        {.path = request.path, .content_type = request.content_type, .body = request.body}, at));
    return made;
}

void network::echo(process& from, std::size_t count) {
    for (std::size_t i = 0; i < count && !kept_.empty(); ++i) {
        const auto& one = *kept_[dice_.below(kept_.size())];
        if (one.source != from.service()) continue;
        const auto keys = from.keys().find(one.destination);
        const auto today = from.clock().wall();
        if (keys->signer(today) == nullptr) continue;
        ++seen_.echoes;
        book_.note(one.id, "it is sent once more by one who kept it");
        // A receiver that has forgotten it takes it for new, whatever of its order key is to come.
        if (book_.was_restored(one.destination)) book_.touched(one.id, "keeps");
        late_.spawn(bring_late(seal(one, *keys, today), travel()));
    }
}

void network::forge(const std::string& to, const message& what, const key_ring& with,
                    wall_time at) {
    book_.note(what.id, "it is forged, for " + to);
    late_.spawn(bring_forged(seal(what, with, at)));
}

task<> network::bring_forged(std::shared_ptr<const parcel> what) {
    const auto given = co_await bring(std::move(what));
    if (given && given->status != 401)
        book_.violate(fmt::format("a key past its date is answered with {}", given->status));
}

}  // namespace posthorn::sim
