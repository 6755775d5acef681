#include "app/cli/store/restore_archive.hpp"

#include <filesystem>
#include <ostream>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/kit/presentation.hpp"
#include "app/cli/kit/progress.hpp"
#include "app/config/feature_keys.hpp"
#include "standby/archive/archive_restore.hpp"
#include "standby/archive/archive_settings.hpp"
#include "standby/standby_feature.hpp"

namespace posthorn::cli {
namespace {

namespace json = boost::json;

json::object object_of(const standby::stretch& of) {
    json::array bases;
    for (const auto& each : of.bases) bases.emplace_back(to_iso8601(each.facts.whole_at));
    json::array missing;
    for (const auto number : standby::missing_segments(of))
        missing.emplace_back(standby::segment_name(number));
    json::array damaged;
    for (const auto& name : of.damaged) damaged.emplace_back(name);
    return {{"folder", of.folder.string()},   {"oldest", to_json(of.oldest())},
            {"newest", to_json(of.newest())}, {"bases", std::move(bases)},
            {"segments", of.segments.size()}, {"bytes", of.bytes()},
            {"missing", std::move(missing)},  {"damaged", std::move(damaged)}};
}

std::string text_of(const std::optional<wall_time>& at) { return at ? to_iso8601(*at) : "-"; }

void print_lost(const standby::stretch& of, const console& terminal) {
    for (const auto number : standby::missing_segments(of))
        terminal.out << fmt::format("missing: {}\n",
                                    (of.folder / standby::segment_name(number)).string());
    for (const auto& name : of.damaged)
        terminal.out << fmt::format("damaged: {}\n", (of.folder / name).string());
}

}  // namespace

void archive_restore_part::declare(CLI::App& options) {
    options.add_option("--at", at_, "the archive's state at a moment, 2026-02-14T12:00:00Z")
        ->type_name("TIME");
    options.add_flag("--latest", latest_, "the newest state of the archive");
    options.add_flag("--list", list_, "which moments the archive can be restored to");
    options.add_option("--archive", archive_, "where the archive is (standby.archive)")
        ->type_name("FOLDER");
    options.add_option("--name", name_, "of the database in it (the name of store.url)")
        ->type_name("NAME");
    options.add_option("--to", to_, "a new file for the archive's state (store.url)")
        ->type_name("FILE");
    options.add_flag("--dry-run", dry_run_, "read and check all of it, and keep nothing");
}

result<> archive_restore_part::run(const config& settings, const console& terminal, bool json) {
    if (static_cast<int>(list_) + static_cast<int>(latest_) + static_cast<int>(!at_.empty()) > 1)
        return fail(error_code::invalid_argument, "give one of --at, --latest and --list");
    const std::filesystem::path database = settings.path_of(settings.store.url);
    if (archive_.empty()) {
        const auto said = settings_of(settings, standby_feature());
        POSTHORN_LET(how, standby::read_archive_settings(said, database));
        if (!how)
            return fail(error_code::invalid_argument,
                        "say where the archive is: --archive, or archive under [standby]");
        archive_ = how->folder.string();
    }
    if (name_.empty()) name_ = standby::archived_name(database);
    return list_ ? list(terminal, json) : restore(settings, terminal, json);
}

result<> archive_restore_part::list(const console& terminal, bool json) const {
    POSTHORN_LET(all, standby::scan_archive(archive_, name_));
    const auto gaps = standby::gaps_between(all);
    if (json) {
        json::array stretches;
        for (const auto& each : all) stretches.push_back(object_of(each));
        json::array told;
        for (const auto& gap : gaps)
            told.push_back(json::object{{"from", to_iso8601(gap.from)}, {"to", to_json(gap.to)}});
        print_json(terminal, json::object{{"archive", archive_},
                                          {"stretches", std::move(stretches)},
                                          {"gaps", std::move(told)}});
        return {};
    }
    if (all.empty()) {
        terminal.out << "none\n";
        return {};
    }
    text_table table({"FROM", "TO", "BASES", "SEGMENTS", "BYTES", "FOLDER"});
    for (const auto& each : all)
        table.add({text_of(each.oldest()), text_of(each.newest()),
                   std::to_string(each.bases.size()), std::to_string(each.segments.size()),
                   std::to_string(each.bytes()), each.folder.string()});
    terminal.out << table.to_text();
    for (const auto& gap : gaps)
        terminal.out << fmt::format("gap: from {} to {}\n", to_iso8601(gap.from), text_of(gap.to));
    for (const auto& each : all) print_lost(each, terminal);
    return {};
}

result<> archive_restore_part::restore(const config& settings, const console& terminal, bool json) {
    std::optional<wall_time> moment;
    if (!at_.empty()) {
        moment = parse_iso8601(at_);
        if (!moment)
            return fail(error_code::invalid_argument,
                        "--at cannot be '{}'; write a time such as 2026-02-14T12:00:00Z", at_);
    }
    const bool is_named = settings.origins.contains("service.id");
    const std::filesystem::path into = to_.empty() ? settings.path_of(settings.store.url) : to_;
    progress_bar bar(terminal, json);
    const auto done = standby::restore_from_archive(
        {.archive = archive_,
         .name = name_,
         .into = into,
         .service = is_named ? settings.service.id : std::string(),
         .moment = moment,
         .dry_run = dry_run_,
         .progress = [&](std::int64_t so_far,
                         std::int64_t all) { bar.show({so_far, all}, "restore"); }},
        clock_);
    bar.finish();
    POSTHORN_TRY(done);
    if (json) {
        print_json(terminal, json::object{{"database", dry_run_ ? json::value(nullptr)
                                                                : json::value(into.string())},
                                          {"moment", to_iso8601(done->moment)},
                                          {"nextAt", to_json(done->next_at)},
                                          {"segment", done->segment},
                                          {"commit", done->commit},
                                          {"commits", done->commits},
                                          {"baseAt", to_iso8601(done->base_at)},
                                          {"segments", done->segments},
                                          {"bytes", done->bytes},
                                          {"epoch", done->epoch},
                                          {"dryRun", dry_run_}});
        return {};
    }
    terminal.out << fmt::format(
        "{} {}, {} bytes, epoch {}\n"
        "up to and with the commit of {}, which is {} in {}\n",
        dry_run_ ? "could restore" : "restored", into.string(), done->bytes, done->epoch,
        to_iso8601(done->moment),
        done->commit == 0 ? "the last one"
                          : fmt::format("number {} of {}", done->commit, done->commits),
        done->segment);
    if (done->next_at)
        terminal.out << fmt::format("not in it: the commit of {} and all later ones\n",
                                    to_iso8601(*done->next_at));
    else
        terminal.out
            << "not in it: what was committed after it, of which the archive has nothing\n";
    if (dry_run_) return {};
    terminal.out << fmt::format(
        "next: put it in the place of the service's database, with its node stopped; and on each "
        "service that sends to it, run\n"
        "  posthorn outbox replay --since {} --destination {}\n"
        "and only then start this node, so that older messages arrive before newer ones\n",
        to_iso8601(done->moment), done->service.empty() ? "SERVICE" : done->service);
    return {};
}

}  // namespace posthorn::cli
