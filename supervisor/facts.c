// SPDX-License-Identifier: GPL-2.0-only
/*
 * The facts of a session, one JSON object on one line. The count of refusals is
 * the last member and has a fixed width, so it is renewed where it stands.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../policy-compiler/parse.h"
#include "../policy-compiler/policy.h"
#include "acl.h"
#include "cleanup.h"
#include "facts.h"
#include "recorded.h"
#include "run.h"
#include "writer.h"

#define TAIL 2			/* "}\n" behind the count */

/* Fields 3 and 22 of its stat. false: it cannot be seen. */
static bool process_stat(pid_t pid, char *state, uint64_t *start)
{
	_cleanup_close_ int fd = -1;
	char path[64], text[1024], *p;
	ssize_t n;
	int field;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = 0;
	/* The second field is a name in parentheses, with any byte in it. */
	p = strrchr(text, ')');
	if (!p || sscanf(p, ") %c", state) != 1)
		return false;
	for (field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p && sscanf(p, "%" SCNu64, start) == 1;
}

int facts_alive(const struct facts *f)
{
	uint64_t start;
	char state;

	if (!f->supervisor || f->pid_namespace != facts_pid_namespace())
		return -ESRCH;
	if (kill(f->supervisor, 0) && errno == ESRCH)
		return 0;
	/* Where /proc hides others' processes the number alone must do. */
	if (!process_stat(f->supervisor, &state, &start))
		return 1;
	return state != 'Z' && state != 'X' &&
	       (!f->supervisor_start || start == f->supervisor_start);
}

uint64_t facts_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}

static uint64_t seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec;
}

static void put_policy(struct writer *w, const struct image *im)
{
	char hex[65];

	policy_hash((const char *)im + im->policy.offset, im->policy.count,
		    hex);
	writer_open_map(w, "policy");
	writer_str(w, "name", image_string(im, im->name));
	writer_str(w, "source", image_string(im, im->source));
	writer_str(w, "hash", hex);
	writer_str(w, "profile", profile_names[im->profile]);
	writer_close_map(w);
}

static void put_supervisor(struct writer *w)
{
	uint64_t start = 0;
	char state;

	process_stat(getpid(), &state, &start);
	writer_open_map(w, "supervisor");
	writer_int(w, "pid", getpid());
	writer_uint(w, "start", start);
	writer_uint(w, "pid_namespace", facts_pid_namespace());
	writer_close_map(w);
}

static char *make_line(const struct run *r, size_t *len)
{
	_cleanup_writer_ struct writer *w = writer_new();

	writer_open_map(w, NULL);
	writer_str(w, "schema", FACTS_SCHEMA);
	writer_str(w, "session", r->registry.id);
	writer_str(w, "name", r->o.name);
	writer_open_map(w, "user");
	writer_str(w, "name", r->id.name);
	writer_uint(w, "uid", r->id.user.uid);
	writer_uint(w, "gid", r->id.user.gid);
	writer_close_map(w);
	put_policy(w, r->load.im);
	writer_str(w, "confinement",
		   confinement_names[r->result.confinement]);
	writer_str(w, "command", r->command);
	put_supervisor(w);
	writer_uint(w, "started", seconds(CLOCK_REALTIME));
	writer_uint(w, "started_boot", seconds(CLOCK_BOOTTIME));
	writer_uint_wide(w, "denials", 0);
	writer_close_map(w);
	return writer_line(w, len);
}

int facts_write(struct run *r, struct err *e)
{
	struct registry *reg = &r->registry;
	_cleanup_free_ char *line = NULL;
	_cleanup_close_ int fd = -1;
	char path[64];
	size_t len;

	registry_path(reg->id, FACTS_SUFFIX, path, sizeof(path));
	line = make_line(r, &len);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		  0600);
	if (fd < 0)
		return err_sys(e, -errno, "%s", path);
	/* Whole, and only then readable: nobody sees half of it. */
	if (write(fd, line, len) != (ssize_t)len)
		return err_set(e, -EIO, "%s: cannot be written", path);
	if (r->id.user.uid)
		acl_allow_reading(fd, r->id.user.uid);	/* else: root alone */
	reg->facts_at = len - TAIL - WRITER_WIDE;
	reg->facts_said = 0;
	reg->facts = take_fd(&fd);
	return 0;
}

