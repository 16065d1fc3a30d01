// SPDX-License-Identifier: GPL-2.0-only
/*
 * cost [--landlock] COLUMN DIR: what calls cost below DIR, one line a call:
 * COLUMN NAME NANOSECONDS. In a guest that counts instructions as nanoseconds
 * these are instructions. Each is the least of several rounds.
 * cost --connect COLUMN NAME ADDRESS PORT: a connection to what --listen made.
 * cost --listen ADDRESS PORT: say "up"; leave all that come where they are,
 * until the standard input ends.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 7
#define DEPTHS 16

static char file[DEPTHS + 1][512];	/* [n]: below n directories of DIR */
static char self[512];			/* a copy of this program in DIR */
static int depth;
static struct sockaddr_in peer;		/* who is connected to, and sent to */
static struct sockaddr_un place;
static int listener;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void do_null(void)
{
	syscall(SYS_getppid);
}

static void do_open(void)
{
	int fd = open(file[depth], O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(file[depth]);
	close(fd);
}

static void do_stat(void)
{
	struct stat st;

	if (stat(file[1], &st))
		die("stat");
}

/* To run it, as a loader does with a library. */
static void do_mmap(void)
{
	static int fd = -1;
	void *p;

	if (fd < 0)
		fd = open(self, O_RDONLY | O_CLOEXEC);
	p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED || munmap(p, 4096))
		die("mmap");
}

static void do_mprotect(void)
{
	static void *p;

	if (!p)
		p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	if (mprotect(p, 4096, PROT_READ | PROT_WRITE) ||
	    mprotect(p, 4096, PROT_READ))
		die("mprotect");
}

static void do_utimes(void)
{
	if (utimensat(AT_FDCWD, file[1], NULL, 0))
		die("utimensat");
}

static void do_rename(void)
{
	static char to[600];

	if (!to[0])
		snprintf(to, sizeof(to), "%s.new", file[1]);
	if (rename(file[1], to) || rename(to, file[1]))
		die("rename");
}

static void do_create(void)
{
	static char name[600];
	int fd;

	if (!name[0])
		snprintf(name, sizeof(name), "%s.made", file[1]);
	fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
	if (fd < 0 || close(fd) || unlink(name))
		die("create and unlink");
}

static void do_mkdir(void)
{
	static char name[600];

	if (!name[0])
		snprintf(name, sizeof(name), "%s.dir", file[1]);
	if (mkdir(name, 0755) || rmdir(name))
		die("mkdir and rmdir");
}

static void do_link(void)
{
	static char name[600];

	if (!name[0])
		snprintf(name, sizeof(name), "%s.link", file[1]);
	if (link(file[1], name) || unlink(name))
		die("link and unlink");
}

static void do_fork(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static void do_exec(void)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("fork");
	if (!pid) {
		execl(self, self, "exit", NULL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	if (status)
		die("exec");
}

static int make_socket(int family, int type)
{
	int fd = socket(family, type | SOCK_CLOEXEC, 0);

	if (fd < 0)
		die("socket");
	return fd;
}

/* Nothing of it shall wait after its end, and be in the way of the next. */
static int dial(void)
{
	static const struct linger reset = { .l_onoff = 1 };
	int fd = make_socket(AF_INET, SOCK_STREAM);

	if (connect(fd, (struct sockaddr *)&peer, sizeof(peer)) ||
	    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)))
		die("connect");
	return fd;
}

/* To nobody who accepts: what a connection costs its own side. */
static void do_dial(void)
{
	close(dial());
}

static void take(int fd)
{
	int got = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (got < 0)
		die("accept");
	close(fd);
	close(got);
}

static void do_tcp(void)
{
	take(dial());
}

static void do_unix(void)
{
	int fd = make_socket(AF_UNIX, SOCK_STREAM);

	if (connect(fd, (struct sockaddr *)&place, sizeof(place)))
		die(place.sun_path);
	take(fd);
}

/* The receiver reads it: a queue that is full is cheap to send to. */
static void do_send(void)
{
	static int fd = -1;
	char c;

	if (fd < 0)
		fd = make_socket(AF_INET, SOCK_DGRAM);
	if (sendto(fd, "x", 1, 0, (struct sockaddr *)&peer,
		   sizeof(peer)) != 1 || recv(listener, &c, 1, 0) != 1)
		die("sendto");
}

static void do_send_connected(void)
{
	static int fd = -1;
	char c;

	if (fd < 0) {
		fd = make_socket(AF_INET, SOCK_DGRAM);
		if (connect(fd, (struct sockaddr *)&peer, sizeof(peer)))
			die("connect");
	}
	if (send(fd, "x", 1, 0) != 1 || recv(listener, &c, 1, 0) != 1)
		die("send");
}

/* A socket of our own at a port of 127.0.0.1 that .peer then names. */
static void serve(int type)
{
	socklen_t len = sizeof(peer);

	close(listener);
	listener = make_socket(AF_INET, type);
	peer = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	if (bind(listener, (struct sockaddr *)&peer, len) ||
	    (type == SOCK_STREAM && listen(listener, 16)) ||
	    getsockname(listener, (struct sockaddr *)&peer, &len))
		die("bind");
}

static void serve_at(const char *dir)
{
	close(listener);
	listener = make_socket(AF_UNIX, SOCK_STREAM);
	place.sun_family = AF_UNIX;
	snprintf(place.sun_path, sizeof(place.sun_path), "%s/s", dir);
	unlink(place.sun_path);
	if (bind(listener, (struct sockaddr *)&place, sizeof(place)) ||
	    listen(listener, 16))
		die(place.sun_path);
}

