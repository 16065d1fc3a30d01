/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cleanup attributes. A variable that carries one is defined and initialised
 * in one statement; what a function hands on is taken out with take_*().
 */
#ifndef LH_CLEANUP_H
#define LH_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void close_fd(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

static inline void free_ptr(void *p)
{
	void **q = p;

	free(*q);
	*q = NULL;
}

static inline void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

static inline void close_file(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static inline char *take_str(char **s)
{
	char *taken = *s;

	*s = NULL;
	return taken;
}

#define _cleanup_close_ __attribute__((cleanup(close_fd)))
#define _cleanup_free_ __attribute__((cleanup(free_ptr)))
#define _cleanup_dir_ __attribute__((cleanup(close_dir)))
#define _cleanup_file_ __attribute__((cleanup(close_file)))

#endif
