// SPDX-License-Identifier: GPL-2.0
/*
 * samples FILE: the numbers of the events task:task_prctl_unknown in a perf.data
 * with that event alone. Every record has to be whole, and the numbers of all
 * samples consecutive: far quicker than perf script.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <linux/perf_event.h>

struct section {
	uint64_t offset, size;
};

struct file_header {
	char magic[8];
	uint64_t size, attr_size;
	struct section attrs, data;
};

/* What is before the raw data, in this order. */
static const uint64_t words[] = {
	PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
	PERF_SAMPLE_ADDR, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,
	PERF_SAMPLE_PERIOD,
};

int main(int argc, char **argv)
{
	uint64_t type, skip = sizeof(struct perf_event_header), known = PERF_SAMPLE_RAW;
	uint64_t first = 0, next = 0, nr = 0, pos = 0, number;
	const struct perf_event_attr *attr;
	const struct file_header *file;
	struct stat st;
	int fd;

	if (argc != 2)
		errx(2, "usage: samples FILE");
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", argv[1]);
	file = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED)
		err(1, "%s", argv[1]);
	if ((size_t)st.st_size < sizeof(*file) || memcmp(file->magic, "PERFILE2", 8) ||
	    file->attrs.offset + file->attrs.size > (uint64_t)st.st_size ||
	    file->data.offset + file->data.size > (uint64_t)st.st_size)
		errx(1, "%s: no whole perf.data", argv[1]);

	/* The other event is the one that tracks tasks and maps; it has no samples. */
	attr = (void *)file + file->attrs.offset;
	type = attr->sample_type;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (type & words[i])
			skip += sizeof(uint64_t);
		known |= words[i];
	}
	if (attr->type != PERF_TYPE_TRACEPOINT || !(type & PERF_SAMPLE_RAW) || type & ~known)
		errx(1, "%s: the event is of type %u and has 0x%" PRIx64, argv[1], attr->type, type);

	while (pos < file->data.size) {
		const struct perf_event_header *header = (void *)file + file->data.offset + pos;
		uint32_t raw = 0;

		if (file->data.size - pos < sizeof(*header) || header->size < sizeof(*header) ||
		    header->size > file->data.size - pos)
			errx(1, "after sample %" PRIu64 ": size %u at %" PRIu64 " of %" PRIu64,
			     next - 1, header->size, pos, (uint64_t)file->data.size);
		/* Own types of perf are beyond those of the kernel. */
		if (!header->type || (header->type >= PERF_RECORD_MAX && header->type < 64) ||
		    header->type > 100)
			errx(1, "after sample %" PRIu64 ": a record of type %u", next - 1, header->type);
		pos += header->size;
		if (header->type != PERF_RECORD_SAMPLE)
			continue;

		/* Common fields and option; then arg2, which is the number. */
		if (header->size >= skip + sizeof(raw))
			memcpy(&raw, (void *)header + skip, sizeof(raw));
		if (raw < 24 || skip + sizeof(raw) + raw != header->size)
			errx(1, "after sample %" PRIu64 ": %u of %u bytes are raw", next - 1, raw,
			     header->size);
		memcpy(&number, (void *)header + skip + sizeof(raw) + 16, sizeof(number));
		if (!nr++)
			first = next = number;
		if (number != next)
			errx(1, "%" PRIu64 " after %" PRIu64, number, next - 1);
		next++;
	}
	if (!nr)
		errx(1, "no samples");
	printf("%" PRIu64 " numbers, from %" PRIu64 " to %" PRIu64 "\n", nr, first, next - 1);
	return 0;
}
