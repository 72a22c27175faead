/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The calls of the fuzzer. Most of what they ask for makes sense, since otherwise
 * nothing but the first check of each is ever reached; the rest is anything.
 */
#ifndef FUZZ_CALLS_H
#define FUZZ_CALLS_H

#include "fuzz.h"

static char probe_path[] = "/bin/fuzz";
static char probe_func[] = "__x64_sys_getppid";
static int bpf_progs[8], nr_bpf_progs, bpf_map = -1, cgroup_fd = -1, socks[2] = { -1, -1 };
static int epoll_fd = -1;

static __u64 any_user_pointer(void)
{
	static char scratch[4096];
	static const __u64 wild[] = { 0, 8, 0x1000, ~0ULL, 0xffffffff80000000ULL, 1ULL << 47 };

	return one_in(2) ? (__u64)(unsigned long)scratch : wild[pick(ARRAY_SIZE(wild))];
}

static void pick_type(struct perf_event_attr *attr)
{
	static const __u64 software[] = {
		PERF_COUNT_SW_DUMMY, PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_TASK_CLOCK,
		PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_CONTEXT_SWITCHES,
		PERF_COUNT_SW_CPU_MIGRATIONS, PERF_COUNT_SW_BPF_OUTPUT,
		PERF_COUNT_SW_CGROUP_SWITCHES,
	};
	static const unsigned long periods[] = { 0, 1, 1, 2, 1000 };

	attr->size = sizeof(*attr);
	attr->sample_period = periods[pick(ARRAY_SIZE(periods))];
	switch (pick(16)) {
	case 0 ... 6:
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = software[pick(ARRAY_SIZE(software))];
		/* In an emulated guest a shorter one leaves time for nothing else. */
		if (attr->config <= PERF_COUNT_SW_TASK_CLOCK) {
			attr->sample_period = one_in(2) ? 2000000 : 10000000;
			if (one_in(3)) {
				attr->freq = 1;
				attr->sample_freq = 1 + pick(500);
			}
		}
		break;
	case 7 ... 11:
		attr->type = PERF_TYPE_TRACEPOINT;
		if (shared->nr_tracepoints)
			attr->config = shared->tracepoints[pick(shared->nr_tracepoints)];
		break;
	case 12 ... 13:
		attr->type = PERF_TYPE_BREAKPOINT;
		attr->bp_type = one_in(2) ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW;
		attr->bp_addr = (unsigned long)&watched;
		attr->bp_len = HW_BREAKPOINT_LEN_8;
		if (one_in(3)) {
			attr->bp_type = HW_BREAKPOINT_X;
			attr->bp_addr = one_in(2) ? (unsigned long)probed : shared->kernel_text;
			attr->bp_len = sizeof(long);
		}
		break;
	case 14:
		attr->type = shared->kprobe_type;
		attr->kprobe_func = (unsigned long)probe_func;
		attr->config = one_in(3);	/* a kretprobe */
		break;
	case 15:
		attr->type = shared->uprobe_type;
		attr->uprobe_path = (unsigned long)probe_path;
		attr->probe_offset = shared->probe_offset;
		attr->config = one_in(3);
		break;
	}
}

