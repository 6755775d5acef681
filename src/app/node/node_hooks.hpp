#pragma once

#include <utility>
#include <vector>

#include <posthorn/detail/unique_function.hpp>
#include <posthorn/message.hpp>
#include <posthorn/transaction.hpp>

#include "app/node/replies.hpp"
#include "feature/node_builder.hpp"
#include "store/message_maker.hpp"

namespace posthorn {

/// What the application does about messages that were given up.
///
/// Lifetime: filled before the node starts; as long as the node.
/// Threads:  as every listener's.
class node_hooks final : public final_row_listener {
public:
    using hook = detail::unique_function<void(transaction&, const dead_letter&)>;

    node_hooks(const message_maker& maker, replies& calls) : maker_(maker), calls_(calls) {}

    /// What the configuration says is done as well, before what code does.
    void configure(hook dead, hook expired) {
        configured_dead_ = std::move(dead);
        configured_expired_ = std::move(expired);
    }
    void on_dead(hook added) { dead_ = std::move(added); }
    void on_expired(hook added) { expired_ = std::move(added); }

    void add(given_up_listener listener) { others_.push_back(std::move(listener)); }

    result<> ended(store_transaction& tx, const final_row& what) override;
    /// Ends the wait for the Response to a Command that was given up.
    void told(const final_row& what) override;

private:
    /// Null if the application is to be told.
    [[nodiscard]] final_row_listener* other_for(const final_row& what) const;

    const message_maker& maker_;
    replies& calls_;
    std::vector<given_up_listener> others_;
    hook configured_dead_;
    hook configured_expired_;
    hook dead_;
    hook expired_;
};

}  // namespace posthorn
