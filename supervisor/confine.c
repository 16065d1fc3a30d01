// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much confinement, and who decided it. A weaker run is asked for by name:
 * by a flag, by the policy's profile, or by the operator's LH_SANDBOX; and the
 * site's ceiling, where there is one, has to permit it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../policy-compiler/policy.h"
#include "cleanup.h"
#include "confine.h"
#include "say.h"

#define PIDS_DEFAULT 4096	/* of a policy that names none */

/* What the engine alone enforces. */
static const char *const engine_rules[] = {
	"file_rules", "network_rules", "process_rules",
};

#define ENGINE_RULES (sizeof(engine_rules) / sizeof(*engine_rules))

int confine_select(struct run *r, struct err *e)
{
	static const char *const words[] = { "off", "warn", "enforce" };
	const char *said = getenv("LH_SANDBOX");
	size_t i;

	if (!said)
		return 0;
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(said, words[i]))
			r->result.selector = words[i];
	return r->result.selector ? 0 :
	       err_set(e, -EINVAL, "LH_SANDBOX is none of off, warn and "
		       "enforce: '%s'; nothing was run", said);
}

static bool selector_is(const struct run *r, const char *word)
{
	return r->result.selector && !strcmp(r->result.selector, word);
}

/* os_hardened, weaker profiles and repetitions do not listen to it. */
static bool selector_counts(const struct run *r)
{
	return r->load.im->profile == PROFILE_WORKTREE && !r->o.no_sandbox &&
	       !r->o.policy_from;
}

static int without(struct run *r, const char *by)
{
	size_t i;

	r->result.confinement = CONFINE_NONE;
	r->result.decided_by = by;
	for (i = 0; i < ENGINE_RULES; i++)
		result_lacks(&r->result, engine_rules[i]);
	result_lacks(&r->result, "seccomp");
	result_lacks(&r->result, "no_new_privs");
	return 0;
}

static int not_permitted(const struct run *r, const char *what, struct err *e)
{
	return err_set(e, -EPERM, "%s: " LOAD_CEILING " does not permit it: "
		       "the weakest profile there is %s", what,
		       profile_names[r->load.weakest]);
}

/* All that is left of workspace_paths once the command runs unconfined. */
static int check_workspace(struct run *r, struct err *e)
{
	const struct image *im = r->load.im;
	const struct image_root *roots = image_roots(im);
	bool inside = false;
	size_t i;
	int ret = identity_enter(&r->id, &r->id.user);

	if (ret)
		return err_sys(e, ret, "user %s", r->id.name);
	for (i = 0; !inside && i < im->roots.count; i++) {
		_cleanup_free_ char *path = NULL;

		if (roots[i].kind != ROOT_WORKSPACE)
			continue;
		path = realpath(image_string(im, roots[i].path), NULL);
		inside = path && root_covers(path, r->cwd_path);
	}
	identity_enter(&r->id, NULL);
	return inside ? 0 : err_set(e, -EPERM, "%s: in no workspace root of "
				    "the policy, and its profile is "
				    "workspace_paths; use -C, or add the "
				    "root", r->cwd_path);
}

static int by_profile(struct run *r, struct err *e)
{
	enum image_profile profile = r->load.im->profile;
	char what[64];
	int ret = 0;

	/* The compiler has narrowed it already; it is our door all the same. */
	snprintf(what, sizeof(what), "profile %s", profile_names[profile]);
	if (r->load.weakest > profile)
		return not_permitted(r, what, e);
	if (profile == PROFILE_WORKSPACE_PATHS)
		ret = check_workspace(r, e);
	return ret ? ret : without(r, "sandbox_profile");
}

int confine_decide(struct run *r, struct err *e)
{
	/* Off is for a site that says so, not for want of a ceiling. */
	bool may_be_off = r->load.ceiling &&
			  r->load.weakest == PROFILE_UNRESTRICTED;

	r->result.selector_honored = r->result.selector &&
				     selector_counts(r) &&
				     (may_be_off || !selector_is(r, "off"));
	if (r->o.no_sandbox && r->load.weakest != PROFILE_UNRESTRICTED)
		return not_permitted(r, "--no-sandbox", e);
	if (r->o.no_sandbox)
		return without(r, "--no-sandbox");
	if (r->load.im->profile <= PROFILE_WORKSPACE_PATHS)
		return by_profile(r, e);
	if (r->result.selector_honored && selector_is(r, "off"))
		return without(r, "LH_SANDBOX");
	return 0;
}