static void pick_flags(struct perf_event_attr *attr)
{
	attr->sample_type = PERF_SAMPLE_IDENTIFIER;
	if (one_in(2)) {
		/* One that needs a hardware PMU is refused. */
		attr->sample_type |= next_random() & next_random() & (PERF_SAMPLE_MAX - 1) &
				     ~(PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_AUX);
		attr->sample_regs_user = attr->sample_type & PERF_SAMPLE_REGS_USER ? 0xff : 0;
		attr->sample_regs_intr = attr->sample_type & PERF_SAMPLE_REGS_INTR ? 0xff : 0;
		attr->sample_stack_user = attr->sample_type & PERF_SAMPLE_STACK_USER ? 256 : 0;
		if (attr->sample_type & PERF_SAMPLE_WEIGHT)
			attr->sample_type &= ~PERF_SAMPLE_WEIGHT_STRUCT;
	}
	if (one_in(3))
		attr->read_format = next_random() & (PERF_FORMAT_MAX - 1);
	attr->wakeup_events = pick(3);
	attr->disabled = one_in(3);
	attr->inherit = one_in(4);
	attr->write_backward = one_in(6);
	attr->sample_id_all = one_in(2);
	attr->mmap = one_in(6);
	attr->mmap2 = one_in(12);
	attr->comm = one_in(6);
	attr->comm_exec = one_in(12);
	attr->task = one_in(6);
	attr->context_switch = one_in(8);
	attr->exclude_kernel = one_in(8);
	attr->exclude_user = one_in(12);
	attr->exclude_callchain_kernel = one_in(8);
	attr->pinned = one_in(16);
	attr->exclusive = one_in(24);
	attr->inherit_stat = attr->inherit && one_in(4);
	attr->inherit_thread = attr->inherit && one_in(8);
	attr->ksymbol = one_in(16);
	attr->bpf_event = one_in(16);
	attr->text_poke = one_in(24);
	attr->build_id = attr->mmap2 && one_in(3);
	attr->namespaces = one_in(24);
	attr->cgroup = one_in(24);
	if (one_in(16)) {
		attr->watermark = 1;
		attr->wakeup_watermark = 64;
	}
	if (one_in(24)) {
		attr->use_clockid = 1;
		attr->clockid = CLOCK_MONOTONIC;
	}
	if (one_in(16))
		attr->remove_on_exec = 1;
	if (attr->remove_on_exec && one_in(2)) {
		attr->sigtrap = 1;
		attr->sig_data = next_random();
	}
	if (!attr->remove_on_exec && one_in(24))
		attr->enable_on_exec = 1;
}

static const char *attr_text(const struct perf_event_attr *attr)
{
	static char buf[512];
	const __u64 *w = (const __u64 *)attr;

	snprintf(buf, sizeof(buf),
		 "{type %u config %#llx period %llu sample %#llx read %#llx flags %#llx bp %u %#llx %#llx}",
		 attr->type, attr->config, attr->sample_period, attr->sample_type,
		 attr->read_format, w[5], attr->bp_type, attr->config1, attr->config2);
	return buf;
}

static int open_and_put(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
			unsigned long flags, unsigned int slot_flags)
{
	struct perf_event_persistent req = { .size = sizeof(req) };
	struct slot *s;
	int fd;

	say("fd = perf_event_open(&%s, %d, %d, %d, %#lx)", attr_text(attr), pid, cpu, group,
	    flags);
	fd = event_open(attr, pid, cpu, group, flags);
	if (fd < 0)
		return fd;
	if (attr->persistent) {
		slot_flags |= FD_PERSISTENT;
		if (!sys(ioctl(fd, PERF_EVENT_IOC_QUERY_PERSISTENT, &req)))
			put_id(req.id);
	}
	s = put_fd(fd, slot_flags | FD_OURS);
	s->pid = pid;
	s->cpu = cpu;
	return fd;
}

static void pick_target(pid_t *pid, int *cpu)
{
	*cpu = any_cpu();
	*pid = *cpu < 0 || one_in(3) ? any_task() : -1;
}

static unsigned long pick_cloexec(void)
{
	return one_in(2) ? PERF_FLAG_FD_CLOEXEC : 0;
}

static long do_open(void)
{
	struct perf_event_attr attr = {};
	pid_t pid;
	int cpu;

	pick_type(&attr);
	pick_flags(&attr);
	pick_target(&pid, &cpu);
	return open_and_put(&attr, pid, cpu, -1, pick_cloexec(), 0);
}

static long do_open_persistent(void)
{
	struct perf_event_attr attr = {};
	pid_t pid;
	int cpu;

	pick_type(&attr);
	pick_flags(&attr);
	attr.persistent = 1;
	pick_target(&pid, &cpu);
	return open_and_put(&attr, pid, cpu, -1, pick_cloexec(), 0);
}

