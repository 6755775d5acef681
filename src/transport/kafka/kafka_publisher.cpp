#include "transport/kafka/kafka_publisher.hpp"

#include <array>
#include <utility>

#include <librdkafka/rdkafka.h>

#include "transport/broker/broker_answers.hpp"
#include "transport/kafka/kafka_rules.hpp"

namespace posthorn {
namespace {

constexpr std::string_view id_header = "rf-id";
constexpr std::string_view type_header = "content-type";
constexpr int serve_ms = 5;

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

    void answer(rd_kafka_resp_err_t code) const {
        of->answer(which, judge_kafka(word_of(code), rd_kafka_err2str(code),
                                      of->messages()[which].address));
    }
};

void on_report(rd_kafka_t* /*by*/, const rd_kafka_message_t* what, void* /*opaque*/) {
    const std::unique_ptr<sent_one> one(static_cast<sent_one*>(what->_private));
    if (one) one->answer(what->err);
}

void on_log(const rd_kafka_t* /*by*/, int /*level*/, const char* /*facility*/,
            const char* /*text*/) {}  // What matters comes with a message.

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

class kafka_publisher::producer {
public:
    static result<std::unique_ptr<producer>> make(const deps& with) {
        POSTHORN_LET(how, configure(with));
        std::array<char, 256> why{};
        auto* const raw = rd_kafka_new(RD_KAFKA_PRODUCER, how.get(), why.data(), why.size());
        if (raw == nullptr)
            return fail(error_code::unreachable, "Kafka cannot be spoken to: {}", why.data());
        std::ignore = how.release();  // It belongs to the producer now.
        return std::unique_ptr<producer>(new producer(raw));
    }
    ~producer() {
        // What is out is reported as purged, so that nothing is left.
        rd_kafka_purge(raw_, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_flush(raw_, 1'000);
        rd_kafka_destroy(raw_);
    }
    producer(const producer&) = delete;
    producer& operator=(const producer&) = delete;

    void send(const std::shared_ptr<publication>& batch, std::size_t which) {
        const auto& one = batch->messages()[which];
        auto sent = std::make_unique<sent_one>(batch, which);
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
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return sent->answer(code);
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
    explicit producer(rd_kafka_t* raw) : raw_(raw) {}

    static result<kafka_config> configure(const deps& with) {
        kafka_config how(rd_kafka_conf_new());
        auto* const raw = how.get();
        POSTHORN_TRY(set(raw, "bootstrap.servers", with.at.brokers));
        POSTHORN_TRY(set(raw, "client.id", with.name));
        POSTHORN_TRY(set(raw, "enable.idempotence", "true"));
        POSTHORN_TRY(set(raw, "acks", "all"));
        POSTHORN_TRY(set(raw, "linger.ms", "1"));
        POSTHORN_TRY(set(raw, "message.timeout.ms", fmt::format("{}", with.patience.count())));
        POSTHORN_TRY(set(raw, "socket.connection.setup.timeout.ms", "5000"));
        POSTHORN_TRY(set(raw, "reconnect.backoff.max.ms", "2000"));
        POSTHORN_TRY(set(raw, "topic.metadata.propagation.max.ms", "5000"));
        POSTHORN_TRY(secure(raw, with));
        rd_kafka_conf_set_dr_msg_cb(raw, &on_report);
        rd_kafka_conf_set_log_cb(raw, &on_log);
        return how;
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
};

kafka_publisher::kafka_publisher(deps with) : with_(std::move(with)) {}

kafka_publisher::~kafka_publisher() { stopping_ = true; }

void kafka_publisher::publish(std::shared_ptr<publication> batch) {
    thread_.post([this, batch = std::move(batch)] { send(batch); });
}

void kafka_publisher::send(const std::shared_ptr<publication>& batch) {
    if (stopping_) return;
    if (to_ && to_->has_failed()) to_.reset();
    if (!to_) {
        auto made = producer::make(with_);
        if (!made) return batch->answer_all(broker_is_silent(made.error().what()));
        to_ = *std::move(made);
    }
    for (std::size_t i = 0; i < batch->messages().size(); ++i) to_->send(batch, i);
    if (!std::exchange(serving_, true)) serve();
}

// Reports are given out here, between batches, for as long as any is out.
void kafka_publisher::serve() {
    if (stopping_ || !to_) return;
    to_->poll(to_->out() > 0 ? serve_ms : 0);
    if (to_->out() == 0) {
        serving_ = false;
        return;
    }
    thread_.post([this] { serve(); });
}

}  // namespace posthorn