void confine_say(const struct run *r)
{
	const struct result *res = &r->result;
	const struct image *im = r->load.im;
	char why[96];

	if (selector_is(r, "off") && selector_counts(r) &&
	    !res->selector_honored)
		say("LH_SANDBOX=off is not honoured: only a " LOAD_CEILING
		    " with profile unrestricted permits it; the sandbox "
		    "stays on");
	if (res->confinement != CONFINE_NONE)
		return;
	if (!strcmp(res->decided_by, "sandbox_profile"))
		snprintf(why, sizeof(why), "the policy's profile is %s",
			 profile_names[im->profile]);
	else
		snprintf(why, sizeof(why), "%s%s", res->decided_by,
			 strcmp(res->decided_by, "LH_SANDBOX") ? "" : "=off");
	say("WARNING: NO SANDBOX (%s): the command can do all that user %s "
	    "can; nothing is refused, and nothing is recorded", why,
	    r->id.name);
}

static int refuse(struct run *r, const char *mechanism, bool absent,
		  bool fallback, int num)
{
	r->result.refusal = (struct refusal){
		.mechanism = mechanism,
		.availability = absent ? "absent_on_host" :
				"entry_point_cannot_attach",
		.requirement = fallback ? "fallback" : "profile",
		.selector_honored = fallback,
	};
	return num;
}

int confine_refused(struct run *r, const char *mechanism, bool absent,
		    struct err *e)
{
	return refuse(r, mechanism, absent, false, e->num);
}

/* The recorded run had it, so its repetition has it or is none. */
static bool must_have(const struct run *r, const char *what)
{
	return r->o.policy_from && !recorded_lacks(&r->load.recorded, what);
}

/* What a limit needs of cgroups. */
static const struct cgroup_rule {
	const char *limit, *mechanism;
	size_t offset;		/* in struct image_limits */
	enum cgroup_control control;
} cgroup_rules[] = {
#define RULE(field, control) { "limits." #field, "linux_cgroup_" #field, \
	offsetof(struct image_limits, field), control }
	RULE(memory, CGROUP_MEMORY), RULE(swap, CGROUP_MEMORY),
	RULE(pids, CGROUP_PIDS), RULE(cpu, CGROUP_CPU), RULE(io, CGROUP_IO),
#undef RULE
};

#define CGROUP_RULES (sizeof(cgroup_rules) / sizeof(*cgroup_rules))

static uint64_t asked_for(const struct image_limits *l,
			  const struct cgroup_rule *rule)
{
	uint64_t v;

	memcpy(&v, (const char *)l + rule->offset, sizeof(v));
	return v;
}

/*
 * A limit that cannot be held: an error where the policy asked for it, unless
 * its profile may lack limits.
 */
static int no_limit(struct run *r, const struct cgroup_rule *rule,
		    const char *why, struct err *e)
{
	bool asked = rule->control != CGROUP_PIDS ||
		     r->load.im->limits.pids != PIDS_DEFAULT;

	if (must_have(r, rule->limit)) {
		err_set(e, -ENOTSUP, "%s was enforced when --policy-from's "
			"result was written, and cannot be here: %s",
			rule->limit, why);
		return refuse(r, rule->mechanism, true, false, e->num);
	}
	if (asked && r->load.im->profile > PROFILE_WORKTREE) {
		err_set(e, -ENOTSUP, "%s cannot be enforced: %s (take the "
			"limit out of the policy, or see lh-doctor(1))",
			rule->limit, why);
		return refuse(r, rule->mechanism, true, false, e->num);
	}
	result_lacks(&r->result, rule->limit);
	if (asked && !r->o.quiet)
		say("not enforced: %s: %s", rule->limit, why);
	return 0;
}

static const char *lacks(const struct cgroup_host *h,
			 enum cgroup_control control)
{
	static const char *const none[CGROUP_CONTROLS] = {
#define NONE(v2, v1) "cgroup v2 has no " v2 " controller here, and no v1 " \
		     "hierarchy that can be written has " v1
		[CGROUP_MEMORY] = NONE("memory", "it"),
		[CGROUP_PIDS] = NONE("pids", "it"),
		[CGROUP_CPU] = NONE("cpu", "it"),
		[CGROUP_IO] = NONE("io", "blkio"),
#undef NONE
	};
	char disk[1][CGROUP_DISK];

