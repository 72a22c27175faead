// SPDX-License-Identifier: GPL-2.0
/* Samples of software events, and what it takes to read a full buffer. */
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

#define FRAMES		8
#define SPIN		500000
#define PERIOD		50000		/* ns; at most some 100 samples a tick, or it throttles */
#define PASSES		10
#define FAULTS		512		/* as many pages are begun in each batch */

/* Walks of the user's stack take the frame pointer. */
#define FRAME	__attribute__((noinline, noclone, optimize("no-omit-frame-pointer")))

static FRAME void spin(int depth)
{
	if (depth)
		spin(depth - 1);
	else
		for (int i = 0; i < SPIN; i++)
			asm volatile("" : : "r" (i));
	/* Not the last call: it would be made a jump. */
	asm volatile("");
}

/* The least that a sample of the clock takes from a fixed amount of work. */
static double clock_sample(bool persistent)
{
	struct perf_event_attr attr = attr_software(PERF_COUNT_SW_CPU_CLOCK);
	struct subject s = { .persistent = persistent };
	volatile struct perf_event_mmap_page *pc;
	double least = -1;
	long long idle = -1;

	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			   PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN;
	/* All of them have the same depth, and none goes beyond spin(). */
	attr.sample_max_stack = FRAMES;

	for (int pass = 0; pass < PASSES; pass++) {
		long long start = now(), cost;

		spin(2 * FRAMES);
		cost = now() - start;
		if (idle < 0 || cost < idle)
			idle = cost;
	}
	subject_make(&s, &attr, -1, 0, PROT_READ);
	pc = s.at;
	for (int pass = 0; pass < 2 * PASSES; pass++) {
		const struct perf_event_header *hdr = (void *)((char *)pc + PAGE);
		__u64 head = pc->data_head, samples;
		long long start = now(), cost;

		spin(2 * FRAMES);
		cost = now() - start;
		samples = (pc->data_head - head) / hdr->size;
		if (!samples || hdr->type != PERF_RECORD_SAMPLE) {
			errno = ENODATA;
			die("no sample of the clock");
		}
		if (least < 0 || (double)(cost - idle) / samples < least)
			least = (double)(cost - idle) / samples;
	}
	subject_drop(&s);
	return least;
}

/* A fault of a page that is in the page cache: nothing has to be allocated. */
static void fault(void *page)
{
	madvise(page, PAGE, MADV_DONTNEED);
	*(volatile char *)page;
}

static double overflow(bool persistent, void *page)
{
	struct perf_event_attr attr = attr_software(PERF_COUNT_SW_PAGE_FAULTS);
	struct subject s = { .persistent = persistent };
	double cost;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	subject_make(&s, &attr, 0, 0, PROT_READ);
	cost = best(fault, page, FAULTS);
	subject_drop(&s);
	return cost;
}

void bench_sample(void)
{
	int file = memfd_create("page", 0);
	double nothing;
	void *page;

	if (file < 0 || ftruncate(file, PAGE))
		die("memfd");
	page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
	if (page == MAP_FAILED)
		die("mmap of a memfd");
	nothing = best(fault, page, FAULTS);
	row("overflow.perf", overflow(false, page) - nothing, "ns");
	if (have_persistent)
		row("overflow.persistent", overflow(true, page) - nothing, "ns");
	munmap(page, PAGE);
	close(file);

	row("clock.perf", clock_sample(false), "ns");
	if (have_persistent)
		row("clock.persistent", clock_sample(true), "ns");
}

static __u64 parse(volatile struct perf_event_mmap_page *pc, __u64 *sum)
{
	const char *data = (char *)pc + PAGE;
	__u64 head = __atomic_load_n(&pc->data_head, __ATOMIC_ACQUIRE), n = 0;
	char record[256];

	for (__u64 pos = pc->data_tail; pos < head; n++) {
		struct perf_event_header hdr;

		/* A header is 8 bytes, as all records are aligned: it never wraps. */
		__builtin_memcpy(&hdr, data + pos % BUFFER, sizeof(hdr));
		if (hdr.size < sizeof(hdr) || hdr.size > sizeof(record)) {
			errno = EBADMSG;
			die("a record that is not one");
		}
		for (__u32 i = 0; i < hdr.size; i += sizeof(__u64))
			__builtin_memcpy(record + i, data + (pos + i) % BUFFER, sizeof(__u64));
		*sum += record[sizeof(hdr)];
		pos += hdr.size;
	}
	return n;
}

void bench_read(void)
{
	for (int persistent = 0; persistent <= have_persistent; persistent++) {
		struct perf_event_attr attr = attr_fire();
		struct subject s = { .persistent = persistent };
		double least = -1;
		__u64 sum = 0;

		subject_make(&s, &attr, -1, 0, PROT_READ | PROT_WRITE);
		for (int i = 0; i < 16384; i++)
			fire(NULL);
		for (int pass = 0; pass < PASSES; pass++) {
			long long start = now();
			__u64 n = parse(s.at, &sum);
			double cost = (double)(now() - start) / n;

			if (n < 1000) {
				errno = ENODATA;
				die("the buffer is not full");
			}
			if (least < 0 || cost < least)
				least = cost;
		}
		row(persistent ? "read.persistent" : "read.perf", least, "ns");
		subject_drop(&s);
	}
}
