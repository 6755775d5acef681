#include "transport/kafka/kafka_publisher.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include <librdkafka/rdkafka.h>
#include <netdb.h>

#include "base/text/utf8.hpp"
#include "transport/broker/broker_answers.hpp"
#include "transport/kafka/kafka_rules.hpp"

namespace posthorn {
namespace {

constexpr std::string_view id_header = "rf-id";
constexpr std::string_view type_header = "content-type";
constexpr int serve_ms = 5;
/// Without a message too: librdkafka keeps what it has to say until it is asked.
constexpr std::chrono::milliseconds look_every = std::chrono::seconds{30};
constexpr std::size_t message_bytes_max = std::size_t{80} << 20;  // More than `limits.payload`.
constexpr std::size_t out_kib_max = std::size_t{128} << 10;       // Of all that are out.

kafka_word word_of(rd_kafka_resp_err_t code) {
    switch (code) {
        case RD_KAFKA_RESP_ERR_NO_ERROR: return kafka_word::persisted;
        case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
        case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
        case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED: return kafka_word::no_topic;
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
        case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE: return kafka_word::too_large;
        case RD_KAFKA_RESP_ERR_INVALID_RECORD:
        case RD_KAFKA_RESP_ERR_POLICY_VIOLATION: return kafka_word::refused;
        case RD_KAFKA_RESP_ERR__QUEUE_FULL:
        case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS:
        case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND:
        case RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR:
        case RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED: return kafka_word::no_room;
        default: return kafka_word::not_answered;
    }
}

/// One message that is out; librdkafka keeps it until it says what became of it.
struct sent_one {
    std::shared_ptr<publication> of;
    std::size_t which = 0;
    bool alone = false;  // Its request has no other message.
};

struct config_end {
    void operator()(rd_kafka_conf_t* one) const noexcept { rd_kafka_conf_destroy(one); }
};
using kafka_config = std::unique_ptr<rd_kafka_conf_t, config_end>;

result<> set(rd_kafka_conf_t* into, const char* name, const std::string& value) {
    std::array<char, 256> why{};
    if (rd_kafka_conf_set(into, name, value.c_str(), why.data(), why.size()) == RD_KAFKA_CONF_OK)
        return {};
    // Not what librdkafka says: it may repeat the value.
    return fail(error_code::invalid_configuration, "librdkafka does not take the setting {}", name);
}

struct headers_end {
    void operator()(rd_kafka_headers_t* one) const noexcept { rd_kafka_headers_destroy(one); }
};

}  // namespace

/// What librdkafka says, and what follows from it.
///
/// Threads: the publisher's, but for `complain` and `names`.
class kafka_publisher::reports {
public:
    explicit reports(name_probe& names) : names_(names) {}

    void report(rd_kafka_t* by, sent_one one, rd_kafka_resp_err_t code) {
        std::array<char, 256> why{};
        if (code == RD_KAFKA_RESP_ERR__FATAL)  // What lies behind it says more.
            code = rd_kafka_fatal_error(by, why.data(), why.size());
        const auto word = word_of(code);
        if (!one.alone && may_mean_another(word)) {
            one.alone = true;
            suspects_.push_back(std::move(one));
            return;
        }
        std::string said = rd_kafka_err2str(code);
        {
            const std::lock_guard held(mutex_);
            if (word == kafka_word::persisted) trouble_.clear();
            if (word == kafka_word::not_answered && !trouble_.empty())
                said += fmt::format("; before that, {}", trouble_);
        }
        one.of->answer(one.which, judge_kafka(word, said, one.of->messages()[one.which].address));
    }

    /// Such as that a broker is not reached, or does not let us in: no message's report says so.
    void complain(std::string_view text) {
        const std::lock_guard held(mutex_);
        trouble_ = clean_utf8(text, 200);
    }

