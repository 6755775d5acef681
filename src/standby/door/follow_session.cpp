#include "standby/door/follow_session.hpp"

#include <vector>

#include "standby/change/switch_rules.hpp"

namespace posthorn::standby {
namespace {

result<log_header> header_in(const link_message& said) {
    if (const auto header = read_log_header(said.body)) return *header;
    return fail(error_code::malformed_request, "the header of a log cannot be read");
}

}  // namespace

result<> follow_session::run() {
    POSTHORN_TRY(greet());
    while (!with_.stopping) {
        POSTHORN_LET(said, with_.link.hear());
        with_.heard();
        POSTHORN_TRY(answer(said));
        if (broken_ || has_taken_role_) return {};
    }
    return {};
}

result<> follow_session::refuse(std::string_view why) {
    return with_.link.say(link_kind::refused, {std::as_bytes(std::span(why))});
}

/// Tells it why, and ends.
result<> follow_session::turn_away(const std::string& why) {
    POSTHORN_TRY(refuse(why));
    return fail(error_code::access_denied, "it was refused: {}", why);
}

/// The disk is not trusted before a restart has read it again.
result<> follow_session::say_failure(const error& why) {
    broken_ = why;
    return refuse(fmt::format("the standby's disk failed: {}", why.what()));
}

result<> follow_session::greet() {
    with_.heard();
    // A primary of a newer epoch is the proof that it took the role that we gave away.
    const auto kept = with_.copy.state();
    const standby_place other{
        .stream = primary_.stream, .epoch = primary_.epoch, .phase = standby_phase::promoted};
    if (kept.phase == standby_phase::handing && other.epoch > kept.epoch &&
        judge_handing(kept, other) == handing_end::taken)
        if (const auto joined = with_.copy.follow_on(primary_.epoch); !joined)
            return joined.error().code() == error_code::store_busy
                       ? turn_away(joined.error().what())
                       : say_failure(joined.error());
    const auto ours = with_.copy.place();
    if (const auto why = refuse_primary(primary_, {.place = ours, .service = us_.service});
        !why.empty())
        return turn_away(why);
    with_.greeted(primary_.service);
    return with_.link.say(
        link_kind::place,
        {encode(link_welcome{.place = ours, .can_lead = us_.can_lead, .service = us_.service})});
}

result<> follow_session::answer(const link_message& said) {
    if (said.kind == link_kind::hashes) return compare(said.body);
    if (said.kind == link_kind::hand_over) return take_role(said.body);
    if (const auto taken = take(said); !taken) {
        if (taken.error().code() == error_code::malformed_request)
            return refuse(taken.error().what());
        return say_failure(taken.error());
    }
    return with_.link.say(link_kind::done, {encode(with_.copy.place().at.offset)});
}

result<> follow_session::take(const link_message& said) {
    auto& copy = with_.copy;
    const auto body = bytes_view(said.body);
    const bool is_usable = copying_ || copy.place().phase == standby_phase::following;
    switch (said.kind) {
        case link_kind::follow:
            if (!is_usable) break;
            copy.drop_part();
            return copy.note(primary_.epoch, primary_.may_lack);
        case link_kind::generation: {
            if (!is_usable) break;
            POSTHORN_LET(header, header_in(said));
            POSTHORN_TRY(copy.note(primary_.epoch, primary_.may_lack));
            POSTHORN_TRY(copy.next_generation(header));
            with_.generation_ended();
            return {};
        }
        case link_kind::frames:
            if (!is_usable || body.size() < 8) break;
            return copy.append(read_number(body.first(8)), body.subspan(8));
        case link_kind::copy: {
            POSTHORN_LET(header, header_in(said));
            copying_ = true;
            return copy.begin_copy(
                {.stream = primary_.stream, .epoch = primary_.epoch, .may_lack = primary_.may_lack},
                header);
        }
        case link_kind::pages:
            if (!copying_ || body.size() < 8) break;
            return copy.write_pages(body.subspan(8), read_number(body.first(8)));
        case link_kind::copied:
            if (!copying_ || body.size() != 8) break;
            copying_ = false;
            POSTHORN_TRY(copy.end_copy(read_number(body)));
            with_.generation_ended();
            return {};
        default: break;
    }
    return fail(error_code::malformed_request, "a message came where it has no meaning");
}

// What was refused leaves all as it is, and the primary goes on; so does what cannot be read.
result<> follow_session::take_role(bytes_view body) {
    const auto asked = decode_hand_over(body);
    if (!asked) return refuse("a message came where it has no meaning");
    if (!us_.can_lead)
        return refuse(
            "it would not serve: its configuration has no standby.to, which leads to the "
            "primary of now");
    if (const auto taken = with_.copy.take_role(*asked); !taken) {
        if (taken.error().code() == error_code::invalid_argument)
            return refuse(taken.error().what());
        // It may be on the disk all the same. A refusal would let the primary go on beside us; it
        // is told nothing, and asks until a restart has read what is there.
        broken_ = taken.error();
        return {};
    }
    has_taken_role_ = true;
    std::ignore = with_.link.say(link_kind::taken, {});  // It finds out anyway.
    return {};
}

result<> follow_session::compare(bytes_view body) {
    const auto theirs = decode_hashes(body);
    if (!theirs || !copying_) return refuse("a message came where it has no meaning");
    std::vector<std::byte> wanted(theirs->hashes.size(), std::byte{1});
    std::vector<std::byte> page(theirs->page_size);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto size = with_.copy.read_pages(page, theirs->offset + (i * page.size()));
        if (!size) return say_failure(size.error());
        if (*size == page.size() && hash_of_page(page) == theirs->hashes[i])
            wanted[i] = std::byte{0};
    }
    return with_.link.say(link_kind::wanted, {wanted});
}

}  // namespace posthorn::standby
