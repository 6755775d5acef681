#pragma once

#include <functional>
#include <memory>
#include <string>

#include <boost/json/object.hpp>

#include "app/cli/kit/admin_source.hpp"
#include "app/cli/kit/command.hpp"
#include "app/cli/kit/watch.hpp"

namespace posthorn::cli {

/// A command that asks a node or its file one question and shows the answer.
///
/// Lifetime: as any command.
class look_command : public command {
public:
    void declare(CLI::App& options) final;
    result<> run(const console& terminal) final;

protected:
    virtual void declare_more(CLI::App& options) = 0;
    virtual result<boost::json::object> ask(admin_source& from) = 0;
    [[nodiscard]] virtual std::string to_text(const boost::json::object& answer,
                                              wall_time now) const = 0;
    /// Whether the text is a table, whose lines are cut to the terminal's width.
    [[nodiscard]] virtual bool is_table() const { return false; }
    /// What a file does not know of this, and a running node does; empty if there is nothing.
    [[nodiscard]] virtual std::string_view unknown_to_a_file() const { return {}; }
    /// Whether it makes sense to look again and again.
    [[nodiscard]] virtual bool may_be_watched() const { return is_table(); }
    /// An error if the answer is shown and yet bad news.
    [[nodiscard]] virtual result<> judge(const boost::json::object& /*answer*/) const { return {}; }

private:
    [[nodiscard]] std::string shown(const boost::json::object& answer, std::size_t columns) const;

    source_choice where_;
    show_choice how_;
};

/// What a command that lists messages may be told.
void declare_list(CLI::App& options, list_choice& wanted);

/// The id, or `error_code::invalid_argument`.
[[nodiscard]] result<uuid> parse_message_id(std::string_view text);

std::unique_ptr<command> make_message_show_command();

}  // namespace posthorn::cli
