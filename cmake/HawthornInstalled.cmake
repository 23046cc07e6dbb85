# What is installed, and that it is built:
#   hawthorn_installed   the target that builds all that `cmake --install` copies and needs: `make
#                        build`, and a part of whatever else leaves a tree to install from
#   hawthorn_install_targets(TARGET... [EXPORT] [COMPONENT name])
#                        installs programs and libraries; with EXPORT libraries are in the CMake
#                        package
add_custom_target(hawthorn_installed)
# What has no other component: `cmake --install BUILD --component hawthorn`, and the packages.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME hawthorn)

function(hawthorn_install_targets)
  cmake_parse_arguments(arg "EXPORT" "COMPONENT" "" ${ARGN})
  if(NOT HAWTHORN_INSTALL)
    return()
  endif()
  set(export "")
  if(arg_EXPORT)
    set(export EXPORT hawthornTargets)
  endif()
  if(NOT arg_COMPONENT)
    set(arg_COMPONENT ${CMAKE_INSTALL_DEFAULT_COMPONENT_NAME})
  endif()
  install(TARGETS ${arg_UNPARSED_ARGUMENTS} ${export}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${arg_COMPONENT}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${arg_COMPONENT}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${arg_COMPONENT})
  add_dependencies(hawthorn_installed ${arg_UNPARSED_ARGUMENTS})
endfunction()
