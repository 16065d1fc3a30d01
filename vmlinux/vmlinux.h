/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel types that the programs read, by hand: only the fields that are
 * used. CO-RE finds each of them in the running kernel by name. Names and types
 * are the kernel's, from 6.1 on; variants of them are in bpf/compat.bpf.h.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u8 u8;
typedef __s16 s16;
typedef __u16 u16;
typedef __s32 s32;
typedef __u32 u32;
typedef __s64 s64;
typedef __u64 u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u16 __sum16;
typedef __u32 __wsum;
typedef unsigned short umode_t;
typedef unsigned int fmode_t;
typedef _Bool bool;
typedef unsigned long size_t;

#define true 1
#define false 0
#define NULL ((void *)0)

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_LPM_TRIE = 11,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_INODE_STORAGE = 28,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_EXIST = 2,
	BPF_F_NO_PREALLOC = 1,
	BPF_F_CLONE = 512,
	BPF_F_CURRENT_NETNS = -1,
	BPF_F_MMAPABLE = 1024,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
	BPF_RB_AVAIL_DATA = 0,
};

struct bpf_map;
struct bpf_local_storage;
struct task_struct;
struct pt_regs;

#pragma clang attribute push(__attribute__((preserve_access_index)), \
			     apply_to = record)

typedef struct {
	int counter;
} atomic_t;

struct seqcount {
	unsigned int sequence;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

struct qstr {
	union {
		struct {
			u32 hash;
			u32 len;
		};
		u64 hash_len;
	};
	const unsigned char *name;
};

struct unicode_map;

struct list_head {
	struct list_head *next, *prev;
};

struct file_system_type {
	const char *name;
};

struct super_block {
	struct file_system_type *s_type;
	unsigned long s_flags;
	unsigned long s_magic;
	struct dentry *s_root;
	struct unicode_map *s_encoding;
	struct list_head s_mounts;
};

struct inode {
	umode_t i_mode;
	u32 i_rdev;
	unsigned int i_flags;
	struct super_block *i_sb;
	unsigned int i_nlink;
	long long i_size;
	struct hlist_head i_dentry;
	void *i_private;
};

struct dentry {
	unsigned int d_flags;
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	struct super_block *d_sb;
	void *d_fsdata;
	union {
		struct hlist_node d_alias;
	} d_u;
};

struct vfsmount {
	struct dentry *mnt_root;
	struct super_block *mnt_sb;
	int mnt_flags;
};

struct mnt_namespace;

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	struct mnt_namespace *mnt_ns;
	struct list_head mnt_instance;	/* in super_block.s_mounts; to 6.17 */
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
	unsigned int f_flags;
	fmode_t f_mode;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct fs_struct {
	struct path root;
};

struct mm_struct {
	struct file *exe_file;
};

struct kernfs_node {
	void *priv;
};

struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
};

