// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the configuration of a repository says that its hooks are.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cleanup.h"
#include "hostexec-inner.h"

/* The value of a line "hooksPath = VALUE", in a buffer; NULL: another line. */
static char *hooks_value(char *line)
{
	static const char key[] = "hookspath";
	char *end;

	line += strspn(line, " \t");
	if (strncasecmp(line, key, sizeof(key) - 1))
		return NULL;
	line += sizeof(key) - 1;
	line += strspn(line, " \t");
	if (*line++ != '=')
		return NULL;
	line += strspn(line, " \t\"");
	for (end = line + strlen(line);
	     end > line && (isspace((unsigned char)end[-1]) || end[-1] == '"' ||
			    end[-1] == '/');)
		*--end = 0;
	return line;
}

char *hostexec_git_hooks(const struct place *top)
{
	int fd = hostexec_open(top, ".git/config", LOOK_FILE_MAX);
	_cleanup_file_ FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	_cleanup_free_ char *line = NULL, *last = NULL;
	size_t room = 0, n = strlen(top->path);
	char *value;

	if (fd >= 0 && !f)
		close(fd);
	while (f && getline(&line, &room, f) > 0) {
		value = hooks_value(line);
		if (!value)
			continue;
		free(last);	/* the last one holds */
		last = strdup(value);
	}
	if (!last)
		return NULL;
	value = last;
	if (*value == '/') {
		if (strncmp(value, top->path, n) || value[n] != '/')
			return NULL;
		value += n + 1;
	}
	while (!strncmp(value, "./", 2))
		value += 2;
	return *value && strcmp(value, ".") && strncmp(value, "..", 2) ?
		strdup(value) : NULL;
}
