// SPDX-License-Identifier: GPL-2.0-only
/*
 * lh-doctor: what this kernel and host can enforce, found by trying. What is
 * tried is taken back at once; nothing is left on the host.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../supervisor/cgroup.h"
#include "../plain.h"
#include "doctor.h"

int main(int argc, char **argv)
{
	static struct doctor d;
	struct plain p = {
		.name = "lh-doctor",
		.does = "Say what this kernel and host can enforce, and what "
			"would help.",
		.json = "one JSON object instead of text",
		.status = "Exit status: 0 all that os_hardened needs is there; "
			  "1 something of it is not;\n125 on an error.\n",
	};
	int status = plain_parse(&p, argc, argv);

	if (status != PLAIN_GO)
		return status;
	signal(SIGPIPE, SIG_IGN);
	d.root = !geteuid();
	d.cgroup_root = cgroup_root(NULL);
	check_caller(&d);
	check_kernel(&d);
	check_cgroups(&d);
	check_process(&d);
	check_places(&d);
	check_ceiling(&d);
	if (p.wants_json)
		report_json(&d);
	else
		report_text(&d);
	free(d.cgroup_root);
	return plain_finish(&p, report_status(&d));
}
