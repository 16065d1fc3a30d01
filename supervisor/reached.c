// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cgroup counts how often a limit was reached, and tells of nobody. Whom
 * the kernel killed for memory is in its log, where that can be read; it leaves
 * lines out when there are many, so the counts stand.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "limits.h"
#include "reached.h"
#include "run.h"

#define LOG_LINE 8192		/* the kernel's longest record */

static bool number_after(const char *text, const char *key, __u32 *out)
{
	char *end;
	unsigned long v;

	if (strncmp(text, key, strlen(key)))
		return false;
	text += strlen(key);
	v = strtoul(text, &end, 10);
	*out = v;
	return end != text && v <= UINT32_MAX;
}

/* The last @key in @text: a name before it may look like one. */
static const char *last(const char *text, const char *key)
{
	const char *at = NULL, *p = text;

	while ((p = strstr(p, key)))
		at = p++;
	return at;
}

bool reached_victim(const char *line, const char *id, struct victim *v)
{
	const char *text = strchr(line, ';'), *name, *pid, *uid;
	char group[64];
	size_t len;

	if (!text || strncmp(++text, "oom-kill:constraint=", 20))
		return false;
	snprintf(group, sizeof(group), "/" CGROUP_PARENT "/%s,task_memcg=", id);
	text = strstr(text, ",oom_memcg=");
	if (!text || !strstr(text, group))
		return false;
	name = strstr(text, ",task=");
	pid = name ? last(name, ",pid=") : NULL;
	uid = pid ? last(pid, ",uid=") : NULL;
	memset(v, 0, sizeof(*v));
	if (!uid || !number_after(pid, ",pid=", &v->pid) ||
	    !number_after(uid, ",uid=", &v->uid))
		return false;
	name += strlen(",task=");
	len = pid - name;
	memcpy(v->comm, name, len < LH_COMM_LEN ? len : LH_COMM_LEN - 1);
	return true;
}

void reached_begin(struct run *r)
{
	if (!r->book || r->load.im->limits.memory == IMAGE_NO_LIMIT)
		return;
	r->kernel_log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (r->kernel_log >= 0)
		lseek(r->kernel_log, 0, SEEK_END);
}

/* The number that the next record of the session has. */
static __u64 next_number(struct run *r)
{
	volatile __u64 *seq = &r->book->seq, *lost;

	if (r->admitted)
		engine_counts(r->engine, &r->es, &seq, &lost);
	return __atomic_add_fetch(seq, 1, __ATOMIC_SEQ_CST);
}

static void record(struct run *r, const char *field, int err, uint64_t count,
		   const struct victim *v)
{
	const struct limit *limit = limit_named(field);
	uint64_t value = limit_value(limit, &r->load.im->limits);
	struct lh_denial d = {
		.serial = r->es.serial, .op = LH_OP_LIMIT,
		.why = LH_WHY_LIMIT, .err = err, .hook = LH_HOOK_COUNT,
		.arg = limit - limits,
	};
	struct timespec t;

	if (!count)
		return;
	d.seq = next_number(r);
	clock_gettime(CLOCK_BOOTTIME, &t);
	d.time = t.tv_sec * 1000000000ULL + t.tv_nsec;
	memcpy(d.addr, &value, sizeof(value));
	if (v) {
		d.pid = d.tid = v->pid;
		d.uid = v->uid;
		memcpy(d.comm, v->comm, sizeof(d.comm));
	}
	denials_add(&r->denials, &d, sizeof(d), count);
}

/* Each that is known by itself, the rest by their number. */
static void record_killed(struct run *r, uint64_t count)
{
	static char line[LOG_LINE + 1];
	struct victim v;
	ssize_t n = -1;

	while (r->kernel_log >= 0 && count) {
		n = read(r->kernel_log, line, LOG_LINE);
		/* Overwritten before it was read: go on behind it. */
		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			break;
		line[n] = 0;
		if (!reached_victim(line, r->registry.id, &v))
			continue;
		record(r, "memory", 0, 1, &v);
		count--;
	}
	record(r, "memory", 0, count, NULL);
	close_fd(&r->kernel_log);
}

void reached_end(struct run *r)
{
	const struct result *res = &r->result;

	if (!r->book)
		return;
	record_killed(r, res->usage.oom_kills);
	record(r, "pids", -EAGAIN, res->usage.pids_refused, NULL);
	record(r, "file_size", -EFBIG, res->signal == SIGXFSZ, NULL);
	record(r, "wall_time", 0, res->timed_out && !res->idle, NULL);
	record(r, "idle_time", 0, res->idle, NULL);
	denials_flush(&r->denials);
}
