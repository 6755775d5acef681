#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <posthorn/workflow.hpp>

namespace posthorn {

/// What a `flow_test` throws when the workflow is not where the test says, or does not come out the
/// same when it is repeated. Every test framework reports it.
class flow_test_failed : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

namespace detail {

class flow_world;
struct test_input;

/// A workflow's engine in memory: virtual time, no database, no threads.
class flow_bench {
public:
    flow_bench(std::unique_ptr<workflow_entry> code, std::string arguments);
    ~flow_bench();
    flow_bench(const flow_bench&) = delete;
    flow_bench& operator=(const flow_bench&) = delete;

    /// The oldest open call of an endpoint, or work of a kind, that was not expected yet.
    [[nodiscard]] std::uint32_t expect_call(std::string_view endpoint);
    [[nodiscard]] std::uint32_t expect_work(command_kind kind);
    /// Of a child, or one that is attached; of any if the id is empty.
    [[nodiscard]] std::uint32_t expect_end(std::string_view name, std::string_view id);
    [[nodiscard]] std::string payload_of(std::uint32_t command) const;
    [[nodiscard]] std::string id_of(std::uint32_t command) const;
    [[nodiscard]] std::string do_transact(std::uint32_t command, transaction& in) const;
    [[nodiscard]] std::string do_run(std::uint32_t command) const;

    void answer(std::uint32_t command, event_kind how, std::string payload,
                bool may_have_taken_effect = true);
    void signal(std::string_view name, std::string payload);
    /// The number of the Command that it is told.
    [[nodiscard]] std::size_t request(std::string_view name, std::string payload);
    [[nodiscard]] bool is_answered(std::size_t request) const;
    [[nodiscard]] std::string answer_to(std::size_t request, bool as_refusal) const;
    void advance(std::chrono::milliseconds by);
    void cancel(std::string reason);
    void leave_unpatched(std::string_view name);

    void crash_everywhere() const;
    void explore(std::size_t runs, const std::function<void()>& check);

    [[nodiscard]] std::vector<std::string> started() const;
    [[nodiscard]] std::vector<std::string> fates() const;
    [[nodiscard]] std::size_t run() const;
    [[nodiscard]] flow_status status() const;
    /// Of a workflow that ended so; otherwise it throws what became of it.
    [[nodiscard]] const std::string& result(flow_status as) const;
    [[nodiscard]] const std::string& state() const;
    [[nodiscard]] wall_time now() const;
    [[nodiscard]] std::vector<std::string> log() const;
    [[nodiscard]] std::vector<std::string> history() const;
    [[nodiscard]] std::vector<std::string> waits_for() const;

private:
    void put(test_input given);
    /// The script again, as a seed orders it.
    void run_otherwise(std::uint64_t seed);

    std::unique_ptr<workflow_entry> code_;
    std::string arguments_;
    std::unique_ptr<flow_world> world_;
    std::vector<test_input> script_;
    std::vector<std::string> unpatched_;
    std::size_t requests_ = 0;
};

}  // namespace detail

/// A call that the workflow made: `t.expect_call<charge>().answer(receipt{"r1"});`
template <class Command>
class expected_call {
public:
    expected_call(detail::flow_bench& on, std::uint32_t command) : bench_(on), command_(command) {}

    /// What it was called with.
    [[nodiscard]] Command payload() const { return decode<Command>(bench_.payload_of(command_)); }

    template <class T = response_of<Command>>
        requires std::convertible_to<const T&, response_of<Command>>
    void answer(const T& response) {
        bench_.answer(command_, detail::event_kind::answered,
                      encode<response_of<Command>>(response));
    }
    void answer()
        requires std::is_void_v<response_of<Command>>
    {
        bench_.answer(command_, detail::event_kind::answered, "null");
    }
    /// It was refused for good, and surely had no effect.
    void refuse(std::string why) {
        bench_.answer(command_, detail::event_kind::died, std::move(why), false);
    }
    /// It was given up, and may have had its effect.
    void give_up(std::string why) {
        bench_.answer(command_, detail::event_kind::died, std::move(why), true);
    }

private:
    detail::flow_bench& bench_;
    std::uint32_t command_;
};

/// A function that the workflow gave to `transact` or `run`.
class expected_work {
public:
    expected_work(detail::flow_bench& on, std::uint32_t command) : bench_(on), command_(command) {}

