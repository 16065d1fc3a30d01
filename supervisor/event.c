// SPDX-License-Identifier: GPL-2.0-only
/*
 * Denials in words. The names of operations, reasons and hooks are part of the
 * record's format: they may grow, never change.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "call.h"
#include "event.h"
#include "limits.h"

static const char *const operations[LH_OP_COUNT] = {
	[LH_OP_NONE] = "none", [LH_OP_OPEN] = "open",
	[LH_OP_CREATE] = "create", [LH_OP_MKDIR] = "mkdir",
	[LH_OP_MKNOD] = "mknod", [LH_OP_UNLINK] = "unlink",
	[LH_OP_RMDIR] = "rmdir", [LH_OP_RENAME] = "rename",
	[LH_OP_LINK] = "link", [LH_OP_SYMLINK] = "symlink",
	[LH_OP_TRUNCATE] = "truncate", [LH_OP_CHMOD] = "chmod",
	[LH_OP_CHOWN] = "chown", [LH_OP_EXEC] = "exec",
	[LH_OP_STAT] = "stat", [LH_OP_READLINK] = "readlink",
	[LH_OP_XATTR] = "xattr", [LH_OP_CHROOT] = "chroot",
	[LH_OP_MOUNT] = "mount", [LH_OP_SOCKET] = "socket",
	[LH_OP_BIND] = "bind", [LH_OP_CONNECT] = "connect",
	[LH_OP_SEND] = "send", [LH_OP_LISTEN] = "listen",
	[LH_OP_PTRACE] = "ptrace", [LH_OP_SIGNAL] = "signal",
	[LH_OP_PROC] = "proc", [LH_OP_BPF] = "bpf",
	[LH_OP_NAMESPACE] = "namespace", [LH_OP_MODULE] = "module",
	[LH_OP_PERF] = "perf", [LH_OP_FORK] = "fork",
	[LH_OP_SETATTR] = "setattr", [LH_OP_SCHED] = "sched",
	[LH_OP_WATCH] = "watch", [LH_OP_ACL] = "acl",
	[LH_OP_RECEIVE] = "receive", [LH_OP_IPC] = "ipc",
	[LH_OP_QUOTA] = "quota", [LH_OP_ACCEPT] = "accept",
	[LH_OP_JOIN] = "join", [LH_OP_OPTION] = "option",
	[LH_OP_SYSCALL] = "syscall", [LH_OP_LIMIT] = "limit",
};

static const struct {
	const char *token, *text;
} reasons[LH_WHY_COUNT] = {
	[LH_WHY_ALLOW] = { "none", "no refusal" },
	[LH_WHY_DENIED] = { "denied", "a rule denies it" },
	[LH_WHY_NOT_GRANTED] = { "not_granted", "no rule grants it" },
	[LH_WHY_READ_ONLY] = { "read_only", "a read-only root" },
	[LH_WHY_PROTECTED] = { "protected", "the host runs what it says" },
	[LH_WHY_PINNED] = { "pinned", "a root, or above one, stays in place" },
	[LH_WHY_OUTSIDE_MOUNT] = { "outside_mount",
		"reached through a mount outside the session's" },
	[LH_WHY_UNFINISHED] = { "unfinished", "the path is too deep to judge" },
	[LH_WHY_RACED] = { "raced", "renames did not let it be judged" },
	[LH_WHY_NO_EXEC] = { "no_exec",
		"the policy allows no further programs" },
	[LH_WHY_SETID] = { "setid", "no setuid or setgid file is made or written" },
	[LH_WHY_DEVICE] = { "device", "no device files are made or changed" },
	[LH_WHY_FAMILY] = { "family", "this socket family is not granted" },
	[LH_WHY_PEER] = { "peer", "the other end is not in this session" },
	[LH_WHY_PROCESS] = { "process", "the process is not in this session" },
	[LH_WHY_GUARD] = { "guard", "it would loosen the session" },
	[LH_WHY_NEVER] = { "never", "no session may" },
	[LH_WHY_SESSION_DEAD] = { "session_dead", "the supervisor is gone" },
	[LH_WHY_INTERNAL] = { "internal", "the engine could not judge it" },
	[LH_WHY_LIMIT] = { "limit", "the session has as many as it may" },
	[LH_WHY_MISSING] = { "missing", "as if this kernel did not have it" },
};

static const char *const hooks[LH_HOOK_COUNT] = {
#define X(name) [LH_HOOK_##name] = #name,
	LH_HOOKS(X)
#undef X
};

static const char *const mechanisms[MECHANISM_COUNT] = {
	"egress", "local_socket", "home_read", "write", "unknown",
};

const char *mechanism_name(enum mechanism m)
{
	return mechanisms[m];
}

const char *event_operation(const struct event *ev)
{
	const char *s = ev->d.op < LH_OP_COUNT ? operations[ev->d.op] : NULL;

	return s ? s : "unknown";
}

const char *event_reason(const struct event *ev)
{
	const char *s = ev->d.why < LH_WHY_COUNT ? reasons[ev->d.why].token
						 : NULL;

	return s ? s : "unknown";
}

static const char *reason_text(const struct event *ev)
{
	const char *s = ev->d.why < LH_WHY_COUNT ? reasons[ev->d.why].text
						 : NULL;

	return s ? s : "unknown";
}

/* "c\0b\0a\0", leaf first, to "/a/b/c". An empty name was cut: "...". */
static size_t rebuild(const char *tail, size_t len, char *out)
{
	size_t end = len, n = 0;

	while (end) {
		size_t start = end - 1;	/* at the NUL */

		while (start && tail[start - 1])
			start--;
		if (n + (end - start) + 4 >= EVENT_PATH_MAX)
			break;
		out[n++] = '/';
		if (start == end - 1) {
			memcpy(out + n, "...", 3);
			n += 3;
		}
		memcpy(out + n, tail + start, end - 1 - start);
		n += end - 1 - start;
		end = start;
	}
	out[n] = 0;
	return n;
}

