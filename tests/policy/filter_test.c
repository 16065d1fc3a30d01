// SPDX-License-Identifier: GPL-2.0-only
/*
 * The filter, twice: every number through a small simulator against what is
 * written here, and the real thing around a child process.
 */
#define _GNU_SOURCE
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../policy-compiler/filter.h"
#include "../../policy-compiler/image.h"
#include "kselftest_harness.h"

#define ALLOW SECCOMP_RET_ALLOW
#define PERM (SECCOMP_RET_ERRNO | EPERM)
#define IDLE SECCOMP_RET_ERRNO
#define NOSYS (SECCOMP_RET_ERRNO | ENOSYS)
#define NEWEST 470		/* first number that no kernel we know has */

/* What is refused, by name; every other call that has a name is allowed … */
static const char refused[] =
	" _sysctl acct add_key adjtimex afs_syscall bpf chroot clock_adjtime"
	" clock_settime create_module delete_module epoll_ctl_old"
	" epoll_wait_old finit_module fsconfig"
	" fsmount fsopen fspick get_kernel_syms get_thread_area getpmsg"
	" init_module io_uring_enter io_uring_register io_uring_setup ioperm"
	" iopl kcmp kexec_file_load kexec_load keyctl lookup_dcookie"
	" migrate_pages modify_ldt mount mount_setattr move_mount"
	" nfsservctl open_by_handle_at open_tree"
	" perf_event_open pidfd_getfd pivot_root process_madvise"
	" process_mrelease process_vm_readv process_vm_writev ptrace putpmsg"
	" query_module reboot request_key security"
	" set_thread_area setdomainname sethostname"
	" socket socketpair" /* of no family */
	" setns settimeofday swapoff swapon sysfs"
	" syslog tuxcall umount2 uselib userfaultfd ustat vhangup vserver ";

/* … and of those refused, these are not there at all. */
static const char absent[] =
	" _sysctl afs_syscall create_module epoll_ctl_old epoll_wait_old"
	" get_kernel_syms get_thread_area getpmsg io_uring_enter"
	" io_uring_register io_uring_setup nfsservctl putpmsg query_module"
	" security set_thread_area sysfs tuxcall uselib vserver ";

static int listed(const char *list, const char *name)
{
	char word[64];

	snprintf(word, sizeof(word), " %s ", name);
	return strstr(list, word) != NULL;
}

FIXTURE(filter) {
	struct sock_filter *f;
	size_t count;
	struct err e;
};

FIXTURE_SETUP(filter)
{
	memset(&self->e, 0, sizeof(self->e));
	self->f = NULL;
	ASSERT_EQ(0, filter_build(0, &self->f, &self->count, &self->e))
		TH_LOG("%s", self->e.msg);
}

FIXTURE_TEARDOWN(filter)
{
	free(self->f);
}

static uint32_t ask(const FIXTURE_DATA(filter) *s, uint32_t arch, int nr,
		    uint64_t a0, uint64_t a1)
{
	struct seccomp_data d = { .nr = nr, .arch = arch, .args = { a0, a1 } };

	return filter_run(s->f, s->count, &d);
}

static uint32_t call(const FIXTURE_DATA(filter) *s, int nr, uint64_t a0,
		     uint64_t a1)
{
	return ask(s, AUDIT_ARCH_X86_64, nr, a0, a1);
}

TEST_F(filter, every_named_call_is_decided)
{
	int nr, named = 0;

	for (nr = 0; nr < 451; nr++) {
		char *name = seccomp_syscall_resolve_num_arch(
			SCMP_ARCH_X86_64, nr);
		uint32_t want;

		if (!name) {
			EXPECT_EQ(NOSYS, call(self, nr, 0, 0)) TH_LOG("%d", nr);
			continue;
		}
		named++;
		want = listed(absent, name) ? NOSYS :
		       listed(refused, name) ? PERM : ALLOW;
		EXPECT_EQ(want, call(self, nr, 0, 0)) TH_LOG("%s", name);
		free(name);
	}
	EXPECT_LT(355, named);
}