    [[nodiscard]] name_probe& names() const noexcept { return names_; }
    [[nodiscard]] bool has_suspects() const noexcept { return !suspects_.empty(); }
    /// The next one that a coroutine still waits for, if there is any.
    std::optional<sent_one> take_suspect() {
        while (!suspects_.empty()) {
            auto one = std::move(suspects_.front());
            suspects_.pop_front();
            if (!one.of->is_over()) return one;
        }
        return std::nullopt;
    }

private:
    name_probe& names_;
    std::deque<sent_one> suspects_;  // To be sent again, each alone.
    std::mutex mutex_;
    std::string trouble_;
};

class kafka_publisher::producer {
public:
    static result<std::unique_ptr<producer>> make(const deps& with, reports& to) {
        POSTHORN_LET(how, configure(with));
        rd_kafka_conf_set_opaque(how.get(), &to);
        std::array<char, 256> why{};
        auto* const raw = rd_kafka_new(RD_KAFKA_PRODUCER, how.get(), why.data(), why.size());
        if (raw == nullptr)
            return fail(error_code::unreachable, "Kafka cannot be spoken to: {}",
                        clean_utf8(why.data(), why.size()));
        std::ignore = how.release();  // It belongs to the producer now.
        return std::unique_ptr<producer>(new producer(raw, to));
    }
    ~producer() {
        // What is out is reported as purged, so that nothing is left.
        rd_kafka_purge(raw_, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_flush(raw_, 1'000);
        rd_kafka_destroy(raw_);
    }
    producer(const producer&) = delete;
    producer& operator=(const producer&) = delete;

    void send(sent_one what) {
        auto sent = std::make_unique<sent_one>(std::move(what));
        const auto& one = sent->of->messages()[sent->which];
        std::unique_ptr<rd_kafka_headers_t, headers_end> with(rd_kafka_headers_new(16));
        const auto add = [&](std::string_view name, std::string_view value) {
            if (!value.empty())
                rd_kafka_header_add(with.get(), name.data(), static_cast<ssize_t>(name.size()),
                                    value.data(), static_cast<ssize_t>(value.size()));
        };
        add(id_header, one.id);
        add(type_header, one.content_type);
        for (const auto& [name, value] : one.headers) add(name, value);
        const auto* const key = one.header(broker_header::order_key);
        const std::string_view by = key == nullptr ? std::string_view() : *key;
        std::array<rd_kafka_vu_t, 6> parts{};
        parts[0].vtype = RD_KAFKA_VTYPE_TOPIC;
        parts[0].u.cstr = one.address.c_str();
        parts[1].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
        parts[1].u.i = RD_KAFKA_MSG_F_COPY;
        parts[2].vtype = RD_KAFKA_VTYPE_KEY;
        parts[2].u.mem.ptr = by.empty() ? nullptr : const_cast<char*>(by.data());
        parts[2].u.mem.size = by.size();
        parts[3].vtype = RD_KAFKA_VTYPE_VALUE;
        parts[3].u.mem.ptr = const_cast<char*>(one.body.data());
        parts[3].u.mem.size = one.body.size();
        parts[4].vtype = RD_KAFKA_VTYPE_HEADERS;
        parts[4].u.headers = with.get();
        parts[5].vtype = RD_KAFKA_VTYPE_OPAQUE;
        parts[5].u.ptr = sent.get();
        auto* const failure = rd_kafka_produceva(raw_, parts.data(), parts.size());
        const auto code =
            failure == nullptr ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_error_code(failure);
        if (failure != nullptr) rd_kafka_error_destroy(failure);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
            sent->alone = true;  // It was not sent at all, so that no other is meant.
            return to_.report(raw_, *std::move(sent), code);
        }
        std::ignore = with.release();  // Both belong to the message now.
        std::ignore = sent.release();
    }

    void poll(int wait_ms) { rd_kafka_poll(raw_, wait_ms); }
    [[nodiscard]] int out() const { return rd_kafka_outq_len(raw_); }
    /// An idempotent producer that has lost count takes nothing any more.
    [[nodiscard]] bool has_failed() const {
        std::array<char, 256> why{};
        return rd_kafka_fatal_error(raw_, why.data(), why.size()) != RD_KAFKA_RESP_ERR_NO_ERROR;
    }

private:
    producer(rd_kafka_t* raw, reports& to) : raw_(raw), to_(to) {}

    static void on_report(rd_kafka_t* by, const rd_kafka_message_t* what, void* to) {
        const std::unique_ptr<sent_one> one(static_cast<sent_one*>(what->_private));
        if (one) static_cast<reports*>(to)->report(by, std::move(*one), what->err);
    }
    static void on_log(const rd_kafka_t* by, int level, const char* /*facility*/,
                       const char* text) {
        constexpr int error_level = 3;  // As `syslog` counts them.
        auto* const to = by == nullptr ? nullptr : static_cast<reports*>(rd_kafka_opaque(by));
        if (to != nullptr && level <= error_level) to->complain(text);
    }

    // In place of `getaddrinfo`, and of `freeaddrinfo` where there is no name.
    static int on_name(const char* name, const char* service, const addrinfo* hints,
                       addrinfo** found, void* to) {
        if (name == nullptr) {
            ::freeaddrinfo(*found);
            return 0;
        }
        if (!static_cast<reports*>(to)->names().ask(name)) return EAI_AGAIN;
        return ::getaddrinfo(name, service, hints, found);
    }

    static result<kafka_config> configure(const deps& with) {
        kafka_config how(rd_kafka_conf_new());
        auto* const raw = how.get();
        POSTHORN_TRY(set(raw, "bootstrap.servers", with.at.brokers));
        POSTHORN_TRY(set(raw, "client.id", with.name));
        POSTHORN_TRY(set(raw, "enable.idempotence", "true"));
        POSTHORN_TRY(set(raw, "acks", "all"));
        POSTHORN_TRY(set(raw, "linger.ms", "1"));
        POSTHORN_TRY(set(raw, "message.timeout.ms", fmt::format("{}", answer_ms(with.patience))));
        POSTHORN_TRY(set(raw, "message.max.bytes", fmt::format("{}", message_bytes_max)));
        POSTHORN_TRY(set(raw, "queue.buffering.max.kbytes", fmt::format("{}", out_kib_max)));
        POSTHORN_TRY(set(raw, "allow.auto.create.topics", "false"));
        POSTHORN_TRY(set(raw, "socket.keepalive.enable", "true"));
        POSTHORN_TRY(set(raw, "socket.connection.setup.timeout.ms", "5000"));
        POSTHORN_TRY(set(raw, "reconnect.backoff.max.ms", "2000"));
        POSTHORN_TRY(set(raw, "topic.metadata.propagation.max.ms", "5000"));
        POSTHORN_TRY(secure(raw, with));
        rd_kafka_conf_set_dr_msg_cb(raw, &on_report);
        rd_kafka_conf_set_log_cb(raw, &on_log);
        rd_kafka_conf_set_resolve_cb(raw, &on_name);
        return how;
    }

    /// Before the lane gives up: so it learns why, and nothing is out that it sends anew.
    static std::int64_t answer_ms(std::chrono::milliseconds patience) {
        constexpr std::int64_t min = 10;  // More than what is waited for to fill a request.
        return std::clamp<std::int64_t>(patience.count() / 4 * 3, min,
                                        std::numeric_limits<std::int32_t>::max());
    }

    static result<> secure(rd_kafka_conf_t* raw, const deps& with) {
        const bool named = !with.at.user.empty();
        const std::string_view over = with.at.tls ? "ssl" : "plaintext";
        POSTHORN_TRY(set(raw, "security.protocol",
                         named ? fmt::format("sasl_{}", over) : std::string(over)));
        if (named) {
            std::string password;
            if (with.password) {
                POSTHORN_LET(read, with.password());
                password = std::move(read);
            }
            POSTHORN_TRY(set(raw, "sasl.mechanism", with.mechanism));
            POSTHORN_TRY(set(raw, "sasl.username", with.at.user));
            POSTHORN_TRY(set(raw, "sasl.password", password));
        }
        if (!with.at.tls) return {};
        if (!with.authority.empty()) POSTHORN_TRY(set(raw, "ssl.ca.location", with.authority));
        if (with.own.certificate.empty()) return {};
        POSTHORN_TRY(set(raw, "ssl.certificate.location", with.own.certificate));
        return set(raw, "ssl.key.location", with.own.key);
    }

    rd_kafka_t* raw_;
    reports& to_;
};

kafka_publisher::kafka_publisher(deps with)
    : with_(std::move(with)), reports_(std::make_unique<reports>(names_)) {
    thread_.post([this] { run(); });
}

kafka_publisher::~kafka_publisher() {
    names_.cut();
    const std::lock_guard held(mutex_);
    stopping_ = true;
    changed_.notify_all();
}

void kafka_publisher::publish(std::shared_ptr<publication> batch) {
    const std::lock_guard held(mutex_);
    // Those before may wait for suspects meanwhile, and lanes give up one batch after the other.
    std::erase_if(waiting_, [](const auto& each) { return each->is_over(); });
    waiting_.push_back(std::move(batch));
    changed_.notify_all();
}

std::deque<std::shared_ptr<publication>> kafka_publisher::take_waiting() {
    const std::lock_guard held(mutex_);
    return std::exchange(waiting_, {});
}

bool kafka_publisher::wait_for_more() {
    std::unique_lock held(mutex_);
    const bool is_busy = (to_ && to_->out() > 0) || reports_->has_suspects();
    if (!is_busy)
        changed_.wait_for(held, look_every, [this] { return stopping_ || !waiting_.empty(); });
    return !stopping_;
}

kafka_publisher::producer* kafka_publisher::open(std::string& why) {
    if (to_ && to_->has_failed()) to_.reset();
    if (!to_) {
        auto made = producer::make(with_, *reports_);
        if (made)
            to_ = *std::move(made);
        else
            why = made.error().what();
    }
    return to_.get();
}

void kafka_publisher::run() {
    bool is_one_alone = false;  // Nothing else goes until it is reported.
    while (wait_for_more()) {
        const bool is_quiet = !to_ || to_->out() == 0;
        if (is_quiet) is_one_alone = false;
        if (is_quiet && reports_->has_suspects()) {
            is_one_alone = true;
            send_next_suspect();
        } else if (!is_one_alone && !reports_->has_suspects()) {
            for (const auto& batch : take_waiting()) send(batch);
        }
        if (to_) to_->poll(to_->out() > 0 ? serve_ms : 0);
    }
}

void kafka_publisher::send(const std::shared_ptr<publication>& batch) {
    if (batch->is_over()) return;  // It would be sent twice: its lane tries it anew.
    std::string why;
    auto* const by = open(why);
    if (by == nullptr) return batch->answer_all(broker_is_silent(why));
    for (std::size_t i = 0; i < batch->messages().size(); ++i) by->send({batch, i});
}

void kafka_publisher::send_next_suspect() {
    auto one = reports_->take_suspect();
    if (!one) return;
    std::string why;
    auto* const by = open(why);
    if (by == nullptr) return one->of->answer(one->which, broker_is_silent(why));
    by->send(*std::move(one));
}

}  // namespace posthorn
