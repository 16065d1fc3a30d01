// SPDX-License-Identifier: GPL-2.0-only
/*
 * What people call the things that a session does, and what the hooks ask then
 * (bpf/fs.bpf.c).
 */
#include <string.h>

#include "explain.h"

static const struct operation operations[] = {
	{ "read", OPERATION_FILE, LH_READ, false, false },
	{ "list", OPERATION_FILE, LH_READ, false, false },
	{ "stat", OPERATION_FILE, LH_STAT, false, false },
	{ "write", OPERATION_FILE, LH_WRITE, false, false },
	{ "create", OPERATION_FILE, LH_WRITE, false, true },
	{ "mkdir", OPERATION_FILE, LH_WRITE | LH_ODD, true, true },
	/* A link in place of a directory leads as one would. */
	{ "symlink", OPERATION_FILE, LH_WRITE | LH_BECOME | LH_ODD, true,
	  true },
	{ "remove", OPERATION_FILE, LH_REMOVE, true, false },
	{ "rename", OPERATION_RENAME, LH_REMOVE, true, false },
	/* By the new name it may be written: by the old one too, then. */
	{ "link", OPERATION_LINK, LH_WRITE, true, false },
	{ "truncate", OPERATION_FILE, LH_WRITE, false, false },
	{ "chmod", OPERATION_FILE, LH_WRITE, false, false },
	{ "utimes", OPERATION_FILE, LH_WRITE, false, false },
	{ "setxattr", OPERATION_FILE, LH_WRITE, false, false },
	{ "getxattr", OPERATION_FILE, LH_STAT, false, false },
	{ "readlink", OPERATION_FILE, LH_STAT, true, false },
	{ "exec", OPERATION_FILE, LH_EXEC, false, false },
	{ "connect", OPERATION_CONNECT, 0, false, false },
	{ "bind", OPERATION_BIND, 0, false, false },
	{ "ptrace", OPERATION_PTRACE, 0, false, false },
	{ "signal", OPERATION_SIGNAL, 0, false, false },
};

const struct operation *operation_number(size_t i)
{
	return i < sizeof(operations) / sizeof(*operations) ?
		&operations[i] : NULL;
}

const struct operation *operation_find(const char *name)
{
	const struct operation *op;
	size_t i;

	for (i = 0; (op = operation_number(i)); i++)
		if (!strcmp(op->name, name))
			return op;
	return NULL;
}

bool operation_is_on_file(const struct operation *op)
{
	return op->access != 0;
}

bool operation_takes_two(const struct operation *op)
{
	return op->kind == OPERATION_RENAME || op->kind == OPERATION_LINK;
}
