// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refusing for the kernel. Whatever is not understood is refused too: there is
 * no answer here that lets a call go on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../policy-compiler/filter.h"
#include "caller.h"
#include "cleanup.h"
#include "listener.h"

#define SERVE_MAX 64		/* between two looks at the rest */
#define ARGS_ALIKE (BOOK_ENTRIES / 2)	/* from here on, of any arguments */
#define FULL (BOOK_ENTRIES * 3 / 4)

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

_Static_assert(offsetof(struct book_entry, args) ==
	       offsetof(struct book_entry, d) + sizeof(struct lh_denial),
	       "a record is one piece");
_Static_assert(offsetof(struct book_entry, exe) ==
	       offsetof(struct book_entry, args) + LH_SYSCALL_ARGS * 8,
	       "a record is one piece");

static const struct sock_filter *im_filter(const struct image *im)
{
	return (const struct sock_filter *)((const char *)im +
					    im->filter.offset);
}

struct book *book_new(void)
{
	struct book *b = mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return b == MAP_FAILED ? NULL : b;
}

bool book_take(struct book *b, size_t *at, struct book_entry *out,
	       size_t *size)
{
	for (; *at < BOOK_ENTRIES; (*at)++) {
		struct book_entry *e = &b->entry[*at];

		if (!__atomic_load_n(&e->count, __ATOMIC_ACQUIRE))
			continue;
		*out = *e;
		out->count = __atomic_exchange_n(&e->count, 0,
						 __ATOMIC_SEQ_CST);
		*size = sizeof(out->d) + sizeof(out->args) + out->d.exe_len;
		(*at)++;
		return true;
	}
	return false;
}

