#include "standby/shipper.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "standby/door/introduction.hpp"

namespace posthorn::standby {
namespace {

constexpr std::size_t part_max = std::size_t{1024} * 1024;
constexpr std::size_t chunk_max = std::size_t{256} * 1024;

std::size_t whole_pages(std::size_t bytes, std::size_t page_size) {
    return std::max(page_size, bytes / page_size * page_size);
}

}  // namespace

std::string_view to_string(ship_report::state how) {
    switch (how) {
        case ship_report::state::away: return "away";
        case ship_report::state::copying: return "copying";
        case ship_report::state::following: break;
    }
    return "following";
}

shipper::shipper(shipper_options options, const parts& with)
    : options_(std::move(options)), with_(with) {
    with_.random.fill(run_);
}

shipper::~shipper() { end(); }

void shipper::begin(log_source& files) {
    const std::scoped_lock lock(mutex_);
    files_ = &files;
    stopping_ = false;
    running_ = true;
    with_.thread.post([this] { run(); });
}

void shipper::end() noexcept {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, options_.patience, [this] {
        return !running_ || state_ != ship_report::state::following || done_ == asked_.number;
    });
    stopping_ = true;
    if (link_now_ != nullptr) link_now_->cut_off();
    changed_.notify_all();
    changed_.wait(lock, [this] { return !running_; });
}

void shipper::let_go() noexcept {
    const std::scoped_lock lock(mutex_);
    is_unsure_ = true;
    unsure_ = asked_.number;
}

result<> shipper::ready() {
    if (options_.mode == ship_mode::async || options_.lost == when_lost::alone) return {};
    std::unique_lock lock(mutex_);
    const auto patience = given_up_ ? std::chrono::milliseconds{0} : options_.patience;
    const bool is_there = changed_.wait_for(
        lock, patience, [this] { return stopping_ || state_ != ship_report::state::away; });
    given_up_ = !is_there;
    if (is_there && !stopping_) return {};
    return fail(error_code::store_busy,
                "the standby {} does not answer, and nothing is taken without it: {}",
                to_string(options_.to), trouble_.empty() ? "no connection yet" : trouble_);
}

void shipper::wrote(std::uint64_t end) noexcept {
    const std::scoped_lock lock(mutex_);
    if (done_ == asked_.number) asked_at_ = with_.time.steady();
    ++asked_.number;
    asked_.end = end;
    changed_.notify_all();
}

bool shipper::wait_until_done(std::unique_lock<std::mutex>& lock, std::uint64_t number) {
    changed_.wait_for(lock, options_.patience, [&] { return stopping_ || done_ >= number; });
    return done_ >= number;
}

result<> shipper::wait() noexcept {
    if (options_.mode == ship_mode::async) return {};
    std::unique_lock lock(mutex_);
    if (alone_ || wait_until_done(lock, asked_.number)) return {};
    if (options_.lost == when_lost::wait) {
        with_.log.error("Standby: {Standby} has not answered for a commit in time: {Error}",
                        {{"Standby", to_string(options_.to)}, {"Error", trouble_}});
        return fail(error_code::commit_in_doubt, "the standby has not answered");
    }
    alone_ = true;
    with_.log.warn("Standby: {Standby} is lost, and commits are answered without it: {Error}",
                   {{"Standby", to_string(options_.to)}, {"Error", trouble_}});
    return {};
}

bool shipper::may_checkpoint(std::uint64_t end) noexcept {
    wrote(end);
    std::unique_lock lock(mutex_);
    const auto is_known = [this] {
        return stopping_ || has_tried_ || state_ != ship_report::state::away;
    };
    changed_.wait_for(lock, options_.patience, is_known);
    const bool is_there = !alone_ && state_ != ship_report::state::away;
    if (is_there && wait_until_done(lock, asked_.number)) return true;
    if (end <= options_.log_kept) return false;
    // The standby has been away for too long: its copy will be compared page by page.
    is_unsure_ = true;
    unsure_ = asked_.number;
    return true;
}

