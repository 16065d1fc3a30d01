// SPDX-License-Identifier: GPL-2.0-only
/*
 * probe OP ARG... makes one call, prints the errno's name and exits with the
 * errno. probe serve answers frames on descriptor 0 with replies on 1, so that
 * one session serves many questions with work of the outside between them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

int probe_errno(long ret)
{
	return ret < 0 ? errno : 0;
}

int probe_run(char **arg, struct probe_reply *r)
{
	const struct probe_op *all[] = { probe_fs_ops, probe_meta_ops,
					 probe_process_ops, probe_kernel_ops,
					 probe_credentials_ops,
					 probe_table_ops, probe_attr_ops,
					 probe_ipc_ops, probe_storage_ops,
					 probe_ways_ops, probe_random_ops,
					 probe_unix_ops, probe_inet_ops,
					 probe_odd_ops, probe_seccomp_ops,
					 probe_ptrace_ops };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (const struct probe_op *op = all[i]; op->name; op++) {
			int n = 0;

			if (strcmp(op->name, arg[0]))
				continue;
			while (n < PROBE_ARGS && arg[1 + n])
				n++;
			return n < op->args ? -1 : op->run(arg + 1, r);
		}
	return -1;
}

static int get(int fd, void *buf, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = read(fd, (char *)buf + at, len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		at += n;
	}
	return 0;
}

/* A frame: its length, then the arguments, each with its NUL. */
static int serve(void)
{
	static char buf[PROBE_FRAME];
	uint32_t len;

	while (!get(0, &len, sizeof(len))) {
		char *arg[PROBE_ARGS + 2] = { NULL };
		struct probe_reply r = { 0 };
		uint32_t at = 0;

		if (len > sizeof(buf) - 1 || get(0, buf, len))
			return 2;
		buf[len] = 0;
		for (int i = 0; at < len && i < PROBE_ARGS + 1; i++) {
			arg[i] = buf + at;
			at += strlen(buf + at) + 1;
		}
		r.err = arg[0] ? probe_run(arg, &r) : -1;
		if (write(1, &r, sizeof(r)) != sizeof(r))
			return 2;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct probe_reply r = { 0 };
	int err;

	if (argc == 2 && !strcmp(argv[1], "serve"))
		return serve();
	err = argc > 1 ? probe_run(argv + 1, &r) : -1;
	if (err < 0) {
		fprintf(stderr, "usage: probe OP ARG...\n");
		return 2;
	}
	printf("%s\n", err ? strerrorname_np(err) : "ok");
	if (r.text[0])
		printf("%s\n", r.text);
	return err;
}
