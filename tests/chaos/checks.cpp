#include "chaos/checks.hpp"

#include <fmt/format.h>

#include "support/sqlite_file.hpp"

namespace posthorn::chaos {
namespace {

using test::sqlite_file;
using findings = std::vector<std::string>;

// Each row that a query gives is one thing that is wrong.
void none(sqlite_file& in, findings& into, const std::string& what, const std::string& sql) {
    constexpr std::size_t shown_max = 400;
    if (const auto rows = in.lines(sql); !rows.empty())
        into.push_back(what + ": " + rows.substr(0, shown_max));
}

}  // namespace

findings check_way(const party& from, const party& to, const stamps& on_the_way) {
    findings wrong;
    sqlite_file both(from.file());
    both.run("ATTACH '" + to.file() + "' AS there");
    const auto way = from.service() + " to " + to.service() + ": ";
    const auto check = [&](const std::string& what, const std::string& sql) {
        none(both, wrong, way + what, sql);
    };
    check("lost", "SELECT n FROM sent WHERE n NOT IN (SELECT n FROM there.effects)");
    check("effect without a commit",
          "SELECT n FROM there.effects WHERE n NOT IN (SELECT n FROM sent)");
    check("double effect", "SELECT n FROM there.effects GROUP BY n HAVING count(*) > 1");
    check(
        "chain broken",
        "SELECT h.key || ': ' || h.pos || ' sent, ' || coalesce(c.pos, 0) || ' there' FROM heads h"
        " LEFT JOIN there.chains c USING (key) WHERE c.pos IS NOT h.pos OR c.hash IS NOT h.hash");
    check("out of order",
          "SELECT n FROM (SELECT n, pos, lag(pos) OVER (PARTITION BY key ORDER BY rowid) AS before"
          " FROM there.effects WHERE key <> '') WHERE before >= pos");
    check("answer lost", "SELECT n FROM sent WHERE n NOT IN (SELECT n FROM answers)");
    check("double answer", "SELECT n FROM answers GROUP BY n HAVING count(*) > 1");
    check("answer of another run",
          "SELECT a.n FROM answers a JOIN there.effects e USING (n) WHERE e.stamp <> a.stamp");
    check("answers out of order",
          "SELECT n FROM (SELECT a.n AS n, pos, lag(pos) OVER (PARTITION BY key ORDER BY a.rowid)"
          " AS before FROM answers a JOIN sent s USING (n) WHERE key <> '' AND kind = 'Link')"
          " WHERE before >= pos");
    check("not settled", "SELECT message_id || status FROM outbox_messages WHERE status <> 'Sent'");
    const auto received = both.integer("SELECT count(*) FROM there.inbox_messages");
    const auto sent = both.integer("SELECT count(*) FROM outbox_messages");
    if (received != sent)
        wrong.push_back(fmt::format("{}{} messages sent, {} received", way, sent, received));

    for (const auto& each : on_the_way.differences()) wrong.push_back(way + each);
    both.run("CREATE TEMP TABLE seen (n INTEGER, stamp TEXT)");
    both.run("BEGIN");
    for (const auto& [n, seen] : on_the_way.all())
        both.run(fmt::format("INSERT INTO seen VALUES ({}, '{}')", n, seen.stamp));
    both.run("COMMIT");
    check(
        "answered before or without an effect",
        fmt::format("SELECT s.n FROM seen s LEFT JOIN (SELECT n, stamp FROM there.effects UNION ALL"
                    " SELECT n + {}, own_stamp FROM there.answers) e USING (n)"
                    " WHERE e.stamp IS NOT s.stamp",
                    answers_from));
    return wrong;
}

findings check_store(const party& of, const canaries& secrets) {
    findings wrong;
    sqlite_file in(of.file());
    if (const auto said = in.text("PRAGMA integrity_check"); said != "ok") wrong.push_back(said);
    for (const auto* const sql : {"SELECT last_error FROM outbox_messages WHERE last_error <> ''",
                                  "SELECT error FROM outbox_attempts"})
        if (secrets.is_in(in.lines(sql))) wrong.push_back(std::string("a canary: ") + sql);
    return wrong;
}

}  // namespace posthorn::chaos
