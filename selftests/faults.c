// SPDX-License-Identifier: GPL-2.0
/*
 * Every allocation, and every access to user memory, of a call fails once: the first of
 * them, then the second, and so on until there is none left to fail. Each time the call
 * must work or give a documented errno; made again without a fault it must work; and
 * nothing may be left behind.
 *
 * Usage: faults [CASE...]   prints TAP; the status is 0 (passed), 1 (failed) or 4 (skipped)
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define SOURCES		"/sys/bus/event_source/devices"
#define PERSISTENT	SOURCES "/persistent"
#define FAULTS		"/sys/kernel/debug/"
#define CPU1		"/sys/devices/system/cpu/cpu1/online"
#define MAX_SITES	2000

/* What a case works on; the slots that it does not use are -1. */
struct world {
	int	fd, other, extra;
	__u64	id;
	void	*map;
	size_t	len;
	pid_t	child;
	char	name[16];
};

struct test {
	const char	*name;
	/* Return: whether all is there. Made anew for each fault. */
	bool		(*prepare)(struct world *w);
	long		(*call)(struct world *w);
	/* What it takes to make the call again; NULL if nothing. */
	void		(*undo)(struct world *w);
	int		errnos[6];
};

static int nth_fd, nr, failed, tracepoint, kprobe, uprobe;
static long page_size;
static __u64 watched;

static long neg(long ret)
{
	return ret < 0 ? -errno : ret;
}

static long put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	long ret;

	if (fd < 0)
		return -errno;
	ret = neg(write(fd, text, strlen(text)));
	close(fd);
	return ret;
}

static long get_text(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	long ret;

	if (fd < 0)
		return -errno;
	ret = neg(read(fd, buf, size - 1));
	close(fd);
	if (ret >= 0)
		buf[ret] = 0;
	return ret;
}

static int get_number(const char *path)
{
	char buf[64];

	return get_text(path, buf, sizeof(buf)) < 0 ? -1 : atoi(buf);
}

static int event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		      unsigned long flags)
{
	attr->size = sizeof(*attr);
	return neg(syscall(__NR_perf_event_open, attr, pid, cpu, group,
			   flags | PERF_FLAG_FD_CLOEXEC));
}

static int open_software(int cpu, bool persistent)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_IDENTIFIER, .persistent = persistent,
	};

	return event_open(&attr, -1, cpu, -1, 0);
}

static int open_id(__u64 id, unsigned long flags)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_PERSISTENT, .config = id, .persistent = 1,
	};

	return event_open(&attr, -1, -1, -1, flags);
}

static long detach(int fd, const char *name, __u64 join, __u64 *id)
{
	struct perf_event_persistent req = { .size = sizeof(req), .id = join };
	long ret;

	snprintf(req.name, sizeof(req.name), "%s", name);
	ret = neg(ioctl(fd, PERF_EVENT_IOC_DETACH, &req));
	if (!ret)
		*id = req.id;
	return ret;
}

static bool map(struct world *w, int fd, int pages, int prot)
{
	w->len = pages * page_size;
	w->map = mmap(NULL, w->len, prot, MAP_SHARED, fd, 0);
	if (w->map != MAP_FAILED)
		return true;
	w->map = NULL;
	return false;
}

static void unmap(struct world *w)
{
	if (w->map)
		munmap(w->map, w->len);
	w->map = NULL;
}

/* prepare() */
static bool nothing(struct world *w)
{
	(void)w;
	return true;
}

static bool software(struct world *w)
{
	w->fd = open_software(0, false);
	return w->fd >= 0;
}

static bool software_mapped(struct world *w)
{
	return software(w) && map(w, w->fd, 3, PROT_READ | PROT_WRITE);
}

static bool persistent(struct world *w)
{
	return software_mapped(w) && !detach(w->fd, "", 0, &w->id);
}

static bool persistent_opened(struct world *w)
{
	if (!persistent(w))
		return false;
	unmap(w);
	w->other = open_id(w->id, 0);
	return w->other >= 0;
}

