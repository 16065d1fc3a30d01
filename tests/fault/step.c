// SPDX-License-Identifier: GPL-2.0-only
/*
 * LH_FAULT="WHO STEP SIGNAL[,WHO...]": at that step, a name or a number from 1,
 * that process gets that signal, and before it writes a line to LH_FAULT_LOG.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../supervisor/step.h"

static const char *self = "supervisor";
static int count;

void step_as(const char *who)
{
	self = who;
	count = 0;
}

static void hit(const char *name, int sig)
{
	const char *path = getenv("LH_FAULT_LOG");
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
	sigset_t set;

	dprintf(fd, "%s %d %s %d\n", self, count, name, getpid());
	close(fd);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	kill(getpid(), sig);
}

void step(const char *name)
{
	const char *fault = getenv("LH_FAULT");
	char who[32], which[32];
	int sig;

	count++;
	while (fault) {
		if (sscanf(fault, "%31s %31s %d", who, which, &sig) == 3 &&
		    !strcmp(who, self) &&
		    (!strcmp(which, name) || atoi(which) == count))
			hit(name, sig);
		fault = strchr(fault, ',');
		fault += fault != NULL;
	}
}
