#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <posthorn/node.hpp>
#include <posthorn/service.hpp>

namespace posthorn {
namespace detail {

template <class Service, class T>
consteval bool check_in_service() {
    if constexpr (!Service::is_sound) {
        return false;
    } else {
        static_assert(Service::template has<T>,
                      "posthorn: this service does not have that message; add it to the "
                      "service<…>, or send it to another one");
        return Service::template has<T>;
    }
}

template <class Service, class T>
consteval bool check_call() {
    if constexpr (check_in_service<Service, T>())
        return check_command<T>();
    else
        return false;
}

template <class Implementation, class T>
concept handles =
    requires(Implementation& by, context& with, const T& received) { by.handle(with, received); };

template <class Implementation, class T>
consteval bool check_implementation() {
    static_assert(handles<Implementation, T>,
                  "posthorn: the object that is to handle this service lacks a message of it; give "
                  "it a handle(posthorn::context&, const T&) for each");
    return handles<Implementation, T>;
}

}  // namespace detail

/// Handles the messages of a service on a node. A node that starts without a handler for each of
/// them throws `error_code::invalid_configuration`.
///
///     posthorn::offer<emp> offered(node);
///     offered.handle<hire>([](posthorn::context& c, const hire& m) { … });
///
/// or all at once, with an object that has a `handle(context&, const T&)` for each message:
///
///     posthorn::offer<emp> offered(node, personnel);
///
/// Lifetime: the node outlives it; an object given to it outlives the node.
/// Threads:  one, before the node starts.
template <class Service>
class offer {
public:
    explicit offer(node& on)
        : node_(on),
          number_(on.declare_offer(
              {Service::versioned, Service::endpoints, &Service::index_of, Service::contract()})) {}

    template <class Implementation>
    offer(node& on, Implementation& by) : offer(on) {
        if constexpr (Service::is_sound) Service::for_each([&]<class T>() { handle_by<T>(by); });
    }

    template <class T, class Handler>
    offer& handle(Handler handler) {
        if constexpr (detail::check_in_service<Service, T>())
            if constexpr (detail::check_handler<T, Handler, context&, const T&>())
                node_.add_service_handler(number_, Service::template position<T>(),
                                          detail::transactional<T>(std::move(handler)));
        return *this;
    }

    /// As `node::handle_external`: at least once, outside of the database.
    template <class T, class Handler>
    offer& handle_external(Handler handler, external_options options = {}) {
        if constexpr (detail::check_in_service<Service, T>())
            if constexpr (detail::check_external<T, Handler>())
                node_.add_external_service_handler(number_, Service::template position<T>(),
                                                   detail::external<T>(std::move(handler)),
                                                   options);
        return *this;
    }

private:
    template <class T, class Implementation>
    void handle_by(Implementation& by) {
        if constexpr (detail::check_implementation<Implementation, T>())
            handle<T>(
                [&by](context& with, const T& received) { return by.handle(with, received); });
    }

    node& node_;
    std::size_t number_;
};

/// Sends to a service what it understands, and nothing else. A node that starts without a route to
/// the service, or without its secret where the route leaves the process, throws
/// `error_code::invalid_configuration`.
///
///     posthorn::proxy<emp> employees(node);
///     employees.send(employee_moved{"e1", "Berne"});
///     const auto contract = employees.call(hire{"e2"}).get();
///
/// Lifetime: made before the node starts; the node outlives it.
/// Threads:  any.
template <class Service>
class proxy {
public:
    /// The destination is the service's name, unless another is given.
    explicit proxy(node& on, std::string destination = std::string(Service::name))
        : node_(on), destination_(std::move(destination)) {
        node_.declare_use({Service::versioned, destination_});
    }

    template <class T>
    uuid send(const T& payload, send_options options = {}) {
        if constexpr (detail::check_in_service<Service, T>())
            return node_.store(request(payload, std::move(options)));
        else
            return {};
    }

    /// In an open transaction, or in a handler's.
    template <class T>
    uuid send(transaction& in, const T& payload, send_options options = {}) const {
        if constexpr (detail::check_in_service<Service, T>())
            return in.do_send(request(payload, std::move(options)));
        else
            return {};
    }

    template <class T>
    [[nodiscard]] auto call(const T& command, send_options options = {}) {
        if constexpr (detail::check_call<Service, T>())
            return reply<response_of<T>>(node_.start_call(request(command, std::move(options))),
                                         Service::template endpoint<T>);
        else
            return detail::refused_call<T>();
    }

    /// The same as `call`, without waiting for the commit: if that fails, so does the reply.
    template <class T>
    [[nodiscard]] auto call_later(const T& command, send_options options = {}) {
        if constexpr (detail::check_call<Service, T>())
            return reply<response_of<T>>(node_.post_call(request(command, std::move(options))),
                                         Service::template endpoint<T>);
        else
            return detail::refused_call<T>();
    }

    /// As `node::handle_response`, for the Commands of this service.
    template <class T, class Handler>
    proxy& handle_response(Handler handler) {
        if constexpr (detail::check_in_service<Service, T>())
            if constexpr (detail::check_response_handler<T, Handler>())
                node_.add_response_handler(std::string(Service::template endpoint<T>),
                                           detail::response_handler<T>(std::move(handler)));
        return *this;
    }

    /// The node that it sends on, and where to.
    [[nodiscard]] node& from() const noexcept { return node_; }
    [[nodiscard]] const std::string& destination() const noexcept { return destination_; }

private:
    template <class T>
    [[nodiscard]] detail::send_request request(const T& payload, send_options options) const {
        return detail::request_for(destination_, Service::template endpoint<T>, payload,
                                   std::move(options));
    }

    node& node_;
    std::string destination_;
};

}  // namespace posthorn