/* "@" and the name: any bytes, NUL too, as the socket has them. */
static size_t abstract(const char *tail, size_t len, char *out)
{
	out[0] = '@';
	memcpy(out + 1, tail, len);
	out[len + 1] = 0;
	return len + 1;
}

static bool has_path(const struct lh_denial *d)
{
	return (d->op >= LH_OP_OPEN && d->op <= LH_OP_XATTR) ||
	       d->op == LH_OP_SETATTR || d->op == LH_OP_WATCH;
}

static bool starts(const char *path, size_t len, const char *prefix)
{
	size_t n = strlen(prefix);

	return len >= n && !memcmp(path, prefix, n);
}

static bool below(const char *path, size_t len, const char *dir)
{
	size_t n = dir ? strlen(dir) : 0;

	return n > 1 && starts(path, len, dir) && (len == n || path[n] == '/');
}

static enum mechanism classify(const struct event *ev, const char *home)
{
	const unsigned int change = LH_WRITE | LH_REMOVE | LH_MOVE | LH_BECOME;
	size_t len;
	const char *path = event_object(ev, &len);

	if (ev->d.family == AF_UNIX)
		return MECHANISM_LOCAL_SOCKET;
	if ((ev->d.op >= LH_OP_SOCKET && ev->d.op <= LH_OP_LISTEN) ||
	    (ev->d.op >= LH_OP_ACCEPT && ev->d.op <= LH_OP_OPTION))
		return ev->d.family ? MECHANISM_EGRESS : MECHANISM_UNKNOWN;
	if (has_path(&ev->d) && (ev->d.access & change))
		return MECHANISM_WRITE;
	if (has_path(&ev->d) && below(path, len, home))
		return MECHANISM_HOME_READ;
	return MECHANISM_UNKNOWN;
}

static bool ends(const char *path, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len >= n && !memcmp(path + len - n, suffix, n);
}

/* A JVM's counters, for others to look at; it cleans up there first. */
static bool is_perfdata(const char *path, size_t len)
{
	return starts(path, len, "/tmp/hsperfdata_");
}

