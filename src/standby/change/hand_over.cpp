#include "standby/change/hand_over.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "base/planted.hpp"
#include "standby/change/log_cut.hpp"
#include "standby/door/introduction.hpp"
#include "standby/plain_file.hpp"
#include "store/sqlite/driver/file_locks.hpp"

namespace posthorn::standby {
namespace {

struct opened_link {
    link_channel channel;
    link_welcome welcome;
};

result<opened_link> open_link(const hand_over_options& asked, const pair_state& state,
                              const link_channel::parts& with) {
    POSTHORN_LET(channel, link_channel::connect(asked.to, with, asked.patience));
    link_identity us{.stream = state.stream,
                     .epoch = state.epoch,
                     .may_lack = asked.may_lack,
                     .run = {},
                     .service = asked.service};
    with.random.fill(us.run);
    POSTHORN_LET(said, channel.ask(link_kind::identity, {encode(us)}, link_kind::place));
    const auto welcome = decode_welcome(said.body);
    if (!welcome) return fail(error_code::malformed_request, "the standby's place cannot be read");
    if (const auto why = refuse_standby(*welcome, us); !why.empty())
        return fail(error_code::access_denied, "{}", why);
    return opened_link{std::move(channel), *welcome};
}

/// Ships what the standby lacks of the present log. It must have a part of that already.
result<> ship_rest(link_channel& link, const std::filesystem::path& database, const log_place& from,
                   const log_place& until) {
    if (from.salts != until.salts || from.offset > until.offset)
        return fail(error_code::state_changed,
                    "the standby is not in step; wait until its state is following");
    if (from.offset == until.offset) return {};
    POSTHORN_TRY(link.ask(link_kind::follow, {}, link_kind::done));
    POSTHORN_LET(log, plain_file::open(database.string() + "-wal", plain_file::how::read));
    constexpr std::size_t part_max = std::size_t{1024} * 1024;
    std::array<std::byte, log_header_size> header{};
    POSTHORN_LET(had, log.read(header, 0));
    const auto begun = read_log_header(bytes_view(header).first(had));
    if (!begun) return fail(error_code::io_failed, "the log has no beginning that can be read");
    const auto frame_size = frame_header_size + begun->page_size;
    std::vector<std::byte> frames(std::max(frame_size, part_max / frame_size * frame_size));
    for (auto at = from.offset; at < until.offset;) {
        const auto part = std::span(frames).first(
            static_cast<std::size_t>(std::min<std::uint64_t>(frames.size(), until.offset - at)));
        POSTHORN_LET(got, log.read(part, at));
        if (got < part.size())
            return fail(error_code::state_changed, "the log changed while it was shipped");
        POSTHORN_TRY(link.ask(link_kind::frames, {encode(at), part}, link_kind::done));
        at += got;
    }
    return {};
}

}  // namespace

result<hand_over_report> hand_over(const hand_over_options& asked,
                                   const link_channel::parts& with) {
    const auto kept_since = [](const error& why) {
        return hand_over_report{hand_over_end::kept, why.what()};
    };
    POSTHORN_LET(found, load_state(asked.database));
    if (!found || !may_lead(*found))
        return fail(error_code::invalid_argument, "{} is not a primary's, and has no role to give",
                    asked.database.string());
    // From here on nothing else writes the file, and its log ends where it ends.
    auto lock = lock_state(asked.database);
    if (!lock) return kept_since(lock.error());
    auto alone = sqlite::sole_use::take(asked.database.string());
    if (!alone) return kept_since(alone.error());
    POSTHORN_LET(end, end_of_log(asked.database));
    if (!end) return hand_over_report{hand_over_end::kept, "the database has no log to go on with"};
    auto link = open_link(asked, *found, with);
    if (!link) return kept_since(link.error());
    if (const auto shipped = ship_rest(link->channel, asked.database, link->welcome.place.at, *end);
        !shipped)
        return kept_since(shipped.error());

    const auto handing = give_role_away(*found, *end);
    if (!POSTHORN_PLANTED(role_said_before_kept)) POSTHORN_TRY(save_state(asked.database, handing));
    const link_hand_over offer{.epoch = handing.epoch + 1, .at = *end};
    const auto answer = link->channel.ask(link_kind::hand_over, {encode(offer)}, link_kind::taken);
    if (answer) {
        POSTHORN_TRY(save_state(asked.database, become_standby(handing, offer.epoch)));
        return hand_over_report{hand_over_end::given, {}};
    }
    if (answer.error().code() != error_code::access_denied)
        return hand_over_report{hand_over_end::unknown, answer.error().what()};
    POSTHORN_TRY(save_state(asked.database, take_back(handing)));
    return kept_since(answer.error());
}

handing_end ask_what_became(const hand_over_options& asked, const pair_state& handing,
                            const link_channel::parts& with) {
    const auto link = open_link(asked, handing, with);
    return link ? judge_handing(handing, link->welcome.place) : handing_end::unknown;
}

}  // namespace posthorn::standby
