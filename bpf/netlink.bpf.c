// SPDX-License-Identifier: GPL-2.0-only
/*
 * Network devices of a session with user namespaces.
 *   netlink_send   none is made together with one in another namespace
 * Of a pair of devices kernels before 6.13 make the other one where they are
 * told to, the host's namespace too, and ask nobody. A device that is there may
 * be moved: then the kernel asks.
 */
#include "core.bpf.h"

#define RTM_NEWLINK 16
#define NLM_F_CREATE 0x400
#define IFLA_NET_NS_PID 19
#define IFLA_NET_NS_FD 28
#define MESSAGES_MAX 64		/* in one call; nobody needs as many */
#define WORDS_MAX 16384

struct netlink_walk {
	__u64 at;
	__u32 left;		/* bytes */
	__u32 found;
};

/* Goes on to the next message. Found: one that makes a device. */
static long netlink_makes(__u32 i, struct netlink_walk *w)
{
	struct {
		__u32 len;
		__u16 type, flags;
	} h;
	__u32 step;

	if (w->left < 16)
		return 1;
	if (bpf_probe_read_kernel(&h, sizeof(h), (void *)w->at)) {
		w->found = 1;	/* who cannot look takes the worst */
		return 1;
	}
	step = (h.len + 3) & ~3u;
	if (h.len < 16 || h.len > w->left)
		return 1;	/* nor does the kernel look at it */
	if (i == MESSAGES_MAX - 1 ||
	    (h.type == RTM_NEWLINK && (h.flags & NLM_F_CREATE))) {
		w->found = 1;
		return 1;
	}
	w->at += step;
	w->left = step < w->left ? w->left - step : 0;
	return 0;
}

/*
 * Wherever it stands, since what is inside of what is for the kernel to say: an
 * attribute that names a namespace.
 */
static long netlink_names(__u32 i, struct netlink_walk *w)
{
	struct {
		__u16 len, type;
	} a;

	if (w->left < 8)
		return 1;
	if (bpf_probe_read_kernel(&a, sizeof(a), (void *)w->at))
		goto found;
	a.type &= 0x3fff;
	if (i == WORDS_MAX - 1 ||
	    (a.len >= 8 && a.len <= w->left &&
	     (a.type == IFLA_NET_NS_PID || a.type == IFLA_NET_NS_FD)))
		goto found;
	w->at += 4;
	w->left -= 4;
	return 0;
found:
	w->found = 1;
	return 1;
}

static __noinline int netlink_refused(struct sk_buff *skb)
{
	struct lh_label *l = lh_label_current();
	struct netlink_walk w = {};
	struct lh_session *s;

	if (!l)
		return 0;
	s = lh_session_of(l);
	if (!s)
		return 1;
	if (!(s->flags & LH_SESSION_USERNS))
		return 0;	/* the kernel refuses it all */
	w.at = (__u64)skb->data;
	w.left = skb->len;
	bpf_loop(MESSAGES_MAX, netlink_makes, &w, 0);
	if (!w.found)
		return 0;
	w.found = 0;
	w.at = (__u64)skb->data;
	w.left = skb->len;
	bpf_loop(WORDS_MAX, netlink_names, &w, 0);
	return w.found && lh_refuse_always(l, LH_OP_NAMESPACE,
					   LH_HOOK_netlink_send,
					   LH_WHY_NEVER, 0);
}

SEC("lsm/netlink_send")
int BPF_PROG(netlink_send, struct sock *sk, struct sk_buff *skb)
{
	return lh_outside() ? 0 : LH_RESULT(netlink_refused(skb), EPERM);
}
