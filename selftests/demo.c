// SPDX-License-Identifier: GPL-2.0
/*
 * The demo's two processes: one that makes an event persistent and can then be
 * killed, and one that knows nothing but the name and reads what was recorded.
 *
 *   demo record NAME tracepoint ID | clock
 *   demo read NAME
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#define SYSFS		"/sys/bus/event_source/devices/persistent"
#define BUFFER_SIZE	(16UL << 20)	/* for each CPU; a power of two of pages */
#define MAX_CPUS	64

static void __attribute__((format(printf, 1, 2), noreturn)) die(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	printf("demo: ");
	vprintf(fmt, ap);
	va_end(ap);
	if (err)
		printf(": %s", strerror(err));
	printf("\n");
	exit(1);
}

static int perf_event_open(struct perf_event_attr *attr, int cpu, unsigned long flags)
{
	return syscall(__NR_perf_event_open, attr, -1, cpu, -1, flags);
}

static void record(const char *name, struct perf_event_attr *attr)
{
	struct perf_event_persistent entry = { .size = sizeof(entry) };
	long page = sysconf(_SC_PAGESIZE);
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);

	attr->size = sizeof(*attr);
	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			    PERF_SAMPLE_CPU;
	attr->read_format = PERF_FORMAT_LOST;
	strncpy(entry.name, name, sizeof(entry.name) - 1);

	for (int cpu = 0; cpu < cpus; cpu++) {
		int fd = perf_event_open(attr, cpu, PERF_FLAG_FD_CLOEXEC);

		if (fd < 0)
			die("cannot open the event on CPU %d", cpu);
		/* Writable: the oldest records are kept, the newest are lost. */
		if (mmap(NULL, page + BUFFER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			 fd, 0) == MAP_FAILED)
			die("cannot map the buffer");
		if (ioctl(fd, PERF_EVENT_IOC_DETACH, &entry))
			die("cannot make the event persistent");
		/* The other CPUs' events join the entry of the first. */
		memset(entry.name, 0, sizeof(entry.name));
	}
	printf("   process %d recorded \"%s\" on %d CPUs and has id %llu\n", getpid(), name, cpus,
	       (unsigned long long)entry.id);
	fflush(stdout);
	pause();
}

/* The first line of a sysfs file. */
static void sysfs(char *buf, size_t size, const char *fmt, ...)
{
	char path[512];
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	f = fopen(path, "r");
	if (!f || !fgets(buf, size, f))
		die("cannot read %s", path);
	fclose(f);
	buf[strcspn(buf, "\n")] = 0;
}

struct stats {
	uint64_t records, lost, first, last;
};

/* A record in the ring may wrap around its end. */
static void copy(void *to, const char *data, uint64_t size, uint64_t pos, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((char *)to)[i] = data[(pos + i) & (size - 1)];
}

static void read_buffer(int fd, struct stats *s)
{
	struct { uint64_t id; uint32_t pid, tid; uint64_t time; uint32_t cpu, res; } sample;
	long page = sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *pc;
	struct perf_event_header hdr;
	struct { uint64_t value, lost; } count;
	uint64_t size, offset;

	/* The control page alone tells how large the whole is. */
	pc = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	if (pc == MAP_FAILED)
		die("cannot map the control page");
	offset = pc->data_offset;
	size = pc->data_size;
	munmap(pc, page);
	pc = mmap(NULL, offset + size, PROT_READ, MAP_SHARED, fd, 0);
	if (pc == MAP_FAILED)
		die("cannot map the buffer of %" PRIu64 " bytes", offset + size);

	uint64_t head = __atomic_load_n(&pc->data_head, __ATOMIC_ACQUIRE);

	for (uint64_t pos = pc->data_tail; pos < head; pos += hdr.size) {
		copy(&hdr, (char *)pc + offset, size, pos, sizeof(hdr));
		if (hdr.size < sizeof(hdr))
			die("a record without a size at %" PRIu64, pos);
		if (hdr.type != PERF_RECORD_SAMPLE)
			continue;
		copy(&sample, (char *)pc + offset, size, pos + sizeof(hdr), sizeof(sample));
		s->records++;
		if (!s->first || sample.time < s->first)
			s->first = sample.time;
		if (sample.time > s->last)
			s->last = sample.time;
	}
	if (read(fd, &count, sizeof(count)) == sizeof(count))
		s->lost += count.lost;
	munmap(pc, offset + size);
}

static void print_time(const char *what, uint64_t ns)
{
	printf("%s %" PRIu64 ".%06" PRIu64, what, ns / 1000000000, ns / 1000 % 1000000);
}

static void read_entry(const char *name)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_PERSISTENT, .size = sizeof(attr), .persistent = 1,
	};
	struct perf_event_attr real = { .size = sizeof(real) };
	char buf[256], *p;
	int fds[MAX_CPUS], n = 0;
	struct stats all = { 0 };

	sysfs(buf, sizeof(buf), SYSFS "/events/%s", name);
	printf("   events/%s says: %s\n", name, buf);
	p = strstr(buf, "config=");
	if (!p)
		die("there is no id in it");
	attr.config = strtoull(p + strlen("config="), NULL, 0);

	for (int cpu = 0; cpu < MAX_CPUS; cpu++) {
		struct stats s = { 0 };
		int fd = perf_event_open(&attr, cpu, PERF_FLAG_FD_CLOEXEC);

		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0)
			die("cannot open the event of CPU %d", cpu);
		if (!n && !ioctl(fd, PERF_EVENT_IOC_QUERY_ATTRIBUTES, &real))
			printf("   the kernel says what it is: type %u, config %llu\n", real.type,
			       (unsigned long long)real.config);
		read_buffer(fd, &s);
		printf("   CPU %d: %" PRIu64 " records", cpu, s.records);
		if (s.records) {
			print_time(", the first at", s.first);
			print_time(", the last at", s.last);
		}
		printf(", %" PRIu64 " lost\n", s.lost);
		all.records += s.records;
		fds[n++] = fd;
	}
	if (!n)
		die("there is no event in the entry");

	for (int i = 0; i < n; i++) {
		if (ioctl(fds[i], PERF_EVENT_IOC_ATTACH))
			die("cannot take the event from the registry");
		close(fds[i]);
	}
	printf("   all together: %" PRIu64 " records\n", all.records);
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = { 0 };

	errno = 0;
	if (argc == 5 && !strcmp(argv[1], "record") && !strcmp(argv[3], "tracepoint")) {
		attr.type = PERF_TYPE_TRACEPOINT;
		attr.config = strtoull(argv[4], NULL, 0);
		attr.sample_period = 1;
		record(argv[2], &attr);
	} else if (argc == 4 && !strcmp(argv[1], "record") && !strcmp(argv[3], "clock")) {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_CPU_CLOCK;
		attr.freq = 1;
		attr.sample_freq = 100;
		record(argv[2], &attr);
	} else if (argc == 3 && !strcmp(argv[1], "read")) {
		read_entry(argv[2]);
	} else {
		printf("usage: demo record NAME tracepoint ID | clock\n       demo read NAME\n");
		return 2;
	}
	return 0;
}