static long do_open_group(void)
{
	struct slot *leader = any_slot(FD_OURS, FD_READONLY);
	struct perf_event_attr attr = {};
	pid_t pid = leader->pid;
	int cpu = leader->cpu;

	pick_type(&attr);
	pick_flags(&attr);
	attr.pinned = 0;
	attr.exclusive = 0;
	attr.use_clockid = 0;
	attr.persistent = one_in(4);
	if (one_in(8))
		pick_target(&pid, &cpu);
	return open_and_put(&attr, pid, cpu, leader->fd,
			    pick_cloexec() | (one_in(4) ? PERF_FLAG_FD_OUTPUT : 0), 0);
}

static long do_open_output(void)
{
	struct slot *to = any_slot(FD_OURS, FD_READONLY);
	struct perf_event_attr attr = {};
	pid_t pid = to->pid;
	int cpu = to->cpu;

	pick_type(&attr);
	attr.sample_type = PERF_SAMPLE_IDENTIFIER;
	attr.persistent = one_in(3);
	if (one_in(4))
		pick_target(&pid, &cpu);
	return open_and_put(&attr, pid, cpu, to->fd,
			    PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP, 0);
}

static long do_open_task(void)
{
	struct perf_event_attr attr = {};

	pick_type(&attr);
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID;
	attr.inherit = one_in(2);
	attr.persistent = one_in(2);
	attr.task = 1;
	return open_and_put(&attr, any_task(), one_in(2) ? -1 : any_cpu(), -1, pick_cloexec(), 0);
}

static long do_open_cgroup(void)
{
	struct perf_event_attr attr = {};

	pick_type(&attr);
	attr.persistent = one_in(4);
	return open_and_put(&attr, cgroup_fd, pick(shared->nr_cpus), -1, PERF_FLAG_PID_CGROUP, 0);
}

static long do_open_wild(void)
{
	struct perf_event_attr attr = {};
	unsigned char *byte = (unsigned char *)&attr;
	pid_t pid;
	long ret;
	int cpu;

	pick_type(&attr);
	pick_flags(&attr);
	attr.persistent = one_in(2);
	for (int n = 1 + pick(3); n; n--)
		byte[pick(sizeof(attr))] ^= 1U << pick(8);
	if (one_in(8))
		attr.size = pick(2 * sizeof(attr));
	/* Not so often that nothing else can run. */
	if (!attr.freq && attr.type == PERF_TYPE_SOFTWARE && attr.sample_period < 1000000)
		attr.sample_period = attr.config <= PERF_COUNT_SW_TASK_CLOCK ? 1000000 : 1;
	else if (attr.freq && attr.sample_freq > 1000)
		attr.sample_freq = 1000;
	pick_target(&pid, &cpu);
	ret = open_and_put(&attr, pid, cpu, one_in(3) ? any_fd() : -1,
			   one_in(3) ? next_random() & 0x1f : 0, 0);
	/* What an instruction is that cannot be probed has always been 524, ENOTSUPP. */
	return ret == -524 && attr.type == (__u32)shared->uprobe_type ? -EOPNOTSUPP : ret;
}

static long put_id_fd(__u64 id, int cpu, int fd, unsigned int flags)
{
	/* Documented; what a security module says is not, but none is there. */
	static const int good[] = { EACCES, EINVAL, EMFILE, ENFILE, ENOENT, ENOMEM, ENODEV };

	for (unsigned int i = 0; fd < 0 && i < ARRAY_SIZE(good); i++) {
		if (fd == -good[i])
			return fd;
	}
	if (fd < 0)
		wrong("opening id %llu: %s", id, strerror(-fd));
	else
		put_fd(fd, flags | FD_OURS | FD_PERSISTENT)->cpu = cpu;
	return fd;
}

static long do_open_id(void)
{
	__u64 id = any_id();
	int cpu = any_cpu();
	unsigned long flags = pick_cloexec();

	say("fd = open_id(%llu, %d, %#lx)", id, cpu, flags);
	return put_id_fd(id, cpu, open_id(id, cpu, flags), FD_READONLY);
}

static long do_open_control(void)
{
	__u64 id = any_id();
	int cpu = any_cpu();
	unsigned long flags = PERF_FLAG_FD_RDWR | pick_cloexec();

	say("fd = open_id(%llu, %d, %#lx)", id, cpu, flags);
	return put_id_fd(id, cpu, open_id(id, cpu, flags), 0);
}

