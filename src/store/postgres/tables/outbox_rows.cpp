#include "store/postgres/tables/outbox_rows.hpp"

#include "store/postgres/driver/connection.hpp"
#include "store/rows/or_null.hpp"
#include "store/rows/outbox_rows.hpp"

namespace posthorn::postgres {

values insert_values(const message& body) {
    values with;
    with.add(body.id);
    with.add(or_null(body.correlation_id));
    with.add(to_string(body.type));
    with.add(body.destination);
    with.add(body.endpoint);
    with.add(driver::payload(body.payload));
    with.add(or_null(body.headers));
    with.add(std::int64_t{body.max_retries});
    with.add(body.deliver_at ? to_ms(*body.deliver_at) : std::int64_t{0});
    with.add(to_ms(body.created_at));
    with.add(to_ms(body.expires_at));
    if (body.deliver_at)
        with.add(to_ms(*body.deliver_at));
    else
        with.add(nullptr);
    with.add(body.parent_id);
    with.add(body.causation_id);
    with.add(or_null(body.tenant));
    with.add(or_null(body.order_key));
    with.add(or_null(body.dedupe_key));
    with.add(std::int64_t{body.priority});
    with.add(body.content_type);
    with.add(checksum_of(body));
    return with;
}

}  // namespace posthorn::postgres
