/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one contract between the programs in the kernel and user space: every
 * struct that crosses, every limit, every number a record carries. Fixed-width
 * fields and explicit padding only, so that both sides agree byte for byte;
 * tests compare each struct with the object's BTF. Change any of it: LH_ABI.
 */
#ifndef LH_ABI_H
#define LH_ABI_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define LH_ABI 10

/*
 * Slot 0 holds no session: its .seq is the highest slot ever used, its .cgroup
 * the kernel address of the cgroup that all sessions' cgroups lie in.
 */

/* Limits. Each is a bound that user space checks and the kernel relies on. */
#define LH_SESSIONS_MAX 1024	/* slots */
#define LH_RINGS_AT_LOAD 64	/* rings that the engine makes at once */
#define LH_RING_BYTES 131072	/* one session's ring; a power of two pages */
#define LH_ITEMS_MAX 16384	/* roots and names of one session */
#define LH_TABLE_MAX 262144	/* entries of all sessions together */
#define LH_NAME_MAX 255		/* bytes of one path component */
#define LH_NAME_DEPTH 8		/* missing components below an anchor */
#define LH_WILD_MAX 8		/* protected A/B pairs at any depth */
#define LH_WALK_MAX 32768	/* dentries and mounts of a walk, all tries */
#define LH_WALK_TRIES 64	/* walks that raced with a rename or a mount */
#define LH_SETTLE_MAX (1 << 20)	/* looks at whether one is under way */
#define LH_BLOOM_WORDS 64	/* words of a session's root filter */
#define LH_DATA_MAX 6144	/* bytes of path, other path and exe */
#define LH_PATH_MAX 4096	/* bytes of one path in a record */
#define LH_IPC_MAX 16384	/* System V objects of all sessions together */
#define LH_IPC_OWN (LH_IPC_MAX / 4)	/* of one session */
#define LH_NETS_MAX 8192	/* address blocks of one session */
#define LH_PORTS_MAX 131072	/* port blocks of one session */
#define LH_NET_TABLE_MAX 1048576	/* of either, all sessions together */
#define LH_FLOWS_MAX 16384	/* remembered at once: struct lh_flow */
#define LH_EXE_ROOM 768		/* of these, what the first two leave to exe */
#define LH_COMM_LEN 16
#define LH_ABSTRACT_MAX 107	/* bytes of an abstract socket's name */
#define LH_SYSCALL_ARGS 6
#define LH_RULE_NONE 0		/* no rule: the default refused */

/* What a request wants of an object. */
#define LH_READ 0x01u	/* content, or the entries of a directory */
#define LH_WRITE 0x02u	/* content, attributes, or a new name here */
#define LH_EXEC 0x04u	/* run it */
#define LH_REMOVE 0x08u	/* take this name away */
#define LH_MOVE 0x10u	/* carry it, and all below it, to another name */
#define LH_BECOME 0x20u	/* a directory arrives under this name */
#define LH_STAT 0x40u	/* size, times, mode, owner, link target */
#define LH_ODD 0x80u	/* with WRITE: no regular file arrives here */
#define LH_CONNECT 0x100u	/* talk to who listens at this socket file */
#define LH_BIND 0x200u	/* a new socket file here */

/*
 * What a root says of itself and all below it. READ and EXEC add up along the
 * way; of WRITE, DELETE and RDONLY the deepest root that has one decides, and a
 * SOCKET as deep makes room for socket files too; DENY and PROTECT hold
 * whatever any other root says, and APART what those above it say.
 */
#define LH_ROOT_READ 0x01u
#define LH_ROOT_WRITE 0x02u
#define LH_ROOT_EXEC 0x04u
#define LH_ROOT_DELETE 0x08u	/* names may go, content may not change */
#define LH_ROOT_RDONLY 0x10u	/* never written, also in a writable root */
#define LH_ROOT_DENY 0x20u	/* not read, written, listed nor looked at */
#define LH_ROOT_PROTECT 0x40u	/* not written: the host runs what it says */
#define LH_ROOT_PIN 0x80u	/* this object is not moved nor removed */
#define LH_ROOT_ANCHOR 0x100u	/* has name rules below it: name_lens */
#define LH_ROOT_OWN 0x200u	/* what this session made below is its own */
#define LH_ROOT_UNNAMED 0x400u	/* in this very directory: O_TMPFILE|O_EXCL */
#define LH_ROOT_SOCKET 0x800u	/* sockets of the host: connect and bind */
#define LH_ROOT_APART 0x1000u	/* denies what only roots above it grant */
#define LH_ROOT_MASK 0x1fffu

