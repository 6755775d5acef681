#include "transport/wire/wire_server.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/assert.hpp"
#include "base/text/percent.hpp"
#include "message/wire/claim.hpp"
#include "message/wire/command.hpp"
#include "security/x_workflow.hpp"
#include "transport/wire/legacy.hpp"
#include "transport/wire/peek.hpp"
#include "transport/wire/status.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds overloaded_pause = 1s;
constexpr std::size_t source_shown_max = 255;

/// Counts a request for as long as it is at work.
class place {
public:
    explicit place(std::atomic<std::size_t>& taken) : taken_(taken), number_(++taken) {}
    ~place() { --taken_; }
    place(const place&) = delete;
    place& operator=(const place&) = delete;

    [[nodiscard]] std::size_t number() const noexcept { return number_; }

private:
    std::atomic<std::size_t>& taken_;
    std::size_t number_;
};

wire_reply reply_with(const wire_answer& what) {
    wire_reply reply{.status = what.status, .retry_after = what.retry_after};
    append_answer(reply.body, what);
    return reply;
}

wire_reply reply_with(const std::vector<wire_answer>& results) {
    wire_reply reply;
    append_answers(reply.body, results);
    return reply;
}

/// The first message that another service than the one that signed claims to have sent.
const message* find_foreign(const std::vector<result<message>>& read, std::string_view source) {
    for (const auto& one : read)
        if (one && one->source != source) return &*one;
    return nullptr;
}

bool is_unsigned(const signature_headers& claimed) {
    return claimed.scheme.empty() && claimed.hmac.empty();
}

}  // namespace

wire_server::wire_server(wire_server_deps parts, wire_server_options options)
    : parts_(parts), options_(std::move(options)) {}

task<wire_reply> wire_server::answer(wire_request request) {
    const place at_work(at_work_);
    const auto keys = parts_.keys.find(request.signature.source);
    if (at_work.number() > options_.requests_at_work_max) co_return shed(request, keys.get());
    if (is_unsigned(request.signature) && parts_.keys.has_legacy()) {
        if (request.path.starts_with(workflow_inbox_path))
            co_return co_await answer_workflow(std::move(request));
        co_return co_await answer_legacy(std::move(request));
    }
    if (const auto checked = check(request, keys.get()); !checked)
        co_return distrust(request, peek_message_id(request.body), checked.error());
    distrusted_.succeeded(request.signature.source);

    wire_reply reply;
    if (const auto messages = read(request); !messages) {
        malformed_.fetch_add(1, std::memory_order_relaxed);
        reply = reply_with(refuse(messages.error()));
    } else if (const auto* foreign = find_foreign(*messages, request.signature.source)) {
        co_return distrust(
            request, foreign->id,
            error(error_code::bad_signature, "sourceServiceId is another service than rf-source"));
    } else {
        auto answers = co_await take_in(*messages);
        shorten(answers);
        reply = request.path == receive_path ? reply_with(answers.front()) : reply_with(answers);
    }
    seal(reply, request, *keys);
    reply.known_caller = true;
    co_return reply;
}

std::optional<wire_reply> wire_server::refuse_by_head(const wire_request& head) {
    // Those say in the body whom they are from.
    if (is_unsigned(head.signature) && parts_.keys.has_legacy()) return std::nullopt;
    const auto keys = parts_.keys.find(head.signature.source);
    auto checked = check_sender(head, keys.get());
    if (checked)
        checked = check_claim(*keys, {.source = head.signature.source, .destination = meant(head)},
                              head.signature, parts_.time.wall());
    if (checked) return std::nullopt;
    return distrust(head, std::nullopt, checked.error());
}

wire_counts wire_server::counts() const {
    return {.bad_signatures = bad_signatures_, .malformed = malformed_, .overloaded = overloaded_};
}

const std::string& wire_server::meant(const wire_request& request) const {
    const auto known = std::ranges::find(options_.urls, request.signature.destination);
    return known == options_.urls.end() ? options_.service : *known;
}

