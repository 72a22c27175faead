// SPDX-License-Identifier: GPL-2.0
/*
 * Read the entry of a name: what the kernel recorded before there was a process.
 *
 *   entry times NAME        when the first and the last record of each CPU was made
 *   entry functions NAME    where the samples were, by /proc/kallsyms
 *   entry mce NAME          the machine checks, one a line
 *   entry consume NAME MS   the same, and take them out of the buffers, until killed;
 *                           wait MS milliseconds between to print one and to take it
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#define EVENTS		"/sys/bus/event_source/devices/persistent/events"
#define FORMAT		"/sys/kernel/tracing/events/mce/mce_record/format"
#define MAX_CPUS	64

static struct perf_event_attr attr;	/* as the creator of the event gave it */
static uint64_t lost, wrong;

struct sample {
	uint64_t	id, ip, time;
	uint32_t	cpu, raw_size;
	char		*raw;
};

struct buffer {
	int				cpu, fd;
	struct perf_event_mmap_page	*page;
};

static void __attribute__((format(printf, 1, 2), noreturn)) die(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	printf("entry: ");
	vprintf(fmt, ap);
	va_end(ap);
	printf(": %s\n", strerror(err));
	exit(1);
}

static char *read_file(const char *path)
{
	static char buf[8192];
	FILE *f = fopen(path, "r");

	if (!f)
		die("cannot open %s", path);
	buf[fread(buf, 1, sizeof(buf) - 1, f)] = 0;
	fclose(f);
	return buf;
}

static int open_cpu(struct buffer *b, uint64_t id, int cpu, unsigned long flags)
{
	struct perf_event_attr bare = {
		.type = PERF_TYPE_PERSISTENT, .size = sizeof(bare), .config = id, .persistent = 1,
	};
	int prot = PROT_READ | (flags ? PROT_WRITE : 0);
	long page = sysconf(_SC_PAGESIZE);
	size_t len;

	b->cpu = cpu;
	b->fd = syscall(__NR_perf_event_open, &bare, -1, cpu, -1, flags | PERF_FLAG_FD_CLOEXEC);
	if (b->fd < 0 && errno == ENOENT)
		return 0;
	if (b->fd < 0)
		die("cannot open the event of CPU %d", cpu);
	attr.size = sizeof(attr);
	if (ioctl(b->fd, PERF_EVENT_IOC_QUERY_ATTRIBUTES, &attr))
		die("cannot ask for the attr");
	b->page = mmap(NULL, page, PROT_READ, MAP_SHARED, b->fd, 0);
	if (b->page == MAP_FAILED)
		die("cannot map the control page of CPU %d", cpu);
	len = b->page->data_offset + b->page->data_size;
	munmap(b->page, page);
	b->page = mmap(NULL, len, prot, MAP_SHARED, b->fd, 0);
	if (b->page == MAP_FAILED)
		die("cannot map the buffer of CPU %d", cpu);
	return 1;
}

static int open_entry(struct buffer *buffers, const char *name, unsigned long flags)
{
	char path[256], *p;
	uint64_t id;
	int n = 0;

	snprintf(path, sizeof(path), EVENTS "/%s", name);
	p = strstr(read_file(path), "config=");
	id = p ? strtoull(p + strlen("config="), NULL, 0) : 0;
	for (int cpu = 0; cpu < MAX_CPUS; cpu++)
		n += open_cpu(&buffers[n], id, cpu, flags);
	return n;
}

/* The record at @pos in one piece; it may wrap around the end of the ring. */
static struct perf_event_header *record(struct buffer *b, uint64_t pos)
{
	static uint64_t copy[8192];
	char *data = (char *)b->page + b->page->data_offset, *to = (char *)copy;
	struct perf_event_header *h = (struct perf_event_header *)copy;
	uint64_t size = b->page->data_size;

	for (size_t i = 0; i < sizeof(*h); i++)
		to[i] = data[(pos + i) & (size - 1)];
	if (h->size < sizeof(*h)) {
		errno = EINVAL;
		die("a record without a size at %" PRIu64, pos);
	}
	for (size_t i = sizeof(*h); i < h->size; i++)
		to[i] = data[(pos + i) & (size - 1)];
	return h;
}

