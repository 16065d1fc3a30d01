// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of variables. Values are never repeated in a diagnostic.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "env-file.h"

static int read_plain(void *arg, const char *path, char **text, size_t *len,
		      struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	ssize_t n = -1;

	(void)arg;
	if (fd < 0)
		return err_sys(e, -errno, "%s", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(e, -EINVAL, "%s: not a regular file", path);
	}
	*text = malloc(ENV_FILE_BYTES_MAX + 2);
	if (*text)
		n = read(fd, *text, ENV_FILE_BYTES_MAX + 1);
	close(fd);
	if (n < 0) {
		free(*text);
		return err_sys(e, *text ? -errno : -ENOMEM, "%s", path);
	}
	*len = n;
	return 0;
}

/* Is @name given by the policy itself, or by a flag? */
static bool stands(const struct policy *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->env_count; i++)
		if (!strcmp(p->env[i].name, name))
			return !p->env[i].from_file;
	return false;
}

static void take_line(struct policy *p, char *line, const struct place *at,
		      struct diags *d)
{
	char *eq = strchr(line, '='), *name = line;
	size_t i;

	if (!*line || *line == '#')
		return;
	if (eq)
		*eq = 0;
	if (!env_name_ok(name)) {
		diag_error(d, at, "no NAME=VALUE: a name has letters, digits "
			   "and \"_\"");
		return;
	}
	if (stands(p, name) ||
	    policy_set_env(p, name, eq ? eq + 1 : NULL, at, d))
		return;
	for (i = 0; i < p->env_count; i++)
		if (!strcmp(p->env[i].name, name))
			p->env[i].from_file = true;
}

static void take_text(struct policy *p, const char *path, const char *text,
		      size_t len, struct diags *d)
{
	struct place at = { .file = path, .column = 1 };
	char *copy = arena_copy(&p->mem, text, len), *line;

	if (!copy) {
		diag_error(d, &at, "out of memory");
		return;
	}
	if (memchr(text, 0, len)) {
		diag_error(d, &at, "a NUL byte");
		return;
	}
	while ((line = strsep(&copy, "\n")) && !p->crowded) {
		at.line++;
		len = strlen(line);
		if (len && line[len - 1] == '\r')
			line[len - 1] = 0;
		take_line(p, line, &at, d);
	}
}

int env_files_read(struct policy *p, env_file_reader *read, void *arg,
		   struct diags *d)
{
	const struct policy_env_file *f;
	struct err e;
	char *text;
	size_t len, i;

	for (i = 0; i < p->env_file_count && !p->crowded; i++) {
		f = &p->env_files[i];
		e = (struct err){ 0 };
		if ((read ? read : read_plain)(arg, f->path, &text, &len,
					       &e)) {
			diag_error(d, &f->at, "%s", e.msg);
			continue;
		}
		if (len > ENV_FILE_BYTES_MAX)
			diag_error(d, &f->at, "%s: larger than %u bytes",
				   f->path, ENV_FILE_BYTES_MAX);
		else
			take_text(p, f->path, text, len, d);
		free(text);
	}
	return d->errors ? -EINVAL : 0;
}
