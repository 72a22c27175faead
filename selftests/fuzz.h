/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fuzzer of persistent perf events: what its processes share, and the helpers
 * of its calls. See fuzz.c.
 *
 * Each call has a generator of its own, from the seed, the process and the number of
 * the call: so leaving out one call does not change what the others ask for.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define SOURCES		"/sys/bus/event_source/devices"
#define ENTRIES		SOURCES "/persistent/entries"
#define MAX_PERSISTENT	"/proc/sys/kernel/perf_event_max_persistent"
#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"
#define CGROUP		"/tmp/fuzz-cgroup"

#define NR_PROCS	16
#define NR_FDS		24
#define NR_MAPS		12
#define NR_IDS		16
#define NR_TASKS	8
#define NR_CHILDREN	6
#define NR_KINDS	96
#define NR_ERRNO	134
#define MAX_ENTRIES	4096
#define MAX_SKIP	256
#define SHARED_FD	500
#define FIRE_OPTION	0x7065	/* no prctl() has this number */

/* What is known of an open file */
#define FD_OURS		0x01	/* a perf event */
#define FD_READONLY	0x02	/* opened by id, without control */
#define FD_PERSISTENT	0x04	/* was so when the slot was filled */

struct slot {
	int		fd;	/* -1 is none */
	unsigned int	flags;
	pid_t		pid;	/* the target, where it is known */
	int		cpu;
};

struct map {
	char		*ptr;
	size_t		len;
	int		prot;
};

struct process {
	pid_t		pid;
	unsigned long	call;		/* the one that it is at */
	unsigned long	progress;	/* changes with each */
	int		kind;
	bool		done;
};

struct shared {
	unsigned long	seed, calls, from, to;
	unsigned int	procs, hotplug, nr_cpus, skips;
	int		tracepoints[8], nr_tracepoints, kprobe_type, uprobe_type;
	__u64		probe_offset, kernel_text;
	bool		trace;
	unsigned long	skip[MAX_SKIP];
	unsigned long	syscalls;
	unsigned long	made;			/* calls, with those of children */
	unsigned long	worked[NR_KINDS];
	unsigned long	failed[NR_KINDS][NR_ERRNO];
	unsigned long	wrong;			/* what must not be */
	__u64		ids[NR_IDS];
	pid_t		tasks[NR_TASKS];
	struct process	process[NR_PROCS];
};

static struct shared *shared;
static struct slot slots[NR_FDS];
static struct map maps[NR_MAPS];
static pid_t children[NR_CHILDREN];	/* 0 is none */
static unsigned int me;			/* index of this process */
static unsigned long call_nr;
static bool is_child;
static __u64 rnd;
static long page_size;

static void __attribute__((format(printf, 1, 2), noreturn)) die(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	printf("fuzz: ");
	vprintf(fmt, ap);
	va_end(ap);
	printf(": %s\n", strerror(err));
	fflush(stdout);
	exit(1);
}

/* One piece, so that lines of several processes do not mix; out before the call is. */
static void __attribute__((format(printf, 1, 2))) put_line(const char *fmt, ...)
{
	char buf[1400];
	va_list ap;
	int len = snprintf(buf, sizeof(buf), "p%u%s %lu: ", me, is_child ? "c" : "", call_nr);

	va_start(ap, fmt);
	len += vsnprintf(buf + len, sizeof(buf) - len - 1, fmt, ap);
	va_end(ap);
	if (len > (int)sizeof(buf) - 2)
		len = sizeof(buf) - 2;
	buf[len++] = '\n';
	if (write(1, buf, len) != len)
		return;
	tcdrain(1);
}

#define say(fmt, ...)							\
	do {								\
		if (shared->trace)					\
			put_line(fmt, ##__VA_ARGS__);			\
	} while (0)

static void add(unsigned long *nr, unsigned long n)
{
	__atomic_fetch_add(nr, n, __ATOMIC_RELAXED);
}

/* What the kernel must not do. */
#define wrong(fmt, ...)							\
	do {								\
		add(&shared->wrong, 1);					\
		put_line("WRONG: " fmt, ##__VA_ARGS__);			\
	} while (0)

static __u64 mix(__u64 x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static void begin_random(unsigned long nr, unsigned int child)
{
	rnd = mix(mix(mix(shared->seed) + me) + nr) + child;
}

static __u64 next_random(void)
{
	rnd += 0x9e3779b97f4a7c15ULL;
	return mix(rnd);
}

static unsigned int pick(unsigned int n)
{
	return next_random() % n;
}

static bool one_in(unsigned int n)
{
	return !pick(n);
}

/* The result of a system call, or its negative errno. */
static long sys(long ret)
{
	add(&shared->syscalls, 1);
	return ret < 0 ? -errno : ret;
}

static int write_file(const char *path, const char *text)
{
	int fd = sys(open(path, O_WRONLY | O_CLOEXEC)), ret;

	if (fd < 0)
		return fd;
	ret = sys(write(fd, text, strlen(text)));
	sys(close(fd));
	return ret < 0 ? ret : 0;
}

static int read_file(const char *path, char *buf, size_t size)
{
	int fd = sys(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)), len;

	if (fd < 0)
		return fd;
	len = sys(read(fd, buf, size - 1));
	sys(close(fd));
	if (len >= 0)
		buf[len] = 0;
	return len;
}

static int read_number(const char *path)
{
	char buf[32];
	int len = read_file(path, buf, sizeof(buf));

	return len < 0 ? len : atoi(buf);
}

/* The ids of the entries that there are now. */
static int list_entries(__u64 *ids, int max)
{
	DIR *dir = opendir(ENTRIES);
	struct dirent *de;
	int n = 0;

	add(&shared->syscalls, 3);
	if (!dir)
		return -errno;
	while ((de = readdir(dir))) {
		if (de->d_name[0] >= '0' && de->d_name[0] <= '9' && n < max)
			ids[n++] = strtoull(de->d_name, NULL, 10);
	}
	closedir(dir);
	return n;
}

static int event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		      unsigned long flags)
{
	return sys(syscall(__NR_perf_event_open, attr, pid, cpu, group, flags));
}

static int open_id(__u64 id, int cpu, unsigned long flags)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_PERSISTENT,
		.size		= sizeof(attr),
		.config		= id,
		.persistent	= 1,
	};

	return event_open(&attr, -1, cpu, -1, flags);
}