/* All that is not named has to be zero. */
static long do_open_id_wild(void)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_PERSISTENT,
		.size		= sizeof(attr),
		.config		= any_id(),
		.persistent	= 1,
	};
	unsigned char *byte = (unsigned char *)&attr;
	unsigned int bit = 128 + pick(8 * sizeof(attr) - 128);
	int cpu = any_cpu(), fd;

	byte[bit / 8] ^= 1U << bit % 8;
	say("perf_event_open(&{type 6 id %llu, bit %u changed}, -1, %d, -1, 0)", attr.config, bit,
	    cpu);
	fd = event_open(&attr, -1, cpu, -1, 0);
	if (fd >= 0)
		wrong("opened an id with bit %u of the attr changed", bit);
	return fd;
}

static long simple_ioctl(const char *name, unsigned long cmd, unsigned long arg)
{
	struct slot *s = any_slot(FD_OURS, one_in(8) ? 0 : FD_READONLY);
	long ret;

	say("ioctl(%d, %s, %#lx)", s->fd, name, arg);
	ret = sys(ioctl(s->fd, cmd, arg));
	if (s->fd >= 0 && s->flags & FD_READONLY && ret != -EACCES)
		wrong("ioctl(%s) with a file for reading: %s", name, strerror(-ret));
	return ret;
}

#define GROUP_FLAG	(one_in(3) ? PERF_IOC_FLAG_GROUP : 0)
#define SIMPLE(func, cmd, arg)						\
	static long func(void)						\
	{								\
		return simple_ioctl(#cmd, PERF_EVENT_IOC_##cmd, arg);	\
	}

SIMPLE(do_enable, ENABLE, GROUP_FLAG)
SIMPLE(do_disable, DISABLE, GROUP_FLAG)
SIMPLE(do_reset, RESET, GROUP_FLAG)
SIMPLE(do_stop, STOP, GROUP_FLAG)
SIMPLE(do_start, START, GROUP_FLAG)
SIMPLE(do_refresh, REFRESH, pick(4))
SIMPLE(do_pause_output, PAUSE_OUTPUT, pick(2))
SIMPLE(do_set_bpf, SET_BPF, nr_bpf_progs ? bpf_progs[pick(nr_bpf_progs)] : -1)
SIMPLE(do_unset_output, SET_OUTPUT, -1)

static long do_period(void)
{
	__u64 period = one_in(8) ? next_random() >> pick(64) : 2000000 + pick(1000000);

	return simple_ioctl("PERIOD", PERF_EVENT_IOC_PERIOD, (unsigned long)&period);
}

/* Few pairs fit. */
static long do_set_output(void)
{
	long ret = -EINVAL;

	for (int i = 0; i < 6 && ret; i++)
		ret = simple_ioctl("SET_OUTPUT", PERF_EVENT_IOC_SET_OUTPUT, any_fd());
	return ret;
}

static long do_set_filter(void)
{
	static const char * const filters[] = {
		"common_pid != 0", "common_pid > 1 && common_pid < 100000", "0",
		"nothing == 1", "((((", "filter 0x0/0x1000",
	};
	const char *filter = filters[pick(ARRAY_SIZE(filters))];

	return simple_ioctl("SET_FILTER", PERF_EVENT_IOC_SET_FILTER, (unsigned long)filter);
}

static long do_modify_attr(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	struct slot *s = any_slot(FD_OURS, FD_READONLY);
	long ret;

	sys(ioctl(s->fd, PERF_EVENT_IOC_QUERY_ATTRIBUTES, &attr));
	attr.persistent = one_in(8);
	attr.bp_addr = (unsigned long)&watched;
	attr.disabled ^= 1;
	say("ioctl(%d, MODIFY_ATTRIBUTES, &%s)", s->fd, attr_text(&attr));
	ret = sys(ioctl(s->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr));
	if (s->fd >= 0 && s->flags & FD_READONLY && ret != -EACCES)
		wrong("MODIFY_ATTRIBUTES with a file for reading: %s", strerror(-ret));
	return ret;
}

static long do_event_id(void)
{
	int fd = any_fd();
	__u64 id;

	say("ioctl(%d, ID)", fd);
	return sys(ioctl(fd, PERF_EVENT_IOC_ID, &id));
}

static long do_query_bpf(void)
{
	struct {
		struct perf_event_query_bpf query;
		__u32 ids[16];
	} q = { .query.ids_len = 16 };
	int fd = any_fd();

	say("ioctl(%d, QUERY_BPF)", fd);
	return sys(ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, &q));
}

