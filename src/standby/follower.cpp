#include "standby/follower.hpp"

#include <algorithm>
#include <condition_variable>
#include <vector>

namespace posthorn::standby {
namespace {

constexpr std::chrono::milliseconds look_every{200};  // Whether it is to stop.

}  // namespace

struct follower::shared {
    shared(const follower_options& how, const parts& given, link_listener at)
        : options(how), with(given), listener(std::move(at)) {}

    void fold();
    void wait_for_folds();
    [[nodiscard]] std::optional<error> failure();

    follower_options options;
    parts with;
    link_listener listener;
    std::atomic<bool> stopping = false;

    std::mutex mutex;
    std::condition_variable changed;
    std::size_t folds = 0;  // Under way.
    std::optional<error> fold_failed;
    link_channel* now = nullptr;
    bool has_primary = false;  // One that was taken.
    std::string service;
    std::optional<steady_time> heard_at;
    std::string trouble;

    void heard();
    void greeted(const std::string& by);
    void ended(std::string why);
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
    now = nullptr;
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

/// One primary, for as long as it is there.
class follower::session {
public:
    session(shared& of, link_channel& link) : of_(of), copy_(of.with.copy), link_(link) {}

    /// Why it ended, which is never the standby's own fault.
    result<> run();
    /// Of this standby's disk.
    [[nodiscard]] const std::optional<error>& broken() const { return broken_; }

private:
    result<> greet();
    result<> answer(const link_message& said);
    result<> take(const link_message& said);
    result<> compare(bytes_view body);
    result<> refuse(std::string_view why) {
        return link_.say(link_kind::refused, {std::as_bytes(std::span(why))});
    }
    /// Tells it why, and ends.
    result<> turn_away(const std::string& why) {
        POSTHORN_TRY(refuse(why));
        return fail(error_code::access_denied, "it was refused: {}", why);
    }
    [[nodiscard]] result<log_header> header_in(const link_message& said) const;