/* Remove an entry with all its events. */
static void remove_entry(__u64 id)
{
	for (int cpu = -1; cpu < (int)shared->nr_cpus; cpu++) {
		int fd = open_id(id, cpu, PERF_FLAG_FD_CLOEXEC), err;

		if (cpu == -1 && fd == -ENOENT)
			return;
		if (fd < 0)
			continue;
		err = sys(ioctl(fd, PERF_EVENT_IOC_ATTACH));
		sys(close(fd));
		if (err)
			return;
		cpu = -2;	/* once more: the last one is found by -1 */
	}
}

/* A slot with these flags, if there is one behind the random one. */
static struct slot *any_slot(unsigned int want, unsigned int unwanted)
{
	unsigned int first = pick(NR_FDS);

	/* Now and then any, and often none. */
	if (one_in(16))
		return &slots[first];
	for (unsigned int i = 0; i < NR_FDS; i++) {
		struct slot *s = &slots[(first + i) % NR_FDS];

		if (s->fd >= 0 && (s->flags & want) == want && !(s->flags & unwanted))
			return s;
	}
	return &slots[first];
}

static int any_fd(void)
{
	return any_slot(FD_OURS, 0)->fd;
}

static struct slot *put_fd(int fd, unsigned int flags)
{
	struct slot *s = &slots[pick(NR_FDS)];

	if (fd < 0)
		return s;
	if (s->fd >= 0)
		sys(close(s->fd));
	s->fd = fd;
	s->flags = flags;
	s->pid = -1;
	s->cpu = 0;
	return s;
}

static __u64 any_id(void)
{
	unsigned int first = pick(NR_IDS);

	if (one_in(32))
		return next_random() >> pick(64);
	for (unsigned int i = 0; i < NR_IDS; i++) {
		__u64 id = __atomic_load_n(&shared->ids[(first + i) % NR_IDS], __ATOMIC_RELAXED);

		if (id)
			return id;
	}
	return 1;
}

/* What has no slot any more is not found again: remove it. */
static void put_id(__u64 id)
{
	__u64 old = __atomic_exchange_n(&shared->ids[pick(NR_IDS)], id, __ATOMIC_RELAXED);

	if (old && old != id)
		remove_entry(old);
}

static struct map *any_map(void)
{
	unsigned int first = pick(NR_MAPS);

	for (unsigned int i = 0; i < NR_MAPS; i++) {
		if (maps[(first + i) % NR_MAPS].ptr)
			return &maps[(first + i) % NR_MAPS];
	}
	return NULL;
}

static void drop_map(struct map *map)
{
	if (map->ptr && sys(munmap(map->ptr, map->len)))
		wrong("munmap(%p, %zu) of a whole mapping fails: %s", map->ptr, map->len,
		      strerror(errno));
	map->ptr = NULL;
}

/* 0 is the caller, -1 everybody. */
static pid_t any_task(void)
{
	switch (pick(8)) {
	case 0 ... 2:
		return 0;
	case 3:
		return shared->process[pick(shared->procs)].pid;
	default:
		return __atomic_load_n(&shared->tasks[pick(NR_TASKS)], __ATOMIC_RELAXED);
	}
}

static int any_cpu(void)
{
	return (int)pick(shared->nr_cpus + 1) - 1;
}

static void __attribute__((noinline)) probed(void)
{
	asm volatile("");
}

static __u64 watched;	/* for breakpoints */

static void fire(unsigned int n)
{
	while (n--) {
		*(volatile __u64 *)&watched = n;
		probed();
		sys(prctl(FIRE_OPTION, n, 0, 0, 0));
	}
	sys(syscall(__NR_getppid));
}

#endif
