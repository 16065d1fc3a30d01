// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run while building: the filters that a session can have, as C, and the names
 * of system calls. libseccomp takes longer for a filter than all the rest of
 * compiling a policy does, and loading it for a name takes as long as a start.
 */
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"

#define ROWS(a) (sizeof(a) / sizeof((a)[0]))

/*
 * How many arguments they take. The registers beyond hold what the program had
 * there last, which may be anything, and is not for a record.
 */
static const struct {
	const char *name;
	int args;
} takes[] = {
	{ "_sysctl", 1 }, { "acct", 1 }, { "add_key", 5 }, { "adjtimex", 1 },
	{ "bpf", 3 }, { "chroot", 1 }, { "clock_adjtime", 2 },
	{ "clock_settime", 2 }, { "clone", 5 }, { "delete_module", 2 },
	{ "fcntl", 3 }, { "file_getattr", 5 }, { "file_setattr", 5 },
	{ "finit_module", 3 }, { "fsconfig", 5 }, { "fsmount", 3 },
	{ "fsopen", 2 }, { "fspick", 3 }, { "init_module", 3 },
	{ "io_uring_enter", 6 }, { "io_uring_register", 4 },
	{ "io_uring_setup", 2 }, { "ioctl", 3 }, { "ioperm", 3 },
	{ "iopl", 1 }, { "kcmp", 5 }, { "kexec_file_load", 5 },
	{ "kexec_load", 4 }, { "keyctl", 5 }, { "listmount", 4 },
	{ "lookup_dcookie", 3 }, { "lsm_set_self_attr", 4 },
	{ "migrate_pages", 4 }, { "modify_ldt", 3 }, { "mount", 5 },
	{ "mount_setattr", 5 }, { "move_mount", 5 },
	{ "open_by_handle_at", 3 }, { "open_tree", 3 },
	{ "open_tree_attr", 5 }, { "perf_event_open", 5 },
	{ "personality", 1 }, { "pidfd_getfd", 3 }, { "pivot_root", 2 },
	{ "prlimit64", 4 }, { "process_madvise", 5 },
	{ "process_mrelease", 2 }, { "process_vm_readv", 6 },
	{ "process_vm_writev", 6 }, { "ptrace", 4 }, { "reboot", 4 },
	{ "request_key", 4 }, { "setdomainname", 2 }, { "sethostname", 2 },
	{ "setns", 2 }, { "settimeofday", 2 }, { "socket", 3 },
	{ "socketpair", 4 }, { "statmount", 4 },
	{ "swapoff", 1 }, { "swapon", 2 }, { "sysfs", 3 }, { "syslog", 3 },
	{ "umount2", 2 }, { "unshare", 1 }, { "uselib", 1 },
	{ "userfaultfd", 1 }, { "ustat", 2 }, { "vhangup", 0 },
};

/* As a digit; "-": not known. */
static char args_of(const char *name)
{
	size_t i;

	for (i = 0; i < ROWS(takes); i++)
		if (!strcmp(takes[i].name, name))
			return '0' + takes[i].args;
	return '-';
}

static int put(uint32_t flags)
{
	struct sock_filter *f = NULL;
	struct err e = { 0 };
	size_t n = 0, i;

	if (filter_build(flags, &f, &n, &e)) {
		fprintf(stderr, "make-filter: %s\n", e.msg);
		return 1;
	}
	printf("static const struct sock_filter filter_%u[] = {\n", flags);
	for (i = 0; i < n; i++)
		printf("\t{ 0x%04x, %u, %u, 0x%08x },\n", f[i].code, f[i].jt,
		       f[i].jf, f[i].k);
	printf("};\n");
	free(f);
	return 0;
}

static int put_filters(void)
{
	uint32_t flags;
	int err = 0;

	for (flags = 0; flags < FILTER_KINDS; flags++)
		err |= put(flags);
	printf("#define FILTER(n) { filter_##n, "
	       "sizeof(filter_##n) / sizeof(*filter_##n) }\n"
	       "static const struct {\n"
	       "\tconst struct sock_filter *insn;\n\tsize_t count;\n"
	       "} filters[FILTER_KINDS] = {\n");
	for (flags = 0; flags < FILTER_KINDS; flags++)
		printf("\tFILTER(%u),\n", flags);
	printf("};\n");
	return err;
}

/*
 * One string: the names in the order of their numbers, each behind the number
 * of its arguments; "" for none.
 */
static void put_names(const char *table, uint32_t arch, int first)
{
	const int count = 600;		/* more than any table has */
	int i;

	printf("static const char names_%s[] =\n", table);
	for (i = 0; i < count; i++) {
		char *name = seccomp_syscall_resolve_num_arch(arch, first + i);
		const char *n = name ? name : filter_newer(i);

		if (n)
			printf("\t\"%c%s\\0\"\n", args_of(n), n);
		else
			printf("\t\"\\0\"\n");
		free(name);
	}
	printf(";\n");
}

int main(void)
{
	put_names("x86_64", SCMP_ARCH_X86_64, 0);
	put_names("i386", SCMP_ARCH_X86, 0);
	put_names("x32", SCMP_ARCH_X32, 0x40000000);
	return put_filters();
}