	if (h->at[control].home == CGROUP_NOWHERE && h->at[control].busy)
		return "processes at the top of cgroup v2 keep its controllers "
		       "from the groups below; move them to one of these";
	if (h->at[control].home == CGROUP_NOWHERE)
		return none[control];
	if (control != CGROUP_IO)
		return NULL;
	if (h->at[control].home == CGROUP_V1)
		return "cgroup v1 holds reads and direct writes alone, not "
		       "what is written later";
	return cgroup_disks(disk, 1) ? NULL : "there is no disk here";
}

int confine_limits(struct run *r, struct err *e)
{
	struct cgroup_host h;
	size_t i;
	int ret = 0;

	cgroup_look(r->cgroup_root, &h);
	for (i = 0; !ret && i < CGROUP_RULES; i++) {
		const struct cgroup_rule *rule = &cgroup_rules[i];
		const char *why = lacks(&h, rule->control);

		if (why && asked_for(&r->load.im->limits, rule) !=
			   IMAGE_NO_LIMIT)
			ret = no_limit(r, rule, why, e);
	}
	return ret;
}

void confine_each_lack(const struct image_limits *l, const char *cgroup_root,
		       void (*each)(const char *what, const char *why,
				    void *arg), void *arg)
{
	struct cgroup_host h;
	size_t i;

	cgroup_look(cgroup_root, &h);
	for (i = 0; i < CGROUP_RULES; i++) {
		const struct cgroup_rule *rule = &cgroup_rules[i];
		const char *why = lacks(&h, rule->control);

		if (why && asked_for(l, rule) != IMAGE_NO_LIMIT)
			each(rule->mechanism, why, arg);
	}
}

/* Whether anything could be moved there at all. */
static bool host_swaps(void)
{
	_cleanup_file_ FILE *f = fopen("/proc/swaps", "re");
	char line[512];

	/* The first line is the heading. */
	return f && fgets(line, sizeof(line), f) &&
	       fgets(line, sizeof(line), f);
}

int confine_swap(struct run *r, struct err *e)
{
	const struct image_limits *l = &r->load.im->limits;
	const struct cgroup_place *at = &r->group.at[CGROUP_MEMORY];

	if (r->group.swap || at->home == CGROUP_NOWHERE)
		return 0;
	if (l->swap != IMAGE_NO_LIMIT)
		return no_limit(r, &cgroup_rules[1], at->home == CGROUP_V2 ?
				"the kernel does not count swap (swapaccount)" :
				"cgroup v1 holds it together with limits.memory "
				"alone, where the kernel counts swap "
				"(swapaccount=1)", e);
	if (l->memory == IMAGE_NO_LIMIT || !host_swaps())
		return 0;
	/* The memory's limit holds; what is beyond is slow, not refused. */
	result_lacks(&r->result, "limits.swap");
	if (!r->o.quiet)
		say("not enforced: limits.swap: what is over limits.memory may "
		    "go on in swap, which the kernel does not count");
	return 0;
}

/*
 * Only the operator of this run can say so, and only in its environment: a
 * result is a file that anybody can write, so what it went without is no
 * permission to go without it again.
 */
static bool may_lack_engine(const struct run *r)
{
	return r->load.im->profile == PROFILE_WORKTREE &&
	       !r->o.policy_from && selector_is(r, "warn");
}

int confine_no_engine(struct run *r, enum engine_lack lack, struct err *e)
{
	size_t i;

	if (lack == ENGINE_LACKS_NOTHING)
		return e->num;
	if (!may_lack_engine(r))
		return refuse(r, "linux_bpf_lsm", lack == ENGINE_ABSENT,
			      selector_counts(r), e->num);
	r->result.confinement = CONFINE_PARTIAL;
	r->result.decided_by = "LH_SANDBOX";
	for (i = 0; i < ENGINE_RULES; i++)
		result_lacks(&r->result, engine_rules[i]);
	say("WARNING: NOT ENFORCED: file rules, network rules, process rules: "
	    "%s; only the system call filter, the dropped privileges and the "
	    "limits hold", e->msg);
	*e = (struct err){};
	return 0;
}