void facts_denials(struct registry *r, uint64_t denials)
{
	char text[WRITER_WIDE + 1];

	if (r->facts < 0 || denials == r->facts_said)
		return;
	snprintf(text, sizeof(text), "%*" PRIu64, WRITER_WIDE, denials);
	/* One that gets lost is made up for by the next. */
	if (pwrite(r->facts, text, WRITER_WIDE, r->facts_at) == WRITER_WIDE)
		r->facts_said = denials;
}

static const struct json *member(const struct json *v, const char *key,
				 enum json_type type)
{
	const struct json *m;

	for (m = v ? v->first : NULL; m; m = m->next)
		if (m->key && !strcmp(m->key, key))
			return m->type == type ? m : NULL;
	return NULL;
}

static const char *text_of(const struct json *v, const char *key,
			   struct arena *mem)
{
	const struct json *m = member(v, key, JSON_STRING);

	return m ? arena_copy(mem, m->text, strlen(m->text)) : NULL;
}

static uint64_t number_of(const struct json *v, const char *key)
{
	const struct json *m = member(v, key, JSON_NUMBER);
	uint64_t n = 0;

	return m && sscanf(m->text, "%" SCNu64, &n) == 1 ? n : 0;
}

static int take(const struct json *root, struct arena *mem, struct facts *f)
{
	const struct json *user = member(root, "user", JSON_OBJECT);
	const struct json *policy = member(root, "policy", JSON_OBJECT);
	const struct json *by = member(root, "supervisor", JSON_OBJECT);
	const struct json *schema = member(root, "schema", JSON_STRING);

	if (!schema || strcmp(schema->text, FACTS_SCHEMA))
		return -EBADMSG;
	*f = (struct facts){
		.session = f->session,
		.name = text_of(root, "name", mem),
		.command = text_of(root, "command", mem),
		.user = text_of(user, "name", mem),
		.uid = number_of(user, "uid"),
		.gid = number_of(user, "gid"),
		.policy = text_of(policy, "name", mem),
		.source = text_of(policy, "source", mem),
		.profile = text_of(policy, "profile", mem),
		.hash = text_of(policy, "hash", mem),
		.confinement = text_of(root, "confinement", mem),
		.started = number_of(root, "started"),
		.started_boot = number_of(root, "started_boot"),
		.supervisor = number_of(by, "pid"),
		.supervisor_start = number_of(by, "start"),
		.pid_namespace = number_of(by, "pid_namespace"),
		.denials = number_of(root, "denials"),
	};
	return f->user && f->policy && f->confinement ? 0 : -EBADMSG;
}

/* Twice, until both are the same: the count may change under our eyes. */
static ssize_t read_still(int fd, char text[FACTS_BYTES_MAX])
{
	_cleanup_free_ char *again = malloc(FACTS_BYTES_MAX);
	ssize_t n, m = -1;
	int tries;

	if (!again)
		return -ENOMEM;
	for (tries = 0; tries < 16; tries++) {
		n = pread(fd, text, FACTS_BYTES_MAX, 0);
		if (n < 0)
			return -errno;
		if (n == m && !memcmp(text, again, n))
			break;
		memcpy(again, text, n);
		m = n;
	}
	return n;
}

int facts_read(int dir, const char *session, struct arena *mem,
	       struct facts *f)
{
	_cleanup_free_ char *text = malloc(FACTS_BYTES_MAX);
	_cleanup_close_ int fd = -1;
	struct json_doc doc = {};
	struct diags d = {};
	struct stat st;
	char name[64];
	ssize_t n;
	int ret;

	snprintf(name, sizeof(name), "%s" FACTS_SUFFIX, session);
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
		    O_CLOEXEC);
	if (fd < 0 || !text)
		return fd < 0 ? -errno : -ENOMEM;
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid)
		return -EBADMSG;
	n = read_still(fd, text);
	if (n < 0)
		return n;
	f->session = session;
	ret = json_parse(text, n, name, &doc, &d);
	if (!ret)
		ret = d.errors ? -EBADMSG : take(doc.root, mem, f);
	else
		ret = -EBADMSG;
	json_free(&doc);
	diags_free(&d);
	return ret;
}
