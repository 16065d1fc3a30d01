/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The smallest change of a policy that would turn an answer. Nothing is
 * claimed that was not tried: the policy is compiled with the change, resolved,
 * and asked again.
 */
#ifndef LH_CHANGE_H
#define LH_CHANGE_H

#include "compile.h"
#include "explain.h"

enum change_kind {
	CHANGE_ADD,		/* @value to the list at @pointer */
	CHANGE_TAKE,		/* the element at @pointer out of its list */
	CHANGE_SET,		/* the member at @pointer to @value */
	CHANGE_LIFT,		/* credential @value, by the operator alone */
};

struct change_step {
	enum change_kind kind;
	const char *pointer;	/* JSON pointer into the policy as `show`
				 * prints it, without the other steps; NULL:
				 * CHANGE_LIFT */
	const char *value;	/* plain; NULL: CHANGE_TAKE */
	const char *flag;	/* of lh-supervise, to the same end; or NULL */
	const char *flag_value;
	const char *text;	/* all of it, for people */
};

#define CHANGE_STEPS_MAX 6

struct change {
	struct arena mem;
	struct change_step step[CHANGE_STEPS_MAX];
	size_t count;		/* all of them together; 0: none is known */
	const char *why;	/* where there is none: the reason */
};

/*
 * What would turn @a, the answer that @im in a table by @ro gave to @q. @o: as
 * @im was compiled with. 0, or negative errno with *e; on success the caller
 * owns *c.
 */
int change_find(const struct image *im, const struct compile_options *o,
		const struct resolve_options *ro, const struct question *q,
		const struct answer *a, struct change *c, struct err *e);
void change_free(struct change *c);

/*
 * The policy @text with all steps made but CHANGE_LIFT; *out is malloc'd.
 * Values of the environment, which `show` withholds, are left out. 0, or
 * negative errno with *e.
 */
int change_apply(const char *text, size_t len, const struct change *c,
		 char **out, size_t *out_len, struct err *e);

#endif
