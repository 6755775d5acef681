#include "transport/wire/wire_transport.hpp"

#include <exception>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/planted.hpp"
#include "message/trace.hpp"
#include "message/wire/answer.hpp"
#include "message/wire/envelope.hpp"
#include "transport/wire/legacy.hpp"
#include "transport/wire/status.hpp"

namespace posthorn {
namespace {

constexpr std::string_view batch_head = R"({"messages":[)";
constexpr std::string_view batch_tail = "]}";

delivery failed(const error& why) {
    return {.what = outcome::transient, .error = fmt::format("{}: {}", why.name(), why.what())};
}

/// There is no answer of the peer's.
delivery unheard(const error& why) {
    return {.what = outcome::unanswered,
            .error = fmt::format("{}: {}", why.name(), why.what()),
            .code = why.code()};
}

delivery without_secret(const error& why) {
    return {.what = outcome::undeliverable,
            .error = fmt::format("{}: {}", why.name(), why.what()),
            .code = why.code()};
}

wire_request single_request(const message& what, std::string body) {
    return {.path = std::string(receive_path),
            .traceparent = trace_of(what.headers).parent,
            .body = std::move(body)};
}

auto fields_of(const message& what) {
    // As many names as there are fields, or it does not compile.
    const auto& [id, type, source, destination, endpoint, payload, content_type, headers,
                 correlation_id, tenant, order_key, dedupe_key, parent_id, causation_id, priority,
                 max_retries, created_at, expires_at, deliver_at] = what;
    return std::tie(id, type, source, destination, endpoint, payload, content_type, headers,
                    correlation_id, tenant, order_key, dedupe_key, parent_id, causation_id,
                    priority, max_retries, created_at, expires_at, deliver_at);
}

bool is_same(const message& one, const message& other) {
    return fields_of(one) == fields_of(other);
}

/// Whether the results are those of the messages asked about, in their order.
bool fits(const std::vector<wire_answer>& results, const message_batch& batch, std::size_t from,
          std::size_t count) {
    if (results.size() != count) return false;
    for (std::size_t i = 0; i < count; ++i)
        if (results[i].id && *results[i].id != batch[from + i]->id) return false;
    return true;
}

}  // namespace

/// Messages of a batch, one after another, written out as one body.
struct wire_transport::parcel {
    std::size_t from = 0;
    std::size_t count = 0;
    std::string body{};
    std::optional<delivery> refused{};  // The first cannot be written out, and is all there is.
};

/// A reply and whether to believe it; or why there is none to look at.
struct wire_transport::believed {
    std::optional<delivery> failure{};  // For every message of the request.
    bool broken = false;                // The way, so that others will fare no better.
    wire_reply reply{};
    std::optional<error> distrust{};
};

wire_transport::wire_transport(std::unique_ptr<wire_channel> channel, const peer_keys& keys,
                               const clock& time, wire_transport_options options)
    : channel_(std::move(channel)), keys_(keys), time_(time), options_(std::move(options)) {
    POSTHORN_ASSERT(channel_ != nullptr);
    POSTHORN_ASSERT(options_.batch_messages_max > 0);
}

task<std::vector<delivery>> wire_transport::deliver(message_batch batch) {
    answers given;
    given.reserve(batch.size());
    delivery rest{.what = outcome::unanswered, .error = "the peer gave no answer"};
    try {
        if (!co_await send_all(batch, given) && !given.empty()) rest = given.back();
    } catch (const error& why) {
        rest = unheard(why);
    } catch (const std::exception& why) {
        rest.error = why.what();
    } catch (...) {
        rest.error = "unknown exception";
    }
    POSTHORN_ASSERT(given.size() <= batch.size());
    given.resize(batch.size(), rest);
    co_return given;
}

std::shared_ptr<const key_ring> wire_transport::find_keys() const {
    auto found = keys_.find(options_.destination);
    if (!found && !options_.keys_else.empty()) found = keys_.find(options_.keys_else);
    return found;
}

result<wire_request> wire_transport::with_signature(wire_request request,
                                                    const key_ring* keys) const {
    if (keys == nullptr)
        return fail(error_code::secret_unavailable,
                    "there is no secret for {}; add one that both share", options_.destination);
    POSTHORN_LET(
        made,
        sign(*keys, {options_.source, options_.destination},
             {.path = request.path, .content_type = request.content_type, .body = request.body},
             time_.wall()));
    request.signature = std::move(made);
    return request;
}

void wire_transport::prepare(const message& next) {
    const auto keys = find_keys();
    if (!keys || keys->scheme() != signature_scheme::v2) return;
    auto packed = pack({&next}, 0, false);
    if (packed.refused) return;
    auto made = with_signature(single_request(next, std::move(packed.body)), keys.get());
    if (!made) return;
    constexpr std::chrono::seconds fresh{1};  // Old signatures grow too old.
    const std::scoped_lock lock(preparing_);
    ready_ = {
        .of = next, .keys = keys, .until = time_.steady() + fresh, .request = *std::move(made)};
}

std::optional<wire_request> wire_transport::take_ready(const message_batch& batch) {
    const std::scoped_lock lock(preparing_);
    auto ready = std::exchange(ready_, {});
    if (!ready || batch.size() != 1 || !is_same(*batch.front(), ready->of)) return std::nullopt;
    if (time_.steady() >= ready->until || find_keys() != ready->keys.lock()) return std::nullopt;
    return std::move(ready->request);
}

bool wire_transport::may_batch() const { return time_.steady() >= batches_again_at_.load(); }

task<bool> wire_transport::send_all(const message_batch& batch, answers& to) {
    if (auto ready = take_ready(batch)) co_return co_await send_one(*std::move(ready), to);
    while (to.size() < batch.size()) {
        const auto keys = find_keys();
        if (keys && keys->scheme() != signature_scheme::v2) {
            if (!co_await send_legacy(*batch[to.size()], *keys, to)) co_return false;
            continue;
        }
        auto packed = pack(batch, to.size(), may_batch());
        bool is_open = true;
        if (packed.refused)
            to.push_back(*std::move(packed.refused));
        else if (packed.count == 1)
            is_open =
                co_await send_one(single_request(*batch[packed.from], std::move(packed.body)), to);
        else
            is_open = co_await send_many(batch, std::move(packed), to);
        if (!is_open) co_return false;
    }
    co_return true;
}

wire_transport::parcel wire_transport::pack(const message_batch& batch, std::size_t from,
                                            bool many) const {
    parcel packed{.from = from};
    packed.body = batch_head;
    const auto count_max = many ? options_.batch_messages_max : 1;
    const auto left = batch.size() - from;
    while (packed.count < std::min(count_max, left)) {
        const auto before = packed.body.size();
        if (packed.count > 0) packed.body += ',';
        try {
            append_envelope(packed.body, *batch[from + packed.count]);
        } catch (const error& why) {
            packed.body.resize(before);
            if (packed.count > 0) break;  // It begins the next parcel, and is refused there.
            packed.refused = failed(why);
            packed.refused->what = outcome::permanent;
            return packed;
        }
        if (packed.count > 0 && packed.body.size() + batch_tail.size() > options_.batch_bytes_max) {
            packed.body.resize(before);
            break;
        }
        ++packed.count;
    }
    if (packed.count == 1)
        packed.body.erase(0, batch_head.size());
    else
        packed.body += batch_tail;
    return packed;
}

task<bool> wire_transport::send_one(wire_request request, answers& to) {
    auto got = co_await exchange(std::move(request));
    if (got.failure) {
        to.push_back(*std::move(got.failure));
        co_return !got.broken;
    }
    if (got.distrust) {
        to.push_back(from_unsigned(got.reply, *got.distrust));
        co_return true;
    }
    auto said = read_answer(got.reply.body);
    if (said) {
        said->status = got.reply.status;
        to.push_back(from_wire(*std::move(said), got.reply.retry_after));
    } else {
        to.push_back(failed(said.error()));
    }
    co_return true;
}

task<bool> wire_transport::send_many(const message_batch& batch, parcel packed, answers& to) {
    const auto from = packed.from;
    const auto count = packed.count;
    auto got = co_await exchange(
        {.path = std::string(receive_batch_path), .body = std::move(packed.body)});
    const auto all = [&](const delivery& what) { to.insert(to.end(), count, what); };
    if (got.failure) {
        all(*got.failure);
        co_return !got.broken;
    }
    const auto& reply = got.reply;
    if (lacks_batches(reply)) {
        batches_again_at_ = time_.steady() + options_.batch_recheck;
        co_return co_await send_singly(batch, from, count, to);
    }
    if (got.distrust) {
        // A limit of the peer's that is smaller than ours: alone they may fit.
        if (reply.status == 413) co_return co_await send_singly(batch, from, count, to);
        all(from_unsigned(reply, *got.distrust));
        co_return true;
    }
    if (reply.status != 200) {
        auto said = read_answer(reply.body);
        if (said) said->status = reply.status;
        const auto what = said ? from_wire(*said, reply.retry_after) : failed(said.error());
        // One of them is at fault, and the others are not buried with it.
        if (what.what == outcome::permanent) co_return co_await send_singly(batch, from, count, to);
        all(what);
        co_return true;
    }
    auto results = read_answers(reply.body);
    if (!results) {
        all(failed(results.error()));
    } else if (!fits(*results, batch, from, count)) {
        all(failed(error(error_code::malformed_request,
                         "the answer to a batch has other results than the batch has messages")));
    } else {
        for (auto& one : *results) to.push_back(from_wire(std::move(one)));
    }
    co_return true;
}

task<bool> wire_transport::send_singly(const message_batch& batch, std::size_t from,
                                       std::size_t count, answers& to) {
    for (auto i = from; i < from + count; ++i) {
        auto packed = pack(batch, i, false);
        if (!co_await send_one(single_request(*batch[i], std::move(packed.body)), to))
            co_return false;
    }
    co_return true;
}

task<bool> wire_transport::send_legacy(const message& what, const key_ring& keys, answers& to) {
    result<wire_request> request;
    try {
        request = write_legacy(what, keys, time_.wall());
    } catch (const error& why) {
        to.push_back(failed(why));
        to.back().what = outcome::permanent;
        co_return true;
    }
    if (!request) {
        to.push_back(without_secret(request.error()));
        co_return false;
    }
    const auto reply = co_await channel_->exchange(*std::move(request));
    to.push_back(reply ? read_legacy(*reply, keys.scheme()) : unheard(reply.error()));
    co_return reply.has_value();
}

task<wire_transport::believed> wire_transport::exchange(wire_request request) {
    // Found anew each time, since they change.
    const auto keys = find_keys();
    if (keys && keys->scheme() != signature_scheme::v2)  // Since it was looked at last.
        co_return believed{
            .failure = unheard(error(error_code::cancelled, "the scheme has just changed")),
            .broken = true};
    const bool is_ready = keys && !request.signature.hmac.empty();
    auto made = is_ready ? std::move(request) : with_signature(std::move(request), keys.get());
    if (!made) co_return believed{.failure = without_secret(made.error()), .broken = true};
    const auto path = made->path;
    const auto hmac = made->signature.hmac;

    auto reply = co_await channel_->exchange(*std::move(made));
    if (!reply) co_return believed{.failure = unheard(reply.error()), .broken = true};
    believed got{.reply = *std::move(reply)};
    if (got.reply.status < 100 || got.reply.status > 599) {  // Zero would be taken for a request.
        got.distrust = error(error_code::bad_signature, "its status is none");
        co_return got;
    }
    const auto checked = verify(*keys, {options_.destination, options_.source}, got.reply.signature,
                                {.path = path,
                                 .content_type = got.reply.content_type,
                                 .body = got.reply.body,
                                 .request_hmac = hmac,
                                 .status = got.reply.status},
                                time_.wall());
    if (!checked && !POSTHORN_PLANTED(unsigned_ack_believed)) got.distrust = checked.error();
    co_return got;
}

std::unique_ptr<transport> over_wire(std::unique_ptr<wire_channel> channel,
                                     const transport_request& wanted) {
    return std::make_unique<wire_transport>(
        std::move(channel), wanted.keys, wanted.env.clock,
        wire_transport_options{.source = wanted.service, .destination = wanted.destination});
}

}  // namespace posthorn