/* self comes first in the kernel too: a css's address is its cgroup's. */
struct cgroup {
	struct cgroup_subsys_state self;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct pid {
	unsigned int level;
	struct hlist_head tasks[4];
	struct upid {
		int nr;
	} numbers[1];
};

struct proc_inode {
	struct pid *pid;
	struct inode vfs_inode;
};

struct signal_struct {
	atomic_t live;
	struct pid *pids[4];
};

typedef struct {
	__u32 val;
} kuid_t;

struct cred {
	kuid_t uid;
};

struct nsproxy {
	struct mnt_namespace *mnt_ns;
};

struct task_struct {
	int pid, tgid;
	unsigned int ptrace;
	struct task_struct *real_parent, *parent, *group_leader;
	struct mm_struct *mm;
	struct fs_struct *fs;
	struct files_struct *files;
	struct signal_struct *signal;
	struct css_set *cgroups;
	const struct cred *cred, *real_cred;
	struct nsproxy *nsproxy;
	struct hlist_node pid_links[4];
	char comm[16];
	struct bpf_local_storage *bpf_storage;
};

struct linux_binprm {
	struct file *file;
};

struct in6_addr {
	union {
		__u8 u6_addr8[16];
	} in6_u;
};

struct udp_hslot {
	struct hlist_head head;
};

struct udp_table {
	struct udp_hslot *hash;
	unsigned int mask;
};

struct proto {
	union {
		struct udp_table *udp_table;
	} h;
};

struct netns_ipv4 {
	struct udp_table *udp_table;	/* since 6.2 */
};

struct net {
	u32 hash_mix;
	struct list_head dev_base_head;
	struct netns_ipv4 ipv4;
};

struct in_ifaddr {
	struct in_ifaddr *ifa_next;
	__be32 ifa_address;
	__be32 ifa_mask;
	__be32 ifa_broadcast;
};

struct in_device {
	struct in_ifaddr *ifa_list;
};

struct net_device {
	struct list_head dev_list;
	struct in_device *ip_ptr;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct inet_bind2_bucket {
	struct hlist_node bhash_node;
	struct hlist_head owners;
};

struct inet_bind_bucket {
	struct hlist_head owners;	/* up to 6.7 */
	struct hlist_head bhash2;	/* after it: inet_bind2_bucket */
};

struct sock_common {
	unsigned short skc_family;
	__be32 skc_rcv_saddr;
	__u16 skc_num;
	volatile unsigned char skc_state;
	unsigned char skc_reuse : 4;
	unsigned char skc_reuseport : 1;
	unsigned char skc_ipv6only : 1;
	int skc_bound_dev_if;
	struct in6_addr skc_v6_rcv_saddr;
	struct proto *skc_prot;
	possible_net_t skc_net;
	struct hlist_node skc_node;
	struct hlist_node skc_bind_node;
};

struct sock_cgroup_data {
	struct cgroup *cgroup;
};

struct sock {
	struct sock_common __sk_common;
	u16 sk_protocol;
	struct sock_cgroup_data sk_cgrp_data;
	struct socket *sk_socket;
};

struct ip_options_rcu;
struct ipv6_txoptions;

struct ipv6_pinfo {
	struct ipv6_txoptions *opt;
};

struct inet_sock {
	struct sock sk;
	struct ipv6_pinfo *pinet6;
	struct ip_options_rcu *inet_opt;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	struct inet_bind_bucket *icsk_bind_hash;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
};

struct mptcp_sock {
	struct inet_connection_sock sk;
	struct sock *first;
};

struct tcp6_sock {
	struct tcp_sock tcp;
};

struct udp_sock {
	struct inet_sock inet;
};

struct udp6_sock {
	struct udp_sock udp;
};

struct sockaddr {
	unsigned short sa_family;
};

struct msghdr {
	void *msg_name;
	int msg_namelen;
	void *msg_control;
	unsigned int msg_flags;
	size_t msg_controllen;
};

struct sk_buff {
	unsigned long _skb_refdst;
	unsigned int len;
	unsigned char *data;
};

struct rtable {
	unsigned int rt_flags;
};

struct socket {
	struct sock *sk;
	struct file *file;
};

struct sockaddr_un {
	unsigned short sun_family;
	char sun_path[108];
};

struct unix_address {
	int len;
	struct sockaddr_un name[0];
};

struct unix_sock {
	struct unix_address *addr;
	struct path path;
	struct sock *peer;
};

struct kernel_siginfo;
struct iattr {
	unsigned int ia_valid;
};

struct mnt_idmap;
struct posix_acl;
union bpf_attr;
struct perf_event_attr;

struct kern_ipc_perm {
	bool deleted;
	int id;
	int key;
};

struct pt_regs {
	unsigned long di;
	unsigned long si, dx, orig_ax;
};

struct bpf_sock {
	__u32 family;
	__u32 protocol;
	__u32 src_port;
	__u32 state;
};

struct bpf_sock_addr {
	__u32 user_family;
	__u32 user_ip4;
	__u32 user_ip6[4];
	__u32 user_port;
	__u32 family;
	__u32 type;
	__u32 protocol;
	struct bpf_sock *sk;
};

struct bpf_sockopt {
	struct bpf_sock *sk;
	void *optval;
	void *optval_end;
	__s32 level;
	__s32 optname;
	__s32 optlen;
};

struct __sk_buff {
	__u32 len;
	__u32 pkt_type;
	__u32 protocol;
	__u32 priority;
	__u32 ifindex;
	struct bpf_sock *sk;
};

#pragma clang attribute pop

/* Not the kernel's memory: this very layout is what helpers take. */
struct bpf_sock_tuple {
	union {
		struct {
			__be32 saddr;
			__be32 daddr;
			__be16 sport;
			__be16 dport;
		} ipv4;
		struct {
			__be32 saddr[4];
			__be32 daddr[4];
			__be16 sport;
			__be16 dport;
		} ipv6;
	};
};

#endif
