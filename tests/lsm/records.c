// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading the records as anybody would: one JSON object a line. A line that is
 * not valid JSON is a failure wherever it is met.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>
#include <yajl/yajl_tree.h>

#include "session.h"

#define RECORD_MS 20000

static void text(yajl_val v, const char *key, char *to, size_t size)
{
	const char *path[] = { key, NULL };
	yajl_val m = yajl_tree_get(v, path, yajl_t_any);

	if (m && YAJL_IS_STRING(m))
		snprintf(to, size, "%s", YAJL_GET_STRING(m));
	else if (m && YAJL_IS_NUMBER(m))
		snprintf(to, size, "%s", YAJL_GET_NUMBER(m));
}

/* What is not UTF-8 stands there repaired, and beside it exactly, as base64. */
static void exact(yajl_val v, const char *key, char *to, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	char name[64], code[3 * PATH_MAX] = "";
	unsigned int bits = 0, n = 0;
	const char *digit;
	size_t at = 0;

	text(v, key, to, size);
	snprintf(name, sizeof(name), "%s_b64", key);
	text(v, name, code, sizeof(code));
	for (char *c = code; *c && (digit = strchr(digits, *c)); c++) {
		bits = bits << 6 | (digit - digits);
		n += 6;
		if (n < 8)
			continue;
		n -= 8;
		if (at < size - 1)
			to[at++] = bits >> n;
	}
	if (*code)
		to[at] = 0;
}

static long long number(yajl_val v, const char *key, long long absent)
{
	const char *path[] = { key, NULL };
	yajl_val m = yajl_tree_get(v, path, yajl_t_number);

	return m && YAJL_IS_INTEGER(m) ? YAJL_GET_INTEGER(m) : absent;
}

static void numbers(yajl_val v, const char *key, char *to, size_t size)
{
	const char *path[] = { key, NULL };
	yajl_val m = yajl_tree_get(v, path, yajl_t_array);
	size_t used = 0;

	for (size_t i = 0; m && i < m->u.array.len && used < size; i++)
		used += snprintf(to + used, size - used, "%s%s", i ? " " : "",
				 YAJL_GET_NUMBER(m->u.array.values[i]));
}

static int parse(const char *line, struct denial *d)
{
	char why[256];
	yajl_val v = yajl_tree_parse(line, why, sizeof(why));

	memset(d, 0, sizeof(*d));
	if (!v) {
		fprintf(stderr, "# not JSON: %s\n# %s\n", line, why);
		return -1;
	}
	d->seq = number(v, "seq", -1);
	d->count = number(v, "count", 1);
	d->lost = number(v, "lost", 0);
	d->pid = number(v, "pid", -1);
	d->port = number(v, "port", -1);
	d->local_port = number(v, "local_port", -1);
	text(v, "address", d->address, sizeof(d->address));
	text(v, "operation", d->operation, sizeof(d->operation));
	text(v, "mechanism", d->mechanism, sizeof(d->mechanism));
	text(v, "reason", d->reason, sizeof(d->reason));
	text(v, "hook", d->hook, sizeof(d->hook));
	text(v, "errno", d->errno_name, sizeof(d->errno_name));
	text(v, "rule", d->rule, sizeof(d->rule));
	text(v, "syscall", d->syscall, sizeof(d->syscall));
	text(v, "arch", d->arch, sizeof(d->arch));
	numbers(v, "args", d->args, sizeof(d->args));
	exact(v, "path", d->path, sizeof(d->path));
	exact(v, "other_path", d->other, sizeof(d->other));
	text(v, "comm", d->comm, sizeof(d->comm));
	text(v, "exe", d->exe, sizeof(d->exe));
	d->cut = yajl_tree_get(v, (const char *[]){ "path_cut", NULL },
			       yajl_t_true) != NULL;
	yajl_tree_free(v);
	return 0;
}

/* One whole line from where we stand: its length, 0 if there is none yet. */
static long line_at(struct session *s, char **line)
{
	FILE *f = fopen(at(s->w, "log/%s.denials", s->name), "re");
	size_t size = 0;
	long n = 0;

	*line = NULL;
	if (!f)
		return 0;
	if (!fseek(f, s->seen, SEEK_SET))
		n = getline(line, &size, f);
	fclose(f);
	return n > 0 && (*line)[n - 1] == '\n' ? n : 0;
}

