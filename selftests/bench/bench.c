// SPDX-License-Identifier: GPL-2.0
/*
 * What perf events cost. The same program runs in a kernel with the series and in
 * one without; what that does not know is left out.
 *
 *   bench [GROUP...]
 *
 * Prints lines "bench: NAME VALUE UNIT"; one ns is one instruction in a guest with
 * such a clock (tools/vm --icount).
 */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define TRACEPOINT	"/sys/kernel/tracing/events/task/task_prctl_unknown/id"
#define PMU_DIR		"/sys/bus/event_source/devices/persistent"

bool have_persistent;

void die(const char *what)
{
	printf("bench: failed: %s: %s\n", what, strerror(errno));
	exit(1);
}

long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

void row(const char *name, double value, const char *unit)
{
	printf("bench: %s %.1f %s\n", name, value, unit);
	fflush(stdout);
}

/* What one op() costs in the best of some batches: the tick comes in between. */
double best(void (*op)(void *arg), void *arg, int rounds)
{
	long long least = -1;

	op(arg);
	for (int batch = 0; batch < BATCHES; batch++) {
		long long start = now(), cost;

		for (int i = 0; i < rounds; i++)
			op(arg);
		cost = now() - start;
		if (least < 0 || cost < least)
			least = cost;
	}
	return (double)least / rounds;
}

void fire(void *unused)
{
	(void)unused;
	syscall(SYS_prctl, FIRE_OPTION, 1, 2, 3, 4);
}

/* Each fire() is a record. */
struct perf_event_attr attr_fire(void)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_TRACEPOINT,
		.size		= sizeof(attr),
		.sample_period	= 1,
		.sample_type	= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				  PERF_SAMPLE_CPU | PERF_SAMPLE_RAW,
	};
	static int id;
	FILE *f;

	if (!id) {
		f = fopen(TRACEPOINT, "r");
		if (!f || fscanf(f, "%d", &id) != 1)
			die(TRACEPOINT);
		fclose(f);
	}
	attr.config = id;
	return attr;
}

struct perf_event_attr attr_software(__u64 config)
{
	struct perf_event_attr attr = {
		.type	= PERF_TYPE_SOFTWARE,
		.size	= sizeof(attr),
		.config	= config,
	};

	return attr;
}

int event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, 0);

	if (fd < 0)
		die("perf_event_open");
	return fd;
}

int open_id(__u64 id, int cpu)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_PERSISTENT,
		.size		= sizeof(attr),
		.config		= id,
		.persistent	= 1,
	};

	return event_open(&attr, -1, cpu);
}

/*
 * Buffers are mapped at the same two places all the time, beside pages that stay: so
 * none takes or frees a page table.
 */
static char *places;
static bool taken[2];

#define PLACE	(1UL << 20)

static void make_places(void)
{
	char *at = mmap(NULL, 4 * PLACE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("mmap");
	/* One page table has 2 MiB. */
	places = (char *)(((unsigned long)at + 2 * PLACE - 1) & -(2 * PLACE));
	for (int i = 0; i < 2; i++) {
		char *page = places + i * PLACE + PAGE + BUFFER;

		if (munmap(places + i * PLACE, PAGE + BUFFER) ||
		    mprotect(page, PAGE, PROT_READ | PROT_WRITE))
			die("mmap");
		*page = 1;
	}
}

void *map(int fd, int prot)
{
	int place = taken[0];
	void *at = mmap(places + place * PLACE, PAGE + BUFFER, prot,
			MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);

	if (at == MAP_FAILED)
		die("mmap of a buffer");
	taken[place] = true;
	return at;
}

void unmap(void *at)
{
	if (munmap(at, PAGE + BUFFER))
		die("munmap");
	taken[at != places] = false;
}

/* Make an event persistent: in an entry of its own, or in that of id @join. */
__u64 detach(int fd, __u64 join)
{
	struct perf_event_persistent entry = { .size = sizeof(entry), .id = join };

	if (ioctl(fd, PERF_EVENT_IOC_DETACH, &entry))
		die("DETACH");
	return entry.id;
}

void drop(__u64 id, int cpu)
{
	int fd = open_id(id, cpu);

	if (ioctl(fd, PERF_EVENT_IOC_ATTACH))
		die("ATTACH");
	close(fd);
}

/*
 * Mapped with PROT_WRITE the buffer keeps its oldest records, else the newest. Who has
 * made a persistent event leaves it, and a reader comes.
 */
void subject_make(struct subject *s, struct perf_event_attr *attr, pid_t pid, int cpu, int prot)
{
	s->fd = event_open(attr, pid, cpu);
	s->at = map(s->fd, prot);
	if (!s->persistent)
		return;
	s->id = detach(s->fd, 0);
	unmap(s->at);
	close(s->fd);
	s->fd = open_id(s->id, cpu);
	s->at = map(s->fd, PROT_READ);
}

void subject_drop(struct subject *s)
{
	if (s->persistent && ioctl(s->fd, PERF_EVENT_IOC_ATTACH))
		die("ATTACH");
	unmap(s->at);
	close(s->fd);
}

/* Events that the kernel made at boot are neighbours that the other kernel has not. */
static void drop_all(void)
{
	DIR *dir = opendir(PMU_DIR "/entries");
	struct dirent *de;

	if (!dir)
		die(PMU_DIR);
	while ((de = readdir(dir))) {
		if (de->d_name[0] != '.')
			drop(strtoull(de->d_name, NULL, 10), 0);
	}
	closedir(dir);
}

static const struct {
	const char	*name;
	void		(*run)(void);
} groups[] = {
	{ "record",	bench_record },
	{ "sample",	bench_sample },
	{ "read",	bench_read },
	{ "switch",	bench_switch },
	{ "control",	bench_control },
	{ "life",	bench_life },
	{ "memory",	bench_memory },
};

int main(int argc, char **argv)
{
	struct rlimit files = { 4096, 4096 };
	cpu_set_t set;
	size_t i;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || setrlimit(RLIMIT_NOFILE, &files))
		die("setup");
	make_places();
	have_persistent = !access(PMU_DIR, F_OK);
	if (have_persistent)
		drop_all();
	if (argc < 2) {
		for (i = 0; i < ARRAY_SIZE(groups); i++)
			groups[i].run();
	}
	for (int arg = 1; arg < argc; arg++) {
		for (i = 0; i < ARRAY_SIZE(groups) && strcmp(groups[i].name, argv[arg]); i++)
			;
		if (i == ARRAY_SIZE(groups)) {
			printf("usage: bench [GROUP...]; there are:");
			for (i = 0; i < ARRAY_SIZE(groups); i++)
				printf(" %s", groups[i].name);
			printf("\n");
			return 2;
		}
		groups[i].run();
	}
	printf("bench: done\n");
	return 0;
}
