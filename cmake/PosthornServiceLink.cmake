# posthorn_service_link(<target> <name> <url> [CACHE <file>] [AUTHORITY <file>] [CERTIFICATE <file> KEY <file>])
#
# Lets a target send the messages of another service: `#include <posthorn_links/NAME.hpp>` gives them, in
# the namespace NAME. The service at the URL is asked in each build; where it cannot be reached, the copy
# of its metadata in CACHE is used, with a warning, so that builds work offline. Keep that file with the
# sources: it is contracts/NAME.json beside the CMakeLists.txt unless given. The other files are in PEM, for
# a service at https://: who vouches for it, and what to show it where it asks for a certificate.
function(posthorn_service_link target name url)
    cmake_parse_arguments(PARSE_ARGV 3 link "" "CACHE;AUTHORITY;CERTIFICATE;KEY" "")
    set(tls "")
    foreach(part IN ITEMS AUTHORITY CERTIFICATE KEY)
        if(link_${part})
            string(TOLOWER ${part} option)
            list(APPEND tls --${option} ${link_${part}})
        endif()
    endforeach()
    if(NOT link_CACHE)
        set(link_CACHE ${CMAKE_CURRENT_SOURCE_DIR}/contracts/${name}.json)
    endif()
    if(TARGET posthorn_cli)
        set(program $<TARGET_FILE:posthorn_cli>)
    elseif(POSTHORN_PROGRAM)
        set(program ${POSTHORN_PROGRAM})
    else()
        message(FATAL_ERROR "posthorn_service_link needs the program posthorn; set POSTHORN_PROGRAM to it")
    endif()
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.links)
    set(header ${folder}/posthorn_links/${name}.hpp)
    add_custom_target(${target}_link_${name}
        COMMAND ${program} contracts import ${url} --name ${name} --out ${header} --cache ${link_CACHE} ${tls}
        BYPRODUCTS ${header}
        COMMENT "Asking ${url} for the contracts of ${name}"
        VERBATIM)
    add_dependencies(${target} ${target}_link_${name})
    target_include_directories(${target} PRIVATE ${folder})
endfunction()
