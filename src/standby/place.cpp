#include "standby/place.hpp"

#include "base/planted.hpp"

namespace posthorn::standby {

std::string_view to_string(standby_phase phase) {
    switch (phase) {
        case standby_phase::empty: return "empty";
        case standby_phase::copying: return "copying";
        case standby_phase::following: return "following";
        case standby_phase::handing: return "handing";
        case standby_phase::rejoining: return "rejoining";
        case standby_phase::promoted: break;
    }
    return "promoted";
}

next_step judge(const standby_place& standby, const primary_place& primary) {
    if (standby.phase == standby_phase::empty) return next_step::copy;
    if (standby.stream != primary.stream) return next_step::refuse_stream;
    const bool was_primary = standby.phase == standby_phase::promoted ||
                             standby.phase == standby_phase::handing ||
                             standby.phase == standby_phase::rejoining;
    if (was_primary || standby.epoch > primary.epoch) return next_step::refuse_epoch;
    if (standby.phase == standby_phase::copying) return next_step::copy;
    if (standby.at.salts == primary.salts) {
        // A sum, not a length: what lies there may be another transaction of the same size.
        const bool is_ours =
            primary.sum_there == standby.at.sum || POSTHORN_PLANTED(place_by_its_length);
        return is_ours && standby.at.offset <= primary.end ? next_step::go_on : next_step::copy;
    }
    return primary.before == standby.at ? next_step::next_generation : next_step::copy;
}

}  // namespace posthorn::standby