TEST_F(filter, newer_calls_by_number)
{
	static const struct { int nr; uint32_t want; } rows[] = {
		{ 451, ALLOW }, { 452, ALLOW }, { 453, ALLOW }, { 454, ALLOW },
		{ 455, ALLOW }, { 456, ALLOW },
		{ 457, NOSYS }, { 458, NOSYS },	/* statmount, listmount */
		{ 459, ALLOW }, { 460, PERM }, { 461, ALLOW }, { 462, ALLOW },
		{ 463, ALLOW }, { 464, ALLOW }, { 465, ALLOW },
		{ 466, ALLOW },	/* set-, get-, list-, removexattrat */
		{ 467, PERM },			/* open_tree_attr */
		{ 468, NOSYS }, { 469, NOSYS },	/* file_getattr, _setattr */
	};
	size_t i;
	int nr;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		EXPECT_EQ(rows[i].want, call(self, rows[i].nr, 0, 0))
			TH_LOG("%d", rows[i].nr);
	for (nr = NEWEST; nr < 5000; nr++)
		ASSERT_EQ(NOSYS, call(self, nr, 0, 0));
}

TEST_F(filter, foreign_tables_are_refused)
{
	int nr;

	for (nr = 0; nr < 600; nr++) {
		ASSERT_EQ(PERM, ask(self, AUDIT_ARCH_I386, nr, 0, 0));
		ASSERT_EQ(PERM, ask(self, AUDIT_ARCH_AARCH64, nr, 0, 0));
		ASSERT_EQ(PERM, call(self, 0x40000000 | nr, 0, 0));
	}
}

TEST_F(filter, terminal_injection_is_refused_in_32_bits)
{
	static const uint32_t bad[] = {
		TIOCSTI, 0x541c, 0x40086602, 0x40046602, 0x401c5820,
		0x40806685, 0x40087602, 0x800c6613, 0xc0506617,
		0x50009401, 0x50009417, 0x5000940e, 0x50009418, 0x5000940f,
		0x5000943f, 0x4008941a, 0xd000943e, 0x8901, 0x8902,
		0xc0c89425, 0xc0c09425, 0x50009402, 0x40309410, 0x6609,
		0x4004f50d, 0x40186f04, 0x4020bc10, 0x4020bc11, 0x8008bc40,
		0xc0189436, 0xd000943d, 0xc028660f, 0xc0c0586d, 0xc020f509,
		TIOCEXCL, TIOCSETD, 0x4b3a, 0x4b45,
	};
	static const uint32_t good[] = {
		0xc0185879 /* FITRIM */,
		TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, TIOCSPGRP, FIOCLEX,
		0x40049409 /* FICLONE */, 0x80086601 /* FS_IOC_GETFLAGS */,
		TIOCSTI - 1, TIOCSTI + 1, 0x541b, 0x541d, 0, UINT32_MAX,
		TCSETSW, TIOCSWINSZ, TIOCNXCL, TIOCGETD, 0x4b3b, 0x4b44,
	};
	size_t i;
	int bit;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(PERM, call(self, __NR_ioctl, 0, bad[i]))
			TH_LOG("%#x", bad[i]);
		/* The kernel does not look at the upper half; nor may we. */
		for (bit = 32; bit < 64; bit++)
			EXPECT_EQ(PERM, call(self, __NR_ioctl, 0,
					     bad[i] | 1ULL << bit));
		EXPECT_EQ(PERM, call(self, __NR_ioctl, UINT64_MAX,
				     0xffffffff00000000ULL | bad[i]));
	}
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		EXPECT_EQ(ALLOW, call(self, __NR_ioctl, 0, good[i]))
			TH_LOG("%#x", good[i]);
		/* As a caller passes an int. */
		EXPECT_EQ(ALLOW, call(self, __NR_ioctl, 0,
				      0xffffffff00000000ULL | good[i]));
	}
}