static void check_errno(const char *what, long ret, const int *good, int n)
{
	if (ret >= 0)
		return;
	while (n--) {
		if (ret == -good[n])
			return;
	}
	wrong("%s: %s is not documented", what, strerror(-ret));
}

static long detach_as(struct slot *s, const char *name, __u64 join)
{
	static const int good[] = {
		EACCES, EALREADY, EBUSY, EEXIST, EINVAL, ENODEV, ENOENT, ENOMEM, ENOSPC,
		EOPNOTSUPP, EPERM, EBADF, ENOTTY,
	};
	struct perf_event_persistent req = { .size = sizeof(req), .id = join };
	long ret;

	snprintf(req.name, sizeof(req.name), "%s", name);
	say("ioctl(%d, DETACH, &{name \"%s\", id %llu})", s->fd, req.name, req.id);
	ret = sys(ioctl(s->fd, PERF_EVENT_IOC_DETACH, &req));
	check_errno("DETACH", ret, good, ARRAY_SIZE(good));
	if (s->fd >= 0 && s->flags & FD_READONLY && ret != -EACCES)
		wrong("DETACH with a file for reading: %s", strerror(-ret));
	if (!ret) {
		s->flags |= FD_PERSISTENT;
		put_id(req.id);
	}
	return ret;
}

static long do_detach(void)
{
	return detach_as(any_slot(FD_OURS, FD_PERSISTENT), "", 0);
}

static long do_detach_name(void)
{
	char name[16];

	snprintf(name, sizeof(name), "%sfuzz%u", one_in(16) ? "-" : "", pick(12));
	return detach_as(any_slot(FD_OURS, FD_PERSISTENT), name, 0);
}

/* Most events do not fit to an entry: make one that does. */
static long do_join(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	struct slot s = { .fd = -1, .flags = FD_OURS };
	__u64 id = any_id();
	int fd = -1;
	long ret;

	if (one_in(4))
		return detach_as(any_slot(FD_OURS, FD_PERSISTENT), "", id);
	for (int cpu = -1; cpu < (int)shared->nr_cpus; cpu++) {
		fd = open_id(id, cpu, PERF_FLAG_FD_CLOEXEC);
		if (fd >= 0)
			break;
	}
	if (fd < 0)
		return fd;
	ret = sys(ioctl(fd, PERF_EVENT_IOC_QUERY_ATTRIBUTES, &attr));
	sys(close(fd));
	if (ret)
		return ret;
	attr.persistent = 0;
	if (attr.type == (__u32)shared->kprobe_type)
		attr.kprobe_func = (unsigned long)probe_func;
	if (attr.type == (__u32)shared->uprobe_type)
		attr.uprobe_path = (unsigned long)probe_path;
	if (attr.type == PERF_TYPE_BREAKPOINT && !attr.bp_addr)
		attr.bp_addr = shared->kernel_text;
	s.fd = event_open(&attr, one_in(4) ? any_task() : -1, pick(shared->nr_cpus), -1, 0);
	if (s.fd < 0)
		return s.fd;
	ret = detach_as(&s, "", id);
	put_fd(s.fd, s.flags);
	return ret;
}

static long do_detach_wild(void)
{
	struct perf_event_persistent *req = (void *)(unsigned long)any_user_pointer(), full;
	struct slot *s = any_slot(FD_OURS, one_in(2) ? FD_PERSISTENT : 0);
	long ret;

	if (!one_in(3)) {
		memset(&full, 0, sizeof(full));
		full.size = one_in(3) ? pick(8192) : sizeof(full);
		full.flags = one_in(6) ? next_random() : 0;
		full.id = one_in(4) ? next_random() >> pick(64) : 0;
		for (int i = 0; i < 64; i++)
			full.name[i] = one_in(32) ? next_random() : 'a' + pick(26);
		if (!one_in(4))
			full.name[pick(64)] = 0;
		req = &full;
	}
	say("ioctl(%d, DETACH, %p)", s->fd, req);
	ret = sys(ioctl(s->fd, PERF_EVENT_IOC_DETACH, req));
	if (!ret)
		put_id(req->id);
	return ret;
}

