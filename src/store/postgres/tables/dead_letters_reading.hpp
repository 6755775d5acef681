#pragma once

#include "store/postgres/driver/connection.hpp"
#include "store/rules/dead_letter_pages.hpp"

namespace posthorn::postgres {

class dead_letters_reading final : public dead_letter_pages<driver> {
public:
    explicit dead_letters_reading(connection& database);
};

}  // namespace posthorn::postgres
