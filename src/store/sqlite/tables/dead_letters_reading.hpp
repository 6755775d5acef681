#pragma once

#include "store/rules/dead_letter_pages.hpp"
#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {

class dead_letters_reading final : public dead_letter_pages<driver> {
public:
    explicit dead_letters_reading(connection& database);
};

}  // namespace posthorn::sqlite