static long do_attach(void)
{
	static const int good[] = { EINVAL, EACCES, EBADF, ENOTTY };
	int fd = any_slot(FD_OURS | FD_PERSISTENT, 0)->fd;
	long ret;

	say("ioctl(%d, ATTACH)", fd);
	ret = sys(ioctl(fd, PERF_EVENT_IOC_ATTACH));
	check_errno("ATTACH", ret, good, ARRAY_SIZE(good));
	return ret;
}

static long do_query_persistent(void)
{
	struct perf_event_persistent req = { .size = sizeof(req) };
	int fd = any_slot(FD_OURS | FD_PERSISTENT, 0)->fd;
	long ret;

	if (one_in(16))
		req.size = pick(5000);
	say("ioctl(%d, QUERY_PERSISTENT, &{size %u})", fd, req.size);
	ret = sys(ioctl(fd, PERF_EVENT_IOC_QUERY_PERSISTENT, &req));
	if (!ret && req.size >= sizeof(req) && (!req.id || !req.name[0] || req.name[63]))
		wrong("QUERY_PERSISTENT: id %llu, name '%.64s'", req.id, req.name);
	return ret;
}

static long do_query_attr(void)
{
	struct perf_event_attr attr[2] = { { .size = sizeof(attr[0]) } };
	int fd = any_fd();

	if (one_in(16))
		attr[0].size = pick(sizeof(attr));
	say("ioctl(%d, QUERY_ATTRIBUTES, &{size %u})", fd, attr[0].size);
	return sys(ioctl(fd, PERF_EVENT_IOC_QUERY_ATTRIBUTES, attr));
}

static long do_ioctl_wild(void)
{
	unsigned long cmd = one_in(2) ? _IO('$', pick(32)) : _IOWR('$', pick(32), void *);
	unsigned long arg = any_user_pointer();
	int fd = any_fd();
	long ret;

	say("ioctl(%d, %#lx, %#lx)", fd, cmd, arg);
	ret = sys(ioctl(fd, cmd, arg));
	/* What it did to the slot is not known. */
	return ret;
}

static long map_fd(struct slot *s, size_t pages, int prot, int flags, long pgoff)
{
	struct map *map = &maps[pick(NR_MAPS)];
	void *ptr;

	drop_map(map);
	say("mmap(NULL, %zu pages, %d, %d, %d, page %ld)", pages, prot, flags, s->fd, pgoff);
	ptr = mmap(NULL, pages * page_size, prot, flags, s->fd, pgoff * page_size);
	if (ptr == MAP_FAILED)
		return sys(-1);
	sys(0);
	if (s->fd >= 0 && s->flags & FD_READONLY && prot & PROT_WRITE && !(flags & MAP_PRIVATE))
		wrong("a writable mapping of a file for reading");
	map->ptr = ptr;
	map->len = pages * page_size;
	map->prot = prot;
	return 0;
}

static const size_t sizes[] = { 1, 2, 2, 3, 3, 5, 9, 17 };

static long do_mmap_read(void)
{
	return map_fd(any_slot(FD_OURS, 0), sizes[pick(ARRAY_SIZE(sizes))], PROT_READ,
		      MAP_SHARED, 0);
}

static long do_mmap_write(void)
{
	return map_fd(any_slot(FD_OURS, one_in(8) ? 0 : FD_READONLY),
		      sizes[pick(ARRAY_SIZE(sizes))], PROT_READ | PROT_WRITE, MAP_SHARED, 0);
}