TEST_F(filter, new_namespaces_are_refused)
{
	static const uint32_t spaces[] = {
		CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
		CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET,
	};
	/* fork, a thread as glibc makes one, vfork */
	static const uint64_t good[] = {
		17, 0x1200011, 0x3d0f00, 0x4111, CLONE_PIDFD | 17,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		EXPECT_EQ(PERM, call(self, __NR_clone, spaces[i] | 17, 0));
		EXPECT_EQ(PERM, call(self, __NR_unshare, spaces[i], 0));
		EXPECT_EQ(PERM, call(self, __NR_unshare,
				     spaces[i] | CLONE_FS, 0));
	}
	EXPECT_EQ(PERM, call(self, __NR_unshare, 0x80, 0));
	for (i = 0; i < ARRAY_SIZE(good); i++)
		EXPECT_EQ(ALLOW, call(self, __NR_clone, good[i], 0));
	EXPECT_EQ(ALLOW, call(self, __NR_unshare, 0, 0));
	EXPECT_EQ(ALLOW, call(self, __NR_unshare, CLONE_FS | CLONE_FILES, 0));
}

/* An owner of a descriptor is signalled; it may be anybody. */
TEST_F(filter, owners_of_descriptors_are_not_set)
{
	static const uint32_t bad[] = { F_SETSIG, F_SETOWN_EX,
					1024 /* F_SETLEASE */ };
	static const uint32_t good[] = {
		F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK,
		F_SETLKW, F_GETOWN, F_OFD_SETLK, F_DUPFD_CLOEXEC, F_ADD_SEALS,
		F_SETPIPE_SZ,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(PERM, call(self, __NR_fcntl, 0, bad[i]));
		EXPECT_EQ(PERM, call(self, __NR_fcntl, 0, 1ULL << 32 | bad[i]));
	}
	for (i = 0; i < ARRAY_SIZE(good); i++)
		EXPECT_EQ(ALLOW, call(self, __NR_fcntl, 0, good[i]));
	/* These two do nothing, and say that they did. */
	EXPECT_EQ(IDLE, call(self, __NR_fcntl, 0, F_SETOWN));
	EXPECT_EQ(IDLE, call(self, __NR_fcntl, 0, 1ULL << 32 | F_SETOWN));
	EXPECT_EQ(IDLE, call(self, __NR_ioctl, 0, FIOASYNC));
	EXPECT_EQ(IDLE, call(self, __NR_ioctl, 0, 1ULL << 32 | FIOASYNC));
}

TEST_F(filter, personalities)
{
	EXPECT_EQ(ALLOW, call(self, __NR_personality, 0, 0));
	EXPECT_EQ(ALLOW, call(self, __NR_personality, 0xffffffff, 0));
	EXPECT_EQ(ALLOW, call(self, __NR_personality, UINT64_MAX, 0));
	EXPECT_EQ(ALLOW, call(self, __NR_personality, ADDR_NO_RANDOMIZE, 0));
	EXPECT_EQ(ALLOW, call(self, __NR_personality, PER_LINUX32, 0));
	EXPECT_EQ(ALLOW, call(self, __NR_personality,
			      PER_LINUX32 | ADDR_NO_RANDOMIZE, 0));
	EXPECT_EQ(PERM, call(self, __NR_personality, READ_IMPLIES_EXEC, 0));
	EXPECT_EQ(PERM, call(self, __NR_personality, MMAP_PAGE_ZERO, 0));
	EXPECT_EQ(PERM, call(self, __NR_personality,
			     ADDR_NO_RANDOMIZE | READ_IMPLIES_EXEC, 0));
}

TEST_F(filter, same_input_same_bytes)
{
	struct sock_filter *again = NULL;
	size_t count = 0;

	ASSERT_EQ(0, filter_build(0, &again, &count, NULL));
	ASSERT_EQ(self->count, count);
	EXPECT_EQ(0, memcmp(self->f, again, count * sizeof(*again)));
	EXPECT_GT(FILTER_INSNS_MAX, count);
	free(again);
}