ship_report shipper::report() const {
    const std::scoped_lock lock(mutex_);
    ship_report told{.how = state_,
                     .has_tried = has_tried_ || state_ != ship_report::state::away,
                     .is_refused = is_refused_,
                     .alone = alone_,
                     .position = asked_.end,
                     .trouble = trouble_,
                     .can_lead = can_lead_,
                     .copies = copies_};
    if (done_ == asked_.number) return told;
    // A log that has begun anew is shorter than what of the one before was shipped.
    told.behind = asked_.end < shipped_ ? asked_.end : asked_.end - shipped_;
    told.behind_for =
        std::chrono::floor<std::chrono::milliseconds>(with_.time.steady() - asked_at_);
    return told;
}

void shipper::change(ship_report::state how) {
    state_ = how;
    changed_.notify_all();
}

void shipper::note(ship_report::state how) {
    const std::scoped_lock lock(mutex_);
    if (how != state_)
        with_.log.info(
            "Standby: {Standby} is {State}",
            {{"Standby", to_string(options_.to)},
             {"State", how == ship_report::state::copying ? "being copied to" : "in step"}});
    trouble_.clear();
    is_refused_ = false;
    change(how);
}

// Once for each connection that ends, and once where there never was one.
void shipper::note_away(const result<>& ended) {
    const std::scoped_lock lock(mutex_);
    auto trouble = ended ? std::string() : std::string(ended.error().what());
    const bool is_news = state_ != ship_report::state::away || trouble_ != trouble;
    if (is_news && !stopping_)
        with_.log.warn("Standby: {Standby} does not follow: {Error}",
                       {{"Standby", to_string(options_.to)}, {"Error", trouble}});
    trouble_ = std::move(trouble);
    is_refused_ = !ended && ended.error().code() == error_code::access_denied;
    change(ship_report::state::away);
}

// A standby that has just been given its role, or is being restarted, is there in a moment.
std::chrono::milliseconds shipper::pause() {
    constexpr int quick_tries = 100;
    if (tries_ >= quick_tries) return options_.beat;
    ++tries_;
    return std::min(options_.beat, options_.first_beat);
}

void shipper::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        // Before the store has said where its log ends, there is nothing to compare.
        if (asked_.number == 0) {
            changed_.wait(lock, [this] { return stopping_ || asked_.number != 0; });
            continue;
        }
        lock.unlock();
        const auto ended = follow();
        note_away(ended);
        lock.lock();
        link_now_ = nullptr;
        link_.reset();
        has_tried_ = true;
        changed_.notify_all();
        changed_.wait_for(lock, pause(), [this] { return stopping_; });
    }
    running_ = false;
    changed_.notify_all();
}

result<> shipper::follow() {
    POSTHORN_LET(link,
                 link_channel::connect(options_.to, {options_.access, with_.random, with_.time},
                                       options_.patience));
    {
        const std::scoped_lock lock(mutex_);
        if (stopping_) return {};
        link_now_ = &link_.emplace(std::move(link));
    }
    const bool may_lack = options_.mode == ship_mode::async || options_.lost == when_lost::alone;
    const link_identity us{.stream = options_.stream,
                           .epoch = options_.epoch,
                           .may_lack = may_lack,
                           .run = run_,
                           .service = options_.service};
    POSTHORN_LET(said, link_->ask(link_kind::identity, {encode(us)}, link_kind::place));
    const auto welcome = decode_welcome(said.body);
    if (!welcome) return fail(error_code::malformed_request, "the standby's place cannot be read");
    if (const auto why = refuse_standby(*welcome, us); !why.empty())
        return fail(error_code::access_denied, "{}", why);
    POSTHORN_TRY(meet(welcome->place));
    {
        const std::scoped_lock lock(mutex_);
        can_lead_ = welcome->can_lead;
        if (copied_) ++copies_;
    }
    tries_ = 0;
    note(copied_ ? ship_report::state::copying : ship_report::state::following);
    // What was done before, an earlier standby may have lost.
    {
        const std::scoped_lock lock(mutex_);
        if (done_ == asked_.number) asked_at_ = with_.time.steady();
        done_ = std::min(done_, asked_.number - 1);
    }
    while (const auto asked = next_order()) POSTHORN_TRY(go_on(*asked));
    return {};
}