static void decode(struct perf_event_header *h, struct sample *s)
{
	uint64_t *p = (uint64_t *)(h + 1);

	memset(s, 0, sizeof(*s));
	if (attr.sample_type & PERF_SAMPLE_IDENTIFIER)
		s->id = *p++;
	if (attr.sample_type & PERF_SAMPLE_IP)
		s->ip = *p++;
	if (attr.sample_type & PERF_SAMPLE_TID)
		p++;
	if (attr.sample_type & PERF_SAMPLE_TIME)
		s->time = *p++;
	if (attr.sample_type & PERF_SAMPLE_CPU)
		s->cpu = *p++;
	if (attr.sample_type & PERF_SAMPLE_PERIOD)
		p++;
	if (attr.sample_type & PERF_SAMPLE_RAW) {
		s->raw_size = *(uint32_t *)p;
		s->raw = (char *)p + sizeof(uint32_t);
	}
}

/* Calls @func for each sample of the buffer; returns where the next one will be. */
static uint64_t each(struct buffer *b, uint64_t pos,
		     void (*func)(struct buffer *b, struct sample *s))
{
	uint64_t head = __atomic_load_n(&b->page->data_head, __ATOMIC_ACQUIRE), end = head;
	struct perf_event_header *h;
	struct sample s;

	/* Written downwards from 0: the newest record is at the head, the oldest cut off. */
	if (attr.write_backward) {
		pos = head;
		end = -head < b->page->data_size ? 0 : head + b->page->data_size;
	}
	for (; pos != end; pos += h->size) {
		h = record(b, pos);
		if (end - pos < h->size)
			break;
		if (h->type == PERF_RECORD_LOST) {
			lost += ((uint64_t *)(h + 1))[1];
			continue;
		}
		if (h->type != PERF_RECORD_SAMPLE)
			continue;
		decode(h, &s);
		if (s.cpu != (uint32_t)b->cpu)
			wrong++;
		func(b, &s);
	}
	return pos;
}

/*
 * What did not fit is told by a record only when the next one does. The event counts it in
 * any case, if it was asked to.
 */
