#include <array>
#include <filesystem>
#include <ostream>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "app/cli/contracts/contract_diff.hpp"
#include "app/cli/contracts/contract_header.hpp"
#include "app/cli/contracts/contract_source.hpp"
#include "app/cli/kit/command.hpp"
#include "app/cli/kit/files.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/kit/presentation.hpp"
#include "base/text/counted.hpp"
#include "base/time/clock.hpp"

namespace posthorn::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t warnings_max = 20;
constexpr auto places = "a node's URL, a program that offers a service, or a file of metadata";

fs::file_time_type now_of_files() { return std::chrono::file_clock::from_sys(real_clock().wall()); }

void add_tls_options(CLI::App& options, source_tls& into) {
    options.add_option("--authority", into.authority, "who vouches for an https:// node, in PEM")
        ->type_name("FILE");
    auto* const certificate =
        options.add_option("--certificate", into.certificate, "what to show a node that asks")
            ->type_name("FILE");
    auto* const key = options.add_option("--key", into.key, "its key")->type_name("FILE");
    certificate->needs(key);
    key->needs(certificate);
}

/// Writes a file unless it holds the same already, so that nothing is built again for nothing.
result<> put_file(const fs::path& file, const std::string& text) {
    if (const auto before = read_file(file); before && *before == text) return {};
    std::error_code ignored;
    if (file.has_parent_path()) fs::create_directories(file.parent_path(), ignored);
    if (fs::exists(file, ignored)) return replace_file(file, text);
    return write_new_file(file, text, {.mode = 0644});
}

class export_command final : public command {
public:
    void declare(CLI::App& options) override {
        add_place(options, "PLACE", place_, places)->required();
        options.add_option("--out", file_, "write it to this file")->type_name("FILE");
        add_tls_options(options, tls_);
        options.footer("Example: posthorn contracts export build/orders");
    }

    result<> run(const console& terminal) override {
        const auto metadata = read_metadata(place_, tls_);
        POSTHORN_TRY(metadata);
        const auto text = boost::json::serialize(*metadata) + "\n";
        if (!file_.empty()) return put_file(file_, text);
        terminal.out << text;
        return {};
    }

private:
    std::string place_;
    std::string file_;
    source_tls tls_;
};

class import_command final : public command {
public:
    void declare(CLI::App& options) override {
        add_place(options, "PLACE", place_, places)->required();
        options.add_option("--name", name_, "the namespace; the service's id unless given")
            ->type_name("NAME");
        options.add_option("--out", file_, "write the header to this file")->type_name("FILE");
        options.add_option("--cache", cache_, "keep the metadata here, for when it cannot be had")
            ->type_name("FILE");
        add_tls_options(options, tls_);
        options.add_flag("--offline", offline_, "use what is kept, and ask no node");
        options.add_option("--stale-after", stale_after_, "warn of a copy older than this")
            ->type_name("DURATION")
            ->default_str("7d");
        options.footer(
            "Example: posthorn contracts import http://127.0.0.1:7400 --name hr --out hr.hpp "
            "--cache hr.json");
    }

    result<> run(const console& terminal) override {
        const auto limit = parse_duration(stale_after_);
        if (!limit)
            return fail(error_code::invalid_argument,
                        "--stale-after cannot be '{}'; write one such as 7d", stale_after_);
        const auto metadata = obtain(terminal, *limit);
        POSTHORN_TRY(metadata);
        const auto* const service = metadata->if_contains("service");
        if (name_.empty() && service != nullptr && service->is_string())
            name_ = service->as_string();
        if (name_.empty())
            return fail(error_code::invalid_argument,
                        "the metadata names no service; give the namespace with --name");
        const auto header = write_contract_header(*metadata, {.name = name_, .from = place_});
        POSTHORN_TRY(header);
        if (!file_.empty()) return put_file(file_, *header);
        terminal.out << *header;
        return {};
    }

private:
    result<boost::json::object> obtain(const console& terminal, std::chrono::milliseconds limit) {
        if (offline_ && cache_.empty())
            return fail(error_code::invalid_argument, "--offline needs --cache");
        auto fresh = offline_ ? fail(error_code::unreachable, "no node was asked")
                              : read_metadata(place_, tls_);
        const auto kept =
            cache_.empty() ? fail(error_code::not_found, "nothing is kept") : read_file(cache_);
        if (fresh) {
            if (!cache_.empty()) POSTHORN_TRY(keep(*fresh, kept, terminal));
            return fresh;
        }
        if (!kept)
            return fail(fresh.error().code(), "{}; and no copy of it is kept{}{}",
                        fresh.error().what(), cache_.empty() ? "" : " in ", cache_);
        const auto age = age_of_copy();
        if (!offline_)
            terminal.err << fmt::format(
                "warning: {}: {}; the copy in {} of {} ago is used, which may be stale\n", place_,
                fresh.error().what(), cache_, to_age(age));
        else if (age > limit)
            terminal.err << fmt::format(
                "warning: the copy in {} is of {} ago and may be stale; import once without "
                "--offline\n",
                cache_, to_age(age));
        return parse_metadata(*kept, cache_);
    }

