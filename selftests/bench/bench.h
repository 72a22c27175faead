/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <linux/perf_event.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define PAGE		4096UL
#define BUFFER		(512UL << 10)	/* the data part of a buffer */
#define BATCHES		10

/* No prctl() has this number: each call fires task:task_prctl_unknown once. */
#define FIRE_OPTION	0x7065

extern bool have_persistent;

void die(const char *what) __attribute__((noreturn));
long long now(void);
void row(const char *name, double value, const char *unit);
double best(void (*op)(void *arg), void *arg, int rounds);
void fire(void *unused);

struct perf_event_attr attr_fire(void);
struct perf_event_attr attr_software(__u64 config);
int event_open(struct perf_event_attr *attr, pid_t pid, int cpu);
int open_id(__u64 id, int cpu);
void *map(int fd, int prot);
void unmap(void *at);
__u64 detach(int fd, __u64 join);
void drop(__u64 id, int cpu);

/* An event and its buffer, mapped: of this process, or a persistent one by its id. */
struct subject {
	bool	persistent;
	int	fd;
	__u64	id;
	void	*at;
};

void subject_make(struct subject *s, struct perf_event_attr *attr, pid_t pid, int cpu, int prot);
void subject_drop(struct subject *s);

void bench_record(void);
void bench_sample(void);
void bench_read(void);
void bench_switch(void);
void bench_control(void);
void bench_life(void);
void bench_memory(void);

#endif
