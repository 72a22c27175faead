// SPDX-License-Identifier: GPL-2.0
/* What it costs to make an event, to map it and to let it go; and its memory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

#define ROUNDS		5
#define SINGLES		100
#define ENTRIES		1000

#define ENTRIES_DIR	"/sys/bus/event_source/devices/persistent/entries"
#define MAX_PERSISTENT	"/proc/sys/kernel/perf_event_max_persistent"

static struct perf_event_attr software;

static void open_close(void *unused)
{
	(void)unused;
	close(event_open(&software, -1, 0));
}

static void open_map_close(void *unused)
{
	int fd = event_open(&software, -1, 0);

	(void)unused;
	unmap(map(fd, PROT_READ));
	close(fd);
}

static void open_map_close_id(void *id)
{
	int fd = open_id(*(__u64 *)id, 0);

	unmap(map(fd, PROT_READ));
	close(fd);
}

static void map_unmap(void *fd)
{
	unmap(map(*(int *)fd, PROT_READ));
}

struct range {
	long long	min, max;
};

static void take(struct range *r, long long cost)
{
	if (!r->max || cost < r->min)
		r->min = cost;
	if (cost > r->max)
		r->max = cost;
}

static long long since(long long start)
{
	return now() - start;
}

/* How long close() takes at most: of a new event of each kind, and of one by id. */
static void latency(void)
{
	struct perf_event_attr tracepoint = attr_fire();
	struct perf_event_attr *attrs[] = { &software, &tracepoint };
	static const char * const names[] = { "software", "tracepoint" };
	char name[64];

	for (int kind = 0; kind < 2; kind++) {
		struct range r = { 0 };

		for (int i = 0; i < SINGLES; i++) {
			int fd = event_open(attrs[kind], -1, 0);
			void *at = map(fd, PROT_READ);
			long long start = now();

			unmap(at);
			close(fd);
			take(&r, since(start));
		}
		snprintf(name, sizeof(name), "close-max.%s", names[kind]);
		row(name, r.max, "ns");
	}
	for (int kind = 0; have_persistent && kind < 2; kind++) {
		struct subject s = { .persistent = true };
		struct range r = { 0 };

		subject_make(&s, attrs[kind], -1, 0, PROT_READ);
		for (int i = 0; i < SINGLES; i++) {
			int fd = open_id(s.id, 0);
			void *at = map(fd, PROT_READ);
			long long start = now();

			unmap(at);
			close(fd);
			take(&r, since(start));
		}
		subject_drop(&s);
		snprintf(name, sizeof(name), "close-max.%s.id", names[kind]);
		row(name, r.max, "ns");
	}
}

static void registry(void)
{
	struct range det = { 0 }, att = { 0 };

	for (int i = 0; i < SINGLES; i++) {
		struct perf_event_persistent entry = { .size = sizeof(entry) };
		int fd = event_open(&software, -1, 0);
		long long start = now();

		if (ioctl(fd, PERF_EVENT_IOC_DETACH, &entry))
			die("DETACH");
		take(&det, since(start));
		start = now();
		if (ioctl(fd, PERF_EVENT_IOC_ATTACH))
			die("ATTACH");
		take(&att, since(start));
		close(fd);
	}
	row("detach", det.min, "ns");
	row("attach", att.min, "ns");
}

void bench_life(void)
{
	int fd;
	void *at;

	software = attr_software(PERF_COUNT_SW_EMULATION_FAULTS);
	row("open-close", best(open_close, NULL, 20), "ns");
	row("open-map-close", best(open_map_close, NULL, ROUNDS), "ns");
	fd = event_open(&software, -1, 0);
	at = map(fd, PROT_READ);
	row("map-unmap", best(map_unmap, &fd, ROUNDS), "ns");
	unmap(at);
	close(fd);

	if (have_persistent) {
		struct subject s = { .persistent = true };

		subject_make(&s, &software, -1, 0, PROT_READ);
		row("open-map-close.id", best(open_map_close_id, &s.id, ROUNDS), "ns");
		row("map-unmap.id", best(map_unmap, &s.fd, ROUNDS), "ns");
		subject_drop(&s);
		registry();
	}
	latency();
}

/* Bytes of the kernel's allocators. */
static long used(void)
{
	char line[128];
	long sum = 0, kb;
	FILE *f = fopen("/proc/meminfo", "r");

	if (!f)
		die("meminfo");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Slab: %ld", &kb) == 1 || sscanf(line, "Percpu: %ld", &kb) == 1 ||
		    sscanf(line, "VmallocUsed: %ld", &kb) == 1)
			sum += kb << 10;
	}
	fclose(f);
	return sum;
}

/* Files and folders of an entry in sysfs; one more shows its name in events/. */
static int nodes(__u64 id)
{
	char path[128];
	struct dirent *de;
	int n = 2;
	DIR *dir;

	snprintf(path, sizeof(path), ENTRIES_DIR "/%llu", (unsigned long long)id);
	dir = opendir(path);
	if (!dir)
		die(path);
	while ((de = readdir(dir)))
		n += strcmp(de->d_name, ".") && strcmp(de->d_name, "..");
	closedir(dir);
	return n;
}

static struct perf_event_attr counter;

/* Entries of one event of this task each, which nobody has open. */
static void entries(__u64 *ids)
{
	for (int i = 0; i < ENTRIES; i++) {
		int fd = event_open(&counter, 0, -1);

		ids[i] = detach(fd, 0);
		close(fd);
	}
}

/* One more event in each of them. */
static void join(__u64 *ids)
{
	for (int i = 0; i < ENTRIES; i++) {
		int fd = event_open(&counter, 0, 0);

		detach(fd, ids[i]);
		close(fd);
	}
}

void bench_memory(void)
{
	static __u64 ids[2][ENTRIES];
	static int fds[2][ENTRIES];
	long before, one, two;
	int limit;

	counter = attr_software(PERF_COUNT_SW_EMULATION_FAULTS);
	counter.disabled = 1;
	/* The first ones fill up what the allocators have begun. */
	for (int n = 0; n < 2; n++) {
		before = used();
		for (int i = 0; i < ENTRIES; i++)
			fds[n][i] = event_open(&counter, 0, -1);
	}
	row("memory.event-and-file", (double)(used() - before) / ENTRIES, "bytes");
	for (int i = 0; i < ENTRIES; i++) {
		close(fds[0][i]);
		close(fds[1][i]);
	}
	if (!have_persistent)
		return;

	sleep(1);
	limit = open(MAX_PERSISTENT, O_WRONLY);
	if (limit < 0 || write(limit, "4000", 4) != 4)
		die(MAX_PERSISTENT);
	close(limit);
	entries(ids[0]);
	join(ids[0]);
	before = used();
	entries(ids[1]);
	one = used() - before;
	join(ids[1]);
	two = used() - before;
	row("memory.persistent-event", (double)(two - one) / ENTRIES, "bytes");
	row("memory.entry", (double)(2 * one - two) / ENTRIES, "bytes");
	row("memory.sysfs-nodes", nodes(ids[1][0]), "nodes");
	for (int n = 0; n < 2; n++) {
		for (int i = 0; i < ENTRIES; i++) {
			drop(ids[n][i], -1);
			drop(ids[n][i], 0);
		}
	}
}