    /// Without running it.
    template <class T>
    void answer(const T& value) {
        bench_.answer(command_, detail::event_kind::done, encode(value));
    }
    void answer() { bench_.answer(command_, detail::event_kind::done, "null"); }
    /// It threw `permanent`.
    void refuse(std::string why) {
        bench_.answer(command_, detail::event_kind::refused, std::move(why));
    }
    /// Runs it: that of `transact` in a transaction of a node of your own.
    void run(transaction& in) {
        bench_.answer(command_, detail::event_kind::done, bench_.do_transact(command_, in));
    }
    void run() { bench_.answer(command_, detail::event_kind::done, bench_.do_run(command_)); }

private:
    detail::flow_bench& bench_;
    std::uint32_t command_;
};

/// A Command that the workflow was sent: `t.request(change_card{"c1"}).response()`.
template <class Command>
class sent_request {
public:
    sent_request(detail::flow_bench& on, std::size_t number) : bench_(on), number_(number) {}

    [[nodiscard]] bool is_answered() const { return bench_.is_answered(number_); }
    /// Throws if it is not answered yet, or was refused.
    response_of<Command> response() const {
        const auto payload = bench_.answer_to(number_, false);
        if constexpr (!std::is_void_v<response_of<Command>>)
            return decode<response_of<Command>>(payload);
    }
    /// Why it was refused; throws if it was not.
    [[nodiscard]] std::string refusal() const { return bench_.answer_to(number_, true); }

private:
    detail::flow_bench& bench_;
    std::size_t number_;
};

/// Another workflow whose end this one waits for: `t.expect_child(ship).complete(label{"l1"});`
template <class R>
class expected_end {
public:
    expected_end(detail::flow_bench& on, std::uint32_t command) : bench_(on), command_(command) {}

    [[nodiscard]] std::string id() const { return bench_.id_of(command_); }
    /// What a child was begun with: a JSON array.
    [[nodiscard]] std::string arguments() const { return bench_.payload_of(command_); }

    template <class T = R>
        requires std::convertible_to<const T&, R>
    void complete(const T& result) {
        bench_.answer(command_, detail::event_kind::returned, encode<R>(result));
    }
    void complete()
        requires std::is_void_v<R>
    {
        bench_.answer(command_, detail::event_kind::returned, "null");
    }
    void fail(std::string why) {
        bench_.answer(command_, detail::event_kind::failed, std::move(why));
    }
    void cancel(std::string why) {
        bench_.answer(command_, detail::event_kind::stopped, std::move(why));
    }

private:
    detail::flow_bench& bench_;
    std::uint32_t command_;
};

/// Runs a workflow in a test: virtual time, no database. After each step the workflow is built again
/// from what was recorded, and has to come out the same.
///
///     posthorn::flow_test t(approve_order, order{"o1", 995});
///     t.expect_call<reserve>().answer(true);
///     t.advance(71h);
///     t.signal(decided{"o1", "ann", true, 3});
///     t.expect_call<charge>().answer(receipt{"r1"});
///     EXPECT_EQ(t.result().number, "r1");
///
/// Lifetime: stays where it is.
/// Threads:  one.
template <class R, class State, class... Args>
class flow_test {
public:
    explicit flow_test(workflow<R> (*code)(flow<State>&, Args...),
                       std::type_identity_t<Args>... args)
        : bench_(std::make_unique<detail::workflow_entry>(
                     reinterpret_cast<detail::workflow_entry::any_function>(code), "", 1U,
                     &detail::workflow_entry::make<R, State, Args...>),
                 detail::encode_arguments(args...)) {}