static bool two_cpus(struct world *w)
{
	w->other = open_software(1, false);
	return persistent(w) && w->other >= 0;
}

static bool pair(struct world *w)
{
	w->other = open_software(0, false);
	return persistent(w) && w->other >= 0;
}

static bool pair_redirected(struct world *w)
{
	return pair(w) && !ioctl(w->other, PERF_EVENT_IOC_SET_OUTPUT, w->fd);
}

static bool persistent_to_ordinary(struct world *w)
{
	w->other = open_software(0, true);
	return software_mapped(w) && w->other >= 0;
}

static bool born(struct world *w)
{
	w->fd = open_software(0, true);
	return w->fd >= 0;
}

static bool inherited(struct world *w)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS, .inherit = 1,
		.persistent = 1, .sample_period = 1, .sample_type = PERF_SAMPLE_IDENTIFIER,
	};
	struct perf_event_attr second = attr;

	w->fd = event_open(&attr, 0, 0, -1, 0);
	second.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	second.persistent = 0;
	w->other = event_open(&second, 0, 0, w->fd, 0);
	return w->fd >= 0 && w->other >= 0;
}

static bool cpu_gone(struct world *w)
{
	w->fd = open_software(1, true);
	return w->fd >= 0 && put_text(CPU1, "0") == 1;
}

/* call() */
static long open_as(struct perf_event_attr attr, struct world *w, pid_t pid, int cpu)
{
	w->extra = event_open(&attr, pid, cpu, -1, 0);
	return w->extra;
}

#define OPENS(func, pid, cpu, ...)						\
	static long func(struct world *w)					\
	{									\
		return open_as((struct perf_event_attr) { __VA_ARGS__ }, w, pid, cpu);	\
	}

OPENS(open_cpu, -1, 0, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK,
      .sample_period = 100000000)
OPENS(open_task, 0, -1, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK,
      .sample_type = PERF_SAMPLE_CALLCHAIN, .sample_period = 100000000)
OPENS(open_tracepoint, -1, 0, .type = PERF_TYPE_TRACEPOINT, .config = tracepoint)
OPENS(open_breakpoint, 0, -1, .type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_W,
      .bp_addr = (unsigned long)&watched, .bp_len = HW_BREAKPOINT_LEN_8)
OPENS(open_kprobe, 0, -1, .type = kprobe, .kprobe_func = (unsigned long)"__x64_sys_getppid")
OPENS(open_uprobe, 0, -1, .type = uprobe, .uprobe_path = (unsigned long)"/bin/faults",
      .probe_offset = 0x1000)
OPENS(open_born, -1, 0, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .persistent = 1)
OPENS(open_born_task, 0, -1, .type = PERF_TYPE_TRACEPOINT, .config = tracepoint, .inherit = 1,
      .persistent = 1)

static long open_read(struct world *w)
{
	w->extra = open_id(w->id, 0);
	return w->extra;
}

static long open_control(struct world *w)
{
	w->extra = open_id(w->id, PERF_FLAG_FD_RDWR);
	return w->extra;
}

static long do_detach(struct world *w)
{
	return detach(w->fd, "", 0, &w->id);
}

static long do_detach_name(struct world *w)
{
	return detach(w->fd, "faults", 0, &w->id);
}

static long do_join(struct world *w)
{
	__u64 id;

	return detach(w->other, "", w->id, &id);
}

static long do_attach(struct world *w)
{
	return neg(ioctl(w->fd, PERF_EVENT_IOC_ATTACH));
}

static long do_map(struct world *w)
{
	return map(w, w->fd, 3, PROT_READ | PROT_WRITE) ? 0 : -errno;
}

static long do_map_by_id(struct world *w)
{
	return map(w, w->other, 3, PROT_READ) ? 0 : -errno;
}

/* The first mapping stays until the end. */
static long do_map_again(struct world *w)
{
	void *ptr = mmap(NULL, 3 * page_size, PROT_READ, MAP_SHARED, w->fd, 0);

	if (ptr == MAP_FAILED)
		return -errno;
	munmap(ptr, 3 * page_size);
	return 0;
}