/* What a toolchain makes beside things that it otherwise only reads. */
static bool is_lock(const char *path, size_t len)
{
	static const char *const names[] = {
		"/.package-cache", "/.package-cache-mutate", "/.global-cache",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (ends(path, len, names[i]))
			return true;
	return is_perfdata(path, len);
}

/* ps, top, pidof and their like look at every process that there is. */
static bool is_census(const struct event *ev, const char *path, size_t len)
{
	static const char *const names[] = {
		"/stat", "/statm", "/status", "/cmdline", "/comm",
	};
	size_t i;

	if (ev->d.op == LH_OP_STAT)
		return true;
	if (ev->d.op != LH_OP_OPEN || ev->d.access != LH_READ)
		return false;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (ends(path, len, names[i]))
			return true;
	return false;
}

/*
 * git tries to remove the directory of each file such as CHERRY_PICK_HEAD that
 * it deletes, its own git directory, and counts on its not being empty.
 */
static bool is_git_directory(const char *path, size_t len)
{
	return ends(path, len, "/.git") ||
	       memmem(path, len, "/.git/worktrees/", 16);
}

/*
 * Who is asked for names of users and hosts, told what happens, or offered to
 * be of help. Agents that hold keys, displays and what starts services are
 * none: whoever asks for those wants them.
 */
static bool is_helper(const char *path, size_t len)
{
	static const char *const sockets[] = {
		"/run/nscd/", "/var/run/nscd/", "/run/dbus/", "/dev/log",
		"/run/systemd/journal/", "/run/systemd/resolve/",
		"/run/systemd/userdb/", "/run/systemd/io.systemd.",
		"/run/systemd/notify", "/run/avahi-daemon/", "@/tmp/dbus-",
	};
	size_t i;

	for (i = 0; i < sizeof(sockets) / sizeof(*sockets); i++)
		if (starts(path, len, sockets[i]))
			return true;
	/* The bus of a user, and his systemd's journal and names. */
	return starts(path, len, "/run/user/") &&
	       (ends(path, len, "/bus") ||
		memmem(path, len, "/systemd/io.systemd.", 20));
}

/*
 * What the C library and common runtimes try by themselves and do without:
 * a refusal of these explains no failure.
 */
static bool is_probe(const struct event *ev)
{
	size_t len;
	const char *path = event_object(ev, &len);

	if (ev->d.op == LH_OP_SOCKET)
		return ev->d.family == AF_NETLINK;
	if (ev->d.op == LH_OP_SYSCALL)
		return ev->d.why == LH_WHY_MISSING;
	if (ev->d.why == LH_WHY_PROCESS)
		return is_census(ev, path, len);
	/* ipcs looks here first, then asks for one object after the other. */
	if (ev->d.op == LH_OP_OPEN && (starts(path, len, "/proc/sysvipc/") ||
				       is_perfdata(path, len)))
		return true;
	if (ev->d.op == LH_OP_CREATE || ev->d.op == LH_OP_MKDIR)
		return is_lock(path, len);
	if (ev->d.op == LH_OP_RMDIR && ev->d.why == LH_WHY_PINNED)
		return is_git_directory(path, len);
	return ev->d.family == AF_UNIX && is_helper(path, len);
}

int event_parse(const void *data, size_t size, const char *home,
		struct event *ev)
{
	const char *tail = (const char *)data + sizeof(ev->d);
	size_t left, sum;

	if (size < sizeof(ev->d))
		return -EBADMSG;
	memcpy(&ev->d, data, sizeof(ev->d));
	left = size - sizeof(ev->d);
	sum = (size_t)ev->d.path_len + ev->d.other_len + ev->d.exe_len;
	/* The ring rounds a record up; it never cuts one. */
	if (sum > left || ev->d.path_len > LH_DATA_MAX ||
	    ev->d.other_len > LH_DATA_MAX || ev->d.exe_len > LH_DATA_MAX)
		return -EBADMSG;
	memset(ev->args, 0, sizeof(ev->args));
	ev->path[0] = 0;
	ev->path_len = 0;
	if (ev->d.op == LH_OP_SYSCALL && ev->d.path_len == sizeof(ev->args)) {
		memcpy(ev->args, tail, sizeof(ev->args));
		call_settle(ev);
	} else if (ev->d.flags & LH_DENIAL_ABSTRACT) {
		ev->path_len = abstract(tail, ev->d.path_len, ev->path);
	} else {
		ev->path_len = rebuild(tail, ev->d.path_len, ev->path);
	}
	if (!ev->path_len && has_path(&ev->d)) {
		strcpy(ev->path, "/");	/* no name above it: the root */
		ev->path_len = 1;
	}
	tail += ev->d.path_len;
	ev->other_len = rebuild(tail, ev->d.other_len, ev->other);
	tail += ev->d.other_len;
	ev->exe_len = rebuild(tail, ev->d.exe_len, ev->exe);
	ev->mechanism = classify(ev, home);
	ev->probe = is_probe(ev);
	return 0;
}

/* Of a rename or link, .path is the end that was refused. */
const char *event_object(const struct event *ev, size_t *len)
{
	*len = ev->path_len;
	return ev->path;
}

void event_address(const struct event *ev, char *text, size_t size)
{
	text[0] = 0;
	if (ev->d.family == AF_INET || ev->d.family == AF_INET6)
		inet_ntop(ev->d.family, ev->d.addr, text, size);
}

static bool has_address(const struct event *ev)
{
	static const __u8 zero[16];

	return (ev->d.family == AF_INET || ev->d.family == AF_INET6) &&
	       (ev->d.op == LH_OP_CONNECT || ev->d.op == LH_OP_BIND ||
		ev->d.op == LH_OP_SEND || ev->d.op == LH_OP_LISTEN ||
		ev->d.op == LH_OP_ACCEPT || ev->d.op == LH_OP_JOIN ||
		memcmp(ev->d.addr, zero, sizeof(zero)));
}

static void put_time(struct writer *w, __u64 boot)
{
	struct timespec real, since;
	char text[40];
	__s64 ns;
	time_t sec;
	struct tm tm;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_BOOTTIME, &since);
	ns = (real.tv_sec - since.tv_sec) * 1000000000LL +
	     (real.tv_nsec - since.tv_nsec) + (__s64)boot;
	sec = ns / 1000000000;
	gmtime_r(&sec, &tm);
	n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, sizeof(text) - n, ".%09uZ",
		 (unsigned int)(ns % 1000000000));
	writer_str(w, "ts", text);
}

