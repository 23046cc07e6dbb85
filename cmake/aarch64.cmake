# Toolchain: for aarch64 Linux on another machine, with Debian's cross compiler. The libraries are
# those that `scripts/install_deps.sh cross` unpacks (HAWTHORN_AARCH64_ROOT in the environment, by
# default build/aarch64-root); what is built runs under qemu-user, tests and their discovery too.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc-12)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++-12)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(root "$ENV{HAWTHORN_AARCH64_ROOT}")
if(NOT root)
  cmake_path(SET root NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-root")
endif()
if(NOT EXISTS ${root}/packages)
  message(FATAL_ERROR "No libraries of arm64 in ${root}: run scripts/install_deps.sh cross")
endif()
set(CMAKE_FIND_ROOT_PATH ${root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_DIR} "")
set(ENV{PKG_CONFIG_LIBDIR} ${root}/usr/lib/aarch64-linux-gnu/pkgconfig:${root}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${root})
# What the compiler would look for in a folder of the architecture's own by itself, were it not for
# `root`.
string(APPEND CMAKE_C_FLAGS_INIT " -isystem ${root}/usr/include/aarch64-linux-gnu")
string(APPEND CMAKE_CXX_FLAGS_INIT " -isystem ${root}/usr/include/aarch64-linux-gnu")
# What libraries there need of one another.
string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT
  " -Wl,-rpath-link,${root}/usr/lib/aarch64-linux-gnu:${root}/lib/aarch64-linux-gnu")
string(APPEND CMAKE_SHARED_LINKER_FLAGS_INIT
  " -Wl,-rpath-link,${root}/usr/lib/aarch64-linux-gnu:${root}/lib/aarch64-linux-gnu")

# 4 GB of address space: the emulator keeps notes of each page that is reserved, and a database
# reserves as much as the machine has memory, or what it gets.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -R 0x100000000 -L ${root})