static long do_mmap_wild(void)
{
	/* Not a power of two, or small enough: nothing may take all the memory. */
	size_t pages = one_in(2) ? pick(70) : (1 + (next_random() >> 32)) * 4;
	static const int flags[] = {
		MAP_SHARED, MAP_SHARED, MAP_PRIVATE, MAP_SHARED | MAP_POPULATE,
		MAP_SHARED | MAP_LOCKED, MAP_SHARED_VALIDATE,
	};
	int prot = one_in(4) ? pick(8) : pick(4);

	return map_fd(any_slot(FD_OURS, 0), pages, prot, flags[pick(ARRAY_SIZE(flags))],
		      one_in(3) ? (long)pick(64) : one_in(2) ? (long)(next_random() >> 20) : 0);
}

static long do_munmap(void)
{
	struct map *map = any_map();

	if (!map)
		return -ENOENT;
	say("munmap(%p, %zu)", map->ptr, map->len);
	drop_map(map);
	return 0;
}

/* Must never work. */
static long do_munmap_part(void)
{
	struct map *map = any_map();
	long ret;

	if (!map || map->len == (size_t)page_size)
		return -ENOENT;
	say("munmap(%p + a page or less a page, %zu)", map->ptr, map->len);
	ret = one_in(2) ? sys(munmap(map->ptr, map->len - page_size)) :
			  sys(munmap(map->ptr + page_size, map->len - page_size));
	if (!ret)
		wrong("a part of a mapping was unmapped");
	return ret;
}

static long do_mremap(void)
{
	struct map *map = any_map();
	size_t len;
	void *ptr, *to = NULL;
	int flags = MREMAP_MAYMOVE;

	if (!map)
		return -ENOENT;
	len = one_in(2) ? map->len : (1UL + pick(20)) * page_size;
	if (one_in(2)) {
		flags |= MREMAP_FIXED | (one_in(4) ? MREMAP_DONTUNMAP : 0);
		to = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (to == MAP_FAILED)
			return -ENOMEM;
	}
	say("mremap(%p, %zu, %zu, %d, %p)", map->ptr, map->len, len, flags, to);
	ptr = mremap(map->ptr, map->len, len, flags, to);
	if (ptr == MAP_FAILED) {
		long ret = sys(-1);

		if (to)
			munmap(to, len);
		return ret;
	}
	sys(0);
	if (len != map->len)
		wrong("a mapping of %zu bytes has %zu now", map->len, len);
	map->ptr = ptr;
	map->len = len;
	return 0;
}

static long do_mprotect(void)
{
	struct map *map = any_map();
	int prot = pick(4);
	long ret;

	if (!map)
		return -ENOENT;
	say("mprotect(%p, %zu, %d)", map->ptr, map->len, prot);
	ret = sys(mprotect(map->ptr, map->len, prot));
	if (!ret)
		map->prot = prot;
	return ret;
}

static long do_madvise(void)
{
	static const int advice[] = {
		MADV_DONTNEED, MADV_WILLNEED, MADV_DONTFORK, MADV_DOFORK, MADV_REMOVE, MADV_FREE,
		MADV_COLD, MADV_PAGEOUT, MADV_RANDOM, MADV_NORMAL,
	};
	struct map *map = any_map();
	int how = advice[pick(ARRAY_SIZE(advice))];

	if (!map)
		return -ENOENT;
	say("madvise(%p, %zu, %d)", map->ptr, map->len, how);
	return sys(madvise(map->ptr, map->len, how));
}

static sigjmp_buf fault_jump;

static void on_fault(int sig)
{
	(void)sig;
	siglongjmp(fault_jump, 1);
}

/* As a reader does, or one that went mad. */
static long do_touch(void)
{
	struct map *map = any_map();
	struct perf_event_mmap_page *page;
	unsigned long at;
	__u64 junk;
	int how;

	if (!map)
		return -ENOENT;
	how = pick(4);
	at = pick(map->len / 8) * 8;
	junk = next_random();
	page = (void *)map->ptr;
	say("touch(%p + %#lx, %d)", map->ptr, at, how);
	if (sigsetjmp(fault_jump, 1))
		return -EFAULT;
	if (how == 0)
		junk += *(volatile __u64 *)(map->ptr + at);
	else if (how == 1 || how == 2)
		__atomic_store_n(&page->data_tail,
				 __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
	else
		*(volatile __u64 *)(map->ptr + at) = junk;
	return 0;
}

#endif
