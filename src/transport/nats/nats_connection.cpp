#include "transport/nats/nats_connection.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

constexpr std::int64_t connect_ms = 5'000;
constexpr std::int64_t ping_ms = 20'000;
constexpr std::int64_t write_ms = 5'000;  // A server that takes nothing is gone.
constexpr std::string_view content_type = "Content-Type";
constexpr std::string_view message_id = "Nats-Msg-Id";

/// Callbacks may come after a connection was destroyed, so they name their listener by a number.
class listeners_by_number {
public:
    std::uintptr_t add(std::weak_ptr<nats_listener> one) {
        const std::lock_guard held(mutex_);
        known_.emplace(++last_, std::move(one));
        return last_;
    }
    void forget(std::uintptr_t number) {
        const std::lock_guard held(mutex_);
        known_.erase(number);
    }
    std::shared_ptr<nats_listener> find(void* number) {
        const std::lock_guard held(mutex_);
        const auto found = known_.find(reinterpret_cast<std::uintptr_t>(number));
        return found == known_.end() ? nullptr : found->second.lock();
    }

private:
    std::mutex mutex_;
    std::map<std::uintptr_t, std::weak_ptr<nats_listener>> known_;
    std::uintptr_t last_ = 0;
};

// Never destroyed: the library's threads may outlive `main`.
listeners_by_number& all_listeners() {
    static auto* const all = new listeners_by_number;
    return *all;
}

void on_answer(natsConnection* /*on*/, natsSubscription* /*by*/, natsMsg* came, void* number) {
    nats_message what(came);
    const auto to = all_listeners().find(number);
    if (!to) return;
    const std::string_view subject = natsMsg_GetSubject(came);
    const auto end = subject.substr(subject.rfind('.') + 1);
    to->answered(std::string(end), std::move(what));
}

void on_end(natsConnection* on, void* number) {
    const auto to = all_listeners().find(number);
    if (!to) return;
    const char* why = nullptr;
    const auto code = natsConnection_GetLastError(on, &why);
    to->ended(nats_error(code == NATS_OK ? NATS_CONNECTION_CLOSED : code, "NATS went away"));
}

// Such as a right that is missing: the connection goes on.
void on_error(natsConnection* /*on*/, natsSubscription* /*by*/, natsStatus /*code*/,
              void* /*number*/) {}

struct options_end {
    void operator()(natsOptions* one) const noexcept { natsOptions_Destroy(one); }
};
using connect_options = std::unique_ptr<natsOptions, options_end>;

std::string address_of(const broker_url& url) {
    const bool v6 = url.host.find(':') != url.host.npos;
    return fmt::format("nats://{}{}{}:{}", v6 ? "[" : "", url.host, v6 ? "]" : "", url.port);
}

natsStatus trust(natsOptions* with, const nats_place& at) {
    if (!at.url.tls) return NATS_OK;
    auto code = natsOptions_SetSecure(with, true);
    if (code == NATS_OK) code = natsOptions_SetExpectedHostname(with, at.url.host.c_str());
    if (code == NATS_OK && !at.authority.empty())
        code = natsOptions_LoadCATrustedCertificates(with, at.authority.c_str());
    if (code == NATS_OK && !at.own.certificate.empty())
        code =
            natsOptions_LoadCertificatesChain(with, at.own.certificate.c_str(), at.own.key.c_str());
    return code;
}

natsStatus show_who(natsOptions* with, const nats_place& at, const std::string& password) {
    if (!at.url.user.empty())
        return natsOptions_SetUserInfo(with, at.url.user.c_str(), password.c_str());
    return password.empty() ? NATS_OK : natsOptions_SetToken(with, password.c_str());
}

result<connect_options> options_of(const nats_place& at, const std::string& password,
                                   void* number) {
    natsOptions* raw = nullptr;
    if (natsOptions_Create(&raw) != NATS_OK)
        return fail(error_code::io_failed, "there is no memory for a connection");
    connect_options with(raw);
    const auto url = address_of(at.url);
    auto code = natsOptions_SetURL(raw, url.c_str());
    const auto then = [&code](auto next) {
        if (code == NATS_OK) code = next();
    };
    then([&] { return show_who(raw, at, password); });
    then([&] { return natsOptions_SetName(raw, at.name.c_str()); });
    then([&] { return natsOptions_SetTimeout(raw, connect_ms); });
    then([&] { return natsOptions_SetAllowReconnect(raw, false); });
    then([&] { return natsOptions_SetPingInterval(raw, ping_ms); });
    then([&] { return natsOptions_SetMaxPingsOut(raw, 2); });
    then([&] { return natsOptions_SetWriteDeadline(raw, write_ms); });
    then([&] { return natsOptions_SetClosedCB(raw, &on_end, number); });
    then([&] { return natsOptions_SetErrorHandler(raw, &on_error, number); });
    if (code != NATS_OK) return std::unexpected(nats_error(code, "NATS cannot be connected to"));
    if (const auto trusted = trust(raw, at); trusted != NATS_OK)
        return fail(error_code::certificate_unusable,
                    "tls.authority or tls.certificate cannot be used for NATS: {}",
                    natsStatus_GetText(trusted));
    return with;
}

}  // namespace

