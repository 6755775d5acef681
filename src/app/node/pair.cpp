#include "app/node/pair.hpp"

#include <filesystem>
#include <utility>

#include "app/config/core_settings.hpp"
#include "app/config/feature_keys.hpp"
#include "app/node/follow.hpp"
#include "standby/change/hand_over.hpp"
#include "standby/door/pair_credentials.hpp"
#include "standby/promotion.hpp"
#include "standby/standby_feature.hpp"
#include "standby/standby_settings.hpp"

namespace posthorn {
namespace {

/// The two roles of one process, one after the other.
class changing_process {
public:
    changing_process(const config& settings, const serve_options& options, first_role at_first)
        : settings_(settings),
          options_(options),
          at_first_(at_first),
          database_(plan_of(core_settings(settings)).file) {}

    result<> run() {
        for (;;) {
            POSTHORN_LET(kept, standby::load_state(database_));
            const bool leads = kept ? may_lead(*kept) : at_first_ == first_role::primary;
            POSTHORN_LET(goes_on, leads ? lead() : follow_on(kept));
            if (!goes_on) return {};
        }
    }

private:
    /// False once the process is to end; so it is for all of these.
    result<bool> lead() {
        POSTHORN_LET(end, serve_once(settings_, options_));
        options_.switch_trouble.clear();
        if (end == serve_end::stopped) return false;
        POSTHORN_LET(done, give());
        if (done.end == standby::hand_over_end::given)
            options_.announce("posthorn: the standby has taken the role of the primary");
        else
            options_.announce(fmt::format("posthorn: the role was not given: {}", done.why));
        options_.switch_trouble = done.why;
        return true;
    }

    result<standby::hand_over_report> give() {
        const auto said = settings_of(settings_, standby_feature());
        POSTHORN_LET(how, standby::read_standby_settings(said));
        const auto& service = settings_.service.id;
        POSTHORN_LET(known, standby::read_credentials(said, service));
        const auto access = access_with(known, standby::link_end::primary, time_);
        return standby::hand_over({.database = database_,
                                   .to = *how.to,
                                   .access = access,
                                   .service = service,
                                   .may_lack = how.mode == standby::ship_mode::async ||
                                               how.lost == standby::when_lost::alone,
                                   .patience = how.patience},
                                  {access, random_, time_});
    }

    result<bool> follow_on(const std::optional<standby::pair_state>& kept) {
        if (kept && kept->phase == standby::standby_phase::promoted) return take();
        POSTHORN_LET(end, follow(settings_, {.announce = options_.announce}));
        switch (end) {
            case standby::follow_end::stopped: return false;
            case standby::follow_end::took_back: return true;
            case standby::follow_end::has_role: break;
        }
        return take();
    }

    /// What was decided is carried out, also by a later process.
    result<bool> take() {
        POSTHORN_LET(now, standby::promote({.database = database_, .accept_loss = true}));
        options_.announce(fmt::format("posthorn: the primary from now on, epoch {}", now.epoch));
        return true;
    }

    const config& settings_;
    serve_options options_;
    const first_role at_first_;
    const std::filesystem::path database_;
    real_clock time_;
    system_random random_;
};

}  // namespace

bool may_change_role(const config& settings) {
    const auto plan = plan_of(core_settings(settings));
    if (plan.on_server || plan.in_memory) return false;
    const auto how = standby::read_standby_settings(settings_of(settings, standby_feature()));
    return how && how->can_switch();
}

result<> serve_as_one_of_a_pair(const config& settings, const serve_options& options,
                                first_role at_first) {
    return changing_process(settings, options, at_first).run();
}

}  // namespace posthorn