static int remaining(const struct timespec *end)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (end->tv_sec - now.tv_sec) * 1000 +
	       (end->tv_nsec - now.tv_nsec) / 1000000;
}

static int next_until(struct session *s, struct denial *d,
		      const struct timespec *end)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char *line = NULL, junk[4096];
	int err = -1, ms;
	long n;

	inotify_add_watch(fd, at(s->w, "log"), IN_MODIFY | IN_CREATE);
	while (!(n = line_at(s, &line)) && (ms = remaining(end)) > 0) {
		free(line);
		poll(&p, 1, ms);
		while (read(fd, junk, sizeof(junk)) > 0)
			;
	}
	if (n > 0) {
		s->seen += n;
		err = parse(line, d);
	}
	free(line);
	close(fd);
	return err;
}

static struct timespec deadline(int ms)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += ms / 1000;
	return end;
}

int denial_now(struct session *s, struct denial *d)
{
	char *line = NULL;
	long n = line_at(s, &line);
	int err = n ? parse(line, d) : -1;

	s->seen += n;
	free(line);
	return err;
}

int denial_next(struct session *s, struct denial *d)
{
	struct timespec end = deadline(RECORD_MS);

	return next_until(s, d, &end);
}

bool denied(struct session *s, const char *operation, const char *path,
	    const char *rule)
{
	struct timespec end = deadline(RECORD_MS);
	char want[sizeof(((struct denial *)0)->path)];
	struct denial d;
	long from = s->seen;

	/* It may be one of at()'s, which does not stay while this waits. */
	if (path) {
		snprintf(want, sizeof(want), "%s", path);
		path = want;
	}
	while (!next_until(s, &d, &end)) {
		if ((!operation || !strcmp(d.operation, operation)) &&
		    (!path || !strcmp(d.path, path)) &&
		    (!rule || strstr(d.rule, rule)))
			return true;
		fprintf(stderr, "# record: %lld %s %s rule=%s why=%s\n",
			d.seq, d.operation, d.path, d.rule, d.reason);
	}
	fprintf(stderr, "# no record: %s %s rule~%s\n",
		operation ? operation : "(any)", path ? path : "(any)",
		rule ? rule : "(any)");
	s->seen = from;
	return false;
}

bool quiet(struct session *s)
{
	char *line = NULL;
	long n = line_at(s, &line);

	if (n)
		fprintf(stderr, "# unexpected record: %s", line);
	free(line);
	return !n;
}

const char *json_member(const char *path, const char *member)
{
	static char value[1024], all[65536];
	char name[128], why[256];
	const char *key[8] = { NULL };
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(all, 1, sizeof(all) - 1, f) : 0;
	yajl_val v, m;
	int depth = 0;

	if (!f)
		return NULL;
	fclose(f);
	all[n] = 0;
	v = yajl_tree_parse(all, why, sizeof(why));
	if (!v) {
		fprintf(stderr, "# %s is not JSON: %s\n", path, why);
		return NULL;
	}
	snprintf(name, sizeof(name), "%s", member);
	for (char *p = strtok(name, "."); p && depth < 7; p = strtok(NULL, "."))
		key[depth++] = p;
	m = yajl_tree_get(v, key, yajl_t_any);
	value[0] = 0;
	if (m && YAJL_IS_STRING(m))
		snprintf(value, sizeof(value), "%s", YAJL_GET_STRING(m));
	else if (m && YAJL_IS_NUMBER(m))
		snprintf(value, sizeof(value), "%s", YAJL_GET_NUMBER(m));
	else if (m)
		snprintf(value, sizeof(value), "%s",
			 YAJL_IS_TRUE(m) ? "true" : YAJL_IS_FALSE(m) ? "false" :
			 YAJL_IS_NULL(m) ? "null" : "(object)");
	yajl_tree_free(v);
	return m ? value : NULL;
}
