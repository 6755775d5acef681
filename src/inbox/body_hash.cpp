#include "inbox/body_hash.hpp"

#include "security/digest.hpp"

namespace posthorn {

body_hash hash_body(const message& what) {
    thread_local sha256 reused;
    reused.add_field(to_string(what.type));
    reused.add_field(what.endpoint);
    reused.add_field(what.content_type);
    reused.add_field(what.correlation_id);
    reused.add_field(what.payload);
    return reused.finish();
}

}  // namespace posthorn
