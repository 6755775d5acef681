#include "transport/grpc/grpc_calls.hpp"

#include <atomic>
#include <utility>

#include <boost/asio/post.hpp>
#include <grpc/grpc_security_constants.h>

#include "transport/grpc/grpc_fields.hpp"
#include "transport/grpc/grpc_tls.hpp"

namespace posthorn {
namespace {

grpc::Status unavailable(const char* why) { return {grpc::StatusCode::UNAVAILABLE, why}; }

/// The names in the certificate that a peer has shown; nothing if it has shown none.
std::optional<std::vector<std::string>> certified_names(
    const grpc::CallbackServerContext& context) {
    const auto identity = context.auth_context();
    if (identity == nullptr || !identity->IsPeerAuthenticated()) return std::nullopt;
    const auto shown = identity->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
    if (shown.empty()) return std::vector<std::string>{};
    return names_in_pem({shown.front().data(), shown.front().size()});
}

/// What came, ready for the handler or refused already.
struct incoming {
    wire_request request;
    std::optional<wire_reply> refused;
};

incoming take(RFRequest from, const grpc_metadata& metadata,
              const std::optional<std::vector<std::string>>& certified, const http_limits& limits) {
    const auto headers = headers_of(from, metadata);
    incoming taken{.request = {}, .refused = refuse_request(from, headers, limits)};
    if (!taken.refused) taken.request = to_wire(std::move(from), headers);
    taken.request.certified = certified;
    return taken;
}

task<wire_reply> answer(const grpc_call_deps& by, incoming one) {
    if (one.refused) co_return *std::move(one.refused);
    try {
        co_return co_await by.handler(std::move(one.request));
    } catch (const std::exception& failure) {
        by.log.error("A request over gRPC failed: {Reason}", {{"Reason", failure.what()}});
    }
    // What went wrong is for the log, not for the peer.
    co_return wire_reply{
        .status = 500,
        .body =
            error_response(500, "internal_error", "the request failed; see the node's log").body};
}

/// One request and its answer.
///
/// Lifetime: its own, until gRPC is done with it.
/// Threads:  gRPC's, and the executor for the answer.
class one_request final : public grpc::ServerUnaryReactor, public grpc_call {
public:
    one_request(grpc_call_deps& by, grpc::CallbackServerContext& context, RFReply& reply)
        : by_(by), context_(context), reply_(reply) {}

    void begin(const RFRequest& request) {
        reply_.set_number(request.number());
        in_metadata_ = request.headers().empty();
        auto taken =
            take(request, context_.client_metadata(), certified_names(context_), by_.limits);
        boost::asio::post(by_.where, [this, taken = std::move(taken)]() mutable {
            by_.tasks.spawn(run(std::move(taken)));
        });
    }

    void finish() override {}
    void drop() override { context_.TryCancel(); }
    void look() override {
        // Its request is at work, or its answer has just gone.
        if (looks_since_answer_ < 0 || looks_since_answer_++ == 0) return;
        context_.TryCancel();  // Its peer does not read.
    }

    void OnDone() override {
        by_.calls.leave(*this);
        delete this;
    }

private:
    task<> run(incoming taken) {
        from_wire(co_await answer(by_, std::move(taken)), reply_);
        // A peer that puts them there looks for them there.
        if (in_metadata_)
            for (const auto& [name, value] : reply_.headers())
                if (name.starts_with("rf-")) context_.AddTrailingMetadata(name, value);
        looks_since_answer_ = 0;
        Finish(grpc::Status::OK);
    }

    grpc_call_deps& by_;
    grpc::CallbackServerContext& context_;
    RFReply& reply_;
    bool in_metadata_ = false;
    std::atomic<int> looks_since_answer_ = -1;  // Before there is one.
};

/// Requests one after the other, each answered when its answer is there. While as many as there may
/// be are under way or unread by the peer, no more are read.
///
/// Lifetime: its own, until gRPC is done with it.
/// Threads:  gRPC's, and the executor for the answers.
class request_stream final : public grpc::ServerBidiReactor<RFRequest, RFReply>, public grpc_call {
public:
    request_stream(grpc_call_deps& by, grpc::CallbackServerContext& context)
        : by_(by), context_(context), certified_(certified_names(context)) {}

    void begin() { StartRead(&incoming_); }

    void finish() override {
        std::unique_lock lock(mutex_);
        ended_ = stopping_ = true;
        end_if_done(lock);
    }
    void drop() override { context_.TryCancel(); }
    void look() override {
        std::unique_lock lock(mutex_);
        if (at_work_ > 0 || std::exchange(has_moved_, false)) return;
        if (!outgoing_.empty()) return context_.TryCancel();  // Its peer does not read.
        ended_ = stopping_ = true;
        end_if_done(lock);
    }

