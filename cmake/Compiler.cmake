# How every file is compiled. Flags that a user of the library must share go onto `posthorn_public`,
# the rest onto `posthorn_flags`.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
# Lines and functions for traces and profiles; the types of variables would be half of the build.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -gline-tables-only -DNDEBUG")

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19)
    message(FATAL_ERROR
        "Posthorn itself is built with Clang 19 (GCC 12 frees temporaries twice inside co_await, see "
        "docs/adr/0002-clang-19.md). Use a preset: cmake --preset release")
endif()

find_program(POSTHORN_CCACHE ccache)
if(POSTHORN_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/compile.sh ${CMAKE_SOURCE_DIR} ${POSTHORN_CCACHE})
endif()

add_library(posthorn_flags INTERFACE)
target_compile_options(posthorn_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
    -Wold-style-cast -Woverloaded-virtual -Wimplicit-fallthrough -Wunreachable-code -Werror
    -fno-omit-frame-pointer -pthread)
target_compile_options(posthorn_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
# Boost.Asio without the parts that its next releases drop.
target_compile_definitions(posthorn_flags INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_SEPARATE_COMPILATION
    BOOST_BEAST_SEPARATE_COMPILATION)
add_link_options(-fuse-ld=lld-19)

if(POSTHORN_SANITIZE)
    add_compile_options(-fsanitize=${POSTHORN_SANITIZE} -fno-sanitize-recover=all -gline-tables-only)
    add_link_options(-fsanitize=${POSTHORN_SANITIZE})
endif()