result<log_header> shipper::present_header() {
    std::array<std::byte, log_header_size> bytes{};
    POSTHORN_LET(size, files_->read_log(bytes, 0));
    const auto header = read_log_header(bytes_view(bytes).first(size));
    if (header) return *header;
    return fail(error_code::io_failed, "the log has no beginning that can be read");
}

/// Empty if no transaction ends there.
result<std::optional<log_sum>> shipper::sum_at(const log_header& header, std::uint64_t offset) {
    log_walk walk(header);
    std::vector<std::byte> frame(walk.frame_size());
    while (walk.offset() < offset) {
        POSTHORN_LET(size, files_->read_log(frame, walk.offset()));
        if (size < frame.size() || !walk.step(frame)) return std::nullopt;
    }
    if (walk.end().offset != offset) return std::nullopt;
    at_ = progress{header, walk};
    return walk.end().sum;
}

result<> shipper::meet(const standby_place& standby) {
    at_.reset();
    POSTHORN_LET(header, present_header());
    primary_place ours{.stream = options_.stream, .epoch = options_.epoch, .salts = header.salts};
    {
        const std::scoped_lock lock(mutex_);
        ours.end = asked_.end;
        // All of a generation was shipped before the next could begin, or it is not sure.
        if (!is_unsure_ && shipped_at_ && shipped_at_->salts != header.salts)
            ours.before = shipped_at_;
        // The first log after a promotion follows from where that of the one before ended.
        if (!shipped_at_ && options_.first_log == header.salts) ours.before = options_.began;
    }
    if (standby.at.salts == header.salts) {
        POSTHORN_LET(sum, sum_at(header, standby.at.offset));
        ours.sum_there = sum;
    }
    copied_.reset();
    switch (judge(standby, ours)) {
        case next_step::go_on:
            POSTHORN_TRY(link_->ask(link_kind::follow, {}, link_kind::done));
            return {};
        case next_step::next_generation: return enter(header);
        case next_step::copy:
            POSTHORN_TRY(link_->ask(link_kind::copy, {header.bytes}, link_kind::done));
            at_ = progress{header, log_walk(header)};
            copied_ = 0;
            return {};
        case next_step::refuse_stream:
            return fail(error_code::access_denied, "the standby is a copy of another database");
        case next_step::refuse_epoch: break;
    }
    return fail(error_code::access_denied,
                "the standby is of epoch {} and we of {}: another is the primary now",
                standby.epoch, options_.epoch);
}

result<> shipper::enter(const log_header& fresh) {
    POSTHORN_TRY(link_->ask(link_kind::generation, {fresh.bytes}, link_kind::done));
    at_ = progress{fresh, log_walk(fresh)};
    return {};
}

/// Empty once it is to end. The last one again, now and then, to see whether the standby is there.
std::optional<shipper::order> shipper::next_order() {
    std::unique_lock lock(mutex_);
    if (!copied_)
        changed_.wait_for(lock, options_.beat,
                          [this] { return stopping_ || asked_.number != done_; });
    if (stopping_) return std::nullopt;
    return asked_;
}

result<> shipper::go_on(const order& asked) {
    std::uint64_t done = 0;
    {
        const std::scoped_lock lock(mutex_);
        done = done_;
    }
    if (asked.number != done) {
        POSTHORN_TRY(ship(asked));
    } else if (!copied_) {
        POSTHORN_TRY(link_->ask(link_kind::follow, {}, link_kind::done));
    }
    if (!copied_) return {};
    POSTHORN_TRY(copy_some());
    if (!copied_) note(ship_report::state::following);
    return {};
}

