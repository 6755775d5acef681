#include <iterator>
#include <ostream>

#include "app/cli/kit/files.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/look_command.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/messages/dead_command.hpp"

namespace posthorn::cli {
namespace {

/// Changes a message before it is sent again.
class dead_edit_command final : public command {
public:
    void declare(CLI::App& options) override {
        add_place(options, "ID", id_, "the message's id")->required();
        options.add_option("--payload", payload_, "what it says; - reads standard input")
            ->type_name("TEXT");
        options.add_option("--payload-file", payload_file_, "what it says, from a file")
            ->type_name("FILE");
        options.add_option("--headers", headers_, "a JSON object in place of its headers, or ''")
            ->type_name("JSON");
        options.add_option("--destination", destination_, "the service it is for")
            ->type_name("SERVICE");
        options.add_option("--endpoint", endpoint_, "the handler there")->type_name("NAME");
        options.add_option("--content-type", content_type_, "what the payload is")
            ->type_name("TYPE");
        options.add_option("--max-retries", max_retries_, "after the first attempt; -1: for ever")
            ->type_name("NUMBER");
        options.add_flag("--requeue", requeue_, "and let it be sent again");
        options.add_flag("--new-id", new_id_,
                         "requeue under a new id, past its expiry too; if it was received after "
                         "all, it takes effect twice");
        declare_expires_in(options, expires_in_);
        options.add_option("--if-state", order_.if_state, "only if it is still as list showed it")
            ->type_name("STATE");
        where_.declare(options);
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn dead edit 0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001 --payload "
            "'{\"orderId\":\"o1\"}' --requeue\n"
            "The id stays: if the earlier body took effect after all, the receiver refuses this "
            "one.");
    }

    result<> run(const console& terminal) override {
        POSTHORN_LET(id, parse_message_id(id_));
        POSTHORN_TRY(read_payload(terminal));
        fill();
        POSTHORN_TRY(add_expires_in(expires_in_, order_.body));
        POSTHORN_LET(to, where_.open());
        POSTHORN_LET(answer, to->change_dead(id, order_));
        if (json_) {
            print_json(terminal, answer);
            return {};
        }
        terminal.out << id_ << " is changed";
        if (requeue_) terminal.out << " and pending";
        if (const auto* now = answer.if_contains("messageId");
            now && now->is_string() && new_id_ && requeue_)
            terminal.out << " as " << std::string_view(now->as_string());
        terminal.out << '\n';
        return {};
    }

private:
    result<> read_payload(const console& terminal) {
        if (!payload_file_.empty() && payload_)
            return fail(error_code::invalid_argument, "give --payload or --payload-file, not both");
        if (!payload_file_.empty()) {
            POSTHORN_LET(text, read_file(payload_file_));
            payload_ = std::move(text);
        } else if (payload_ == "-") {
            if (!terminal.in)
                return fail(error_code::invalid_argument,
                            "there is no standard input to read from");
            payload_ = std::string(std::istreambuf_iterator<char>(*terminal.in), {});
        } else {
            return {};
        }
        // An editor's line end is not meant.
        if (payload_->ends_with('\n')) payload_->pop_back();
        return {};
    }

    void fill() {
        order_.verb = "edit";
        const auto set = [this](std::string_view name, const auto& value) {
            if (value) order_.body[name] = *value;
        };
        set("payload", payload_);
        set("headers", headers_);
        set("destination", destination_);
        set("endpoint", endpoint_);
        set("contentType", content_type_);
        set("maxRetries", max_retries_);
        if (requeue_) order_.body["requeue"] = true;
        if (new_id_) order_.body["newId"] = true;
    }

    std::string id_;
    std::optional<std::string> payload_;
    std::string payload_file_;
    std::optional<std::string> headers_;
    std::optional<std::string> destination_;
    std::optional<std::string> endpoint_;
    std::optional<std::string> content_type_;
    std::optional<std::int32_t> max_retries_;
    bool requeue_ = false;
    bool new_id_ = false;
    std::string expires_in_;
    dead_order order_;
    source_choice where_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_dead_edit_command() { return std::make_unique<dead_edit_command>(); }

}  // namespace posthorn::cli