result<> wire_server::check_sender(const wire_request& request, const key_ring* keys) {
    if (request.path != receive_path && request.path != receive_batch_path)
        return fail(error_code::bad_signature, "nothing is received at this path");
    if (keys == nullptr)
        return fail(error_code::bad_signature,
                    "there is no secret for rf-source here; add one for that service");
    return check_certified(request, request.signature.source);
}

result<> wire_server::check(const wire_request& request, const key_ring* keys) const {
    POSTHORN_TRY(check_sender(request, keys));
    return verify(
        *keys, {.source = request.signature.source, .destination = meant(request)},
        request.signature,
        {.path = request.path, .content_type = request.content_type, .body = request.body},
        parts_.time.wall());
}

result<> wire_server::check_certified(const wire_request& request, std::string_view source) {
    if (!request.certified ||
        std::ranges::find(*request.certified, source) != request.certified->end())
        return {};
    return fail(error_code::bad_signature,
                "the certificate shown is not that of rf-source; its common name or an alternative "
                "one must be the service's id");
}

envelope_rules wire_server::rules() const {
    return {.destination = options_.service,
            .now = parts_.time.wall(),
            .messages_max = options_.messages_max,
            .limits = options_.limits};
}

result<wire_server::read_messages> wire_server::read(const wire_request& request) const {
    if (request.path == receive_batch_path) return read_batch(request.body, rules());
    auto one = read_envelope(request.body, rules());
    if (!one) return std::unexpected(std::move(one).error());
    read_messages alone;
    alone.push_back(std::move(one));
    return alone;
}

task<std::vector<wire_answer>> wire_server::take_in(const read_messages& read) {
    message_batch good;
    good.reserve(read.size());
    for (const auto& one : read)
        if (one) good.push_back(&*one);
    std::vector<delivery> came_of_it;
    try {
        if (!good.empty()) came_of_it = co_await parts_.to.receive(good);
        POSTHORN_ASSERT(came_of_it.size() == good.size());
    } catch (const std::exception& why) {
        came_of_it.assign(good.size(), {.what = outcome::transient, .error = why.what()});
    }
    std::vector<wire_answer> answers;
    answers.reserve(read.size());
    auto next = came_of_it.begin();
    for (const auto& one : read) {
        if (one) {
            answers.push_back(to_wire(std::move(*next++)));
            answers.back().id = one->id;
        } else {
            malformed_.fetch_add(1, std::memory_order_relaxed);
            answers.push_back(refuse(one.error()));
        }
    }
    co_return answers;
}

// A sender reads answers up to a limit, and one past it would be past it at every try. So those
// that do not fit are asked for again, when each gets its recorded response; the first always fits.
void wire_server::shorten(std::vector<wire_answer>& answers) const {
    std::size_t total = 0;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        auto& one = answers[i];
        total += one.payload.size();
        if (i == 0 || one.payload.empty() || total <= options_.answer_payload_bytes_max) continue;
        one = {.status = 425,
               .id = one.id,
               .error = "its response did not fit beside the others; ask for it again",
               .retry_after = std::chrono::milliseconds{1}};
    }
}

wire_reply wire_server::distrust(const wire_request& request, std::optional<uuid> id,
                                 const error& why) {
    bad_signatures_.fetch_add(1, std::memory_order_relaxed);
    if (parts_.keys.find(request.signature.source) != nullptr)
        distrusted_.failed(
            {.name = request.signature.source, .why = why.what(), .code = why.code()},
            parts_.time.wall());
    if (const auto held_back = distrusted_lines_.admit(parts_.time.steady())) {
        const auto shown = id ? id->to_string() : std::string("unknown");
        const auto source = std::string_view(request.signature.source).substr(0, source_shown_max);
        parts_.log.warn("Inbox:  HMAC verification failed for {MessageId} from {SourceServiceId}",
                        {{"MessageId", shown},
                         {"SourceServiceId", source.empty() ? "unknown" : source},
                         {"Error", why.what()},
                         {"HeldBack", *held_back}});
    }
    return reply_with(refuse(why));
}

