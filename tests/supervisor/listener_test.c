// SPDX-License-Identifier: GPL-2.0-only
/*
 * The keeper's part of seccomp, with the kernel: a child puts the filter on and
 * calls what it refuses, and this process answers as the keeper does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../policy-compiler/filter.h"
#include "../../supervisor/caller.h"
#include "../../supervisor/listener.h"
#include "kselftest_harness.h"

FIXTURE(listener) {
	struct image *im;
	struct listener l;
	__u64 seq, lost;
	int pair[2];
	/* Shared with the child. */
	struct answers {
		int unheard, made;
		int err[512];
	} *a;
	pid_t pid;
};

FIXTURE_SETUP(listener)
{
	struct sock_filter *f = NULL;
	size_t count = 0;

	ASSERT_EQ(0, filter_build(0, &f, &count, NULL));
	self->im = calloc(1, sizeof(*self->im) + count * sizeof(*f));
	ASSERT_NE(NULL, self->im);
	memcpy(self->im + 1, f, count * sizeof(*f));
	free(f);
	self->im->filter.offset = sizeof(*self->im);
	self->im->filter.count = count;
	self->a = mmap(NULL, sizeof(*self->a), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->a);
	self->seq = self->lost = 0;
	self->l = (struct listener){
		.fd = -1, .book = book_new(), .seq = &self->seq,
		.lost = &self->lost, .serial = 7, .im = self->im,
	};
	ASSERT_NE(NULL, self->l.book);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, self->pair));
}

FIXTURE_TEARDOWN(listener)
{
	if (self->l.fd >= 0)
		close(self->l.fd);
	if (self->pair[0] >= 0)
		close(self->pair[0]);
	munmap(self->l.book, sizeof(*self->l.book));
	munmap(self->a, sizeof(*self->a));
	free(self->im);
}

struct call {
	long nr, arg[6];
	int err;
};

/* A child under the filter makes the calls, each as often as it is said. */
static void start(FIXTURE_DATA(listener) *self, const struct call *calls,
		  size_t count, long times)
{
	struct answers *a = self->a;
	size_t i;
	long n;

	self->pid = fork();
	if (self->pid) {
		close(self->pair[1]);
		return;
	}
	close(self->pair[0]);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	a->made = listener_make(self->im, self->pair[1], &a->unheard);
	close(self->pair[1]);
	for (i = 0; i < count && !a->made; i++)
		for (n = 0; n < times; n++) {
			const long *v = calls[i].arg;

			a->err[i] = syscall(calls[i].nr, v[0], v[1], v[2],
					    v[3], v[4], v[5]) < 0 ? errno : 0;
		}
	_exit(0);
}

/* As the keeper, until nobody is left. The greatest news there was. */
static int serve(FIXTURE_DATA(listener) *self)
{
	struct pollfd p = { .fd = self->pair[0], .events = POLLIN };
	int news = LISTENER_CALM, n;

	poll(&p, 1, -1);
	self->l.fd = listener_receive(self->pair[0]);
	close(self->pair[0]);
	self->pair[0] = -1;
	while (self->l.fd >= 0) {
		p.fd = self->l.fd;
		poll(&p, 1, -1);
		if (!(p.revents & POLLIN))
			break;
		n = listener_serve(&self->l);
		news = n > news ? n : news;
	}
	waitpid(self->pid, NULL, 0);
	return news;
}

static const struct call every[] = {
	{ SYS_mount, { 1, 2, 3, 4, 5, 6 }, EPERM },
	{ SYS_ptrace, { 16, 1, 0, 0, 77, 88 }, EPERM },
	{ SYS_ioctl, { 0, 0x5412, 0, 99 }, EPERM },
	{ SYS_setns, { 1, 7 }, EPERM },
	{ SYS_vhangup, { 99 }, EPERM },
	{ 425, { 1 }, ENOSYS },			/* io_uring_setup */
	{ 457, { 1 }, ENOSYS },			/* statmount */
	{ 1000, { 1 }, ENOSYS },
	{ 0x40000000 | SYS_getpid, { 1 }, EPERM },
};

static const char *const names[] = {
	"mount", "ptrace", "ioctl", "setns", "vhangup", "io_uring_setup",
	"statmount", NULL, "getpid",
};

