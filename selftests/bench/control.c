// SPDX-License-Identifier: GPL-2.0
/* What it costs to switch between tasks, and to stop and start an event. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

static int there[2], back[2];

/* To the other task and back: two switches, since there is one CPU. */
static void ping(void *unused)
{
	char c = 0;

	(void)unused;
	if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
		die("pipe");
}

/* The same pipe without another task. */
static void alone(void *unused)
{
	char c = 0;

	(void)unused;
	if (write(there[1], &c, 1) != 1 || read(there[0], &c, 1) != 1)
		die("pipe");
}

void bench_switch(void)
{
	struct perf_event_attr attr = attr_software(PERF_COUNT_SW_EMULATION_FAULTS);
	struct sched_param high = { .sched_priority = 1 }, normal = { 0 };
	pid_t child;
	int fd, cpu;

	if (pipe(there) || pipe(back))
		die("pipe");
	/* The hooks of perf stay in the scheduler for a second after the last event. */
	sleep(2);
	row("pipe", best(alone, NULL, 100), "ns");
	/* What a fair scheduler does depends on the time. */
	if (sched_setscheduler(0, SCHED_FIFO, &high))
		die("SCHED_FIFO");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		char c;

		while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
			;
		_exit(0);
	}
	row("switch.none", best(ping, NULL, 100) / 2, "ns");
	fd = event_open(&attr, 0, -1);
	row("switch.event", best(ping, NULL, 100) / 2, "ns");
	cpu = event_open(&attr, -1, 0);
	row("switch.events", best(ping, NULL, 100) / 2, "ns");
	close(cpu);
	if (have_persistent) {
		/* The same event, held by the registry alone. */
		__u64 id = detach(fd, 0);

		close(fd);
		row("switch.persistent", best(ping, NULL, 100) / 2, "ns");
		drop(id, -1);
	} else {
		close(fd);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	sched_setscheduler(0, SCHED_OTHER, &normal);
}

struct pair {
	int		fd;
	unsigned long	off, on;
};

static void toggle(void *arg)
{
	struct pair *p = arg;

	if (ioctl(p->fd, p->off, 0) || ioctl(p->fd, p->on, 0))
		die("ioctl");
}

/* What of that is the way to any ioctl: two that do next to nothing. */
static void two_ids(void *arg)
{
	int fd = *(int *)arg;
	__u64 id;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) || ioctl(fd, PERF_EVENT_IOC_ID, &id))
		die("ioctl");
}

static void measure(const char *what, const char *target, int fd, int neighbours,
		    unsigned long off, unsigned long on)
{
	struct pair p = { fd, off, on };
	char name[64];

	snprintf(name, sizeof(name), "%s.%s.%d", what, target, neighbours);
	row(name, best(toggle, &p, 10), "ns");
}

/* An event of the task and one of the CPU, while others are on that CPU. */
void bench_control(void)
{
	static const int neighbours[] = { 0, 16, 64, 256 };
	/* Nothing fires it: what is measured is the control of the event. */
	struct perf_event_attr attr = attr_software(PERF_COUNT_SW_EMULATION_FAULTS);
	int fds[256], n = 0, event[2];
	bool stop;

	event[0] = event_open(&attr, 0, -1);
	event[1] = event_open(&attr, -1, 0);
	stop = !ioctl(event[0], PERF_EVENT_IOC_STOP, 0) &&
	       !ioctl(event[0], PERF_EVENT_IOC_START, 0);

	for (size_t i = 0; i < ARRAY_SIZE(neighbours); i++) {
		for (; n < neighbours[i]; n++)
			fds[n] = event_open(&attr, -1, 0);
		for (int cpu = 0; cpu < 2; cpu++) {
			const char *target = cpu ? "cpu" : "task";

			measure("disable-enable", target, event[cpu], n,
				PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_ENABLE);
			if (stop)
				measure("stop-start", target, event[cpu], n,
					PERF_EVENT_IOC_STOP, PERF_EVENT_IOC_START);
		}
	}
	row("two-ioctls", best(two_ids, &event[1], 10), "ns");
	while (n)
		close(fds[--n]);
	close(event[0]);
	close(event[1]);
}