TEST_F(filter, every_jump_goes_forward_and_stays_inside)
{
	size_t i;

	for (i = 0; i < self->count; i++) {
		const struct sock_filter *f = &self->f[i];

		if (BPF_CLASS(f->code) != BPF_JMP)
			continue;
		if (BPF_OP(f->code) == BPF_JA) {
			ASSERT_LT(i + 1 + f->k, self->count);
			continue;
		}
		ASSERT_LT(i + 1 + f->jt, self->count);
		ASSERT_LT(i + 1 + f->jf, self->count);
	}
}

/* A sandbox of a program's own; never mounts, nor a way into other ones. */
TEST_F(filter, new_user_namespaces_open_what_they_need)
{
	static const uint64_t good[] = {
		CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC,
		CLONE_NEWUTS, CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET,
	};
	static const uint64_t bad[] = {
		CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUSER | CLONE_NEWNS,
	};
	static const int refused_calls[] = {
		__NR_mount, __NR_umount2, __NR_pivot_root, __NR_setns,
		__NR_open_tree, __NR_fsopen, __NR_sethostname,
	};
	size_t i;

	EXPECT_EQ(PERM, call(self, __NR_chroot, 0, 0));
	free(self->f);
	ASSERT_EQ(0, filter_build(FILTER_NAMESPACES, &self->f,
				  &self->count, &self->e));
	EXPECT_EQ(ALLOW, call(self, __NR_chroot, 0, 0));
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		EXPECT_EQ(ALLOW, call(self, __NR_clone, good[i] | 17, 0));
		EXPECT_EQ(ALLOW, call(self, __NR_unshare, good[i], 0));
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(PERM, call(self, __NR_clone, bad[i] | 17, 0));
		EXPECT_EQ(PERM, call(self, __NR_unshare, bad[i], 0));
	}
	EXPECT_EQ(PERM, call(self, __NR_unshare, 0x80, 0));
	for (i = 0; i < ARRAY_SIZE(refused_calls); i++)
		EXPECT_EQ(PERM, call(self, refused_calls[i], 0, 0));
}

TEST_F(filter, the_dump_agrees_with_the_code)
{
	char *text = NULL, *line, *save = NULL;
	size_t len = 0;
	int lines = 0;
	FILE *f = open_memstream(&text, &len);

	ASSERT_NE(NULL, f);
	filter_dump(f);
	ASSERT_EQ(0, fclose(f));
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char verb[16], name[64];
		int nr;

		ASSERT_EQ(2, sscanf(line, "%15s %63s", verb, name));
		lines++;
		nr = seccomp_syscall_resolve_name_arch(SCMP_ARCH_X86_64, name);
		if (nr < 0)
			continue;
		EXPECT_EQ(!strcmp(verb, "allow") ? ALLOW :
			  !strcmp(verb, "missing") ? NOSYS : PERM,
			  call(self, nr, strncmp(name, "socket", 6) ? 0 :
			       AF_UNIX, 0)) TH_LOG("%s", line);
	}
	EXPECT_LT(340, lines);
	free(text);
}

static int errno_of(long r)
{
	return r < 0 ? errno : 0;
}

/* Under the real filter: 0, or the number of the line that was wrong. */
static int live(void)
{
#define WANT(e, x) do { if (errno_of(x) != (e)) return __LINE__; } while (0)
	int fds[2];

	WANT(EPERM, syscall(__NR_mount, 0, 0, 0, 0, 0));
	WANT(EPERM, syscall(__NR_bpf, 0, 0, 0));
	WANT(EPERM, syscall(__NR_ptrace, 0, 0, 0, 0));
	WANT(ENOSYS, syscall(__NR_io_uring_setup, 1, 0));
	WANT(EPERM, syscall(__NR_keyctl, 0, 0, 0, 0, 0));
	WANT(EPERM, syscall(__NR_setns, 0, 0));
	WANT(EPERM, syscall(__NR_unshare, CLONE_NEWUSER));
	WANT(EPERM, syscall(__NR_ioctl, 0, TIOCSTI | 1UL << 32, 0));
	WANT(EPERM, syscall(0x40000000 | __NR_getpid));
	WANT(ENOSYS, syscall(999));
	WANT(ENOSYS, syscall(NEWEST));
	WANT(EBADF, syscall(__NR_ioctl, -1, TIOCGWINSZ, 0));
	WANT(0, syscall(__NR_unshare, CLONE_FS));
	WANT(0, syscall(__NR_personality, 0xffffffff));
	WANT(0, pipe(fds));
	WANT(0, syscall(__NR_memfd_create, "x", 0));
	return 0;
#undef WANT
}