    shared& of_;
    kept_copy& copy_;
    link_channel& link_;
    link_identity primary_;
    bool copying_ = false;  // In this session: half a copy of another one is not gone on with.
    std::optional<error> broken_;
};

result<> follower::session::run() {
    POSTHORN_TRY(greet());
    while (!of_.stopping) {
        POSTHORN_LET(said, link_.hear());
        of_.heard();
        POSTHORN_TRY(answer(said));
        if (broken_) return {};
    }
    return {};
}

result<> follower::session::greet() {
    POSTHORN_LET(said, link_.hear());
    const auto read = said.kind == link_kind::identity ? decode_identity(said.body) : std::nullopt;
    if (!read) return fail(error_code::malformed_request, "a primary did not say who it is");
    primary_ = *read;
    const auto ours = copy_.place();
    if (ours.phase != standby_phase::empty && ours.stream != primary_.stream)
        return turn_away("this is the standby of another database");
    if (ours.phase == standby_phase::promoted || ours.epoch > primary_.epoch)
        return turn_away(
            fmt::format("this is of epoch {}, and you are of {}: you are not the primary",
                        ours.epoch, primary_.epoch));
    of_.greeted(primary_.service);
    return link_.say(link_kind::place, {encode(ours)});
}

result<log_header> follower::session::header_in(const link_message& said) const {
    if (const auto header = read_log_header(said.body)) return *header;
    return fail(error_code::malformed_request, "the header of a log cannot be read");
}

result<> follower::session::answer(const link_message& said) {
    if (said.kind == link_kind::hashes) return compare(said.body);
    if (const auto taken = take(said); !taken) {
        if (taken.error().code() == error_code::malformed_request)
            return refuse(taken.error().what());
        broken_ = taken.error();
        return refuse("the standby's disk failed");
    }
    return link_.say(link_kind::done, {encode(copy_.place().at.offset)});
}

result<> follower::session::take(const link_message& said) {
    const auto body = bytes_view(said.body);
    const bool is_usable = copying_ || copy_.place().phase == standby_phase::following;
    switch (said.kind) {
        case link_kind::follow:
            if (!is_usable) break;
            copy_.drop_part();
            return copy_.note(primary_.epoch, primary_.may_lack);
        case link_kind::generation: {
            if (!is_usable) break;
            POSTHORN_LET(header, header_in(said));
            POSTHORN_TRY(copy_.note(primary_.epoch, primary_.may_lack));
            POSTHORN_TRY(copy_.next_generation(header));
            of_.fold();
            return {};
        }
        case link_kind::frames:
            if (!is_usable || body.size() < 8) break;
            return copy_.append(read_number(body.first(8)), body.subspan(8));
        case link_kind::copy: {
            POSTHORN_LET(header, header_in(said));
            copying_ = true;
            return copy_.begin_copy(
                {.stream = primary_.stream, .epoch = primary_.epoch, .may_lack = primary_.may_lack},
                header);
        }
        case link_kind::pages:
            if (!copying_ || body.size() < 8) break;
            return copy_.write_pages(body.subspan(8), read_number(body.first(8)));
        case link_kind::copied:
            if (!copying_ || body.size() != 8) break;
            copying_ = false;
            POSTHORN_TRY(copy_.end_copy(read_number(body)));
            of_.fold();
            return {};
        default: break;
    }
    return fail(error_code::malformed_request, "a message came where it has no meaning");
}

result<> follower::session::compare(bytes_view body) {
    const auto theirs = decode_hashes(body);
    if (!theirs || !copying_) return refuse("a message came where it has no meaning");
    std::vector<std::byte> wanted(theirs->hashes.size(), std::byte{1});
    std::vector<std::byte> page(theirs->page_size);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto size = copy_.read_pages(page, theirs->offset + (i * page.size()));
        if (!size) {
            broken_ = size.error();
            return refuse("the standby's disk failed");
        }
        if (*size == page.size() && hash_of_page(page) == theirs->hashes[i])
            wanted[i] = std::byte{0};
    }
    return link_.say(link_kind::wanted, {wanted});
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

std::uint16_t follower::port() const { return own_->listener.port(); }

result<> follower::run() {
    auto& own = *own_;
    auto& log = own.with.log;
    while (!own.stopping) {
        if (const auto failed = own.failure()) return std::unexpected(*failed);
        auto came = own.listener.accept(look_every);
        if (!came) break;
        if (!*came) continue;
        auto link = link_channel::answer(**std::move(came), own.options.pair_key, own.with.random,
                                         own.options.patience);
        if (!link) {
            own.ended(link.error().what());
            log.warn("Standby: a connection was refused: {Error}",
                     {{"Error", link.error().what()}});
            continue;
        }
        {
            const std::scoped_lock lock(own.mutex);
            own.now = &*link;
        }
        session one(own, *link);
        const auto ended = own.stopping ? result<>() : one.run();
        own.ended(ended ? "" : ended.error().what());
        if (one.broken()) return std::unexpected(*one.broken());
        if (!ended && !own.stopping)
            log.warn("Standby: the primary is gone: {Error}", {{"Error", ended.error().what()}});
    }
    return {};
}

void follower::stop() {
    own_->stopping = true;
    own_->listener.cut_off();
    const std::scoped_lock lock(own_->mutex);
    if (own_->now != nullptr) own_->now->cut_off();
}

follow_report follower::report() const {
    const auto& own = *own_;
    follow_report told{.state = own.with.copy.state(), .at = own.with.copy.place().at};
    const std::scoped_lock lock(own_->mutex);
    told.has_primary = own.has_primary;
    told.service = own.service;
    told.trouble = own.trouble;
    if (own.heard_at)
        told.silent_for =
            std::chrono::floor<std::chrono::milliseconds>(own.with.time.steady() - *own.heard_at);
    return told;
}

}  // namespace posthorn::standby