TEST_F(listener, refused_calls_get_the_filters_answer_and_an_entry)
{
	struct book_entry e;
	size_t at = 0, size, i;
	int args, n;

	start(self, every, ARRAY_SIZE(every), 1);
	EXPECT_EQ(LISTENER_NEWS, serve(self));
	EXPECT_EQ(0, self->a->made);
	EXPECT_EQ(0, self->a->unheard);
	for (i = 0; i < ARRAY_SIZE(every); i++) {
		const char *name;

		EXPECT_EQ(every[i].err, self->a->err[i]);
		ASSERT_TRUE(book_take(self->l.book, &at, &e, &size));
		EXPECT_EQ(1, e.count);
		EXPECT_EQ(7, e.d.serial);
		EXPECT_EQ(i + 1, e.d.seq);
		EXPECT_EQ(LH_OP_SYSCALL, e.d.op);
		EXPECT_EQ(every[i].nr, e.d.arg);
		EXPECT_EQ(AUDIT_ARCH_X86_64, e.d.target);
		EXPECT_EQ(-every[i].err, e.d.err);
		EXPECT_EQ(self->pid, (pid_t)e.d.pid);
		EXPECT_EQ(self->pid, (pid_t)e.d.tid);
		EXPECT_EQ(getpid(), (pid_t)e.d.ppid);
		EXPECT_EQ(getuid(), e.d.uid);
		EXPECT_STREQ("listener_test", e.d.comm);
		EXPECT_EQ(0, strncmp("listener_test", e.exe, e.d.exe_len));
		EXPECT_EQ(sizeof(e.d) + sizeof(e.args) + e.d.exe_len, size);
		name = filter_call(e.d.target, e.d.arg, &args);
		EXPECT_STREQ(names[i] ? names[i] : "none", name ? name : "none");
		/* what the call does not take is not kept */
		for (n = 0; n < LH_SYSCALL_ARGS; n++)
			EXPECT_EQ(n < args ? (__u64)every[i].arg[n] : 0,
				  e.args[n]);
	}
	EXPECT_FALSE(book_take(self->l.book, &at, &e, &size));
	EXPECT_EQ(ARRAY_SIZE(every), self->seq);
	EXPECT_EQ(0, self->lost);
}

TEST_F(listener, what_is_allowed_does_not_come_here)
{
	static const struct call calls[] = {
		{ SYS_getpid, { 0 }, 0 },
		{ SYS_ioctl, { -1, 0x5401 }, EBADF },
		{ SYS_prlimit64, { 0, 7 }, 0 },
	};

	start(self, calls, ARRAY_SIZE(calls), 1);
	EXPECT_EQ(LISTENER_CALM, serve(self));
	EXPECT_EQ(0, self->seq);
	EXPECT_EQ(0, self->a->err[0]);
	EXPECT_EQ(EBADF, self->a->err[1]);
	EXPECT_EQ(0, self->a->err[2]);
}

TEST_F(listener, equal_calls_are_one_entry)
{
	struct book_entry e;
	size_t at = 0, size;

	start(self, every, 2, 1000);
	EXPECT_EQ(LISTENER_NEWS, serve(self));
	ASSERT_TRUE(book_take(self->l.book, &at, &e, &size));
	EXPECT_EQ(1000, e.count);
	EXPECT_EQ(1000, e.d.seq);
	ASSERT_TRUE(book_take(self->l.book, &at, &e, &size));
	EXPECT_EQ(1000, e.count);
	EXPECT_EQ(2000, e.d.seq);
	EXPECT_FALSE(book_take(self->l.book, &at, &e, &size));
	/* taken means free */
	at = 0;
	EXPECT_FALSE(book_take(self->l.book, &at, &e, &size));
}

TEST_F(listener, in_a_flood_arguments_are_let_go)
{
	static struct call calls[400];
	struct book_entry e;
	size_t at = 0, size, lines = 0, i;
	__u64 sum = 0;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		calls[i] = (struct call){ SYS_ptrace, { i }, EPERM };
	start(self, calls, ARRAY_SIZE(calls), 1);
	serve(self);
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		EXPECT_EQ(EPERM, self->a->err[i]);
	for (; book_take(self->l.book, &at, &e, &size); lines++)
		sum += e.count;
	EXPECT_EQ(400, sum);
	EXPECT_EQ(BOOK_ENTRIES / 2, lines);
	EXPECT_EQ(0, self->lost);
}