/* A name rule: the last component carries rights, those before it PARTIAL. */
#define LH_NAME_DENY LH_ROOT_DENY
#define LH_NAME_PROTECT LH_ROOT_PROTECT
#define LH_NAME_RDONLY LH_ROOT_RDONLY
#define LH_NAME_WRITE LH_ROOT_WRITE	/* a file of this name, nothing below */
#define LH_NAME_SOCKET LH_ROOT_SOCKET	/* and of what is below it */
#define LH_NAME_PARTIAL 0x1000u	/* some rule goes on below this name */
#define LH_NAME_MASK 0x1872u

enum lh_state {
	LH_FREE = 0,
	LH_PREPARED = 1,	/* slot taken, tables being filled */
	LH_LIVE = 2,
	LH_DEAD = 3,		/* supervisor gone: refuse and kill */
	LH_SWEPT = 4,		/* somebody is clearing its tables */
};

/* lh_session.flags */
#define LH_SESSION_NO_EXEC 0x1u	/* no exec after the command itself */
#define LH_SESSION_USERNS 0x2u	/* new user namespaces, and a root in one */
#define LH_SESSION_LOOP_TCP 0x10u	/* loopback of its own, over TCP */
#define LH_SESSION_LOOP_UDP 0x20u	/* the same over UDP */
#define LH_SESSION_NARROW 0x40u	/* a bind to any address is to loopback */
#define LH_SESSION_PORTS 0x80u	/* some host ports on loopback are open */
#define LH_SESSION_PUBLISH 0x100u	/* some ports are open to the host */
#define LH_SESSION_EGRESS 0x200u	/* level network: egress rules count */
#define LH_SESSION_ALLOW 0x400u	/* what no rule names is granted */
#define LH_SESSION_INET 0x6b0u	/* any of these: it may have such sockets */

/* lh_label.flags */
#define LH_LABEL_FIRST_EXEC 0x1u	/* the command is not running yet */
#define LH_LABEL_SUPERVISOR 0x2u	/* owns the session, is not in it */

struct lh_root_key {
	__u64 inode;	/* kernel address; the supervisor's fd pins it */
	__u64 serial;	/* session */
};

struct lh_root {
	__u32 flags;		/* LH_ROOT_*: this object and all below */
	__u32 self;		/* LH_ROOT_READ|WRITE|EXEC: this object only */
	__u64 name_lens;	/* bit min(len, 63) for each name below it */
	__u16 rule_read;	/* who grants reading and exec */
	__u16 rule_write;	/* who grants or forbids writing */
	__u16 rule_deny;	/* who denies or protects */
	__u16 rule_self;	/* who grants .self, or pins */
	__u16 rule_socket;	/* who grants sockets */
	__u16 pad[3];
};

struct lh_name_key {
	__u64 parent;	/* inode address of the anchor, or a node number */
	__u64 serial;
	__u64 hash;	/* lh_name_hash() of the component, or fold.h's */
};

struct lh_name {
	__u32 flags;		/* LH_NAME_*, of this very spelling */
	__u16 rule;
	__u16 folded;		/* LH_NAME_* in a directory that folds names */
	__u64 node;		/* parent of the next component; odd; 0: none */
	__u64 name_lens;	/* of the components below this one */
};

/* A protected pair of components, PARENT/NAME, below any writable root. */
struct lh_wild {
	__u64 parent_hash;
	__u64 name_hash;
	__u64 parent_fold;	/* the same where names are folded: fold.h */
	__u64 name_fold;
	__u16 rule;
	__u16 pad[3];
};

