// SPDX-License-Identifier: GPL-2.0-only
/*
 * The network: loopback, ports and egress.
 */
#include "net.h"
#include "take.h"

static void take_grant(struct reader *r, const struct json *v,
		       enum policy_said what, uint32_t grants)
{
	field_said(r, what, v);
	if (v->truth)
		r->p->grants |= grants;
}

void take_loopback(struct reader *r, const struct json *v)
{
	take_grant(r, v, SAID_LOOPBACK,
		   GRANT_LOOPBACK_TCP | GRANT_LOOPBACK_UDP);
}

void take_tcp_loopback(struct reader *r, const struct json *v)
{
	take_grant(r, v, SAID_TCP_LOOPBACK, GRANT_LOOPBACK_TCP);
}

void take_user_namespaces(struct reader *r, const struct json *v)
{
	take_grant(r, v, SAID_USER_NAMESPACES, GRANT_USER_NAMESPACES);
}

void take_ptrace(struct reader *r, const struct json *v)
{
	take_grant(r, v, SAID_PTRACE, GRANT_PTRACE);
}

/* 5432 or "8000-8010" */
static void take_ports(struct reader *r, const struct json *v,
		       enum policy_port_list list)
{
	const struct json *m;
	const char *why;
	struct place at;

	for (m = v->first; m; m = m->next) {
		at = json_place(r->doc, m, false);
		if (m->type != JSON_NUMBER && m->type != JSON_STRING) {
			field_error(r, m, "must be a number or a string, not "
				    "%s", json_type_name(m->type));
			continue;
		}
		why = policy_add_ports(r->p, list, m->text, &at, r->d);
		if (why)
			field_error(r, m, "%s", why);
	}
}

void take_loopback_ports(struct reader *r, const struct json *v)
{
	take_ports(r, v, PORTS_LOOPBACK);
}

void take_publish_ports(struct reader *r, const struct json *v)
{
	take_ports(r, v, PORTS_PUBLISH);
}

void take_bind_any(struct reader *r, const struct json *v)
{
	int i = field_word(r, v, bind_any_names, sizeof(char *));

	field_said(r, SAID_BIND_ANY, v);
	if (i >= 0)
		r->p->bind_any = i;
}

void take_egress_default(struct reader *r, const struct json *v)
{
	int i = field_word(r, v, egress_default_names, sizeof(char *));

	field_said(r, SAID_EGRESS_DEFAULT, v);
	if (i >= 0)
		r->p->egress_default = i;
}

static void take_rule(struct reader *r, const struct json *s, void *arg)
{
	struct place at = json_place(r->doc, s, false);
	const char *why = policy_add_net(r->p, *(bool *)arg, s->text,
					 at.pointer, &at, r->d);

	if (why)
		field_error(r, s, "%s", why);
}

void take_egress_allow(struct reader *r, const struct json *v)
{
	bool deny = false;

	field_strings(r, v, take_rule, &deny);
}

void take_egress_deny(struct reader *r, const struct json *v)
{
	bool deny = true;

	field_strings(r, v, take_rule, &deny);
}
