#include <algorithm>
#include <charconv>
#include <map>
#include <ostream>
#include <utility>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "app/cli/kit/admin_source.hpp"
#include "app/cli/kit/colour.hpp"
#include "app/cli/kit/feature_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/kit/presentation.hpp"
#include "app/cli/kit/watch.hpp"
#include "base/text/percent.hpp"
#include "feature/feature.hpp"

namespace posthorn::cli {
namespace {

namespace json = boost::json;
using place = feature_option::place;

std::string upper(std::string_view name) {
    std::string text(name);
    for (auto& each : text)
        each = static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
    return text;
}

constexpr std::size_t cell_width = 60;

/// A fraction as people write it, and not as 8E-1.
std::string text_of(const json::value& value) {
    if (value.is_string()) return std::string(value.as_string());
    return value.is_double() ? fmt::format("{}", value.as_double()) : json::serialize(value);
}

/// As a person reads it; what a stranger wrote cannot move the cursor.
std::string cell_of(const json::value* value, std::size_t size_max) {
    if (value == nullptr || value->is_null()) return "-";
    return to_cell(text_of(*value), size_max);
}

/// A field of an object; each entry of a list on a line of its own.
std::string field_text(std::string_view name, const json::value& value) {
    const auto line = [](std::string_view first, const json::value& of) {
        return fmt::format("{:<16} {}\n", first, cell_of(&of, std::string::npos));
    };
    const auto* const list = value.if_array();
    if (list == nullptr || list->empty()) return line(name, value);
    std::string text;
    for (const auto& each : *list) text += line(text.empty() ? name : "", each);
    return text;
}

/// How to go on where a page ended: by the option of the command that takes its `next`.
std::string more_text(const feature_command& asked, const json::object& answer) {
    const auto* const next = answer.if_contains("next");
    if (next == nullptr || next->is_null()) return "";
    for (const std::string_view name : {"before", "after"})
        if (std::ranges::find(asked.options, name, &feature_option::name) != asked.options.end())
            return fmt::format("more: add --{} {}\n", name, cell_of(next, cell_width));
    return "";
}

/// What is to be known of a list as a whole.
std::string note_text(const json::object& answer) {
    const auto* const note = answer.if_contains("note");
    if (note == nullptr || !note->is_string()) return "";
    return fmt::format("note: {}\n", cell_of(note, std::string::npos));
}

/// One command that a feature describes: asks its endpoint and shows the answer.
class endpoint_command final : public command {
public:
    explicit endpoint_command(const feature_command& what) : what_(what) {}

    void declare(CLI::App& options) override {
        for (const auto& each : what_.options) {
            auto& value = values_[each.name];
            if (each.where == place::path)
                add_place(options, upper(each.name), value, std::string(each.doc))->required();
            else if (each.flag)
                options.add_flag_callback(
                    fmt::format("--{}", each.said()), [&value] { value = "true"; },
                    std::string(each.doc));
            else
                not_empty(options.add_option(fmt::format("--{}", each.said()), value,
                                             std::string(each.doc)))
                    ->type_name(each.number ? "NUMBER" : "TEXT");
        }
        where_.declare(options);
        how_.declare(options, what_.list.empty() ? show_choice::kind::once
                                                 : show_choice::kind::may_be_watched);
        if (!what_.example.empty()) options.footer(fmt::format("Example: {}", what_.example));
    }

    result<> run(const console& terminal) override {
        POSTHORN_LET(asked, question());
        watcher eyes(terminal, how_);
        POSTHORN_LET(from, where_.open());
        if (how_.is_watched())
            return eyes.run([&](std::size_t columns) -> result<std::string> {
                POSTHORN_LET(answer, from->ask(asked));
                return shown(answer, columns);
            });
        POSTHORN_LET(answer, from->ask(asked));
        const auto text = shown(answer, terminal.columns);
        terminal.out << (how_.is_painted(terminal) ? paint_states(text) : text);
        return {};
    }

private:
    [[nodiscard]] std::string shown(const json::object& answer, std::size_t columns) const {
        if (how_.json) return json::serialize(answer) + '\n';
        const auto text = feature_text(what_, answer);
        return what_.list.empty() ? text : fit_table(text, columns);
    }
    [[nodiscard]] result<admin_question> question() const {
        admin_question asked{.method = std::string(what_.method), .path = std::string(what_.path)};
        char mark = '?';
        for (const auto& each : what_.options) {
            const auto& value = values_.at(each.name);
            if (value.empty()) continue;
            std::int64_t number = 0;
            const auto [end, failure] =
                std::from_chars(value.data(), value.data() + value.size(), number);
            if (each.number && (failure != std::errc{} || end != value.data() + value.size()))
                return fail(error_code::invalid_argument, "--{} '{}' is not a number", each.said(),
                            value);
            const auto name = fmt::format("{{{}}}", each.name);
            if (each.where == place::path)
                asked.path.replace(asked.path.find(name), name.size(), percent_encode(value));
            else if (each.where == place::query)
                asked.path += fmt::format("{}{}={}", std::exchange(mark, '&'), each.name,
                                          percent_encode(value));
            else
                asked.body[each.name] = each.number ? json::value(number) : json::value(value);
        }
        return asked;
    }

    const feature_command& what_;
    std::map<std::string_view, std::string> values_;
    source_choice where_;
    show_choice how_;
};

/// `posthorn NAME`, which holds the commands of a feature.
class feature_group final : public command {
public:
    explicit feature_group(const feature& of) : of_(of) {}

    void declare(CLI::App& options) override {
        for (const auto& each : of_.commands()) {
            auto* member =
                options.add_subcommand(std::string(each.name), std::string(each.summary));
            auto made = std::make_unique<endpoint_command>(each);
            made->declare(*member);
            members_.emplace_back(member, std::move(made));
        }
        if (!members_.empty()) options.footer(members_.front().first->get_footer());
    }

    result<> run(const console& terminal) override {
        std::string names;
        for (const auto& [options, member] : members_) {
            if (options->parsed()) return member->run(terminal);
            names += fmt::format("{}{}", names.empty() ? "" : ", ", options->get_name());
        }
        return fail(error_code::invalid_argument, "say what to do: {}. Add --help for more.",
                    names);
    }

private:
    const feature& of_;
    std::vector<std::pair<CLI::App*, std::unique_ptr<endpoint_command>>> members_;
};

}  // namespace

std::string feature_text(const feature_command& asked, const json::object& answer) {
    if (asked.list.empty()) {
        std::string text;
        for (const auto& [name, value] : answer) text += field_text(name, value);
        return text;
    }
    std::vector<std::string> heads;
    for (const auto& each : asked.columns) heads.emplace_back(each.head);
    text_table table(std::move(heads));
    const auto* const rows = answer.if_contains(asked.list);
    if (rows == nullptr || !rows->is_array() || rows->as_array().empty())
        return "none\n" + note_text(answer);
    for (const auto& row : rows->as_array()) {
        std::vector<std::string> cells;
        const auto* const fields = row.if_object();  // A node may be of another version.
        for (const auto& each : asked.columns)
            cells.push_back(
                cell_of(fields ? fields->if_contains(each.field) : nullptr, cell_width));
        table.add(std::move(cells));
    }
    return table.to_text() + more_text(asked, answer) + note_text(answer);
}

std::unique_ptr<command> make_feature_commands(const feature& of) {
    return std::make_unique<feature_group>(of);
}

}  // namespace posthorn::cli