static long do_output_here(struct world *w)
{
	return neg(ioctl(w->other, PERF_EVENT_IOC_SET_OUTPUT, w->fd));
}

static long do_output_none(struct world *w)
{
	return neg(ioctl(w->other, PERF_EVENT_IOC_SET_OUTPUT, -1L));
}

static long do_query(struct world *w)
{
	struct perf_event_persistent req = { .size = sizeof(req) };

	return neg(ioctl(w->other, PERF_EVENT_IOC_QUERY_PERSISTENT, &req));
}

static long do_query_attr(struct world *w)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };

	return neg(ioctl(w->other, PERF_EVENT_IOC_QUERY_ATTRIBUTES, &attr));
}

static long do_stop(struct world *w)
{
	return neg(ioctl(w->fd, PERF_EVENT_IOC_STOP, 0));
}

static long do_start(struct world *w)
{
	return neg(ioctl(w->fd, PERF_EVENT_IOC_START, 0));
}

static long do_poll(struct world *w)
{
	struct pollfd p = { w->other, POLLIN, 0 };

	return neg(poll(&p, 1, 0));
}

static long do_read(struct world *w)
{
	__u64 val[8];

	return neg(read(w->other, val, sizeof(val)));
}

static long do_close(struct world *w)
{
	long ret = neg(close(w->other));

	w->other = open_id(w->id, 0);
	return ret;
}

static long do_sysfs(struct world *w)
{
	static const char * const files[] = { "name", "cpus", "pid", "uid", "comm", "state" };
	char path[128], buf[256];
	long ret = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(files) && ret >= 0; i++) {
		snprintf(path, sizeof(path), PERSISTENT "/entries/%llu/%s", w->id, files[i]);
		ret = get_text(path, buf, sizeof(buf));
	}
	snprintf(path, sizeof(path), PERSISTENT "/events/event%llu", w->id);
	return ret < 0 ? ret : get_text(path, buf, sizeof(buf));
}

static long do_fork(struct world *w)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	if (pid < 0)
		return -errno;
	waitpid(pid, NULL, 0);
	w->child = 0;
	return 0;
}

static long do_cpu_on(struct world *w)
{
	(void)w;
	return put_text(CPU1, "1");
}

/* undo(), for who makes the call again */
static void close_extra(struct world *w)
{
	if (w->extra >= 0)
		close(w->extra);
	w->extra = -1;
}

static void let_go(struct world *w)
{
	ioctl(w->fd, PERF_EVENT_IOC_ATTACH);
}

static void let_other_go(struct world *w)
{
	ioctl(w->other, PERF_EVENT_IOC_ATTACH);
}

/* Another process, as it were: each time that the buffer is there its output goes there. */
static bool racing;
static struct world *raced;
static unsigned long redirected;

static void *redirect(void *arg)
{
	(void)arg;
	while (__atomic_load_n(&racing, __ATOMIC_ACQUIRE)) {
		struct world *w = __atomic_load_n(&raced, __ATOMIC_ACQUIRE);
		int to = w ? __atomic_load_n(&w->fd, __ATOMIC_RELAXED) : -1;
		int from = w ? __atomic_load_n(&w->other, __ATOMIC_RELAXED) : -1;

		if (to < 0 || from < 0) {
			sched_yield();
			continue;
		}
		if (!ioctl(from, PERF_EVENT_IOC_SET_OUTPUT, to)) {
			redirected++;
			ioctl(from, PERF_EVENT_IOC_SET_OUTPUT, -1L);
		}
	}
	return NULL;
}

static bool race(struct world *w)
{
	static pthread_t thread;

	w->other = open_software(0, false);
	w->fd = open_software(0, true);
	if (!thread) {
		racing = true;
		pthread_create(&thread, NULL, redirect, NULL);
	}
	__atomic_store_n(&raced, w, __ATOMIC_RELEASE);
	return w->fd >= 0 && w->other >= 0;
}