static void put_errno(struct writer *w, int err)
{
	writer_str(w, "errno", err < 0 ? strerrorname_np(-err) : NULL);
}

static void put_family(struct writer *w, unsigned int family)
{
	static const char *const names[] = {
		[AF_UNIX] = "unix", [AF_INET] = "inet", [AF_INET6] = "inet6",
		[AF_NETLINK] = "netlink", [AF_PACKET] = "packet",
		[AF_VSOCK] = "vsock", [AF_ALG] = "alg",
		[AF_BLUETOOTH] = "bluetooth", [AF_CAN] = "can",
		[AF_KEY] = "key", [AF_XDP] = "xdp", [AF_TIPC] = "tipc",
	};

	if (family < sizeof(names) / sizeof(*names) && names[family])
		writer_str(w, "family", names[family]);
	else
		writer_uint(w, "family", family);
}

static void put_network(const struct event *ev, struct writer *w)
{
	char address[INET6_ADDRSTRLEN];

	put_family(w, ev->d.family);
	if (ev->d.op == LH_OP_SOCKET)
		writer_uint(w, "type", ev->d.arg & 0xf);
	writer_uint(w, "protocol", ev->d.protocol);
	if (!has_address(ev))
		return;
	event_address(ev, address, sizeof(address));
	writer_str(w, "address", address);
	writer_uint(w, "port", ev->d.port);
	if (ev->d.local_port)
		writer_uint(w, "local_port", ev->d.local_port);
}

static void put_access(struct writer *w, unsigned int access)
{
	static const char *const names[] = {
		"read", "write", "exec", "remove", "move", "become", "stat",
		NULL, "connect", "bind",	/* LH_ODD is no access */
	};
	size_t i;

	writer_open_array(w, "access");
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i] && (access & (1u << i)))
			writer_str(w, NULL, names[i]);
	writer_close_array(w);
}

static void put_limit(const struct event *ev, struct writer *w)
{
	__u64 value;

	memcpy(&value, ev->d.addr, sizeof(value));
	if (ev->d.arg >= LIMITS)
		return;
	writer_str(w, "limit", limits[ev->d.arg].field);
	writer_uint(w, "limit_value", value);
}

static void put_caller(const struct event *ev, struct writer *w)
{
	writer_uint(w, "pid", ev->d.pid);
	writer_uint(w, "tid", ev->d.tid);
	writer_uint(w, "ppid", ev->d.ppid);
	writer_uint(w, "uid", ev->d.uid);
	writer_bytes(w, "comm", ev->d.comm, strnlen(ev->d.comm, LH_COMM_LEN));
	if (ev->exe_len)
		writer_bytes(w, "exe", ev->exe, ev->exe_len);
}

void event_write(const struct event *ev, const struct event_context *c,
		 struct writer *w)
{
	const struct lh_denial *d = &ev->d;

	writer_open_map(w, NULL);
	writer_str(w, "schema", "lh.denial.v1");
	put_time(w, d->time);
	writer_str(w, "session", c->session);
	writer_uint(w, "seq", d->seq);
	writer_str(w, "decision", "deny");
	writer_str(w, "mechanism", mechanism_name(ev->mechanism));
	writer_str(w, "operation", event_operation(ev));
	writer_str(w, "reason", event_reason(ev));
	writer_str(w, "reason_text", reason_text(ev));
	writer_str(w, "rule", c->rule);
	writer_str(w, "hook", d->hook < LH_HOOK_COUNT ? hooks[d->hook] : NULL);
	put_errno(w, d->err);
	put_caller(ev, w);
	if (d->access)
		put_access(w, d->access);
	if (ev->path_len)
		writer_bytes(w, "path", ev->path, ev->path_len);
	if (ev->other_len)
		writer_bytes(w, "other_path", ev->other, ev->other_len);
	if (d->flags & LH_DENIAL_CUT)
		writer_bool(w, "path_cut", true);
	if (d->family)
		put_network(ev, w);
	if (d->op == LH_OP_SYSCALL) {
		call_write(ev, w);
	} else if (d->op == LH_OP_LIMIT) {
		put_limit(ev, w);
	} else if (d->op == LH_OP_IPC) {
		writer_uint(w, "ipc_key", d->target);
		writer_uint(w, "ipc_id", d->arg);
	} else if (d->target) {
		writer_uint(w, "target_pid", d->target);
	}
	if (d->op == LH_OP_SIGNAL)
		writer_uint(w, "signal", d->arg);
	writer_uint(w, "lost", d->lost);
	writer_uint(w, "count", c->count);
	writer_bool(w, "expected_probe", ev->probe);
	writer_str(w, "observability", "observed");
	writer_close_map(w);
}
