#include "store/sqlite/file_owner.hpp"

namespace posthorn::sqlite {

result<> claim_for(connection& database, std::string_view service) {
    if (service.empty()) return {};
    auto claim = database.prepare("INSERT OR IGNORE INTO posthorn_meta VALUES ('service', ?)");
    if (!claim) return std::unexpected(std::move(claim).error());
    claim->bind(1, service);
    POSTHORN_TRY(claim->run());
    auto owner = database.prepare("SELECT value FROM posthorn_meta WHERE name = 'service'");
    if (!owner) return std::unexpected(std::move(owner).error());
    POSTHORN_TRY(owner->step());
    if (owner->text(0) == service) return {};
    return fail(error_code::invalid_configuration,
                "the database belongs to the service '{}', not to '{}'; give the name back, or "
                "give this service a database of its own. To rename the service on purpose, see "
                "the page of this error",
                owner->text(0), service);
}

}  // namespace posthorn::sqlite