    /// The oldest call of this Command that is open and was not expected yet.
    template <class Command>
    [[nodiscard]] expected_call<Command> expect_call() {
        return {bench_, bench_.expect_call(endpoint_of<Command>)};
    }
    [[nodiscard]] expected_work expect_transact() {
        return {bench_, bench_.expect_work(detail::command_kind::transact)};
    }
    [[nodiscard]] expected_work expect_run() {
        return {bench_, bench_.expect_work(detail::command_kind::run)};
    }

    /// The oldest child of this kind, or of this id, that was not expected yet; or another workflow
    /// that this one is attached to.
    template <class ChildR, class... Params>
    [[nodiscard]] expected_end<ChildR> expect_child(workflow<ChildR> (*code)(Params...),
                                                    std::string_view id = {}) {
        return {bench_, bench_.expect_end(detail::entry_of(code).name(), id)};
    }
    /// Each workflow that `start` began: `Ship s1`.
    [[nodiscard]] std::vector<std::string> started() const { return bench_.started(); }
    /// What becomes of the children that were left: `cancel Ship s1`.
    [[nodiscard]] std::vector<std::string> fates() const { return bench_.fates(); }

    /// A signal comes. If nothing waits for it, it is kept until something does.
    template <message_contract T>
    void signal(const T& told) {
        bench_.signal(endpoint_of<T>, encode(told));
    }
    /// One of a service.
    template <class Service, message_contract T>
    void signal(const T& told) {
        bench_.signal(Service::template endpoint<T>, encode(told));
    }
    /// A Command comes. If nothing receives it, it is kept until something does.
    template <message_contract Command>
    sent_request<Command> request(const Command& told) {
        return {bench_, bench_.request(endpoint_of<Command>, encode(told))};
    }
    /// One of a service.
    template <class Service, message_contract Command>
    sent_request<Command> request(const Command& told) {
        return {bench_, bench_.request(Service::template endpoint<Command>, encode(told))};
    }
    /// Time goes by; whatever is due on the way happens at its time.
    void advance(std::chrono::milliseconds by) { bench_.advance(by); }
    void cancel(std::string reason) { bench_.cancel(std::move(reason)); }

    /// From its beginning as one that was under way before the code had this patch. Said first.
    void without_patch(detail::patch_name name) { bench_.leave_unpatched(name.text()); }

    /// Repeats what has happened so far with a crash at each step, once before and once after its
    /// commit. Every time the workflow has to come out the same.
    void crash_everywhere() const { bench_.crash_everywhere(); }
    /// Repeats the test so many times with answers and signals in other orders, events that come
    /// twice, commits that fail and crashes. Every run has to come out the same when it is built
    /// again; `check` is called at the end of each, and may look at this test as usual.
    void explore(std::size_t runs, const std::function<void()>& check = {}) {
        bench_.explore(runs, check);
    }

    /// What the workflow gave; throws what became of it if it did not complete.
    R result() const {
        const auto& text = bench_.result(flow_status::completed);
        if constexpr (!std::is_void_v<R>) return decode<R>(text);
    }
    /// Why it failed; why it was cancelled; why it is held for a person.
    [[nodiscard]] std::string failure() const { return bench_.result(flow_status::failed); }
    [[nodiscard]] std::string cancellation() const { return bench_.result(flow_status::cancelled); }
    [[nodiscard]] std::string quarantine() const { return bench_.result(flow_status::quarantined); }

    [[nodiscard]] flow_status status() const { return bench_.status(); }
    /// Which run this is, from 1: `again` begins the next one.
    [[nodiscard]] std::size_t run() const { return bench_.run(); }
    /// As it was stored last.
    [[nodiscard]] State state() const { return decode<State>(bench_.state()); }
    [[nodiscard]] wall_time now() const { return bench_.now(); }
    [[nodiscard]] std::vector<std::string> log() const { return bench_.log(); }
    /// One line for each step of this run: `2 answered 1: wait for Decided, sleep`.
    [[nodiscard]] std::vector<std::string> history() const { return bench_.history(); }
    /// What is open, in words: `Decided where orderId == "o1"`.
    [[nodiscard]] std::vector<std::string> waits_for() const { return bench_.waits_for(); }

private:
    detail::flow_bench bench_;
};

}  // namespace posthorn