#define MEMORY	{ ENOMEM, EFAULT }

static const struct test tests[] = {
	{ "open cpu", nothing, open_cpu, close_extra, MEMORY },
	{ "open task", nothing, open_task, close_extra, MEMORY },
	{ "open tracepoint", nothing, open_tracepoint, close_extra, MEMORY },
	{ "open breakpoint", nothing, open_breakpoint, close_extra, MEMORY },
	{ "open kprobe", nothing, open_kprobe, close_extra, MEMORY },
	{ "open uprobe", nothing, open_uprobe, close_extra, MEMORY },
	{ "open persistent", nothing, open_born, NULL, MEMORY },
	{ "open persistent task", nothing, open_born_task, NULL, MEMORY },
	{ "open by id", persistent, open_read, close_extra, MEMORY },
	{ "open by id, control", persistent, open_control, close_extra, MEMORY },
	{ "DETACH", software_mapped, do_detach, let_go, MEMORY },
	{ "DETACH, name", software_mapped, do_detach_name, let_go, MEMORY },
	{ "DETACH, join", two_cpus, do_join, let_other_go, MEMORY },
	{ "ATTACH", persistent, do_attach, NULL, MEMORY },
	{ "mmap", software, do_map, unmap, MEMORY },
	{ "mmap persistent", born, do_map, unmap, MEMORY },
	{ "mmap again", software_mapped, do_map_again, NULL, MEMORY },
	{ "mmap persistent again", persistent, do_map_again, NULL, MEMORY },
	{ "mmap by id", persistent_opened, do_map_by_id, unmap, MEMORY },
	{ "mmap in a race", race, do_map, unmap, MEMORY },
	{ "SET_OUTPUT to persistent", pair, do_output_here, NULL, MEMORY },
	{ "SET_OUTPUT of persistent", persistent_to_ordinary, do_output_here, NULL, MEMORY },
	{ "SET_OUTPUT -1", pair_redirected, do_output_none, NULL, MEMORY },
	{ "QUERY_PERSISTENT", persistent_opened, do_query, NULL, MEMORY },
	{ "QUERY_ATTRIBUTES", persistent_opened, do_query_attr, NULL, MEMORY },
	{ "STOP", persistent, do_stop, NULL, MEMORY },
	{ "START", persistent, do_start, NULL, MEMORY },
	{ "poll", persistent_opened, do_poll, NULL, MEMORY },
	{ "read", persistent_opened, do_read, NULL, MEMORY },
	{ "close", persistent_opened, do_close, NULL, MEMORY },
	{ "sysfs", persistent, do_sysfs, NULL, MEMORY },
	{ "fork", inherited, do_fork, NULL, { ENOMEM, EAGAIN } },
	{ "CPU on", cpu_gone, do_cpu_on, NULL, { ENOMEM, EFAULT, EAGAIN, EIO, EINVAL, ENODEV } },
};

static void arm(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);
	ssize_t ret = pwrite(nth_fd, text, len, 0);

	/* The fault that is to be disarmed may hit this. */
	if (ret < 0 && errno == EFAULT)
		ret = pwrite(nth_fd, text, len, 0);
	if (ret != len) {
		printf("Bail out! fail-nth: %s\n", strerror(errno));
		exit(1);
	}
}

/* Return: whether there was a fault. */
static bool disarm(void)
{
	char text[16] = "";
	ssize_t ret = pread(nth_fd, text, sizeof(text) - 1, 0);
	/* Or this, and then it was left over by the call. */
	bool left = ret > 0 ? atoi(text) > 0 : ret < 0 && errno == EFAULT;

	arm(0);
	return !left;
}