    void OnReadDone(bool ok) override {
        std::unique_lock lock(mutex_);
        reading_ = false;
        has_moved_ = true;
        if (!ok) ended_ = true;
        if (ended_) return end_if_done(lock);
        ++at_work_;
        const auto number = incoming_.number();
        auto taken = take(std::exchange(incoming_, {}), {}, certified_, by_.limits);
        boost::asio::post(by_.where, [this, number, taken = std::move(taken)]() mutable {
            by_.tasks.spawn(run(number, std::move(taken)));
        });
        read_on();
    }

    void OnWriteDone(bool ok) override {
        std::unique_lock lock(mutex_);
        has_moved_ = true;
        outgoing_.pop_front();
        if (!ok) {
            broken_ = true;
            outgoing_.clear();
        }
        if (!outgoing_.empty()) StartWrite(&outgoing_.front());
        read_on();
        end_if_done(lock);
    }

    void OnDone() override {
        by_.calls.leave(*this);
        delete this;
    }

private:
    task<> run(std::uint64_t number, incoming taken) {
        RFReply reply;
        from_wire(co_await answer(by_, std::move(taken)), reply);
        reply.set_number(number);
        std::unique_lock lock(mutex_);
        --at_work_;
        if (!broken_) {
            outgoing_.push_back(std::move(reply));
            if (outgoing_.size() == 1) StartWrite(&outgoing_.front());
        }
        read_on();
        end_if_done(lock);
    }

    void read_on() {
        if (reading_ || ended_ || at_work_ + outgoing_.size() >= by_.requests_max) return;
        reading_ = true;
        StartRead(&incoming_);
    }

    /// Nothing of the stream may be touched after it: gRPC may be done with it at once.
    void end_if_done(std::unique_lock<std::mutex>& lock) {
        if (finished_ || !ended_ || at_work_ > 0 || !outgoing_.empty()) return;
        finished_ = true;
        const bool stopping = stopping_;
        lock.unlock();
        Finish(stopping ? unavailable("the node stops, or nothing came for long")
                        : grpc::Status::OK);
    }

    grpc_call_deps& by_;
    grpc::CallbackServerContext& context_;
    const std::optional<std::vector<std::string>> certified_;
    std::mutex mutex_;
    RFRequest incoming_;
    std::deque<RFReply> outgoing_;  // The first is being written.
    std::size_t at_work_ = 0;
    bool reading_ = true;
    bool has_moved_ = true;  // Since it was looked at.
    bool ended_ = false;     // No request is taken any more.
    bool stopping_ = false;  // And that is for our sake.
    bool broken_ = false;    // Nothing can be written.
    bool finished_ = false;
};

/// Turns a stream away.
class refused_stream final : public grpc::ServerBidiReactor<RFRequest, RFReply> {
public:
    explicit refused_stream(const grpc::Status& why) { Finish(why); }
    void OnDone() override { delete this; }
};

}  // namespace

void grpc_calls::open() {
    const std::scoped_lock lock(mutex_);
    open_ = true;
}

// A call that ends leaves under the same lock, so each is there while it is told.
void grpc_calls::close() {
    const std::scoped_lock lock(mutex_);
    open_ = false;
    closed_ = true;
    for (grpc_call* const one : all_) one->finish();
    if (all_.empty()) empty_->wake();
}

void grpc_calls::look_at_all() {
    const std::scoped_lock lock(mutex_);
    for (grpc_call* const one : all_) one->look();
}

void grpc_calls::drop_all() {
    const std::scoped_lock lock(mutex_);
    for (grpc_call* const one : all_) one->drop();
}

std::optional<grpc::Status> grpc_calls::enter(grpc_call& one) {
    const std::scoped_lock lock(mutex_);
    if (closed_) return unavailable("the node stops");
    if (!open_) return unavailable("the node is starting; try again");
    if (all_.size() >= count_max_) return unavailable("too many calls are open here; try again");
    all_.insert(&one);
    return std::nullopt;
}

void grpc_calls::leave(grpc_call& one) {
    const std::scoped_lock lock(mutex_);
    all_.erase(&one);
    if (closed_ && all_.empty()) empty_->wake();
}

task<> grpc_calls::left() { co_await empty_->wait_regardless(); }

grpc::ServerUnaryReactor* answer_call(grpc_call_deps& by, grpc::CallbackServerContext& context,
                                      const RFRequest& request, RFReply& reply) {
    auto one = std::make_unique<one_request>(by, context, reply);
    if (const auto why = by.calls.enter(*one)) {
        auto* const refused = context.DefaultReactor();
        refused->Finish(*why);
        return refused;
    }
    one->begin(request);
    return one.release();
}

grpc::ServerBidiReactor<RFRequest, RFReply>* answer_stream(grpc_call_deps& by,
                                                           grpc::CallbackServerContext& context) {
    auto one = std::make_unique<request_stream>(by, context);
    if (const auto why = by.calls.enter(*one)) return new refused_stream(*why);
    one->begin();
    return one.release();
}

}  // namespace posthorn
