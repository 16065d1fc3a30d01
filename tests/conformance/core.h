/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TESTS_CORE_H
#define TESTS_CORE_H

#include <stdbool.h>

/* The names of a kernel's symbols, out of the tables in its image. */
struct symbols;

/* NULL, and errno: ENOENT if there are no such tables in the file. */
struct symbols *symbols_open(const char *vmlinux);
bool symbols_have(const struct symbols *s, const char *name);
void symbols_close(struct symbols *s);

#endif
