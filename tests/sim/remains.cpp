#include "sim/remains.hpp"

#include <exception>

#include "sim/disk_query.hpp"
#include "sim/machine.hpp"

namespace posthorn::sim {
namespace {

picture read_all(const std::string& service, const remains& what, ledger& book) {
    plain_query database(*what.disk, database_path);
    const question ask = [&](const std::string& sql, const auto& visit) {
        database.ask(sql, visit);
    };
    try {
        ask("PRAGMA integrity_check", [&](const answer_row& row) {
            if (row.text(0) != "ok") book.violate(service + " is damaged: " + row.text(0));
        });
    } catch (const std::exception& why) {
        book.violate(service + " is damaged: " + why.what());
    }
    auto seen = read_picture(service, ask, book);
    seen.latest = what.latest.time_since_epoch().count();
    return seen;
}

}  // namespace

tally check_remains(const std::map<std::string, remains>& services, ledger& book) {
    pictures all;
    for (const auto& [service, left] : services) all[service] = read_all(service, left, book);
    return check_invariants(all, book);
}

}  // namespace posthorn::sim