/* lh_session.touched: what git goes by may have changed */
#define LH_TOUCHED 0x1u
#define LH_TOUCHED_INSIDE 0x2u	/* and no more of a file than its content */

struct lh_session {
	__u64 serial;		/* unique since boot; odd */
	__u32 state;		/* enum lh_state; claimed by compare-and-swap */
	__u32 flags;		/* LH_SESSION_* */
	__u64 cgroup;		/* kernel address of the session's cgroup */
	__u64 top;		/* mount where every grant's chain must end */
	__u64 seq;		/* denials so far */
	__u64 lost;		/* of these, not in the ring */
	__u64 wild_lens;	/* bit min(len, 63) of each wild name */
	__u32 wild_count;
	__u32 supervisor;	/* its pid, as pid namespace pidns counts */
	__u64 pidns;		/* inode number of that namespace */
	__u64 made;		/* 1: IPC objects that must be swept */
	__u64 ipc;		/* System V objects that are there */
	__u64 touched;		/* LH_TOUCHED_* */
	struct lh_wild wild[LH_WILD_MAX];
	__u64 bloom[LH_BLOOM_WORDS];	/* of the roots' inode addresses */
};

/*
 * Destinations of a session, a trie: the longest block that an address lies in
 * has a node, under which the next trie has that block's ports. A node says all
 * that shorter blocks say of it too, so no second look is needed.
 */
struct lh_net_key {
	__u32 prefixlen;	/* bits of what follows */
	__u32 family;		/* AF_INET: the first four of addr count */
	__u64 serial;
	__u8 addr[16];
};

#define LH_NET_BITS 96	/* of the key, before the address */

struct lh_port_key {
	__u32 prefixlen;
	__u32 node;
	__u32 serial[2];	/* low half first */
	__u16 protocol;		/* network order, as the port */
	__u16 port;
};

#define LH_PORT_BITS 96	/* before the protocol; 16 more: before the port */

/* Nodes that are no address block. */
#define LH_NODE_LOOPBACK 1u	/* host ports that loopback reaches */
#define LH_NODE_PUBLISH 2u	/* ports that the host reaches */
#define LH_NODE_FIRST 3u

enum lh_say {
	LH_SAY_ALLOW = 1, LH_SAY_DENY = 2,
	LH_SAY_SPECIAL = 3,	/* a range that no rule names is refused */
};

struct lh_port_rule {
	__u16 say;		/* enum lh_say */
	__u16 rule;
};

enum lh_flow_kind {
	LH_FLOW_CLIENT = 1,	/* a host client of a published UDP port */
	LH_FLOW_NOBODY = 2,	/* a datagram to a port that nobody held */
	LH_FLOW_TOLD = 3,	/* a refusal that has its record */
};

struct lh_flow {
	__u64 serial;
	__u8 peer[16];
	__u16 peer_port, own_port;	/* host order */
	__u16 protocol;
	__u16 kind;
};				/* value: __u64, CLOCK_MONOTONIC */

enum lh_ipc_kind { LH_IPC_SHM = 1, LH_IPC_SEM = 2, LH_IPC_MSG = 3 };

/* A System V object that a session made. */
struct lh_ipc {
	__u64 serial;
	__u32 kind;		/* enum lh_ipc_kind */
	__s32 id;		/* -1: nobody asked yet */
	__u32 slot;		/* of the session */
	__u32 pad;
};

#define LH_MOUNTS_WORDS 7	/* of these, the last: meta.bpf.c */
#define LH_SCRATCH_WORDS 79

/* Task storage. */
struct lh_label {
	__u64 serial;		/* 0: stands for a label that cannot be read */
	__u32 slot;
	__u32 flags;		/* LH_LABEL_* */
	__u64 scratch[LH_SCRATCH_WORDS];	/* the task's own: walk.bpf.c */
};

enum lh_item_kind { LH_ITEM_ROOT = 1, LH_ITEM_NAME = 2 };

/* One entry of a session's tables, as the supervisor hands it over. */
struct lh_item {
	__u32 kind;		/* enum lh_item_kind */
	__s32 fd;		/* the object; for a name its anchor, or -1 */
	__u64 parent;		/* name with fd -1: node it hangs below */
	__u64 hash;		/* name */
	union {
		struct lh_root root;
		struct lh_name name;
	};
};