    /// The time of the file tells when it was last seen to be right.
    result<> keep(const boost::json::object& fresh, const result<std::string>& kept,
                  const console& terminal) const {
        if (kept) {
            if (const auto before = parse_metadata(*kept, cache_))
                warn_of(compare_contracts(*before, fresh), terminal);
        }
        POSTHORN_TRY(put_file(cache_, boost::json::serialize(fresh) + "\n"));
        std::error_code ignored;
        fs::last_write_time(cache_, now_of_files(), ignored);
        return {};
    }
    void warn_of(const std::vector<contract_change>& changes, const console& terminal) const {
        std::size_t breaking = 0;
        for (const auto& change : changes) {
            if (!change.is_breaking || ++breaking > warnings_max) continue;
            terminal.err << fmt::format("warning: {} has changed: {} {}\n", place_,
                                        to_cell(change.where, 200), to_cell(change.what, 200));
        }
        if (breaking > warnings_max)
            terminal.err << fmt::format("warning: and {}\n",
                                        counted(breaking - warnings_max, "change more that breaks",
                                                "changes more that break"));
    }
    [[nodiscard]] std::chrono::milliseconds age_of_copy() const {
        std::error_code ignored;
        const auto written = fs::last_write_time(cache_, ignored);
        return std::chrono::duration_cast<std::chrono::milliseconds>(now_of_files() - written);
    }

    std::string place_;
    std::string name_;
    std::string file_;
    std::string cache_;
    std::string stale_after_ = "7d";
    source_tls tls_;
    bool offline_ = false;
};

class diff_command final : public command {
public:
    void declare(CLI::App& options) override {
        add_place(options, "BEFORE", before_, places)->required();
        add_place(options, "AFTER", after_, "likewise")->required();
        add_tls_options(options, tls_);
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn contracts diff hr.json http://127.0.0.1:7400\n"
            "Ends with 0 if those who were built against BEFORE can go on with AFTER, else with "
            "1.");
    }

    result<> run(const console& terminal) override {
        const auto before = read_metadata(before_, tls_);
        POSTHORN_TRY(before);
        const auto after = read_metadata(after_, tls_);
        POSTHORN_TRY(after);
        const auto changes = compare_contracts(*before, *after);
        std::size_t breaking = 0;
        boost::json::array list;
        for (const auto& each : changes) {
            breaking += each.is_breaking ? 1 : 0;
            list.push_back(boost::json::object{
                {"breaking", each.is_breaking}, {"where", each.where}, {"what", each.what}});
            if (!json_)
                terminal.out << fmt::format("{}  {} {}\n",
                                            each.is_breaking ? "breaking  " : "compatible",
                                            to_cell(each.where, 200), to_cell(each.what, 200));
        }
        if (json_)
            print_json(terminal, boost::json::object{{"breaking", breaking}, {"changes", list}});
        else if (changes.empty())
            terminal.out << "nothing has changed\n";
        if (breaking == 0) return {};
        return fail(error_code::state_changed,
                    "{} those who were built against {}; offer a new version of the service beside "
                    "the old one",
                    counted(breaking, "change breaks", "changes break"), before_);
    }

private:
    std::string before_;
    std::string after_;
    source_tls tls_;
    bool json_ = false;
};

template <class Command>
std::unique_ptr<command> make() {
    return std::make_unique<Command>();
}

constexpr std::array members{
    command_entry{"export", "print what a service offers", make<export_command>},
    command_entry{"import", "write a C++ header for another service's messages",
                  make<import_command>},
    command_entry{"diff", "tell compatible changes from breaking ones", make<diff_command>},
};

}  // namespace

std::unique_ptr<command> make_contracts_command() {
    return std::make_unique<command_group>(members);
}

}  // namespace posthorn::cli
