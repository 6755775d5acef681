# posthorn_workflow_binary(<target> VERSION <version> SOURCES <files>... [NAME <name>] [KEY <file>]
#     [LIBRARIES <libraries>...])
#
# Builds workflows that an engine takes while it runs: TARGET.flows, with `POSTHORN_WORKFLOW(…)` in the
# sources. Its name is that of the target unless given. With a KEY, of `posthorn keys publisher`, it is
# signed, and checked as an engine would check it; without one it stays TARGET.flows.unsigned, and is
# signed later with `posthorn keys sign`. What it is linked with has to be static.
#
# Needs Clang: GCC drops what workflows say of themselves.
set(POSTHORN_BINARY_EXPORTS ${CMAKE_CURRENT_LIST_DIR}/workflow_binary.map)

function(posthorn_workflow_binary target)
    cmake_parse_arguments(PARSE_ARGV 1 binary "" "NAME;VERSION;KEY" "SOURCES;LIBRARIES")
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        message(FATAL_ERROR "posthorn_workflow_binary needs Clang; ${CMAKE_CXX_COMPILER_ID} leaves out what "
            "workflows say of themselves")
    endif()
    if(NOT binary_VERSION OR NOT binary_SOURCES)
        message(FATAL_ERROR "posthorn_workflow_binary(${target} …) needs a VERSION and SOURCES")
    endif()
    if(NOT binary_NAME)
        set(binary_NAME ${target})
    endif()
    foreach(text IN ITEMS "${binary_NAME}" "${binary_VERSION}")
        if(text MATCHES "[\"\\\\]")
            message(FATAL_ERROR "posthorn_workflow_binary(${target} …): '${text}' holds a quote or a backslash")
        endif()
    endforeach()
    set(note ${CMAKE_CURRENT_BINARY_DIR}/${target}.note.cpp)
    file(CONFIGURE OUTPUT ${note} CONTENT
"#include <posthorn/workflow/manifest.hpp>

POSTHORN_WORKFLOW_BINARY(\"@binary_NAME@\", \"@binary_VERSION@\")
" @ONLY)

    if(TARGET posthorn_cli)
        set(program $<TARGET_FILE:posthorn_cli>)
        set(inside posthorn_in_binary)
    else()
        set(program ${POSTHORN_PROGRAM})
        set(inside posthorn::posthorn_in_binary)
    endif()
    add_library(${target} MODULE ${binary_SOURCES} ${note})
    set_target_properties(${target} PROPERTIES
        PREFIX "" SUFFIX ".flows.unsigned" CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
        POSITION_INDEPENDENT_CODE ON LINK_DEPENDS ${POSTHORN_BINARY_EXPORTS})
    target_compile_definitions(${target} PRIVATE POSTHORN_IN_WORKFLOW_BINARY)
    target_compile_options(${target} PRIVATE -fno-sanitize=all -ffunction-sections -fdata-sections)
    # The entry is asked for by name, since nothing in the binary calls it.
    target_link_options(${target} PRIVATE -fno-sanitize=all
        LINKER:--undefined=posthorn_workflow_batch_1 LINKER:--version-script=${POSTHORN_BINARY_EXPORTS}
        LINKER:--gc-sections LINKER:--as-needed LINKER:-z,noexecstack LINKER:-z,defs LINKER:-z,now
        LINKER:-z,relro)
    target_link_libraries(${target} PRIVATE ${inside} ${binary_LIBRARIES})
    # A binary that says where to look for libraries is refused.
    set_target_properties(${target} PROPERTIES SKIP_BUILD_RPATH ON)

    if(NOT binary_KEY)
        return()
    endif()
    if(NOT program)
        message(FATAL_ERROR "posthorn_workflow_binary needs the program posthorn to sign; set POSTHORN_PROGRAM to it")
    endif()
    set(signed ${CMAKE_CURRENT_BINARY_DIR}/${target}.flows)
    add_custom_command(OUTPUT ${signed}
        COMMAND ${program} keys sign $<TARGET_FILE:${target}> --key ${binary_KEY} --out ${signed}
        DEPENDS ${target} ${binary_KEY}
        COMMENT "Signing ${target}.flows"
        VERBATIM)
    add_custom_target(${target}_signed ALL DEPENDS ${signed})
    set_target_properties(${target} PROPERTIES POSTHORN_SIGNED ${signed})
endfunction()