/* Context of the session_admit and session_forget programs. */
struct lh_admit {
	__u64 items;		/* user address of struct lh_item[count] */
	__u64 serial;
	__u32 count;
	__u32 slot;
	__s32 cgroup_fd;	/* directory of the session's cgroup, or -1 */
	__s32 error;		/* out: 0 or negative errno */
	__u32 failed;		/* out: index of the item that failed */
	__u32 pad;
};

/* What was refused. Names in records: supervisor/event.c. */
enum lh_op {
	LH_OP_NONE, LH_OP_OPEN, LH_OP_CREATE, LH_OP_MKDIR, LH_OP_MKNOD,
	LH_OP_UNLINK, LH_OP_RMDIR, LH_OP_RENAME, LH_OP_LINK, LH_OP_SYMLINK,
	LH_OP_TRUNCATE, LH_OP_CHMOD, LH_OP_CHOWN, LH_OP_EXEC, LH_OP_STAT,
	LH_OP_READLINK, LH_OP_XATTR, LH_OP_CHROOT, LH_OP_MOUNT, LH_OP_SOCKET,
	LH_OP_BIND, LH_OP_CONNECT, LH_OP_SEND, LH_OP_LISTEN, LH_OP_PTRACE,
	LH_OP_SIGNAL, LH_OP_PROC, LH_OP_BPF, LH_OP_NAMESPACE, LH_OP_MODULE,
	LH_OP_PERF, LH_OP_FORK, LH_OP_SETATTR, LH_OP_SCHED, LH_OP_WATCH,
	LH_OP_ACL, LH_OP_RECEIVE, LH_OP_IPC, LH_OP_QUOTA, LH_OP_ACCEPT,
	LH_OP_JOIN, LH_OP_OPTION, LH_OP_SYSCALL, LH_OP_LIMIT,
	LH_OP_COUNT,
};

/* Why. LH_WHY_ALLOW is no refusal and never in a record. */
enum lh_why {
	LH_WHY_ALLOW, LH_WHY_DENIED, LH_WHY_NOT_GRANTED, LH_WHY_READ_ONLY,
	LH_WHY_PROTECTED, LH_WHY_PINNED, LH_WHY_OUTSIDE_MOUNT,
	LH_WHY_UNFINISHED, LH_WHY_RACED, LH_WHY_NO_EXEC, LH_WHY_SETID,
	LH_WHY_DEVICE, LH_WHY_FAMILY, LH_WHY_PEER, LH_WHY_PROCESS,
	LH_WHY_GUARD, LH_WHY_NEVER, LH_WHY_SESSION_DEAD, LH_WHY_INTERNAL,
	LH_WHY_LIMIT, LH_WHY_MISSING,
	LH_WHY_COUNT,
};

/* lh_denial.flags */
#define LH_DENIAL_CUT 0x1u	/* some path did not fit */
#define LH_DENIAL_OTHER 0x2u	/* path is the new name, other the old */
#define LH_DENIAL_DIR 0x4u	/* the object is a directory */
#define LH_DENIAL_ABSTRACT 0x8u	/* path is a socket's name, any bytes */

/*
 * One refusal. The tail holds up to three paths, in this order and leaf first:
 * each component ends with a NUL; an empty component is a name cut short.
 * A ring record is as long as its tail needs.
 *
 * That of a system call which seccomp refused comes from the keeper: .arg is
 * its number, .target the table of numbers (AUDIT_ARCH_*), and the first of the
 * paths is its arguments, __u64[LH_SYSCALL_ARGS]. That of a limit which was
 * reached comes from the supervisor: .arg is its index in limits[], the first
 * eight bytes of .addr its value.
 */
