// SPDX-License-Identifier: GPL-2.0
/*
 * What lockdown forbids to open cannot be had by opening a persistent event again,
 * and what it allows still can. Nothing takes a lockdown back: for the guest only.
 *
 * Prints TAP; the status is 0 (passed), 1 (failed) or 4 (skipped).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOCKDOWN	"/sys/kernel/security/lockdown"
#define REG_IP		8	/* PERF_REG_X86_IP */

struct kind {
	const char *name;
	bool forbidden;
	struct perf_event_attr attr;
	__u64 id;
};

static int failed, nr;

static void result(bool ok, const char *kind, const char *what, int got)
{
	printf("%sok %d %s: %s (%s)\n", ok ? "" : "not ", ++nr, kind, what,
	       got < 0 ? strerror(-got) : "done");
	failed |= !ok;
}

static int event_open(struct perf_event_attr *attr, int pid, unsigned long flags)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, -1, -1, flags);

	return fd < 0 ? -errno : fd;
}

static int open_again(__u64 id, unsigned long flags)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_PERSISTENT,
		.config = id,
		.persistent = 1,
	};

	return event_open(&attr, -1, flags);
}

static int read_number(const char *path)
{
	FILE *f = fopen(path, "r");
	int n = -1;

	if (f && fscanf(f, "%d", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

static int lock_down(void)
{
	int fd = open(LOCKDOWN, O_WRONLY), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, "confidentiality", 15) == 15 ? 0 : -errno;
	close(fd);
	return ret;
}

int main(void)
{
	struct kind kinds[] = {
		{ .name = "tracepoint", .attr = { .type = PERF_TYPE_TRACEPOINT } },
		{ .name = "software", .attr = {
			.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS } },
		{ .name = "registers", .forbidden = true, .attr = {
			.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS,
			.sample_type = PERF_SAMPLE_REGS_INTR,
			.sample_regs_intr = 1ULL << REG_IP } },
		{ .name = "kprobe", .forbidden = true, .attr = {
			.kprobe_func = (unsigned long)"kernel_clone" } },
	};
	const int n = sizeof(kinds) / sizeof(kinds[0]);
	int fd, err;

	printf("TAP version 13\n");
	if (access(LOCKDOWN, W_OK) ||
	    access("/sys/bus/event_source/devices/persistent", F_OK)) {
		printf("1..0 # SKIP needs lockdown and persistent events\n");
		return 4;
	}
	kinds[0].attr.config = read_number("/sys/kernel/tracing/events/sched/sched_switch/id");
	kinds[3].attr.type = read_number("/sys/bus/event_source/devices/kprobe/type");

	for (struct kind *k = kinds; k < kinds + n; k++) {
		struct perf_event_persistent req = { .size = sizeof(req) };

		k->attr.size = sizeof(k->attr);
		fd = event_open(&k->attr, 0, 0);
		err = fd < 0 ? fd : ioctl(fd, PERF_EVENT_IOC_DETACH, &req) ? -errno : 0;
		result(!err, k->name, "made persistent", err);
		k->id = req.id;
		close(fd);
		fd = open_again(k->id, 0);
		result(fd >= 0, k->name, "opened again before lockdown", fd);
		close(fd);
	}

	err = lock_down();
	result(!err, "lockdown", "confidentiality", err);

	for (struct kind *k = kinds; k < kinds + n; k++) {
		int want = k->forbidden ? -EPERM : 0;

		fd = event_open(&k->attr, 0, 0);
		result((fd < 0 ? fd : 0) == want, k->name, "opened anew after lockdown", fd);
		close(fd);
		fd = open_again(k->id, 0);
		result((fd < 0 ? fd : 0) == want, k->name, "opened again after lockdown", fd);
		if (fd >= 0) {
			err = ioctl(fd, PERF_EVENT_IOC_ATTACH) ? -errno : 0;
			result(!err, k->name, "let go", err);
		}
		close(fd);
		fd = open_again(k->id, PERF_FLAG_FD_RDWR);
		result(fd == (k->forbidden ? -EPERM : -ENOENT), k->name,
		       "opened for control after lockdown", fd);
		close(fd);
	}
	printf("1..%d\n", nr);
	return failed;
}
