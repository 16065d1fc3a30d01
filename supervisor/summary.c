// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why a command probably failed: the last refusals that no program takes
 * lightly, those that one change would turn folded into one.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../bpf/decide-net.h"
#include "call.h"
#include "denials.h"
#include "summary.h"

#define CHANGE (LH_WRITE | LH_REMOVE | LH_MOVE | LH_BECOME | LH_BIND)
#define SOCKET (LH_CONNECT | LH_BIND)

/* Bytes of the path that a grant would have to name. */
static size_t grant_len(const struct event *ev)
{
	const char *slash = strrchr(ev->path, '/');

	/* A new or vanishing name is its directory's matter. */
	if ((ev->d.access & CHANGE) && slash && slash != ev->path)
		return slash - ev->path;
	return ev->path_len;
}

/* One remedy, or one rule, is for both. */
static bool same_matter(const struct event *a, const struct event *b)
{
	if (a->d.why != b->d.why)
		return false;
	switch (a->d.why) {
	case LH_WHY_NOT_GRANTED:
		return !(a->d.access & CHANGE) == !(b->d.access & CHANGE) &&
		       !(a->d.access & SOCKET) == !(b->d.access & SOCKET) &&
		       grant_len(a) == grant_len(b) &&
		       !memcmp(a->path, b->path, grant_len(a));
	case LH_WHY_FAMILY:
	case LH_WHY_NO_EXEC:
		return true;
	case LH_WHY_DENIED:
	case LH_WHY_READ_ONLY:
	case LH_WHY_PROTECTED:
	case LH_WHY_PINNED:
		return a->d.rule == b->d.rule;
	}
	if (a->d.op == LH_OP_SYSCALL && a->d.arg != b->d.arg)
		return false;
	return a->d.op == b->d.op;
}

void summary_take(struct denials *d, const struct event *ev, uint64_t count)
{
	struct denials_culprit now = {};
	size_t i;

	for (i = 0; i < DENIALS_CULPRITS - 1; i++)
		if (!d->culprit[i].ev || same_matter(d->culprit[i].ev, ev))
			break;
	/* The same again, a free place, or the oldest: its room is reused. */
	if (d->culprit[i].ev && same_matter(d->culprit[i].ev, ev))
		now.count = d->culprit[i].count;
	now.count += count;
	now.ev = d->culprit[i].ev;
	if (!now.ev)
		now.ev = malloc(sizeof(*now.ev));
	if (!now.ev)
		return;
	*now.ev = *ev;
	memmove(d->culprit + 1, d->culprit, i * sizeof(now));
	d->culprit[0] = now;
}

void summary_free(struct denials *d)
{
	size_t i;

	for (i = 0; i < DENIALS_CULPRITS; i++) {
		free(d->culprit[i].ev);
		d->culprit[i].ev = NULL;
	}
}

/* A word as a shell would need it to be quoted; say() escapes the rest. */
static void quote(char *out, size_t size, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%=~";
	bool bare = word[0] && !word[strspn(word, plain)];
	size_t o = 0;

	if (!bare)
		out[o++] = '\'';
	for (; *word && o + 6 < size; word++) {
		if (*word == '\'' && !bare) {
			memcpy(out + o, "'\\''", 4);
			o += 4;
		} else {
			out[o++] = *word;
		}
	}
	if (!bare)
		out[o++] = '\'';
	out[o] = 0;
}

/* ADDRESS:PORT as the command line takes it. */
static void destination(const struct event *ev, char *text, size_t size)
{
	char address[64];

	event_address(ev, address, sizeof(address));
	snprintf(text, size, ev->d.family == AF_INET6 ? "[%s]:%u" : "%s:%u",
		 address, ev->d.port);
}

/* What would open an address; false: it is no matter of one. */
static bool net_advice(const struct event *ev, char *text, size_t size)
{
	struct lh_dest d = { .family = ev->d.family };
	bool near, binds = ev->d.op == LH_OP_BIND;
	char where[96];

	if (ev->d.family != AF_INET && ev->d.family != AF_INET6)
		return false;
	memcpy(d.addr, ev->d.addr, sizeof(d.addr));
	near = lh_dest_is_loopback(&d);
	destination(ev, where, sizeof(where));
	if (ev->d.op == LH_OP_ACCEPT)
		snprintf(text, size, "--publish-port %u would open it to the "
			 "host", ev->d.local_port);
	else if (ev->d.why == LH_WHY_PEER && !binds)
		snprintf(text, size, "--loopback-port %u would grant it",
			 ev->d.port);
	else if (ev->d.why == LH_WHY_PEER)
		snprintf(text, size, "somebody else has that port");
	else if (binds && near)
		snprintf(text, size, "--allow-process-loopback grants "
			 "loopback, and \"bind_any\": \"loopback\" what binds "
			 "to any address");
	else if (binds)
		snprintf(text, size, "no policy grants a bind beyond loopback");
	else if (near)
		snprintf(text, size, "--allow-process-loopback would grant "
			 "loopback inside the session");
	else
		snprintf(text, size, "--egress-allow %s would grant it", where);
	return true;
}

