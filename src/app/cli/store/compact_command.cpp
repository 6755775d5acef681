#include <filesystem>
#include <ostream>

#include <boost/json/object.hpp>

#include "app/cli/kit/command.hpp"
#include "app/cli/kit/database.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "store/sqlite/upkeep/compaction.hpp"
#include "store/upkeep/disk_space.hpp"

namespace posthorn::cli {
namespace {

namespace fs = std::filesystem;

std::string in_mib(std::uint64_t bytes) {
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

class compact_command final : public command {
public:
    void declare(CLI::App& options) override {
        chosen_.declare(options);
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn compact --config posthorn.toml\n"
            "Stop the node first. Afterwards the file gives free room back by itself.");
    }

    result<> run(const console& terminal) override {
        const auto settings = chosen_.settings();
        POSTHORN_TRY(settings);
        if (settings->store.url.on_server)
            return fail(
                error_code::invalid_argument,
                "PostgreSQL takes the room of deleted rows back by itself; there is nothing "
                "to compact");
        const auto path = settings->path_of(settings->store.url);
        POSTHORN_LET(session, database_session::open(*settings));
        const auto before = sqlite::sizes_of(path);
        POSTHORN_TRY(before);
        POSTHORN_TRY(require_room(path, *before));
        if (!json_)
            terminal.out << fmt::format("{}: {}, of which {} hold nothing; writing it anew ...\n",
                                        path, in_mib(before->all), in_mib(before->free))
                         << std::flush;
        POSTHORN_TRY(session->store().upkeep()->compact());
        POSTHORN_TRY(session->store().check_integrity());
        const auto after = sqlite::sizes_of(path);
        POSTHORN_TRY(after);
        print(path, *before, *after, terminal);
        return {};
    }

private:
    static result<> require_room(const fs::path& path, const sqlite::file_sizes& sizes) {
        const auto folder = fs::absolute(path).parent_path();
        sqlite::put_temporary_files_into(folder);
        const auto needed = sqlite::room_to_compact(sizes);
        const auto free = disk_space_of(path)->free();
        if (!free || *free >= needed) return {};
        return fail(error_code::store_full,
                    "writing the file anew takes {} on the disk of {} meanwhile, and {} are free; "
                    "free space there, nothing was changed",
                    in_mib(needed), folder.string(), in_mib(*free));
    }

    void print(const std::string& path, const sqlite::file_sizes& before,
               const sqlite::file_sizes& after, const console& terminal) const {
        if (json_)
            return print_json(terminal, boost::json::object{{"database", path},
                                                            {"bytesBefore", before.all},
                                                            {"bytesFreeBefore", before.free},
                                                            {"bytesAfter", after.all}});
        terminal.out << fmt::format("done: {}; every page was looked at and is sound\n",
                                    in_mib(after.all));
    }

    database_choice chosen_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_compact_command() { return std::make_unique<compact_command>(); }

}  // namespace posthorn::cli
