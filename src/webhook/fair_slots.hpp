#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <posthorn/uuid.hpp>

namespace posthorn {

/// Who may have a connection at a time, so that the endpoints of one tenant, or those that hang, do
/// not keep all from the others.
///
/// | who                                     | may have                                           |
/// |-----------------------------------------|----------------------------------------------------|
/// | a tenant                                | three quarters of all; of the last quarter, which  |
/// |                                         | is for the others, a sixteenth of all              |
/// | endpoints that gave no answer last time,| a quarter of all, together                         |
/// | and tests                               |                                                    |
/// | tests of a tenant                       | eight                                              |
///
/// Lifetime: outlives its slots.
/// Threads:  one at a time.
class fair_slots {
public:
    struct asker {
        std::string tenant{};
        uuid endpoint{};
        bool is_test = false;
    };

    /// One of them, until it goes.
    class slot {
    public:
        slot(fair_slots& of, asker who, bool suspect)
            : of_(&of), who_(std::move(who)), suspect_(suspect) {}
        slot(slot&& other) noexcept
            : of_(std::exchange(other.of_, nullptr)),
              who_(std::move(other.who_)),
              suspect_(other.suspect_) {}
        slot& operator=(slot&&) = delete;
        slot(const slot&) = delete;
        slot& operator=(const slot&) = delete;
        ~slot() {
            if (of_ != nullptr) of_->give_back(who_, suspect_);
        }

    private:
        fair_slots* of_;
        asker who_;
        bool suspect_;
    };

    explicit fair_slots(std::size_t all) : all_(all) {}

    /// Empty where there is none for them at present.
    [[nodiscard]] std::optional<slot> take(asker who);
    /// Whether an endpoint gave an answer, whatever it was.
    void note(const uuid& endpoint, bool answered) {
        if (answered)
            silent_.erase(endpoint);
        else
            silent_.insert(endpoint);
        if (silent_.size() > silent_max) silent_.erase(silent_.begin());
    }

private:
    // Of subscriptions that were removed since, too: as many as anyone made.
    static constexpr std::size_t silent_max = 100'000;

    struct share {
        std::size_t taken = 0;
        std::size_t tests = 0;
    };

    void give_back(const asker& who, bool suspect);

    std::size_t all_;
    std::size_t taken_ = 0;
    std::size_t suspects_ = 0;
    std::map<std::string, share, std::less<>> by_tenant_;  // Those that have one.
    std::set<uuid> silent_;
};

}  // namespace posthorn
