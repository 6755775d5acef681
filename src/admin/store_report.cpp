#include "admin/store_report.hpp"

#include <boost/json/array.hpp>

#include "admin/json_fields.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;
using namespace json_fields;

void set_number(json::object& into, std::string_view name, std::optional<std::uint64_t> value) {
    if (value) into[name] = *value;
}

json::object to_json(const disk_report& disk) {
    json::object shown{{"state", to_string(disk.state)},
                       {"lowWaterBytes", disk.limits.low_water},
                       {"ballast", disk.has_ballast},
                       {"refused", disk.refused}};
    set_number(shown, "freeBytes", disk.free);
    return shown;
}

json::object to_json(const database_report& one) {
    json::object shown{{"kind", one.kind}, {"place", text(one.place)}, {"holds", one.holds}};
    set_number(shown, "bytes", one.bytes);
    set_number(shown, "logBytes", one.log_bytes);
    set_number(shown, "freeBytes", one.free_bytes);
    set(shown, "sizeError", one.size_error);
    if (one.disk) shown["disk"] = to_json(*one.disk);
    return shown;
}

json::object to_json(const sqlite::backup_plan& plan,
                     const std::vector<sqlite::backup_state>& states) {
    json::array databases;
    for (const auto& one : states) {
        json::object shown{{"made", one.made}, {"failed", one.failed}};
        if (one.newest) {
            set(shown, "newest", one.newest);
            shown["bytes"] = one.bytes;
            shown["tookMs"] = one.took.count();
        }
        set(shown, "lastError", one.last_error);
        databases.push_back(std::move(shown));
    }
    return {{"folder", text(plan.folder.string())},
            {"everyMs", plan.every.count()},
            {"keepMs", plan.keep.count()},
            {"databases", std::move(databases)}};
}

}  // namespace

json::object to_json(const store_report& report) {
    json::array databases;
    for (const auto& one : report.databases) databases.push_back(to_json(one));
    json::array retention;
    for (const auto& one : report.retention)
        retention.push_back(json::object{
            {"what", one.what},
            {"keepMs", one.keeps ? json::value(one.keeps->count()) : json::value(nullptr)}});
    json::array findings;
    for (const auto& one : report.findings) {
        json::object shown{{"check", one.check}, {"level", one.level}, {"what", text(one.what)}};
        set(shown, "why", one.why);
        set(shown, "todo", one.todo);
        findings.push_back(std::move(shown));
    }
    json::object shown{{"databases", std::move(databases)},
                       {"retention", std::move(retention)},
                       {"findings", std::move(findings)}};
    if (report.backup_plan) shown["backups"] = to_json(*report.backup_plan, report.backups);
    return shown;
}

}  // namespace posthorn