result<> shipper::ship(const order& asked) {
    const auto begun = with_.time.steady();  // Later orders came after it.
    POSTHORN_LET(header, present_header());
    if (header.salts != at_->header.salts) {
        const std::scoped_lock lock(mutex_);
        if (is_unsure_)
            return fail(error_code::state_changed,
                        "others may have copied the log and begun it anew; what the standby has is "
                        "compared again");
    }
    if (header.salts != at_->header.salts) {
        // All of the one before was shipped, or its checkpoint would not have been let through.
        POSTHORN_TRY(enter(header));
    }
    POSTHORN_TRY(ship_frames(asked.end));
    const std::scoped_lock lock(mutex_);
    shipped_at_ = log_place{header.salts, at_->walk.end().offset, at_->walk.end().sum};
    done_ = asked.number;
    asked_at_ = begun;
    shipped_ = asked.end;
    if (asked.number > unsure_) is_unsure_ = false;
    if (!copied_ && done_ == asked_.number) alone_ = false;
    changed_.notify_all();
    return {};
}

result<> shipper::ship_frames(std::uint64_t end) {
    auto& walk = at_->walk;
    const auto whole = whole_pages(part_max, walk.frame_size());
    std::vector<std::byte> frames;
    while (walk.offset() < end) {
        const auto from = walk.offset();
        frames.resize(static_cast<std::size_t>(std::min<std::uint64_t>(whole, end - from)));
        POSTHORN_LET(size, files_->read_log(frames, from));
        auto next = walk;
        if (size == frames.size()) next.pass(frames);
        if (next.offset() != from + frames.size())
            return fail(error_code::state_changed, "the log changed while it was shipped");
        POSTHORN_LET(answer,
                     link_->ask(link_kind::frames, {encode(from), frames}, link_kind::done));
        if (answer.body.size() != 8 || read_number(answer.body) != next.end().offset)
            return fail(error_code::malformed_request, "the standby answered for another place");
        walk = next;
    }
    if (walk.end().offset == end) return {};
    return fail(error_code::state_changed, "the log ends where it was not said to");
}

// Pages that a checkpoint writes meanwhile, or cuts off, are in the log that is shipped beside.
result<> shipper::copy_some() {
    const auto page_size = at_->header.page_size;
    std::vector<std::byte> pages(whole_pages(chunk_max, page_size));
    POSTHORN_LET(size, files_->read_file(pages, *copied_));
    pages.resize(size / page_size * page_size);
    if (!pages.empty()) {
        POSTHORN_TRY(send_wanted(*copied_, pages, page_size));
        *copied_ += pages.size();
        return {};
    }
    POSTHORN_LET(bytes, files_->file_size());
    if (bytes > *copied_) return {};  // It has just grown.
    POSTHORN_TRY(link_->ask(link_kind::copied, {encode(bytes)}, link_kind::done));
    copied_.reset();
    return {};
}

result<> shipper::send_wanted(std::uint64_t at, bytes_view pages, std::size_t page_size) {
    page_hashes ours{.offset = at, .page_size = static_cast<std::uint32_t>(page_size)};
    for (std::size_t i = 0; i < pages.size(); i += page_size)
        ours.hashes.push_back(hash_of_page(pages.subspan(i, page_size)));
    POSTHORN_LET(answer, link_->ask(link_kind::hashes, {encode(ours)}, link_kind::wanted));
    if (answer.body.size() != ours.hashes.size())
        return fail(error_code::malformed_request, "the standby wants pages that were not offered");
    const auto count = ours.hashes.size();
    for (std::size_t i = 0; i < count;) {
        std::size_t until = i;
        while (until < count && answer.body[until] != std::byte{}) ++until;
        if (until > i)
            POSTHORN_TRY(link_->ask(link_kind::pages,
                                    {encode(at + (i * page_size)),
                                     pages.subspan(i * page_size, (until - i) * page_size)},
                                    link_kind::done));
        i = until + 1;
    }
    return {};
}

}  // namespace posthorn::standby
