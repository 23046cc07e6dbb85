# What is installed, and that it is built:
#   hawthorn_installed   the target that builds all that `cmake --install` copies and needs: `make
#                        build`, and a part of whatever else leaves a tree to install from
#   hawthorn_installed_shims
#                        the same of the component `shims`, the libraries with other engines' APIs
#                        and their commands: `cmake --install BUILD --component shims`
#   hawthorn_install_targets(TARGET... [EXPORT] [COMPONENT name])
#                        installs programs and libraries; with EXPORT libraries are in the CMake
#                        package
add_custom_target(hawthorn_installed)
add_custom_target(hawthorn_installed_shims)
# What has no other component: `cmake --install BUILD --component hawthorn`, and the packages. The
# top directory sets another one for its folders of shims.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME hawthorn)

function(hawthorn_install_targets)
  cmake_parse_arguments(arg "EXPORT" "COMPONENT" "" ${ARGN})
  if(NOT HAWTHORN_INSTALL)
    return()
  endif()
  if(NOT arg_COMPONENT)
    set(arg_COMPONENT ${CMAKE_INSTALL_DEFAULT_COMPONENT_NAME})
  endif()
  if(arg_COMPONENT STREQUAL hawthorn)
    set(set hawthornTargets)
    set(when "")
    add_dependencies(hawthorn_installed ${arg_UNPARSED_ARGUMENTS})
  else()
    set(set hawthornShimsTargets)
    set(when EXCLUDE_FROM_ALL)
    add_dependencies(hawthorn_installed_shims ${arg_UNPARSED_ARGUMENTS})
  endif()
  set(export "")
  if(arg_EXPORT)
    set(export EXPORT ${set})
  endif()
  install(TARGETS ${arg_UNPARSED_ARGUMENTS} ${export}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${arg_COMPONENT} ${when}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${arg_COMPONENT} ${when}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${arg_COMPONENT} ${when})
endfunction()
