// SPDX-License-Identifier: GPL-2.0
/*
 * Many persistent events.
 *
 *   scale cost          what it costs to open by id, create and remove an entry when
 *                       there are 10, 1,000 and 10,000; in instructions, if the clock
 *                       counts them. Nothing may grow.
 *   scale load ROUNDS   10,000 entries, 1,000 readers of one entry from several processes,
 *                       then ROUNDS times create and remove on all CPUs: the memory is
 *                       flat, and in the end all of it is free again
 *
 * The events are disabled: those that are enabled cost each other, as all events do.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ENTRIES		"/sys/bus/event_source/devices/persistent/entries"
#define MAX_PERSISTENT	"/proc/sys/kernel/perf_event_max_persistent"
#define NR_ENTRIES	10000
#define NR_READERS	1000
#define NR_PROCS	10
#define REPEAT		21
#define PAGES		9
#define NOISE		8192	/* KiB */

static __u64 ids[NR_ENTRIES];
static int nr_ids, nr_cpus;
static long page_size;

static void __attribute__((format(printf, 1, 2), noreturn)) die(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	printf("scale: ");
	vprintf(fmt, ap);
	va_end(ap);
	printf(": %s\n", strerror(err));
	exit(1);
}

static int event_open(struct perf_event_attr *attr, int cpu, unsigned long flags)
{
	attr->size = sizeof(*attr);
	return syscall(__NR_perf_event_open, attr, -1, cpu, -1, flags | PERF_FLAG_FD_CLOEXEC);
}

static int open_disabled(int cpu, bool persistent)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .disabled = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER, .persistent = persistent,
	};

	return event_open(&attr, cpu, 0);
}

static int open_id(__u64 id, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_PERSISTENT, .config = id, .persistent = 1,
	};

	return event_open(&attr, cpu, 0);
}

static __u64 detach(int fd, __u64 join)
{
	struct perf_event_persistent req = { .size = sizeof(req), .id = join };

	if (ioctl(fd, PERF_EVENT_IOC_DETACH, &req))
		die("DETACH with %d entries", nr_ids);
	return req.id;
}

static void let_go(int fd)
{
	if (ioctl(fd, PERF_EVENT_IOC_ATTACH))
		die("ATTACH with %d entries", nr_ids);
	if (close(fd))
		die("close");
}

static void make_entries(int n)
{
	while (nr_ids < n) {
		int fd = open_disabled(nr_ids % nr_cpus, false);

		if (fd < 0)
			die("cannot open event %d", nr_ids);
		ids[nr_ids] = detach(fd, 0);
		nr_ids++;
		close(fd);
	}
}

static void remove_entries(void)
{
	while (nr_ids) {
		int fd = open_id(ids[--nr_ids], -1);

		if (fd < 0)
			die("entry %d cannot be opened", nr_ids);
		let_go(fd);
	}
}

static __u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* What is measured. Those that the call needs are made before, one for each time. */
enum { OPEN, QUERY, CREATE, REMOVE, NR_COSTS };
static const char * const cost_name[] = {
	"open by id and close", "QUERY_PERSISTENT", "DETACH", "ATTACH",
};