/* Of what seccomp refuses, what a policy can grant. */
static bool call_advice(const struct event *ev, char *text, size_t size)
{
	static const char *const tracing[] = {
		"ptrace", "process_vm_readv", "process_vm_writev",
		"pidfd_getfd", "kcmp",
	};
	const char *name = ev->d.op == LH_OP_SYSCALL ? call_name(ev) : NULL;
	size_t i;

	for (i = 0; name && i < sizeof(tracing) / sizeof(*tracing); i++)
		if (!strcmp(name, tracing[i])) {
			snprintf(text, size, "\"ptrace\": true in "
				 "process_sandbox would grant it");
			return true;
		}
	return false;
}

static void advice(const struct denials *d, const struct event *ev,
		   char *text, size_t size)
{
	const char *rule = denials_rule(d, ev);
	char path[EVENT_PATH_MAX], word[1200];

	switch (ev->d.why) {
	case LH_WHY_PEER:
		if (!net_advice(ev, text, size))
			snprintf(text, size, "no flag grants it");
		break;
	case LH_WHY_NOT_GRANTED:
		if (net_advice(ev, text, size))
			break;
		memcpy(path, ev->path, grant_len(ev));
		path[grant_len(ev)] = 0;
		quote(word, sizeof(word), path);
		snprintf(text, size, "%s %s would grant it",
			 ev->d.access & SOCKET ? "--sandbox-unix-socket-root" :
			 ev->d.access & CHANGE ? "--rw" : "--ro", word);
		break;
	case LH_WHY_FAMILY:
		snprintf(text, size, "no policy grants such a socket, or this "
			 "one opens no network");
		break;
	case LH_WHY_NO_EXEC:
		snprintf(text, size, "process.exec in capabilities and "
			 "side_effect_level \"process_exec\" would grant it");
		break;
	case LH_WHY_DENIED:
	case LH_WHY_READ_ONLY:
	case LH_WHY_PROTECTED:
	case LH_WHY_PINNED:
		snprintf(text, size, "rule %s stands against it", rule);
		break;
	default:
		if (!call_advice(ev, text, size))
			snprintf(text, size, "no flag grants it");
	}
}

static void object_words(const struct event *ev, char *text, size_t size)
{
	char address[64];
	size_t len;
	const char *path = event_object(ev, &len);

	event_address(ev, address, sizeof(address));
	if (ev->d.op == LH_OP_SYSCALL && call_name(ev))
		snprintf(text, size, "%s", call_name(ev));
	else if (ev->d.op == LH_OP_SYSCALL)
		snprintf(text, size, "%u", ev->d.arg);
	else if (len)
		quote(text, size, path);
	else if (ev->d.target)
		snprintf(text, size, "process %u", ev->d.target);
	else if (ev->d.op == LH_OP_SOCKET && ev->d.family == AF_INET)
		snprintf(text, size, "inet");
	else if (ev->d.op == LH_OP_SOCKET && ev->d.family == AF_INET6)
		snprintf(text, size, "inet6");
	else if (ev->d.family && ev->d.op == LH_OP_SOCKET)
		snprintf(text, size, "(family %u)", ev->d.family);
	else if (address[0])
		snprintf(text, size, "%s port %u", address, ev->d.port);
	else
		text[0] = 0;
}

/* " (3 of them expected)": what programs try and do without. */
static void count_words(const struct denials *d, char *text, size_t size)
{
	unsigned long long all = d->received, probes = all - d->alerts;
	int n = snprintf(text, size, "%llu refusal%s", all,
			 all == 1 ? "" : "s");

	if (probes)
		snprintf(text + n, size - n, ", %llu of them common probes",
			 probes);
}

bool denials_summary(const struct denials *d, unsigned int number, char *text,
		     size_t size)
{
	char object[1200], way[1600], all[96], comm[LH_COMM_LEN + 1] = "";
	const struct event *ev;
	char times[48] = "";

	if (number >= DENIALS_CULPRITS || !d->culprit[number].ev)
		return false;
	ev = d->culprit[number].ev;
	if (d->culprit[number].count > 1)
		snprintf(times, sizeof(times), ", %llu such",
			 (unsigned long long)d->culprit[number].count);
	object_words(ev, object, sizeof(object));
	advice(d, ev, way, sizeof(way));
	memcpy(comm, ev->d.comm, LH_COMM_LEN);
	count_words(d, all, sizeof(all));
	snprintf(text, size, "%srefused to %s: %s%s%s (%s%s); %s%s%s%s%s",
		 number ? "also " : "", comm, event_operation(ev),
		 object[0] ? " " : "", object, event_reason(ev), times, way,
		 number ? "" : "; ", number ? "" : all,
		 !number && d->path[0] ? ": " : "", number ? "" : d->path);
	return true;
}
