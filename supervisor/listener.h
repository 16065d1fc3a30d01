/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Of the system calls that seccomp refuses the kernel asks a listener, and the
 * caller waits for it. The keeper holds the only one: it notes the call in a
 * book that it shares with the supervisor, and refuses; it can do nothing else.
 * It never waits for the supervisor, which turns the book into records.
 */
#ifndef LH_LISTENER_H
#define LH_LISTENER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

#include "../bpf/abi.h"
#include "../policy-compiler/image.h"

#define BOOK_ENTRIES 64
#define BOOK_EXE 1024		/* bytes of a program's path */

/*
 * Equal calls of one thread. The keeper alone writes an entry whose count is 0,
 * and makes that 1 when the rest stands; from then on it only adds to it. The
 * supervisor copies an entry and takes the count, which frees it.
 */
struct book_entry {
	__u64 count;
	/* A record, as it would come from a ring: */
	struct lh_denial d;
	__u64 args[LH_SYSCALL_ARGS];
	char exe[BOOK_EXE];
};

/* In memory that both share, so that the keeper's end loses nothing. */
struct book {
	__u32 told;		/* what the supervisor was told last */
	__u32 pad;
	__u64 seq, lost;	/* where there is no engine to count */
	struct book_entry entry[BOOK_ENTRIES];
};

/* Zeroed; NULL with errno. Shared with what is forked from now on. */
struct book *book_new(void);
/*
 * Take an entry out: false, there is none from *at on. *size is that of the
 * record, which begins at out->d.
 */
bool book_take(struct book *b, size_t *at, struct book_entry *out,
	       size_t *size);

struct listener {
	int fd;			/* -1: not here, or no more */
	struct book *book;
	volatile __u64 *seq, *lost;	/* the session's counters */
	__u64 serial;
	const struct image *im;	/* whose filter says what is answered */
};

/*
 * For the command's first process: put the filter of @im on, and send the
 * listener to who holds the other end of @socket. 0; or *unheard is why there
 * can be no listener, and the filter refuses without one; or negative errno.
 */
int listener_make(const struct image *im, int socket, int *unheard);

/* What listener_make() sent: a descriptor, or -1: nothing was, or will be. */
int listener_receive(int socket);
/* How much the supervisor is to be told, if it was not told as much. */
enum { LISTENER_CALM, LISTENER_NEWS, LISTENER_FULL };
/* Answer some of those who wait; more may be waiting after it. */
int listener_serve(struct listener *l);

#endif
