// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls whose arguments matter: what is compared, and the code for it, which
 * libseccomp could not write.
 */
#define _GNU_SOURCE
#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <sched.h>
#include <stdio.h>
#include <termios.h>

#include "filter-code.h"

#define ROWS(a) (sizeof(a) / sizeof((a)[0]))

#define NAMESPACES (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | \
		    CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
/* Of these, with new user namespaces: what leaves mounts and names alone. */
#define IN_NAMESPACES (CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | \
		       CLONE_NEWIPC | CLONE_NEWUTS)
#define NEWTIME 0x80		/* shares its bit with clone's exit signal */

/*
 * PER_LINUX32, UNAME26 and ADDR_NO_RANDOMIZE are what setarch, gdb and the
 * sanitizers set; all ones asks. READ_IMPLIES_EXEC is not among them.
 */
#define PERSONALITIES 0x60008u

/*
 * Low 32 bits of an argument. The kernel cuts ioctl's command to 32 bits, so a
 * 64-bit compare would let TIOCSTI pass with any bit set above.
 */
enum check_kind {
	CHECK_NOT,		/* refuse this value */
	CHECK_SPACES,		/* refuse these bits, but for what is granted */
	CHECK_ONLY_BITS,	/* refuse any other bit, but for all ones */
	CHECK_SIGNALS,		/* refuse it with O_ASYNC as the next one */
	CHECK_STOPS,		/* the same with TCOOFF */
	CHECK_IDLE,		/* it succeeds, and does nothing */
};

static const struct check {
	uint16_t nr;
	uint8_t arg;
	uint8_t kind;
	uint32_t value;
	const char *what;
} checks[] = {		/* rows of one call stand together */
	{ __NR_ioctl, 1, CHECK_NOT, 0x5412, "TIOCSTI" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x541c, "TIOCLINUX" },
	/* A shared terminal is of no use then, nor after the session. */
	{ __NR_ioctl, 1, CHECK_NOT, 0x540c, "TIOCEXCL" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x5423, "TIOCSETD" },
	{ __NR_ioctl, 1, CHECK_STOPS, 0x540a, "TCXONC" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x4b3a, "KDSETMODE" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x4b45, "KDSKBMODE" },
	/*
	 * These change a file's inode through a descriptor open for reading. A
	 * program that judged them would cost every task of the host some 200
	 * instructions on each ioctl.
	 */
	{ __NR_ioctl, 1, CHECK_NOT, 0x40086602, "FS_IOC_SETFLAGS" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x40046602, "FS_IOC32_SETFLAGS" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x401c5820, "FS_IOC_FSSETXATTR" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x40806685, "FS_IOC_ENABLE_VERITY" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x40087602, "FS_IOC_SETVERSION" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x40086604, "EXT4_IOC_SETVERSION" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x800c6613,
	  "FS_IOC_SET_ENCRYPTION_POLICY" },
	{ __NR_ioctl, 1, CHECK_NOT, 0xc0506617, "FS_IOC_ADD_ENCRYPTION_KEY" },
	{ __NR_ioctl, 1, CHECK_NOT, 0xc0406618,
	  "FS_IOC_REMOVE_ENCRYPTION_KEY" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x40047211, "FAT_IOCTL_SET_ATTRIBUTES" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x6609, "EXT4_IOC_MIGRATE" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x4004f50d, "F2FS_IOC_SET_PIN_FILE" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x50009402, "BTRFS_IOC_DEFRAG" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x40309410, "BTRFS_IOC_DEFRAG_RANGE" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x8008bc40, "BCHFS_IOC_REINHERIT_ATTRS" },
	/* A file of the caller's owner may be open for reading alone. */
	{ __NR_ioctl, 1, CHECK_NOT, 0xc0189436, "FIDEDUPERANGE" },
	/* What is in a file becomes another's, and no time tells of it. */
	{ __NR_ioctl, 1, CHECK_NOT, 0xc028660f, "EXT4_IOC_MOVE_EXT" },
	{ __NR_ioctl, 1, CHECK_NOT, 0xc0c0586d, "XFS_IOC_SWAPEXT" },
	{ __NR_ioctl, 1, CHECK_NOT, 0xc020f509, "F2FS_IOC_MOVE_RANGE" },
	/* A snapshot copies denied files to new inodes under new names. */
	{ __NR_ioctl, 1, CHECK_NOT, 0x50009401, "BTRFS_IOC_SNAP_CREATE" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x50009417, "BTRFS_IOC_SNAP_CREATE_V2" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x5000940e, "BTRFS_IOC_SUBVOL_CREATE" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x50009418, "BTRFS_IOC_SUBVOL_CREATE_V2" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x5000940f, "BTRFS_IOC_SNAP_DESTROY" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x5000943f, "BTRFS_IOC_SNAP_DESTROY_V2" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x4008941a, "BTRFS_IOC_SUBVOL_SETFLAGS" },
	{ __NR_ioctl, 1, CHECK_NOT, 0xc0c89425,
	  "BTRFS_IOC_SET_RECEIVED_SUBVOL" },
	{ __NR_ioctl, 1, CHECK_NOT, 0xc0c09425,
	  "BTRFS_IOC_SET_RECEIVED_SUBVOL_32" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x4020bc10, "BCH_IOCTL_SUBVOLUME_CREATE" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x4020bc11, "BCH_IOCTL_SUBVOLUME_DESTROY" },
	/* Names below a directory, denied or not, without opening that. */
	{ __NR_ioctl, 1, CHECK_NOT, 0xd000943e, "BTRFS_IOC_INO_LOOKUP_USER" },
	{ __NR_ioctl, 1, CHECK_NOT, 0xd000943d,
	  "BTRFS_IOC_GET_SUBVOL_ROOTREF" },
	/* By two names, of which no hook learns. */
	{ __NR_ioctl, 1, CHECK_NOT, 0x40186f04, "OCFS2_IOC_REFLINK" },
	/*
	 * Signals by way of a descriptor: no hook learns who set the owner.
	 * nginx asks for one in vain, and starts no worker where it may not.
	 */
	{ __NR_ioctl, 1, CHECK_NOT, 0x8901, "FIOSETOWN" },
	{ __NR_ioctl, 1, CHECK_NOT, 0x8902, "SIOCSPGRP" },
	{ __NR_ioctl, 1, CHECK_IDLE, 0x5452, "FIOASYNC" },
	{ __NR_fcntl, 1, CHECK_SIGNALS, 4, "F_SETFL" },
	{ __NR_fcntl, 1, CHECK_IDLE, 8, "F_SETOWN" },
	{ __NR_fcntl, 1, CHECK_NOT, 10, "F_SETSIG" },
	{ __NR_fcntl, 1, CHECK_NOT, 15, "F_SETOWN_EX" },
	/* Who opens the file then waits: 45 seconds, and again. */
	{ __NR_fcntl, 1, CHECK_NOT, 1024, "F_SETLEASE" },
	/* Stays with a file that is open for reading, for all to see. */
	{ __NR_fcntl, 1, CHECK_NOT, 1036, "F_SET_RW_HINT" },
	{ __NR_clone, 0, CHECK_SPACES, NAMESPACES, "namespaces" },
	{ __NR_unshare, 0, CHECK_SPACES, NAMESPACES | NEWTIME, "namespaces" },
	{ __NR_personality, 0, CHECK_ONLY_BITS, PERSONALITIES, "others" },
};

