// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a command brings with it: its own file, the interpreter of a script, and
 * the three descriptors that it is given.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table.h"

/*
 * The program that a script's first line names, or "". Read as the user; a
 * FIFO in its place would hold us up, and is no script.
 */
static void script_interpreter(struct builder *b, uint32_t entry,
			       char out[PATH_MAX])
{
	const struct entry *p = &b->es.entry[entry];
	char link[32], line[256], *s = line, *end;
	ssize_t n;
	int fd;

	*out = 0;
	if (!S_ISREG(p->mode) || entries_as(&b->es, RESOLVE_AS_USER))
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", p->fd);
	fd = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return;
	line[n] = 0;
	line[strcspn(line, "\n")] = 0;
	for (s += 2; isblank((unsigned char)*s); s++)
		;
	end = s + strcspn(s, " \t");
	*end = 0;
	if (*s == '/')
		strcpy(out, s);
}

int command_itself(struct builder *b)
{
	struct wish w = {
		.path = b->o->command,
		.flags = LH_ROOT_READ | LH_ROOT_EXEC | IMAGE_ROOT_SELF,
	};
	char interpreter[PATH_MAX];
	struct route way;
	int r;

	if (!w.path)
		return 0;
	r = table_new_rule(b, "builtin:command", &w.rule);
	if (!r)
		r = table_add(b, &w);
	if (r || entries_route(&b->es, ENTRY_TOP, w.path, 0, &way) ||
	    way.error)
		return r;
	script_interpreter(b, way.entry, interpreter);
	if (!*interpreter)
		return 0;
	/* A wrong one is the command's failure, and not ours. */
	w.path = interpreter;
	w.flags |= IMAGE_ROOT_OPTIONAL;
	return table_add(b, &w);
}

/*
 * What lies behind a descriptor, if its path still leads to it: then the
 * roots above it may say enough already.
 */
static uint32_t entry_of_fd(struct builder *b, int fd, const char *link)
{
	const struct entry *p;
	char path[PATH_MAX];
	struct route way;
	struct stat st;
	ssize_t n = readlink(link, path, sizeof(path) - 1);

	if (n <= 0 || path[0] != '/' || fstat(fd, &st))
		return ENTRY_NONE;
	path[n] = 0;
	if (entries_route(&b->es, ENTRY_TOP, path, ROUTE_SELF | ROUTE_NO_LINKS,
			  &way) || way.error)
		return ENTRY_NONE;
	p = &b->es.entry[way.entry];
	return p->dev == st.st_dev && p->ino == st.st_ino ? way.entry :
		ENTRY_NONE;
}

/* One of the command's own descriptors, in the mode it was opened in. */
static int add_descriptor(struct builder *b, int given, uint16_t rule)
{
	static const uint32_t modes[] = {
		[O_RDONLY] = LH_ROOT_READ, [O_WRONLY] = LH_ROOT_WRITE,
		[O_RDWR] = LH_ROOT_READ | LH_ROOT_WRITE,
	};
	int mode = given < 0 ? -1 : fcntl(given, F_GETFL), fd, r;
	uint32_t rights, entry, object;
	char link[32];

	if (mode < 0 || (mode & O_PATH) || (mode & O_ACCMODE) == O_ACCMODE)
		return 0;
	rights = modes[mode & O_ACCMODE];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", given);
	r = entries_as(&b->es, RESOLVE_AS_SELF);
	if (r)
		return err_sys(b->e, r, "credentials");
	fd = open(link, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return err_sys(b->e, -errno, "descriptor %d of the command",
			       given);
	entry = entry_of_fd(b, fd, link);
	if (entry != ENTRY_NONE && !(rights & ~table_rights(b, entry))) {
		close(fd);
		return 0;
	}
	if (entry == ENTRY_NONE) {
		r = table_object_fd(b, fd, &object);
	} else {
		close(fd);
		r = table_object(b, entry, &object);
	}
	return r ? r : table_self(b, object, rights, rule);
}

int command_stdio(struct builder *b)
{
	uint16_t rule;
	size_t k;
	int i, r;

	if (!b->o->stdio)
		return 0;
	r = table_new_rule(b, "builtin:stdio", &rule);
	for (i = 0; i < 3 && !r; i++)
		r = add_descriptor(b, b->o->stdio[i], rule);
	for (k = 0; k < b->o->kept_count && !r; k++)
		r = add_descriptor(b, b->o->kept[k], rule);
	return r;
}