/* An interrupt costs what it costs: the median. */
static int compare(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void measure(__u64 *cost)
{
	struct perf_event_persistent req = { .size = sizeof(req) };
	static __u64 took[NR_COSTS][REPEAT];
	int fd;

	for (int i = 0; i < REPEAT; i++) {
		__u64 id = ids[(long)i * nr_ids / REPEAT], t[6];

		t[0] = now();
		fd = open_id(id, -1);
		close(fd);
		t[1] = now();
		if (fd < 0)
			die("an entry cannot be opened");
		fd = open_disabled(0, false);
		t[2] = now();
		detach(fd, 0);
		t[3] = now();
		ioctl(fd, PERF_EVENT_IOC_QUERY_PERSISTENT, &req);
		t[4] = now();
		ioctl(fd, PERF_EVENT_IOC_ATTACH);
		t[5] = now();
		close(fd);
		took[OPEN][i] = t[1] - t[0];
		took[CREATE][i] = t[3] - t[2];
		took[QUERY][i] = t[4] - t[3];
		took[REMOVE][i] = t[5] - t[4];
	}
	for (int c = 0; c < NR_COSTS; c++) {
		qsort(took[c], REPEAT, sizeof(took[c][0]), compare);
		cost[c] = took[c][REPEAT / 2];
	}
}

static int cost(void)
{
	static const int numbers[] = { 10, 1000, NR_ENTRIES };
	__u64 costs[3][NR_COSTS];
	int bad = 0;

	for (int n = 0; n < 3; n++) {
		make_entries(numbers[n]);
		measure(costs[n]);	/* what is first is slow */
		measure(costs[n]);
	}
	remove_entries();
	printf("%-22s %10d %10d %10d entries\n", "", numbers[0], numbers[1], numbers[2]);
	for (int c = 0; c < NR_COSTS; c++) {
		/* A tree of names gets higher: 10 more steps from 10 to 10,000. */
		bool grows = costs[2][c] > costs[0][c] + costs[0][c] / 4 + 2000;

		printf("%-22s %10llu %10llu %10llu%s\n", cost_name[c], costs[0][c], costs[1][c],
		       costs[2][c], grows ? "   <- grows" : "");
		bad |= grows;
	}
	printf("scale: %s\n", bad ? "something grows with the number of entries" :
	       "nothing grows with the number of entries");
	return bad;
}

static long memory(const char *field)
{
	char line[256];
	long kb = -1;
	FILE *f = fopen("/proc/meminfo", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, field, strlen(field)))
			kb = atol(line + strlen(field));
	}
	if (f)
		fclose(f);
	return kb;
}

/*
 * Kernel objects, and everything. The latter has the lists of free pages of each CPU in
 * it, a MiB more or less; but only there the pages of buffers are.
 */
struct mem {
	long	objects, all;
};

/* What was freed by RCU is free, and the caches are what they are. */
static struct mem used(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	usleep(500000);
	if (fd < 0 || write(fd, "3", 1) != 1)
		die("cannot drop caches");
	close(fd);
	return (struct mem) {
		.objects = memory("Slab:") + memory("PageTables:") + memory("KernelStack:") +
			   memory("Percpu:"),
		.all = memory("MemTotal:") - memory("MemFree:"),
	};
}

/* Before a comparison: what is yet to be freed must not hide a leak. */
static struct mem settled(void)
{
	struct mem now = used(), last;

	for (int i = 0, same = 0; i < 40 && same < 4; i++) {
		last = now;
		now = used();
		same = last.objects - now.objects < 64 ? same + 1 : 0;
	}
	return now;
}

/* What goes with RCU, or by a worker, takes its time: wait until it is no more than that. */
static bool show(const char *what, struct mem before, long limit)
{
	struct mem after;
	bool good = false;

	for (int i = 0; i < 20 && !good; i++) {
		after = used();
		good = after.objects - before.objects <= limit &&
		       after.all - before.all <= limit + NOISE;
	}
	printf("%-30s %8ld KiB more in objects, %8ld in all%s\n", what,
	       after.objects - before.objects, after.all - before.all,
	       good ? "" : "   <- too much");
	return good;
}

static void read_one(__u64 id, int begun, int end)
{
	static int fds[NR_READERS / NR_PROCS];
	char byte = 0;

	for (int i = 0; i < NR_READERS / NR_PROCS; i++) {
		fds[i] = open_id(id, 0);
		if (fds[i] < 0 || mmap(NULL, PAGES * page_size, PROT_READ, MAP_SHARED, fds[i], 0) ==
				  MAP_FAILED)
			die("reader %d", i);
	}
	if (write(begun, &byte, 1) != 1 || read(end, &byte, 1) < 0)
		_exit(1);
	_exit(0);
}