static void measure(const char *column, const char *name, void (*call)(void),
		    int times)
{
	long long best = 0;

	for (int r = 0; r < ROUNDS; r++) {
		long long from = now(), each;

		for (int i = 0; i < times; i++)
			call();
		each = (now() - from) / times;
		if (!r || each < best)
			best = each;
	}
	printf("%s %s %lld\n", column, name, best);
	fflush(stdout);
}

static void copy_self(const char *dir)
{
	int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), out;
	struct stat st;

	snprintf(self, sizeof(self), "%s/cost", dir);
	if (!stat(self, &st)) {
		close(in);
		return;
	}
	out = open(self, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (in < 0 || out < 0)
		die(self);
	while (sendfile(out, in, NULL, 1 << 20) > 0)
		;
	close(in);
	close(out);
}

static void make_tree(const char *dir)
{
	char path[480];

	snprintf(path, sizeof(path), "%s", dir);
	for (int n = 1; n <= DEPTHS; n++) {
		int fd;

		strcat(path, "/x");
		mkdir(path, 0755);
		snprintf(file[n], sizeof(file[n]), "%s/f", path);
		fd = open(file[n], O_CREAT | O_RDWR | O_CLOEXEC, 0644);
		if (fd < 0)
			die(file[n]);
		close(fd);
	}
}

/* The roots that the session's policy has, as far as Landlock can say it. */
static void landlock(const char *dir)
{
	const char *roots[] = { dir, "/bin", "/lib", "/lib64", "/usr", "/etc" };
	struct landlock_ruleset_attr a = { .handled_access_fs = 0x1fff };
	int set = syscall(SYS_landlock_create_ruleset, &a, sizeof(a), 0);

	if (set < 0)
		die("landlock_create_ruleset");
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		struct landlock_path_beneath_attr b = {
			.allowed_access = i ? LANDLOCK_ACCESS_FS_EXECUTE |
				LANDLOCK_ACCESS_FS_READ_FILE |
				LANDLOCK_ACCESS_FS_READ_DIR : 0x1fff,
			.parent_fd = open(roots[i], O_PATH | O_CLOEXEC),
		};

		if (b.parent_fd < 0)
			continue;
		if (syscall(SYS_landlock_add_rule, set,
			    LANDLOCK_RULE_PATH_BENEATH, &b, 0))
			die("landlock_add_rule");
		close(b.parent_fd);
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_landlock_restrict_self, set, 0))
		die("landlock_restrict_self");
	close(set);
}

static void name_peer(const char *address, const char *port)
{
	peer.sin_family = AF_INET;
	peer.sin_port = htons(atoi(port));
	if (inet_pton(AF_INET, address, &peer.sin_addr) != 1)
		die(address);
}

static int listen_only(const char *address, const char *port)
{
	char c;

	name_peer(address, port);
	listener = make_socket(AF_INET, SOCK_STREAM);
	if (bind(listener, (struct sockaddr *)&peer, sizeof(peer)) ||
	    listen(listener, 1 << 15))
		die(address);
	puts("up");
	fflush(stdout);
	return read(0, &c, 1) < 0;
}

static void measure_sockets(const char *column, const char *dir)
{
	serve(SOCK_STREAM);
	measure(column, "tcp-connect", do_tcp, 100);
	serve(SOCK_DGRAM);
	measure(column, "udp-sendto", do_send, 500);
	measure(column, "udp-send", do_send_connected, 500);
	serve_at(dir);
	measure(column, "unix-connect", do_unix, 200);
}

int main(int argc, char **argv)
{
	static const int depths[] = { 1, 4, 8, 16 };
	bool confined = argc > 1 && !strcmp(argv[1], "--landlock");
	char name[32];

	if (argc == 2 && !strcmp(argv[1], "exit"))
		return 0;
	if (argc == 4 && !strcmp(argv[1], "--listen"))
		return listen_only(argv[2], argv[3]);
	if (argc == 6 && !strcmp(argv[1], "--connect")) {
		name_peer(argv[4], argv[5]);
		measure(argv[2], argv[3], do_dial, 100);
		return 0;
	}
	argv += confined;
	if (argc - confined != 3) {
		fprintf(stderr, "usage: cost [--landlock] COLUMN DIR\n");
		return 2;
	}
	make_tree(argv[2]);
	copy_self(argv[2]);
	if (confined)
		landlock(argv[2]);
	measure(argv[1], "getppid", do_null, 2000);
	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		depth = depths[i];
		snprintf(name, sizeof(name), "open+close/%d", depth);
		measure(argv[1], name, do_open, 500);
	}
	measure(argv[1], "stat", do_stat, 500);
	measure(argv[1], "utimes", do_utimes, 500);
	measure(argv[1], "mmap+munmap", do_mmap, 500);
	measure(argv[1], "mprotect*2", do_mprotect, 500);
	measure(argv[1], "rename*2", do_rename, 200);
	measure(argv[1], "create+unlink", do_create, 200);
	measure(argv[1], "mkdir+rmdir", do_mkdir, 200);
	measure(argv[1], "link+unlink", do_link, 200);
	measure(argv[1], "fork+exit", do_fork, 30);
	measure(argv[1], "fork+exec", do_exec, 30);
	measure_sockets(argv[1], argv[2]);
	return 0;
}
