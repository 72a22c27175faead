// SPDX-License-Identifier: GPL-2.0
/*
 * What it costs to stop and start one event while others are on its CPU: by
 * DISABLE and ENABLE, and by STOP and START. The guest's clock counts instructions,
 * see selftests/jobs/stop-start-cost.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#define LIMIT	1500
#define ROUNDS	100
#define BATCHES	10

static const int neighbours[] = { 0, 16, 64, 256 };

static void die(const char *what)
{
	printf("stop_start_cost: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Nothing fires it: what is measured is the control of the event. */
static int event_open(pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type	= PERF_TYPE_SOFTWARE,
		.size	= sizeof(attr),
		.config	= PERF_COUNT_SW_EMULATION_FAULTS,
	};
	int fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1, 0);

	if (fd < 0)
		die("perf_event_open");
	return fd;
}

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* The best of some batches: interrupts come in between. */
static long pair(int fd, unsigned long off, unsigned long on)
{
	unsigned long long id;
	long best = -1;

	for (int batch = 0; batch < BATCHES; batch++) {
		long long start = now();
		long cost;

		for (int i = 0; i < ROUNDS; i++) {
			if (ioctl(fd, off, off == PERF_EVENT_IOC_ID ? &id : 0) ||
			    ioctl(fd, on, on == PERF_EVENT_IOC_ID ? &id : 0))
				die("ioctl");
		}
		cost = (now() - start) / ROUNDS;
		if (best < 0 || cost < best)
			best = cost;
	}
	return best;
}

static long measure(const char *what, int fd, int nr)
{
	long slow = pair(fd, PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_ENABLE);
	long fast = pair(fd, PERF_EVENT_IOC_STOP, PERF_EVENT_IOC_START);

	printf("%-6s %10d %15ld %11ld\n", what, nr, slow, fast);
	return fast;
}

int main(void)
{
	struct rlimit files = { 1024, 1024 };
	int task, cpu, open = 0;
	cpu_set_t set;
	long worst = 0;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || setrlimit(RLIMIT_NOFILE, &files))
		die("setup");
	task = event_open(0, -1);
	cpu = event_open(-1, 0);

	printf("Instructions to stop and start one software event again, with the system calls:\n");
	printf("%-6s %10s %15s %11s\n", "event", "neighbours", "DISABLE, ENABLE", "STOP, START");
	for (size_t i = 0; i < sizeof(neighbours) / sizeof(neighbours[0]); i++) {
		long cost;

		for (; open < neighbours[i]; open++)
			event_open(-1, 0);
		cost = measure("task", task, open);
		if (cost > worst)
			worst = cost;
		cost = measure("CPU", cpu, open);
		if (cost > worst)
			worst = cost;
	}
	printf("Of that, two ioctls that do next to nothing: %ld\n",
	       pair(cpu, PERF_EVENT_IOC_ID, PERF_EVENT_IOC_ID));
	printf("stop_start_cost: at most %ld of %d instructions for STOP and START\n", worst, LIMIT);
	return worst > LIMIT;
}
