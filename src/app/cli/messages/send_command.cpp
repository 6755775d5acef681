#include <algorithm>
#include <iterator>
#include <ostream>

#include <boost/json/object.hpp>

#include "app/cli/kit/command.hpp"
#include "app/cli/kit/database.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/kit/presentation.hpp"
#include "app/config/core_settings.hpp"
#include "store/message_maker.hpp"

namespace posthorn::cli {
namespace {

// Signal for signal: users should not have to remember the capitals.
std::string to_lower(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

std::optional<message_type> type_of(const std::string& text) {
    for (const auto each : {message_type::signal, message_type::command, message_type::push_call,
                            message_type::response})
        if (to_lower(std::string(to_string(each))) == to_lower(text)) return each;
    return std::nullopt;
}

result<std::string> headers_of(const std::vector<std::string>& written) {
    boost::json::object headers;
    for (const auto& each : written) {
        const auto equals = each.find('=');
        if (equals == std::string::npos || equals == 0)
            return fail(error_code::invalid_argument,
                        "--header cannot be '{}'; write NAME=VALUE, such as region=north", each);
        if (to_lower(each).starts_with("rf-"))
            return fail(
                error_code::invalid_argument,
                "--header cannot be '{}'; names that begin with rf- are Posthorn's own, and "
                "have options such as --order-key: use another name",
                each.substr(0, equals));
        headers.insert_or_assign(each.substr(0, equals), each.substr(equals + 1));
    }
    return headers.empty() ? std::string() : boost::json::serialize(headers);
}

class send_command final : public command {
public:
    void declare(CLI::App& options) override {
        add_place(options, "DESTINATION", destination_, "the service it is for")->required();
        add_place(options, "ENDPOINT", endpoint_, "the handler there")->required();
        add_place(options, "PAYLOAD", payload_, "what it says, as JSON; - reads standard input");
        options.add_option("--id", id_, "its id, to repeat a send safely")->type_name("UUID");
        options.add_option("--type", type_, "what it is for")
            ->capture_default_str()
            ->check(CLI::IsMember({"Signal", "Command", "PushCall", "Response"}, CLI::ignore_case));
        options.add_option("--correlation-id", sending_.correlation_id, "links it to others")
            ->type_name("TEXT");
        options.add_option("--header", headers_, "for the handler; may be repeated")
            ->type_name("NAME=VALUE")
            ->expected(1)
            ->take_all();
        options.add_option("--expires-in", expires_in_, "how long it may take to arrive")
            ->type_name("DURATION");
        options.add_option("--deliver-at", deliver_at_, "not before this time, or after +DURATION")
            ->type_name("TIME");
        options
            .add_option("--order-key", sending_.order_key, "those that share it arrive in order")
            ->type_name("TEXT");
        options
            .add_option("--dedupe-key", sending_.dedupe_key,
                        "if one to this destination has it, nothing is sent, and its id is shown")
            ->type_name("TEXT");
        options.add_option("--priority", sending_.priority, "higher ones go first")
            ->capture_default_str()
            ->type_name("0-9");
        options.add_option("--tenant", sending_.tenant, "whose it is; tenants share evenly")
            ->type_name("TEXT");
        options.add_option("--content-type", sending_.content_type, "what the payload is")
            ->capture_default_str()
            ->type_name("TYPE");
        where_.declare(options);
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn send stock OrderPlaced '{\"orderId\":\"o1\"}' --order-key o1\n"
            "When it returns, the message is on disk; a node on the same database delivers it.");
    }

    result<> run(const console& terminal) override {
        POSTHORN_LET(settings, where_.settings());
        POSTHORN_TRY(read_payload(terminal));
        POSTHORN_LET(opened, database_session::open(settings));
        POSTHORN_TRY(read_options(opened->clock().wall()));
        POSTHORN_LET(id, store(*opened, settings));
        if (json_)
            print_json(terminal, boost::json::object{{"id", id.to_string()},
                                                     {"destination", destination_},
                                                     {"endpoint", endpoint_}});
        else
            terminal.out << id.to_string() << '\n';
        return {};
    }

private:
    result<> read_payload(const console& terminal) {
        if (payload_ != "-") return {};
        if (!terminal.in)
            return fail(error_code::invalid_argument, "there is no standard input to read from");
        payload_.assign(std::istreambuf_iterator<char>(*terminal.in), {});
        // A shell's line end is not meant; JSON is indifferent to it.
        if (payload_.ends_with('\n')) payload_.pop_back();
        return {};
    }

    result<> read_options(wall_time now) {
        sending_.type = type_of(type_).value_or(message_type::signal);
        if (!id_.empty()) sending_.id = uuid::parse(id_);
        if (!id_.empty() && !sending_.id)
            return fail(error_code::invalid_argument,
                        "--id cannot be '{}'; write a UUID, or leave it out for a new one", id_);
        if (!expires_in_.empty()) sending_.expires_in = parse_duration(expires_in_);
        if (!expires_in_.empty() && !sending_.expires_in)
            return fail(error_code::invalid_argument,
                        "--expires-in cannot be '{}'; write a duration such as 30m, 1h or 7d",
                        expires_in_);
        POSTHORN_TRY(read_deliver_at(now));
        POSTHORN_LET(headers, headers_of(headers_));
        sending_.headers = std::move(headers);
        return {};
    }

    result<> read_deliver_at(wall_time now) {
        if (deliver_at_.empty()) return {};
        sending_.deliver_at = parse_iso8601(deliver_at_);
        if (deliver_at_.starts_with('+'))
            if (const auto later = parse_duration(std::string_view(deliver_at_).substr(1)))
                sending_.deliver_at = now + *later;
        if (sending_.deliver_at) return {};
        return fail(error_code::invalid_argument,
                    "--deliver-at cannot be '{}'; write a time such as 2026-02-14T12:00:00Z, or "
                    "+10m for ten minutes from now",
                    deliver_at_);
    }

    [[nodiscard]] result<uuid> store(database_session& database, const config& settings) const {
        const message_maker maker(
            {.source = settings.service.id,
             .expires_in = settings.outbox.message_ttl,
             .max_retries = static_cast<std::int32_t>(settings.outbox.max_retries),
             .limits = message_limits_of(settings)},
            database.clock(), database.ids());
        POSTHORN_LET(made, maker.make({.destination = destination_,
                                       .endpoint = endpoint_,
                                       .payload = payload_,
                                       .options = sending_}));
        uuid id;
        POSTHORN_TRY(database.commit([&](store_transaction& tx) -> result<> {
            POSTHORN_LET(stored, tx.outbox().insert(made));
            id = stored.id;
            return {};
        }));
        return id;
    }

    std::string destination_;
    std::string endpoint_;
    std::string payload_ = "null";
    std::string id_;
    std::string type_ = "Signal";
    std::vector<std::string> headers_;
    std::string expires_in_;
    std::string deliver_at_;
    send_options sending_;
    database_choice where_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_send_command() { return std::make_unique<send_command>(); }

}  // namespace posthorn::cli