struct lh_denial {
	__u64 serial;
	__u64 seq;		/* from 1, without a gap but for lost ones */
	__u64 lost;		/* refusals before this one without record */
	__u64 time;		/* CLOCK_BOOTTIME, nanoseconds */
	__u32 pid, tid, ppid, uid;	/* first pid and user namespace */
	__u16 op;		/* enum lh_op */
	__u16 why;		/* enum lh_why */
	__u16 rule;		/* index in the image's rules; 0: default */
	__s16 err;		/* what the caller got, negative errno */
	__u32 access;		/* LH_READ… that were wanted */
	__u32 flags;		/* LH_DENIAL_* */
	__u32 target;		/* pid of the other process, IPC key, or 0 */
	__u32 arg;		/* signal, socket type, ptrace mode, IPC id */
	__u16 family;		/* of a socket, or 0 */
	__u16 protocol;
	__u16 port;		/* host order */
	__u16 hook;		/* enum lh_hook */
	__u8 addr[16];
	char comm[LH_COMM_LEN];
	__u16 path_len;		/* bytes of the tail */
	__u16 other_len;
	__u16 exe_len;
	__u16 local_port;	/* of the session's end, or 0; host order */
};

/* Which hook refused: the name in the record is the kernel's. */
#define LH_HOOKS(X) \
	X(none) X(file_open) X(path_mknod) X(path_mkdir) X(path_unlink) \
	X(path_rmdir) X(path_rename) X(path_link) X(path_symlink) \
	X(path_truncate) X(file_truncate) X(path_chmod) X(path_chown) \
	X(path_chroot) X(bprm_check_security) X(inode_getattr) \
	X(inode_readlink) X(inode_setattr) X(inode_setxattr) \
	X(inode_removexattr) X(inode_getxattr) X(inode_listxattr) \
	X(inode_set_acl) X(inode_remove_acl) X(sb_mount) X(sb_umount) \
	X(move_mount) X(sb_pivotroot) X(socket_create) X(socket_bind) \
	X(socket_connect) X(socket_sendmsg) X(unix_stream_connect) \
	X(unix_may_send) X(ptrace_access_check) X(ptrace_traceme) \
	X(task_kill) X(task_alloc) X(bpf) X(userns_create) \
	X(kernel_module_request) X(perf_event_open) X(task_setnice) \
	X(task_setioprio) X(task_setscheduler) X(path_notify) \
	X(inode_get_acl) X(file_receive) X(ipc_permission) X(shm_shmctl) \
	X(sem_semctl) X(msg_queue_msgctl) X(inode_unlink) X(quotactl) \
	X(socket_listen) X(cgroup_bind) X(cgroup_connect) \
	X(cgroup_skb_egress) X(cgroup_skb_ingress) X(socket_setsockopt) \
	X(cgroup_setsockopt) X(seccomp) X(netlink_send) X(task_prlimit)

enum lh_hook {
#define X(name) LH_HOOK_##name,
	LH_HOOKS(X)
#undef X
	LH_HOOK_COUNT,
};

_Static_assert(sizeof(struct lh_root_key) == 16, "no padding");
_Static_assert(sizeof(struct lh_root) == 32, "no padding");
_Static_assert(sizeof(struct lh_name_key) == 24, "no padding");
_Static_assert(sizeof(struct lh_name) == 24, "no padding");
_Static_assert(sizeof(struct lh_wild) == 40, "no padding");
_Static_assert(sizeof(struct lh_item) == 56, "no padding");
_Static_assert(sizeof(struct lh_admit) == 40, "no padding");
_Static_assert(sizeof(struct lh_session) == 96 + LH_WILD_MAX * 40 +
	       LH_BLOOM_WORDS * 8, "no padding");
_Static_assert(sizeof(struct lh_ipc) == 24, "no padding");
_Static_assert(sizeof(struct lh_net_key) == 32, "no padding");
_Static_assert(sizeof(struct lh_port_key) == 20, "no padding");
_Static_assert(sizeof(struct lh_port_rule) == 4, "no padding");
_Static_assert(sizeof(struct lh_flow) == 32, "no padding");
_Static_assert(sizeof(struct lh_label) == 16 + LH_SCRATCH_WORDS * 8,
	       "no padding");
_Static_assert(sizeof(struct lh_denial) == 120, "no padding");
_Static_assert((LH_RING_BYTES & (LH_RING_BYTES - 1)) == 0, "power of two");

#endif