error nats_error(natsStatus code, std::string_view what) {
    const bool refused = code == NATS_CONNECTION_AUTH_FAILED || code == NATS_NOT_PERMITTED;
    return {refused ? error_code::access_denied : error_code::unreachable,
            fmt::format("{}: {}", what, natsStatus_GetText(code))};
}

result<std::unique_ptr<nats_connection>> nats_connection::open(
    const nats_place& at, const std::string& password, const std::shared_ptr<nats_listener>& to) {
    std::unique_ptr<nats_connection> made(new nats_connection);
    made->number_ = all_listeners().add(to);
    auto* const number = reinterpret_cast<void*>(made->number_);
    POSTHORN_LET(with, options_of(at, password, number));
    const auto place = fmt::format("NATS at {}:{} is not reached", at.url.host, at.url.port);
    if (const auto code = natsConnection_Connect(&made->raw_, with.get()); code != NATS_OK)
        return std::unexpected(nats_error(code, place));
    natsInbox* inbox = nullptr;
    if (const auto code = natsInbox_Create(&inbox); code != NATS_OK)
        return std::unexpected(nats_error(code, place));
    made->prefix_ = inbox;
    natsInbox_Destroy(inbox);
    const auto all = made->prefix_ + ".*";
    if (const auto code =
            natsConnection_Subscribe(&made->answers_, made->raw_, all.c_str(), &on_answer, number);
        code != NATS_OK)
        return std::unexpected(nats_error(code, "NATS takes no subscription"));
    // As many as are out may come at once.
    natsSubscription_SetPendingLimits(made->answers_, -1, -1);
    return made;
}

nats_connection::~nats_connection() {
    all_listeners().forget(number_);
    natsSubscription_Destroy(answers_);
    natsConnection_Destroy(raw_);
}

std::string nats_connection::inbox(std::string_view end) const {
    return fmt::format("{}.{}", prefix_, end);
}

result<nats_message> make_nats_message(const broker_message& from, const std::string& reply) {
    natsMsg* raw = nullptr;
    auto code = natsMsg_Create(&raw, from.address.c_str(), reply.c_str(), from.body.data(),
                               static_cast<int>(from.body.size()));
    if (code != NATS_OK) return std::unexpected(nats_error(code, "it cannot be written"));
    nats_message made(raw);
    const auto add = [&](std::string_view name, const std::string& value) {
        if (code == NATS_OK && !value.empty())
            code = natsMsgHeader_Set(raw, std::string(name).c_str(), value.c_str());
    };
    add(message_id, from.id);
    add(content_type, from.content_type);
    for (const auto& [name, value] : from.headers) add(name, value);
    if (code != NATS_OK) return std::unexpected(nats_error(code, "it cannot be written"));
    return made;
}

std::string nats_header(natsMsg* from, const char* name) {
    const char* value = nullptr;
    return natsMsgHeader_Get(from, name, &value) == NATS_OK && value != nullptr ? value : "";
}

broker_message read_nats_message(natsMsg* from) {
    broker_message to{.address = natsMsg_GetSubject(from),
                      .body = std::string(natsMsg_GetData(from),
                                          static_cast<std::size_t>(natsMsg_GetDataLength(from)))};
    const char** names = nullptr;
    int count = 0;
    if (natsMsgHeader_Keys(from, &names, &count) != NATS_OK) return to;
    for (int i = 0; i < count; ++i) to.headers.emplace_back(names[i], nats_header(from, names[i]));
    std::free(names);  // NOLINT: the library says that it was made with malloc.
    const auto take = [&to](std::string_view name) {
        const auto* const found = to.header(name);
        return found == nullptr ? std::string() : *found;
    };
    to.id = take(message_id);
    to.content_type = take(content_type);
    to.correlation_id = take(broker_header::correlation_id);
    return to;
}

}  // namespace posthorn
