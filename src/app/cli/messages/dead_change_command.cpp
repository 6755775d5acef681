// Commands that change messages that were given up: by their ids, or all that fit.
#include <ostream>

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/look_command.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/kit/progress.hpp"
#include "app/cli/messages/dead_command.hpp"

namespace posthorn::cli {
namespace {

namespace json = boost::json;

std::int64_t number(const json::object& from, std::string_view name) {
    const auto* value = from.if_contains(name);
    return value != nullptr && value->is_int64() ? value->as_int64() : 0;
}

/// What requeue, resolve, reopen and delete share.
class dead_change_command : public command {
public:
    void declare(CLI::App& options) final {
        add_place(options, "IDS", ids_, "the messages' ids; or say which by the options below");
        options.add_flag("--all", all_, "all of them");
        declare_dead_choice(options, wanted_);
        options.add_option("--if-state", order_.if_state, "only if it is still as list showed it")
            ->type_name("STATE");
        declare_more(options);
        where_.declare(options);
        add_json_flag(options, json_);
    }

    result<> run(const console& terminal) final {
        const bool many = all_ || wanted_.narrows();
        if (many == !ids_.empty())
            return fail(error_code::invalid_argument,
                        "say which messages: their ids, or a filter such as --cause or "
                        "--destination, or --all; not both");
        if (!order_.if_state.empty() && ids_.size() != 1)
            return fail(error_code::invalid_argument, "--if-state goes with the id of one message");
        POSTHORN_TRY(prepare(many, order_));
        POSTHORN_LET(to, where_.open());
        return many ? change_many(*to, terminal) : change_each(*to, terminal);
    }

protected:
    virtual void declare_more(CLI::App& options) = 0;
    /// Fills in the verb and what belongs to it.
    virtual result<> prepare(bool many, dead_order& order) = 0;
    /// What has been done to a message: "is pending".
    [[nodiscard]] virtual std::string_view done() const = 0;

private:
    result<> change_each(admin_source& to, const console& terminal) {
        std::vector<uuid> ids;
        for (const auto& text : ids_) {
            POSTHORN_LET(id, parse_message_id(text));
            ids.push_back(id);
        }
        json::array answers;
        result<> first_failure;
        for (const auto& id : ids) {  // One that fails keeps none of the others from it.
            auto answer = to.change_dead(id, order_);
            if (!answer) {
                if (first_failure) first_failure = std::unexpected(std::move(answer).error());
                continue;
            }
            if (!json_) print(id, *answer, terminal);
            answers.push_back(*std::move(answer));
        }
        if (json_) print_json(terminal, answers);
        return first_failure;
    }

    void print(const uuid& id, const json::object& answer, const console& terminal) const {
        const auto* now = answer.if_contains("messageId");
        const std::string shown = now && now->is_string() ? std::string(now->as_string()) : "";
        terminal.out << id.to_string() << ' ' << done();
        if (!shown.empty() && shown != id.to_string()) terminal.out << " as " << shown;
        terminal.out << '\n';
    }

    result<> change_many(admin_source& to, const console& terminal) {
        progress_bar bar(terminal, json_);
        std::int64_t changed = 0;
        std::int64_t expired = 0;
        std::int64_t first = 0;
        result<> outcome;
        do {
            const auto answer = to.change_many_dead(wanted_, order_);
            if (!answer) {
                outcome = std::unexpected(answer.error());
                break;
            }
            changed += number(*answer, "changed");
            expired += number(*answer, "expired");
            wanted_.after = number(*answer, "next");
            const auto highest = number(*answer, "highest");
            if (first == 0) first = number(*answer, "lowest");
            bar.show({.done = (wanted_.after > 0 ? wanted_.after : highest) - first,
                      .all = highest - first},
                     fmt::format("{} done", changed));
        } while (wanted_.after > 0);
        bar.finish();
        if (json_)
            print_json(terminal, json::object{{"changed", changed}, {"expired", expired}});
        else if (outcome || changed > 0)
            terminal.out << changed << (changed == 1 ? " message " : " messages ")
                         << (changed == 1 ? done() : plural()) << '\n';
        if (outcome && expired > 0)
            return fail(error_code::message_expired,
                        "{} could not be requeued, since they have expired; --new-id sends them as "
                        "new messages, which take effect a second time if they were received after "
                        "all",
                        expired);
        return outcome;
    }
    [[nodiscard]] std::string plural() const {
        std::string text(done());
        if (text.starts_with("is ")) text.replace(0, 2, "are");
        return text;
    }

    std::vector<std::string> ids_;
    bool all_ = false;
    dead_choice wanted_;
    dead_order order_;
    source_choice where_;
    bool json_ = false;
};

class dead_requeue_command final : public dead_change_command {
    void declare_more(CLI::App& options) override {
        options.add_flag("--new-id", new_id_,
                         "under a new id, past their expiry too; one that was received after all "
                         "takes effect twice");
        declare_expires_in(options, expires_in_);
        options.footer(
            "Example: posthorn dead requeue --cause 7\n"
            "Each has all its retries again. They go in the order in which they were sent.");
    }
    result<> prepare(bool /*many*/, dead_order& order) override {
        order.verb = "requeue";
        if (new_id_) order.body["newId"] = true;
        return add_expires_in(expires_in_, order.body);
    }
    [[nodiscard]] std::string_view done() const override { return "is pending"; }

    bool new_id_ = false;
    std::string expires_in_;
};

class dead_resolve_command final : public dead_change_command {
    void declare_more(CLI::App& options) override {
        options.add_option("--reason", reason_, "why it need not be sent")
            ->required()
            ->type_name("TEXT");
        options.footer(
            "Example: posthorn dead resolve 0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001 "
            "--reason 'paid by hand'");
    }
    result<> prepare(bool /*many*/, dead_order& order) override {
        order.verb = "resolve";
        order.body["reason"] = reason_;
        return {};
    }
    [[nodiscard]] std::string_view done() const override { return "is resolved"; }

    std::string reason_;
};

class dead_delete_command final : public dead_change_command {
    void declare_more(CLI::App& options) override {
        options.add_flag("--yes", yes_, "delete all that fit without being asked");
        options.footer(
            "Example: posthorn dead delete 0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001\n"
            "'dead resolve' closes a message and keeps it to be looked at.");
    }
    result<> prepare(bool many, dead_order& order) override {
        if (many && !yes_)
            return fail(error_code::invalid_argument,
                        "this deletes every message that fits, for good; look at them with 'dead "
                        "list' and add --yes");
        order.verb = "delete";
        return {};
    }
    [[nodiscard]] std::string_view done() const override { return "is deleted"; }

    bool yes_ = false;
};

class dead_reopen_command final : public dead_change_command {
    void declare_more(CLI::App& options) override {
        options.footer(
            "Example: posthorn dead reopen 0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001\n"
            "Of those that were resolved; by options, add --status Resolved.");
    }
    result<> prepare(bool /*many*/, dead_order& order) override {
        order.verb = "reopen";
        return {};
    }
    [[nodiscard]] std::string_view done() const override { return "is dead again"; }
};

}  // namespace

std::unique_ptr<command> make_dead_reopen_command() {
    return std::make_unique<dead_reopen_command>();
}
std::unique_ptr<command> make_dead_requeue_command() {
    return std::make_unique<dead_requeue_command>();
}
std::unique_ptr<command> make_dead_resolve_command() {
    return std::make_unique<dead_resolve_command>();
}
std::unique_ptr<command> make_dead_delete_command() {
    return std::make_unique<dead_delete_command>();
}

}  // namespace posthorn::cli