static void emit_check(struct code *c, const struct check *k, uint32_t flags)
{
	switch (k->kind) {
	case CHECK_NOT: case CHECK_IDLE:
		emit(c, JEQ, k->value, 0, 1);
		break;
	case CHECK_SPACES:
		emit(c, JSET, flags & FILTER_NAMESPACES ?
		     k->value & ~IN_NAMESPACES : k->value, 0, 1);
		break;
	case CHECK_SIGNALS: case CHECK_STOPS:
		emit(c, JEQ, k->value, 0, 4);
		emit(c, LOAD, ARG(k->arg + 1), 0, 0);
		emit(c, k->kind == CHECK_STOPS ? JEQ : JSET,
		     k->kind == CHECK_STOPS ? TCOOFF : O_ASYNC, 0, 1);
		emit(c, RETURN, REFUSE, 0, 0);
		emit(c, LOAD, ARG(k->arg), 0, 0);
		return;
	default:
		emit(c, JEQ, UINT32_MAX, 2, 0);
		emit(c, JSET, ~k->value, 0, 1);
	}
	emit(c, RETURN, k->kind == CHECK_IDLE ? SECCOMP_RET_ERRNO : REFUSE, 0,
	     0);
}

void emit_checks(struct code *c, uint32_t flags)
{
	size_t i = 0, hop, arch;

	emit(c, LOAD, offsetof(struct seccomp_data, arch), 0, 0);
	emit(c, JEQ, AUDIT_ARCH_X86_64, 1, 0);
	arch = c->count;
	emit(c, BPF_JMP | BPF_JA, 0, 0, 0);
	emit(c, LOAD, offsetof(struct seccomp_data, nr), 0, 0);
	if (flags & FILTER_PTRACE) {
		/* A tracer had it left out; what it returns is the tracer's. */
		emit(c, JEQ, UINT32_MAX, 0, 1);
		emit(c, RETURN, SECCOMP_RET_ALLOW, 0, 0);
	}
	while (i < ROWS(checks)) {
		const struct check *k = &checks[i];

		emit(c, JEQ, k->nr, 1, 0);
		hop = c->count;
		emit(c, BPF_JMP | BPF_JA, 0, 0, 0);
		emit(c, LOAD, ARG(k->arg), 0, 0);
		for (; i < ROWS(checks) && checks[i].nr == k->nr; i++)
			emit_check(c, &checks[i], flags);
		emit(c, LOAD, offsetof(struct seccomp_data, nr), 0, 0);
		c->insn[hop].k = c->count - hop - 1;
	}
	emit_sockets(c, flags);
	c->insn[arch].k = c->count - arch - 1;
}

void dump_checks(FILE *f)
{
	static const char *const kinds[] = {
		[CHECK_NOT] = "value", [CHECK_IDLE] = "without effect",
		[CHECK_SPACES] = "any of", [CHECK_ONLY_BITS] = "any bit but",
		[CHECK_SIGNALS] = "value, with O_ASYNC next,",
		[CHECK_STOPS] = "value, with 0 next,",
	};
	size_t i;

	for (i = 0; i < ROWS(checks); i++)
		fprintf(f, "refuse %u arg %u %s %#x %s\n", checks[i].nr,
			checks[i].arg, kinds[checks[i].kind], checks[i].value,
			checks[i].what);
}
