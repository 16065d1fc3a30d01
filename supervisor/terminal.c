// SPDX-License-Identifier: GPL-2.0-only
/*
 * A terminal of the session's own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "terminal.h"

#define GROUP_TRIES 100		/* of 10 ms */

static int open_pair(struct terminal *t, const struct identity *id)
{
	int zero = 0;

	t->master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK |
			 O_CLOEXEC);
	if (t->master < 0 || ioctl(t->master, TIOCSPTLCK, &zero))
		return -errno;
	/* Not by its name, which may lead elsewhere. */
	t->slave = ioctl(t->master, TIOCGPTPEER, O_RDWR | O_NOCTTY |
			 O_CLOEXEC);
	/* Nobody else writes to it, the group tty neither. */
	if (t->slave < 0 || fchown(t->slave, id->user.uid, id->user.gid) ||
	    fchmod(t->slave, 0600))
		return -errno;
	return 0;
}

/* It begins as the caller's is, or as a usual one. */
static void dress(struct terminal *t)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	struct termios modes;

	if (t->size >= 0 && !tcgetattr(t->size, &modes))
		tcsetattr(t->slave, TCSANOW, &modes);
	ioctl(t->master, TIOCSWINSZ, &size);
	terminal_resize(t);
}

int terminal_open(struct terminal *t, const struct identity *id, bool raw,
		  struct err *e)
{
	int ret = open_pair(t, id), fd;

	for (fd = 0; fd < 3 && t->size < 0; fd++)
		if (isatty(fd))
			t->size = fd;
	if (!ret && raw) {
		t->modes = mmap(NULL, sizeof(*t->modes),
				PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (t->modes == MAP_FAILED)
			t->modes = NULL;
		t->outer = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
		ret = !t->modes || t->outer < 0 ? -errno : 0;
	}
	if (ret)
		return err_sys(e, ret, "the session's terminal");
	dress(t);
	return 0;
}

bool terminal_is_ours(int fd)
{
	pid_t group = tcgetpgrp(fd);

	return group < 0 || group == getpgrp();
}

/* Nothing here waits for output to drain: that may never happen. */
void terminal_enter(struct terminal *t)
{
	struct termios raw;

	if (t->outer < 0 || t->modes->raw || !terminal_is_ours(t->outer) ||
	    tcgetattr(t->outer, &t->modes->was))
		return;
	raw = t->modes->was;
	cfmakeraw(&raw);
	t->modes->raw = true;
	tcsetattr(t->outer, TCSANOW, &raw);
	terminal_resize(t);
}

/*
 * What it was sent and nobody read goes too: it may be its own answer to
 * something that the session had it show.
 */
void terminal_leave(struct terminal *t)
{
	if (t->outer < 0 || !t->modes->raw)
		return;
	tcflush(t->outer, TCIFLUSH);
	tcsetattr(t->outer, TCSANOW, &t->modes->was);
	t->modes->raw = false;
}

void terminal_share(struct terminal_shared *s)
{
	int fd;

	for (fd = 0; fd < 3 && s->fd < 0; fd++)
		if (tcgetpgrp(fd) == getpgrp() && !tcgetattr(fd, &s->was))
			s->fd = fd;
}

/* Is nobody there? The dead, whom somebody has yet to wait for, are. */
static bool is_empty(pid_t group)
{
	int tries;

	for (tries = 0; tries < GROUP_TRIES; tries++) {
		if (kill(-group, 0) && errno == ESRCH)
			return true;
		poll(NULL, 0, 10);
	}
	return false;
}

void terminal_put_right(const struct terminal_shared *s)
{
	pid_t group = s->fd < 0 ? -1 : tcgetpgrp(s->fd);

	if (group <= 0 || (group != getpgrp() && !is_empty(group)))
		return;
	tcsetpgrp(s->fd, getpgrp());
	tcsetattr(s->fd, TCSANOW, &s->was);
}

void terminal_resize(struct terminal *t)
{
	struct winsize size;

	if (t->master >= 0 && t->size >= 0 &&
	    !ioctl(t->size, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		ioctl(t->master, TIOCSWINSZ, &size);
}

void terminal_hang_up(struct terminal *t)
{
	close_fd(&t->master);
	close_fd(&t->slave);
}

void terminal_free(struct terminal *t)
{
	terminal_leave(t);
	terminal_hang_up(t);
	close_fd(&t->outer);
	if (t->modes)
		munmap(t->modes, sizeof(*t->modes));
	t->modes = NULL;
}