wire_reply wire_server::shed(const wire_request& request, const key_ring* keys) {
    overloaded_.fetch_add(1, std::memory_order_relaxed);
    auto reply = reply_with(
        wire_answer{.status = 503,
                    .error = "overloaded: too many requests are at work here; ask again in a while",
                    .code = std::string(describe(error_code::overloaded).name),
                    .retry_after = overloaded_pause});
    // Signed without having verified the request, which would be most of the work: it says no more
    // than any peer could say unsigned.
    if (keys != nullptr && keys->scheme() == signature_scheme::v2 &&
        request.signature.destination == meant(request))
        seal(reply, request, *keys);
    return reply;
}

void wire_server::seal(wire_reply& reply, const wire_request& request, const key_ring& keys) {
    auto made = sign(keys, {.source = meant(request), .destination = request.signature.source},
                     {.path = request.path,
                      .content_type = reply.content_type,
                      .body = reply.body,
                      .request_hmac = request.signature.hmac,
                      .status = reply.status},
                     parts_.time.wall());
    if (made)
        reply.signature = *std::move(made);
    else
        parts_.log.error(
            "Inbox:  Answer to {SourceServiceId} not signed: {Error}",
            {{"SourceServiceId", request.signature.source}, {"Error", made.error().what()}});
}

// Requests that are signed in an older way. Their answers are not signed: such peers could not
// tell.

namespace {

/// Such a sender takes every 4xx for the end of a message, so what may pass is a 503.
void soften(wire_answer& said) {
    if (said.status == 404 || said.status == 425) said.status = 503;
}

}  // namespace

// Whose key counts is said inside the body alone, so that is read before anything is verified.
task<wire_reply> wire_server::answer_legacy(wire_request request) {
    const auto claim = read_claim(request.body);
    if (!claim) {
        malformed_.fetch_add(1, std::memory_order_relaxed);
        co_return reply_with(refuse(claim.error()));
    }
    request.signature.source = claim->source;  // For the log.
    const auto keys = parts_.keys.find(claim->source);
    const auto now = parts_.time.wall();
    auto checked = check_legacy(request, *claim, keys.get(), now);
    if (checked) checked = check_certified(request, claim->source);
    if (!checked) co_return distrust(request, uuid::parse(claim->message_id), checked.error());
    distrusted_.succeeded(claim->source);
    auto read = read_envelope(request.body, rules());
    if (read && read->source != claim->source)
        co_return distrust(request, read->id,
                           error(error_code::bad_signature, "sourceServiceId is not clear"));
    if (read) {
        limit_life(*read, keys->scheme());
        drop_unsigned(*read, keys->scheme());
    }
    co_return co_await hand_on(std::move(read));
}

// Nothing says whom it is from but the key, which no other peer has.
task<wire_reply> wire_server::answer_workflow(wire_request request) {
    result<> checked = fail(error_code::bad_signature, "no peer here signs with x-workflow");
    for (const auto& [peer, ring] : parts_.keys.of_scheme(signature_scheme::x_workflow)) {
        checked =
            verify_x_workflow(*ring, request.workflow_signature, request.body, parts_.time.wall());
        if (!checked) continue;
        request.signature.source = peer;
        break;
    }
    if (checked) checked = check_certified(request, request.signature.source);
    if (!checked) co_return distrust(request, std::nullopt, checked.error());
    distrusted_.succeeded(request.signature.source);
    const auto encoded = std::string_view(request.path).substr(workflow_inbox_path.size());
    auto read = read_command(
        request.body,
        {.source = request.signature.source, .endpoint = percent_decode(encoded).value_or("")},
        rules());
    if (read && read->source != request.signature.source)
        co_return distrust(request, read->id,
                           error(error_code::bad_signature,
                                 "sourceServiceId is another service than the one that signed"));
    co_return co_await hand_on(std::move(read));
}

task<wire_reply> wire_server::hand_on(result<message> read) {
    if (!read) {
        malformed_.fetch_add(1, std::memory_order_relaxed);
        co_return reply_with(refuse(read.error()));
    }
    read_messages alone;
    alone.push_back(std::move(read));
    auto said = std::move((co_await take_in(alone)).front());
    soften(said);
    auto reply = reply_with(said);
    reply.known_caller = true;
    co_return reply;
}

}  // namespace posthorn