static int confine(const FIXTURE_DATA(filter) *s)
{
	struct sock_fprog p = { .len = s->count, .filter = s->f };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
}

static int status_of(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

TEST_F(filter, the_kernel_takes_it_and_refuses)
{
	pid_t pid = fork();
	int line = 0, fds[2];

	if (!pid)
		_exit(confine(self) ? 99 : live() ? 1 : 0);
	EXPECT_EQ(0, status_of(pid));
	/* Once more in the open, to name the line. */
	ASSERT_EQ(0, pipe(fds));
	pid = fork();
	if (!pid) {
		line = confine(self) ? -1 : live();
		_exit(write(fds[1], &line, sizeof(line)) != sizeof(line));
	}
	EXPECT_EQ(0, status_of(pid));
	ASSERT_EQ(sizeof(line), read(fds[0], &line, sizeof(line)));
	EXPECT_EQ(0, line) TH_LOG("line %d", line);
}

TEST_F(filter, without_it_these_calls_are_not_refused_so)
{
	/* The twin: what the filter refuses is its doing. */
	EXPECT_NE(EPERM, errno_of(syscall(__NR_ioctl, -1, TIOCSTI, 0)));
	EXPECT_EQ(EBADF, errno_of(syscall(__NR_setns, -1, 0)));
}

static const char *const programs[] = {
	"true", "echo x | grep -q x", "cat /proc/self/status | wc -l",
	"tar -c /etc/hostname | tar -t", "find /etc -maxdepth 1",
	"sleep 0 & wait", "timeout 5 true", "dd if=/dev/zero count=1 bs=1",
	"t=$(mktemp -d) && touch $t/a && ln $t/a $t/b && mv $t/b $t/c && "
		"chmod 700 $t/c && rm -r $t",
	"command -v python3 >/dev/null || exit 0; python3 -c 'import "
		"threading,multiprocessing,subprocess,asyncio\n"
		"t=threading.Thread(target=print);t.start();t.join()\n"
		"subprocess.run([\"true\"],check=True)\n"
		"asyncio.run(asyncio.sleep(0))'",
	"command -v git >/dev/null || exit 0; t=$(mktemp -d) && cd $t && "
		"git init -q && git -c user.name=a -c user.email=a@b commit "
		"-q --allow-empty -m x && git clone -q . c && rm -rf $t",
	"command -v gcc >/dev/null || exit 0; t=$(mktemp -d) && cd $t && "
		"echo 'int main(void){return 0;}' >a.c && gcc a.c && ./a.out "
		"&& rm -rf $t",
};

TEST_F(filter, honest_programs_work)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(programs); i++) {
		pid_t pid = fork();

		if (!pid) {
			if (!freopen("/dev/null", "w", stdout) ||
			    !freopen("/dev/null", "w", stderr) ||
			    confine(self))
				_exit(99);
			execl("/bin/sh", "sh", "-c", programs[i], NULL);
			_exit(98);
		}
		EXPECT_EQ(0, status_of(pid)) TH_LOG("%s", programs[i]);
	}
}

/* What an image gets was made at build time: by this, and the same. */
TEST(what_is_ready_is_what_would_be_built)
{
	const struct sock_filter *ready;
	struct sock_filter *built;
	size_t n, count;
	uint32_t flags;

	for (flags = 0; flags < FILTER_KINDS; flags++) {
		ready = filter_ready(flags, &n);
		ASSERT_EQ(0, filter_build(flags, &built, &count, NULL));
		ASSERT_EQ(count, n);
		EXPECT_EQ(0, memcmp(ready, built, n * sizeof(*ready)));
		free(built);
	}
}

TEST_HARNESS_MAIN
