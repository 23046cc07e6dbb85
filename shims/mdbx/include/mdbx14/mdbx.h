#pragma once
// libmdbx's C API in the flavour of its 0.14.x releases, over the engine of Hawthorn.
//
// The flavours are not compatible with each other: a program is compiled with the folder of one.

#ifndef LIBMDBX_H
#define LIBMDBX_H

#define HAWTHORN_MDBX_API 14

#include "hawthorn_mdbx_api.h"

#endif
