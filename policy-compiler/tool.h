/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lh-policy does with files: finding and loading, and writing images.
 */
#ifndef LH_TOOL_H
#define LH_TOOL_H

#include "compile.h"

#define POLICY_DIR "/etc/lh/policies"

/*
 * @arg: "-", a file, or a policy's name; an image is checked, a policy is
 * compiled. 0 and *im (malloc'd), or negative errno with *e or errors in @d.
 */
int tool_load(const char *arg, const struct compile_options *o,
	      struct image **im, struct diags *d, struct err *e);
/* The same up to the model, also of an image's policy. */
int tool_model(const char *arg, const struct compile_options *o,
	       struct compiled **k, struct diags *d, struct err *e);
/* The text as it was written, *text malloc'd; of an image, what is in it. */
int tool_source(const char *arg, const struct compile_options *o, char **text,
		size_t *len, struct err *e);
/*
 * -ENOENT, with *e: no policy is called @name, and what was probably meant, of
 * the site's and the shipped ones. @flag: what it was said with, or "".
 */
int tool_nothing_called(const char *flag, const char *name, struct err *e);
/*
 * All of it or nothing: the file appears when it is complete. @secret: nobody
 * else may read it.
 */
int tool_write(const char *path, const void *data, size_t len, bool secret,
	       struct err *e);

#endif
