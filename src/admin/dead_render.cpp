#include "admin/dead_render.hpp"

#include <boost/json/array.hpp>

#include "admin/json_fields.hpp"
#include "admin/render.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;
using namespace json_fields;

void add(json::object& shown, const dead_letter_row& row) {
    shown["state"] = row.state;
    set(shown, "closedAt", row.closed_at);
    if (row.cause > 0) shown["cause"] = row.cause;
    set(shown, "causeText", row.cause_text);
}

}  // namespace

json::object to_json(const dead_letter_row& row) {
    auto shown = to_json(row.summary);
    add(shown, row);
    return shown;
}

json::object to_json(const dead_page& page) {
    json::array rows;
    for (const auto& row : page.rows) rows.push_back(to_json(row));
    return {{"messages", std::move(rows)}, {"next", cursor(page.next)}};
}

json::object to_json(const dead_groups& page) {
    json::array groups;
    for (const auto& one : page.groups) {
        json::object shown{{"cause", one.cause},
                           {"count", one.count},
                           {"destination", text(one.destination)},
                           {"endpoint", text(one.endpoint)},
                           {"text", text(one.text)},
                           {"firstAt", to_iso8601(one.first_at)},
                           {"lastAt", to_iso8601(one.last_at)}};
        set(shown, "example", one.example);
        groups.push_back(std::move(shown));
    }
    json::object shown{{"groups", std::move(groups)}};
    if (page.more) shown["more"] = true;
    if (page.ungrouped > 0) shown["ungrouped"] = page.ungrouped;
    return shown;
}

json::object to_json(const dead_view& view, bool with_payload) {
    auto shown = to_json(view.detail, with_payload);
    add(shown, view.row);
    return shown;
}

json::object to_json(const dead_changed& changed) {
    json::object shown{{"messageId", text(changed.id)}};
    if (changed.removed) {
        shown["status"] = "Deleted";
        return shown;
    }
    shown["status"] = to_string(changed.status);
    shown["state"] = changed.state;
    return shown;
}

json::object to_json(const dead_progress& progress) {
    return {{"changed", progress.done.changed},
            {"expired", progress.done.expired},
            {"next", cursor(progress.next)},
            {"lowest", progress.lowest},
            {"highest", progress.highest}};
}

}  // namespace posthorn