static bool readers(void)
{
	int begun[2], end[2], status, fd = open_disabled(0, false);
	bool good = true;
	char byte;
	__u64 id;
	struct mem before;

	if (fd < 0 || mmap(NULL, PAGES * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) ==
		      MAP_FAILED || pipe(begun) || pipe(end))
		die("cannot make the entry to read");
	id = detach(fd, 0);
	before = settled();
	for (int i = 0; i < NR_PROCS; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid) {
			close(end[1]);
			read_one(id, begun[1], end[0]);
		}
	}
	for (int i = 0; i < NR_PROCS; i++) {
		if (read(begun[0], &byte, 1) != 1)
			die("a reader is gone");
	}
	/* A file, a mapping and their page table. */
	good &= show("1,000 readers", before, 16 * NR_READERS);
	close(end[1]);
	while (wait(&status) > 0)
		good &= !status;
	good &= show("after them", before, 2048);
	let_go(fd);
	return good;
}

static unsigned long rounds;

/* Its own CPU's event, and one of each other CPU now and then. */
static void *churn(void *arg)
{
	int cpu = (long)arg;
	unsigned long n = rounds / nr_cpus;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (unsigned long i = 0; i < n; i++) {
		int fd = open_disabled(cpu, i % 2), more[64];
		void *ptr = MAP_FAILED;
		__u64 id = 0;

		if (fd < 0)
			die("round %lu", i);
		if (!(i % 8))
			ptr = mmap(NULL, PAGES * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (!(i % 2))
			id = detach(fd, 0);
		for (int c = 0; c < nr_cpus && id && !(i % 64); c++) {
			more[c] = c == cpu ? -1 : open_disabled(c, false);
			if (more[c] >= 0)
				detach(more[c], id);
		}
		for (int c = 0; c < nr_cpus && id && !(i % 64); c++) {
			if (more[c] >= 0)
				let_go(more[c]);
		}
		if (ptr != MAP_FAILED)
			munmap(ptr, PAGES * page_size);
		let_go(fd);
	}
	return NULL;
}

static void churn_all(unsigned long n)
{
	pthread_t threads[64];

	rounds = n;
	for (long i = 0; i < nr_cpus; i++) {
		if (pthread_create(&threads[i], NULL, churn, (void *)i))
			die("cannot create a thread");
	}
	for (int i = 0; i < nr_cpus; i++)
		pthread_join(threads[i], NULL);
}

static int count_entries(void)
{
	DIR *dir = opendir(ENTRIES);
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

/* All entries come and go, with readers of one more. */
static bool cycle(bool tell)
{
	struct mem before = settled(), with;
	bool good;

	make_entries(NR_ENTRIES);
	with = settled();
	if (tell)
		printf("%-30s %8ld bytes of objects\n", "an entry, with event and sysfs",
		       (with.objects - before.objects) * 1024 / NR_ENTRIES);
	good = readers();
	remove_entries();
	return good;
}

static int load(unsigned long n)
{
	int entries = count_entries();
	struct mem before;
	bool good;

	/* The caches keep what they needed once; only the second time tells a leak. */
	good = cycle(false);
	before = settled();
	good &= cycle(true);
	good &= show("10,000 entries, removed", before, 1024);

	churn_all(n / 10);
	before = settled();
	churn_all(n);
	good &= show("rounds of create and remove", before, 1024);
	if (count_entries() != entries) {
		printf("scale: %d entries before, %d after\n", entries, count_entries());
		good = false;
	}
	printf("scale: %d entries, %d readers, %lu rounds on %d CPUs: %s\n", NR_ENTRIES, NR_READERS,
	       n, nr_cpus, good ? "the memory is flat" : "failed");
	return !good;
}

int main(int argc, char **argv)
{
	struct rlimit files = { 4096, 4096 };
	int fd = open(MAX_PERSISTENT, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "20000", 5) != 5)
		die("cannot raise the limit of entries");
	close(fd);
	page_size = sysconf(_SC_PAGESIZE);
	nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	setrlimit(RLIMIT_NOFILE, &files);
	if (argc == 2 && !strcmp(argv[1], "cost"))
		return cost();
	if (argc == 3 && !strcmp(argv[1], "load") && atol(argv[2]) > 0)
		return load(atol(argv[2]));
	printf("scale: say cost, or load and a number of rounds\n");
	return 2;
}
