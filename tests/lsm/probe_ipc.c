// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects of System V and message queues. The first argument of most is the
 * object's number, as *get answered it in .value.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

#include "probe.h"

static int number(const char *s)
{
	return s ? (int)strtoul(s, NULL, 0) : 0;
}

/* KEY [FLAGS]; as with all three: 0666 is among the flags. */
static int op_shmget(char **a, struct probe_reply *r)
{
	r->value = shmget(number(a[0]), 4096, number(a[1]) | 0666);
	return probe_errno(r->value);
}

static int op_semget(char **a, struct probe_reply *r)
{
	r->value = semget(number(a[0]), 1, number(a[1]) | 0666);
	return probe_errno(r->value);
}

/* COUNT: make so many and remove them again; .value: how many there were. */
static int op_semfill(char **a, struct probe_reply *r)
{
	int count = number(a[0]), err = 0, i;
	int *id = calloc(count, sizeof(*id));

	for (i = 0; id && i < count; i++) {
		id[i] = semget(IPC_PRIVATE, 1, 0600);
		err = probe_errno(id[i]);
		if (err)
			break;
	}
	r->value = i;
	while (i-- > 0)
		semctl(id[i], 0, IPC_RMID);
	free(id);
	return err;
}

/* KIND COUNT: make one and remove it, so often. */
static int op_churn(char **a, struct probe_reply *r)
{
	int err = 0;

	for (int i = number(a[1]); !err && i-- > 0;) {
		int id = *a[0] == 'm' ? msgget(IPC_PRIVATE, 0600) :
			 *a[0] == 'e' ? semget(IPC_PRIVATE, 1, 0600) :
			 shmget(IPC_PRIVATE, 4096, 0600);

		err = probe_errno(id);
		if (err)
			break;
		err = probe_errno(*a[0] == 'm' ? msgctl(id, IPC_RMID, NULL) :
				  *a[0] == 'e' ? semctl(id, 0, IPC_RMID) :
				  shmctl(id, IPC_RMID, NULL));
	}
	(void)r;
	return err;
}

static int op_msgget(char **a, struct probe_reply *r)
{
	r->value = msgget(number(a[0]), number(a[1]) | 0666);
	return probe_errno(r->value);
}

/* ID [TEXT]: read it, and write the text if there is one. */
static int op_shmat(char **a, struct probe_reply *r)
{
	char *p = shmat(number(a[0]), NULL, a[1] ? 0 : SHM_RDONLY);

	if (p == (char *)-1)
		return errno;
	memcpy(r->text, p, sizeof(r->text) - 1);
	if (a[1])
		strcpy(p, a[1]);
	return probe_errno(shmdt(p));
}

/* ID COMMAND: the buffer is one of ours. */
static int op_shmctl(char **a, struct probe_reply *r)
{
	struct shmid_ds ds = { 0 };

	r->value = shmctl(number(a[0]), number(a[1]), &ds);
	return probe_errno(r->value);
}

static int op_semctl(char **a, struct probe_reply *r)
{
	struct semid_ds ds = { 0 };
	int cmd = number(a[1]);

	r->value = cmd == SETVAL ? semctl(number(a[0]), 0, cmd, 1) :
		   semctl(number(a[0]), 0, cmd, &ds);
	return probe_errno(r->value);
}

static int op_msgctl(char **a, struct probe_reply *r)
{
	struct msqid_ds ds = { 0 };

	r->value = msgctl(number(a[0]), number(a[1]), &ds);
	return probe_errno(r->value);
}

static int op_semop(char **a, struct probe_reply *r)
{
	struct sembuf up = { 0, 1, 0 }, down = { 0, -1, IPC_NOWAIT };

	(void)r;
	if (semop(number(a[0]), &up, 1))
		return errno;
	return probe_errno(semop(number(a[0]), &down, 1));
}

struct message {
	long type;
	char text[32];
};

static int op_msgsnd(char **a, struct probe_reply *r)
{
	struct message m = { .type = 1 };

	(void)r;
	snprintf(m.text, sizeof(m.text), "%s", a[1]);
	return probe_errno(msgsnd(number(a[0]), &m, sizeof(m.text),
				  IPC_NOWAIT));
}

static int op_msgrcv(char **a, struct probe_reply *r)
{
	struct message m = { 0 };

	if (msgrcv(number(a[0]), &m, sizeof(m.text), 0, IPC_NOWAIT) < 0)
		return errno;
	snprintf(r->text, sizeof(r->text), "%.32s", m.text);
	return 0;
}

/* NAME HOW: c to make it, x for O_EXCL. */
static int op_mq_open(char **a, struct probe_reply *r)
{
	struct mq_attr attr = { .mq_maxmsg = 4, .mq_msgsize = 64 };
	int flags = O_RDWR | O_NONBLOCK | (strchr(a[1], 'c') ? O_CREAT : 0) |
		    (strchr(a[1], 'x') ? O_EXCL : 0);
	mqd_t q = mq_open(a[0], flags, 0666, &attr);

	(void)r;
	if (q == (mqd_t)-1)
		return errno;
	mq_close(q);
	return 0;
}

static int op_mq_send(char **a, struct probe_reply *r)
{
	mqd_t q = mq_open(a[0], O_WRONLY | O_NONBLOCK);
	int err;

	(void)r;
	if (q == (mqd_t)-1)
		return errno;
	err = probe_errno(mq_send(q, a[1], strlen(a[1]) + 1, 0));
	mq_close(q);
	return err;
}

static int op_mq_receive(char **a, struct probe_reply *r)
{
	mqd_t q = mq_open(a[0], O_RDONLY | O_NONBLOCK);
	int err;

	if (q == (mqd_t)-1)
		return errno;
	err = probe_errno(mq_receive(q, r->text, sizeof(r->text), NULL));
	mq_close(q);
	return err;
}

static int op_mq_unlink(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(mq_unlink(a[0]));
}

const struct probe_op probe_ipc_ops[] = {
	{ "shmget", 1, op_shmget },	{ "semget", 1, op_semget },
	{ "semfill", 1, op_semfill },	{ "churn", 2, op_churn },
	{ "msgget", 1, op_msgget },	{ "shmat", 1, op_shmat },
	{ "shmctl", 2, op_shmctl },	{ "semctl", 2, op_semctl },
	{ "msgctl", 2, op_msgctl },	{ "semop", 1, op_semop },
	{ "msgsnd", 2, op_msgsnd },	{ "msgrcv", 1, op_msgrcv },
	{ "mq_open", 2, op_mq_open },	{ "mq_send", 2, op_mq_send },
	{ "mq_receive", 1, op_mq_receive },
	{ "mq_unlink", 1, op_mq_unlink },
	{ NULL, 0, NULL },
};
