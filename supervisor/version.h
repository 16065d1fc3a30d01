/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LH_VERSION_H
#define LH_VERSION_H

#ifndef LH_VERSION
#define LH_VERSION "0.1"
#endif

#endif
