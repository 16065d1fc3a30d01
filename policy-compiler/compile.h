/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The compiler as one call: from the text of a policy, in a context, with the
 * additions of a command line and under a ceiling, to an image. No privilege,
 * no output; whatever is wrong is in the caller's collection of diagnostics.
 */
#ifndef LH_COMPILE_H
#define LH_COMPILE_H

#include "context.h"
#include "diag.h"
#include "image.h"
#include "policy.h"

/* A root from the command line; relative to the working directory. */
struct compile_root {
	enum policy_list list;
	const char *path;	/* as given: "?", "~", ${…} work */
	const char *flag;	/* "--rw": for its rule and its errors */
};

struct compile_options {
	const struct context *context;
	const struct compile_root *roots;
	size_t root_count;
	const char *const *env;	/* "NAME": pass; "NAME=VALUE": set */
	size_t env_count;
	uint64_t wall_time;	/* nanoseconds, 0: as the policy says */
	uint64_t memory;	/* bytes, likewise */
	uint64_t pids;		/* likewise */
	uint64_t cpu;		/* percent of one processor; likewise */
	uint64_t idle_time;	/* nanoseconds, likewise */
	uint32_t grants;	/* GRANT_* on top of the policy's */
	bool network;		/* raise the level to network */
	const char *const *egress_allow;	/* "10.0.0.0/8:443": likewise */
	size_t egress_allow_count;
	const char *const *loopback_ports;	/* "5432", "8000-8010" */
	size_t loopback_port_count;
	const char *const *publish_ports;
	size_t publish_port_count;
	const char *const *env_files;	/* relative to the working directory */
	size_t env_file_count;
	/*
	 * Entries of the credential list to leave out, as paths; each must hit
	 * one. For the operator of one run: no policy can say this.
	 */
	const char *const *lift;
	size_t lift_count;
	/*
	 * Read an env file, @path absolute: 0 and *text (malloc'd, *len bytes),
	 * or negative errno with *e. NULL: the caller's own open(2).
	 */
	int (*read_file)(void *arg, const char *path, char **text, size_t *len,
			 struct err *e);
	void *read_arg;
	bool lenient;		/* what is not enforceable is a warning */
	bool check;		/* all warnings: see policy_warn() */
	const char *ceiling;	/* text of the ceiling policy, or NULL */
	size_t ceiling_len;
	const char *ceiling_file;	/* its display name, absolute */
};

/*
 * Compile the @len bytes at @text. @file: display name, and what the image
 * calls its source; where @base is NULL, also the file whose directory
 * relative roots start from. 0 and *out (malloc'd, passes image_check()), or
 * negative errno with at least one error in @d. Warnings may come with 0.
 * @o may be shared by calls; all it points to is borrowed for the call.
 */
int compile_text(const char *text, size_t len, const char *file,
		 const char *base, const struct compile_options *o,
		 struct image **out, struct diags *d);
/* The same from @fd, which is read to its end and stays open. */
int compile_fd(int fd, const char *file, const char *base,
	       const struct compile_options *o, struct image **out,
	       struct diags *d);

/*
 * The same up to the model, narrowed and checked: 0 and *k (compiled_free())
 * or negative errno. The policy of an image is compiled again, with the values
 * that its text withholds: what every session is denied comes from this program
 * and this user, never from bytes that somebody hands over.
 */
struct compiled;
int compile_model_text(const char *text, size_t len, const char *file,
		       const char *base, const struct compile_options *o,
		       struct compiled **k, struct diags *d);
int compile_model_fd(int fd, const char *file, const char *base,
		     const struct compile_options *o, struct compiled **k,
		     struct diags *d);
int compile_model_image(const struct image *im, const char *file,
			const struct compile_options *o, struct compiled **k,
			struct diags *d);
int compiled_lower(struct compiled *k, const struct compile_options *o,
		   struct image **out, struct diags *d);
struct policy *compiled_policy(struct compiled *k);	/* owned by @k */
void compiled_free(struct compiled *k);

/*
 * What the ceiling itself says: the weakest profile that it lets a policy
 * have, PROFILE_UNRESTRICTED where there is no ceiling. 0, or negative errno
 * with errors in @d.
 */
int compile_ceiling_profile(const struct compile_options *o,
			    enum image_profile *profile, struct diags *d);

/* A name to look up, not a file: no slash, no dot. "worktree" */
bool policy_is_name(const char *arg);

#endif