static int count_dir(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static int count_left(void)
{
	char buf[4096] = "", *pin;

	get_text("/proc/self/status", buf, sizeof(buf));
	pin = strstr(buf, "VmPin:");
	return count_dir(PERSISTENT "/entries") + count_dir(PERSISTENT "/events") +
	       (pin ? atoi(pin + 6) : 0);
}

static void clean_up(struct world *w)
{
	int fds[] = { w->fd, w->other, w->extra };

	__atomic_store_n(&raced, NULL, __ATOMIC_RELEASE);
	unmap(w);
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++) {
		if (fds[i] < 0)
			continue;
		ioctl(fds[i], PERF_EVENT_IOC_ATTACH);
		close(fds[i]);
	}
	if (!access(CPU1, W_OK) && get_number(CPU1) == 0)
		put_text(CPU1, "1");
}

static bool documented(const struct test *t, long ret)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(t->errnos); i++) {
		if (t->errnos[i] && ret == -t->errnos[i])
			return true;
	}
	return ret >= 0;
}

static void run(const struct test *t)
{
	static struct world worlds[2];	/* the thread may still look at the last one */
	unsigned int n, refused = 0, before = count_left();
	const char *why = NULL;
	long ret = 0, again = 0;
	bool fault = true;

	for (n = 1; fault && !why && n < MAX_SITES; n++) {
		struct world *w = &worlds[n % 2];

		*w = (struct world) { .fd = -1, .other = -1, .extra = -1 };
		if (!t->prepare(w)) {
			why = "cannot be prepared";
			clean_up(w);
			break;
		}
		arm(n);
		ret = t->call(w);
		fault = disarm();
		if (!documented(t, ret))
			why = "an errno that is not documented";
		else if (!fault && ret < 0)
			why = "fails without a fault";
		refused += ret < 0;
		if (ret >= 0 && t->undo)
			t->undo(w);
		/* ATTACH and what is persistent from birth cannot be repeated. */
		if (!why && (ret < 0 || t->undo)) {
			again = t->call(w);
			if (again < 0)
				why = "does not work again";
		}
		clean_up(w);
		if (!why && (unsigned int)count_left() != before)
			why = "something is left";
	}
	if (!why && fault)
		why = "there is no end of it";
	printf("%sok %d %s: %u faults, %u of them refused the call", why ? "not " : "", ++nr, t->name,
	       n - 2, refused);
	if (why)
		printf(": %s, the fault is number %u, the call %s, then %s", why, n - 1,
		       ret < 0 ? strerror(-ret) : "works", again < 0 ? strerror(-again) : "works");
	printf("\n");
	fflush(stdout);
	failed |= !!why;
}

static bool named(const struct test *t, int argc, char **argv)
{
	if (argc < 2)
		return true;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(t->name, argv[i]))
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	static const char * const set[][2] = {
		{ FAULTS "failslab/ignore-gfp-wait", "N" },
		{ FAULTS "failslab/verbose", "0" },
		{ FAULTS "fail_page_alloc/ignore-gfp-wait", "N" },
		{ FAULTS "fail_page_alloc/ignore-gfp-highmem", "N" },
		{ FAULTS "fail_page_alloc/min-order", "0" },
		{ FAULTS "fail_page_alloc/verbose", "0" },
		{ FAULTS "fail_usercopy/verbose", "0" },
	};

	printf("TAP version 13\n");
	page_size = sysconf(_SC_PAGESIZE);
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0 || access(PERSISTENT, F_OK)) {
		printf("1..0 # SKIP needs fault injection and persistent events\n");
		return 4;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(set); i++) {
		if (put_text(set[i][0], set[i][1]) < 0) {
			printf("Bail out! cannot write %s\n", set[i][0]);
			return 1;
		}
	}
	tracepoint = get_number("/sys/kernel/tracing/events/task/task_prctl_unknown/id");
	kprobe = get_number(SOURCES "/kprobe/type");
	uprobe = get_number(SOURCES "/uprobe/type");
	/* The stack and the heap shall not fault in a call. */
	mlockall(MCL_CURRENT);

	for (unsigned int i = 0; i < ARRAY_SIZE(tests); i++) {
		if (named(&tests[i], argc, argv))
			run(&tests[i]);
	}
	racing = false;
	printf("# redirected to a buffer that was being mapped: %lu times\n", redirected);
	printf("1..%d\n", nr);
	return failed;
}