static void read_lost(struct buffer *buffers, int n)
{
	uint64_t count[5], sum = 0;
	int at = 1;

	if (!(attr.read_format & PERF_FORMAT_LOST))
		return;
	at += !!(attr.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED);
	at += !!(attr.read_format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	at += !!(attr.read_format & PERF_FORMAT_ID);
	for (int i = 0; i < n; i++) {
		if (read(buffers[i].fd, count, sizeof(count)) < (ssize_t)((at + 1) * sizeof(*count)))
			die("cannot read the count of CPU %d", buffers[i].cpu);
		sum += count[at];
	}
	if (sum > lost)
		lost = sum;
}

static uint64_t records, first, last;

static void take_time(struct buffer *b, struct sample *s)
{
	(void)b;
	records++;
	if (!first || s->time < first)
		first = s->time;
	if (s->time > last)
		last = s->time;
}

static void times(struct buffer *b)
{
	uint64_t all = records, earliest = first, latest = last;

	records = first = last = 0;
	each(b, b->page->data_tail, take_time);
	printf("cpu %d records %" PRIu64 " first %.6f last %.6f KiB %" PRIu64 "\n", b->cpu, records,
	       first / 1e9, last / 1e9, (uint64_t)b->page->data_size / 1024);
	records += all;
	if (earliest && (!first || earliest < first))
		first = earliest;
	if (latest > last)
		last = latest;
}

/* /proc/kallsyms is sorted by address, but for what comes after the kernel's own. */
static struct symbol {
	uint64_t	addr;
	char		type, name[48];
	unsigned int	hits;
} *symbols;
static size_t nr_symbols;
static uint64_t resolved;

static int by_addr(const void *a, const void *b)
{
	uint64_t x = ((struct symbol *)a)->addr, y = ((struct symbol *)b)->addr;

	return x < y ? -1 : x > y;
}

static int by_hits(const void *a, const void *b)
{
	return ((struct symbol *)b)->hits - ((struct symbol *)a)->hits;
}

static void read_symbols(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	struct symbol s = { 0 };

	if (!f)
		die("cannot read /proc/kallsyms");
	while (fscanf(f, "%" SCNx64 " %c %47s%*[^\n]", &s.addr, &s.type, s.name) == 3) {
		if (!(nr_symbols & (nr_symbols - 1)))
			symbols = realloc(symbols, (nr_symbols ? 2 * nr_symbols : 1) * sizeof(s));
		symbols[nr_symbols++] = s;
	}
	fclose(f);
	qsort(symbols, nr_symbols, sizeof(s), by_addr);
}

static void resolve(struct buffer *b, struct sample *s)
{
	size_t low = 0, high = nr_symbols;

	(void)b;
	records++;
	while (high - low > 1) {
		size_t mid = (low + high) / 2;

		if (symbols[mid].addr <= s->ip)
			low = mid;
		else
			high = mid;
	}
	/* A function is not longer than 64 KiB, and its symbol is a t, T, w or W. */
	if (nr_symbols && s->ip >= symbols[low].addr && s->ip - symbols[low].addr < 65536 &&
	    strchr("tTwW", symbols[low].type)) {
		symbols[low].hits++;
		resolved++;
	}
}

static struct { int offset, size; } status, addr, misc, cpu, bank;

static void field(const char *format, const char *name, int *offset, int *size)
{
	char key[32];
	const char *p;

	snprintf(key, sizeof(key), " %s;\toffset:", name);
	p = strstr(format, key);
	errno = EINVAL;
	if (!p || sscanf(p + strlen(key), "%d;\tsize:%d", offset, size) != 2)
		die("no field %s in the tracepoint", name);
}

static void read_format(void)
{
	char *f = read_file(FORMAT);

	field(f, "status", &status.offset, &status.size);
	field(f, "addr", &addr.offset, &addr.size);
	field(f, "misc", &misc.offset, &misc.size);
	field(f, "cpu", &cpu.offset, &cpu.size);
	field(f, "bank", &bank.offset, &bank.size);
}

static uint64_t value(struct sample *s, int offset, int size)
{
	uint64_t val = 0;

	memcpy(&val, s->raw + offset, size);
	return val;
}

static void print_mce(struct buffer *b, struct sample *s)
{
	records++;
	printf("mce cpu %" PRIu64 " bank %" PRIu64 " status 0x%" PRIx64 " addr 0x%" PRIx64
	       " misc 0x%" PRIx64 " time %.6f buffer %d\n",
	       value(s, cpu.offset, cpu.size), value(s, bank.offset, bank.size),
	       value(s, status.offset, status.size), value(s, addr.offset, addr.size),
	       value(s, misc.offset, misc.size), s->time / 1e9, b->cpu);
	fflush(stdout);
}

static void consume(struct buffer *buffers, int n, unsigned int ms)
{
	for (;;) {
		for (int i = 0; i < n; i++) {
			struct buffer *b = &buffers[i];
			uint64_t pos = b->page->data_tail, next;

			if (pos == __atomic_load_n(&b->page->data_head, __ATOMIC_ACQUIRE))
				continue;
			next = each(b, pos, print_mce);
			/* To be killed here costs nothing: the next one sees them again. */
			usleep(ms * 1000);
			__atomic_store_n(&b->page->data_tail, next, __ATOMIC_RELEASE);
			printf("taken\n");
			fflush(stdout);
		}
		usleep(20000);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	struct buffer buffers[MAX_CPUS];
	int n;

	if (!(argc == 3 && (!strcmp(what, "times") || !strcmp(what, "functions") ||
			    !strcmp(what, "mce"))) && !(argc == 4 && !strcmp(what, "consume"))) {
		printf("usage: entry times | functions | mce NAME\n       entry consume NAME MS\n");
		return 2;
	}
	n = open_entry(buffers, argv[2], !strcmp(what, "consume") ? PERF_FLAG_FD_RDWR : 0);
	if (!n) {
		printf("entry: %s has no event on any CPU\n", argv[2]);
		return 1;
	}
	if (!strcmp(what, "times")) {
		for (int i = 0; i < n; i++)
			times(&buffers[i]);
		printf("all records %" PRIu64 " first %.6f last %.6f", records, first / 1e9,
		       last / 1e9);
	} else if (!strcmp(what, "functions")) {
		read_symbols();
		for (int i = 0; i < n; i++)
			each(&buffers[i], buffers[i].page->data_tail, resolve);
		qsort(symbols, nr_symbols, sizeof(*symbols), by_hits);
		for (size_t i = 0; i < nr_symbols && i < 10 && symbols[i].hits; i++)
			printf("%6u %s\n", symbols[i].hits, symbols[i].name);
		printf("all records %" PRIu64 " resolved %" PRIu64, records, resolved);
	} else {
		read_format();
		if (!strcmp(what, "consume"))
			consume(buffers, n, atoi(argv[3]));
		for (int i = 0; i < n; i++)
			each(&buffers[i], buffers[i].page->data_tail, print_mce);
		printf("all records %" PRIu64, records);
	}
	read_lost(buffers, n);
	printf(" lost %" PRIu64 " wrong %" PRIu64 "\n", lost, wrong);
	return 0;
}