static int send_descriptor(int socket, int fd)
{
	char control[CMSG_SPACE(sizeof(fd))] = {}, byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(socket, &m, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

int listener_receive(int socket)
{
	int fd = -1;
	char control[CMSG_SPACE(sizeof(fd))] = {}, byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;

	if (recvmsg(socket, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != 1)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

static int filter_set(struct sock_filter *f, size_t count, unsigned long flags)
{
	struct sock_fprog prog = { .len = count, .filter = f };
	int ret = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);

	return ret < 0 ? -errno : ret;
}

int listener_make(const struct image *im, int socket, int *unheard)
{
	static struct sock_filter f[FILTER_INSNS_MAX];
	size_t count = im->filter.count, size = count * sizeof(*f);
	_cleanup_close_ int fd = -1;

	if (!count || count > FILTER_INSNS_MAX)
		return -EINVAL;	/* no filter is no policy */
	memcpy(f, im_filter(im), size);
	filter_tell(f, count);
	/* Once it was asked about, only death ends a caller's waiting. */
	fd = filter_set(f, count, SECCOMP_FILTER_FLAG_NEW_LISTENER |
			SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
	if (fd >= 0)
		return send_descriptor(socket, fd);
	/* Somebody above us listens, or the kernel is too old for it. */
	*unheard = fd;
	memcpy(f, im_filter(im), size);
	return filter_set(f, count, 0);
}

/* The same call, of the same thread; with any arguments if @alike. */
static bool is_same(const struct book_entry *e,
		    const struct seccomp_notif *n, bool alike)
{
	return e->d.tid == n->pid && e->d.arg == (__u32)n->data.nr &&
	       e->d.target == n->data.arch &&
	       (alike || !memcmp(e->args, n->data.args, sizeof(e->args)));
}

/* Add to the entry, unless the supervisor has just taken it. */
static bool count_up(struct book_entry *e, __u64 seq, __u64 time)
{
	__u64 count = __atomic_load_n(&e->count, __ATOMIC_SEQ_CST);

	while (count) {
		if (!__atomic_compare_exchange_n(&e->count, &count, count + 1,
						 false, __ATOMIC_SEQ_CST,
						 __ATOMIC_SEQ_CST))
			continue;
		/* After it: no number is in two lines. Taken now, it has the
		 * number before; freed, nobody reads this. */
		__atomic_store_n(&e->d.seq, seq, __ATOMIC_RELAXED);
		__atomic_store_n(&e->d.time, time, __ATOMIC_RELAXED);
		return true;
	}
	return false;
}

/* The entry that counts for @n, or a free one; *used: how many are taken. */
static struct book_entry *find(struct book *b, const struct seccomp_notif *n,
			       bool *same, size_t *used)
{
	struct book_entry *free_one = NULL, *near = NULL;
	size_t i;

	*used = 0;
	*same = true;
	for (i = 0; i < BOOK_ENTRIES; i++) {
		struct book_entry *e = &b->entry[i];

		if (!__atomic_load_n(&e->count, __ATOMIC_SEQ_CST)) {
			free_one = free_one ? free_one : e;
			continue;
		}
		(*used)++;
		if (is_same(e, n, false))
			return e;
		if (is_same(e, n, true))
			near = e;
	}
	if (near && *used >= ARGS_ALIKE)
		return near;
	*same = false;
	return free_one;
}

static void fill(struct book_entry *e, const struct listener *l,
		 const struct seccomp_notif *n, int err, __u64 seq, __u64 time)
{
	memset(&e->d, 0, sizeof(e->d));
	e->d.serial = l->serial;
	e->d.seq = seq;
	e->d.lost = *l->lost;
	e->d.time = time;
	e->d.op = LH_OP_SYSCALL;
	e->d.why = err == -ENOSYS ? LH_WHY_MISSING : LH_WHY_NEVER;
	e->d.err = err;
	e->d.hook = LH_HOOK_seccomp;
	e->d.arg = n->data.nr;
	e->d.target = n->data.arch;
	memcpy(e->args, n->data.args, sizeof(e->args));
	e->d.path_len = sizeof(e->args);
	e->d.tid = n->pid;
	caller_read(&e->d, e->exe, sizeof(e->exe));
	__atomic_store_n(&e->count, 1, __ATOMIC_SEQ_CST);
}

static int note(const struct listener *l, const struct seccomp_notif *n,
		int err)
{
	__u64 seq = __atomic_add_fetch(l->seq, 1, __ATOMIC_SEQ_CST), time;
	struct book_entry *e;
	struct timespec t;
	size_t used;
	bool same;

	clock_gettime(CLOCK_BOOTTIME, &t);
	time = t.tv_sec * 1000000000ULL + t.tv_nsec;
	e = find(l->book, n, &same, &used);
	if (!e)
		__atomic_add_fetch(l->lost, 1, __ATOMIC_SEQ_CST);
	else if (!same || !count_up(e, seq, time))
		fill(e, l, n, err, seq, time);
	return used >= FULL ? LISTENER_FULL : LISTENER_NEWS;
}

/* What the filter itself would have said. */
static int answer_to(const struct listener *l, const struct seccomp_data *d)
{
	uint32_t said = filter_run(im_filter(l->im), l->im->filter.count, d);
	uint32_t err = said & SECCOMP_RET_DATA;

	if ((said & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_ERRNO || !err)
		return -EPERM;
	return -(int)err;
}

/* What is in registers that the call does not take is nobody's business. */
static void drop_others(struct seccomp_data *d)
{
	int count;

	filter_call(d->arch, d->nr, &count);
	for (count = count < 0 ? 0 : count; count < LH_SYSCALL_ARGS; count++)
		d->args[count] = 0;
}

static bool somebody_waits(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLIN);
}

int listener_serve(struct listener *l)
{
	/* The kernel's structs may have grown since; it says how large. */
	union {
		struct seccomp_notif n;
		char room[512];
	} q;
	union {
		struct seccomp_notif_resp r;
		char room[512];
	} a;
	int i, news = LISTENER_CALM;

	/* Asked first: receiving would wait for somebody. */
	for (i = 0; i < SERVE_MAX && somebody_waits(l->fd); i++) {
		int n;

		memset(&q, 0, sizeof(q));
		if (ioctl(l->fd, SECCOMP_IOCTL_NOTIF_RECV, &q.n)) {
			if (errno == EINTR || errno == ENOENT)
				continue;	/* it waits no longer */
			break;
		}
		memset(&a, 0, sizeof(a));
		a.r.id = q.n.id;
		a.r.error = answer_to(l, &q.n.data);
		drop_others(&q.n.data);
		n = note(l, &q.n, a.r.error);
		news = n > news ? n : news;
		ioctl(l->fd, SECCOMP_IOCTL_NOTIF_SEND, &a.r);
	}
	if (news <= (int)__atomic_load_n(&l->book->told, __ATOMIC_SEQ_CST))
		return LISTENER_CALM;
	__atomic_store_n(&l->book->told, news, __ATOMIC_SEQ_CST);
	return news;
}
