// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nothing here is believed further than its length: a process chooses its own
 * name, which /proc escapes, and its program's path.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caller.h"
#include "cleanup.h"

static size_t contents(int dir, const char *name, char *buf, size_t size)
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	n = n < 0 ? 0 : n;
	buf[n] = 0;
	return n;
}

static __u32 field(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? strtoul(at + strlen(name), NULL, 10) : 0;
}

size_t caller_path(const char *path, size_t len, char *out, size_t size)
{
	size_t n = 0;

	while (len) {
		size_t start = len;

		while (start && path[start - 1] != '/')
			start--;
		if (start == len) {	/* "//", or "/" alone */
			len--;
			continue;
		}
		/* One byte stays for the mark. */
		if (n + (len - start) + 2 > size) {
			out[n++] = 0;
			break;
		}
		memcpy(out + n, path + start, len - start);
		n += len - start;
		out[n++] = 0;
		len = start ? start - 1 : 0;
	}
	return n;
}

void caller_read(struct lh_denial *d, char *exe, size_t size)
{
	char path[PATH_MAX], buf[2048];
	_cleanup_close_ int dir = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u", d->tid);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return;
	if (contents(dir, "status", buf, sizeof(buf))) {
		d->pid = field(buf, "\nTgid:\t");
		d->ppid = field(buf, "\nPPid:\t");
		d->uid = field(buf, "\nUid:\t");
	}
	n = contents(dir, "comm", buf, sizeof(buf));
	if (n && buf[n - 1] == '\n')
		n--;
	memcpy(d->comm, buf, (size_t)n < LH_COMM_LEN ? (size_t)n :
	       LH_COMM_LEN - 1);
	n = readlinkat(dir, "exe", path, sizeof(path));
	if (n > 0 && path[0] == '/')
		d->exe_len = caller_path(path, n, exe, size);
}