TEST_F(listener, what_has_no_room_is_counted_and_refused)
{
	static struct call calls[200];
	struct book_entry e;
	size_t at = 0, size, i;
	__u64 sum = 0;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		calls[i] = (struct call){ 1000 + i, { 0 }, ENOSYS };
	start(self, calls, ARRAY_SIZE(calls), 1);
	EXPECT_EQ(LISTENER_FULL, serve(self));
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		EXPECT_EQ(ENOSYS, self->a->err[i]);
	while (book_take(self->l.book, &at, &e, &size))
		sum += e.count;
	EXPECT_EQ(BOOK_ENTRIES, sum);
	EXPECT_EQ(200 - BOOK_ENTRIES, self->lost);
	EXPECT_EQ(200, self->seq);
}

TEST_F(listener, the_supervisor_is_told_once)
{
	self->l.book->told = LISTENER_NEWS;
	start(self, every, 2, 10);
	EXPECT_EQ(LISTENER_CALM, serve(self));
	EXPECT_EQ(20, self->seq);
}

TEST_F(listener, who_died_waiting_is_nobody)
{
	struct pollfd p = { .events = POLLIN };

	start(self, every, 1, 1);
	p.fd = self->pair[0];
	poll(&p, 1, -1);
	self->l.fd = listener_receive(self->pair[0]);
	ASSERT_LE(0, self->l.fd);
	p.fd = self->l.fd;
	poll(&p, 1, -1);
	kill(self->pid, SIGKILL);
	waitpid(self->pid, NULL, 0);
	/* it must come back */
	EXPECT_EQ(LISTENER_CALM, listener_serve(&self->l));
	EXPECT_EQ(0, self->seq);
}

TEST_F(listener, when_it_is_gone_the_kernel_refuses)
{
	struct pollfd p = { .events = POLLIN };

	start(self, every, 2, 1);
	p.fd = self->pair[0];
	poll(&p, 1, -1);
	self->l.fd = listener_receive(self->pair[0]);
	p.fd = self->l.fd;
	poll(&p, 1, -1);		/* one waits already */
	close(self->l.fd);
	self->l.fd = -1;
	waitpid(self->pid, NULL, 0);
	EXPECT_EQ(ENOSYS, self->a->err[0]);
	EXPECT_EQ(ENOSYS, self->a->err[1]);
}

/* A filter that allows all, with a listener. */
static int listen_first(void)
{
	struct sock_filter f = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog p = { .len = 1, .filter = &f };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		       SECCOMP_FILTER_FLAG_NEW_LISTENER, &p);
}

TEST_F(listener, under_another_one_it_is_refused_without_a_word)
{
	pid_t pid = fork();
	size_t i;

	if (!pid) {
		if (listen_first() < 0)
			_exit(1);
		start(self, every, ARRAY_SIZE(every), 1);
		_exit(serve(self) != LISTENER_CALM);
	}
	close(self->pair[1]);
	waitpid(pid, NULL, 0);
	EXPECT_EQ(0, self->a->made);
	EXPECT_EQ(-EBUSY, self->a->unheard);
	for (i = 0; i < ARRAY_SIZE(every); i++)
		EXPECT_EQ(every[i].err, self->a->err[i]);
}

TEST_F(listener, who_cannot_hand_it_over_does_not_start)
{
	close(self->pair[0]);
	self->pair[0] = open("/dev/null", O_RDONLY);
	start(self, every, 1, 1);
	waitpid(self->pid, NULL, 0);
	EXPECT_GT(0, self->a->made);
}

TEST(paths_as_records_have_them)
{
	char out[64];

	EXPECT_EQ(4, caller_path("/a/b", 4, out, sizeof(out)));
	EXPECT_EQ(0, memcmp("b\0a\0", out, 4));
	EXPECT_EQ(3, caller_path("//ab//", 6, out, sizeof(out)));
	EXPECT_EQ(0, memcmp("ab\0", out, 3));
	EXPECT_EQ(0, caller_path("/", 1, out, sizeof(out)));
	/* the upper end is what is cut, and a mark says so */
	EXPECT_EQ(5, caller_path("/abcdef/xyz", 11, out, 8));
	EXPECT_EQ(0, memcmp("xyz\0\0", out, 5));
	EXPECT_EQ(1, caller_path("/abcdef", 7, out, 4));
	EXPECT_EQ(0, out[0]);
}

TEST_HARNESS_MAIN
