/* SPDX-License-Identifier: GPL-2.0 */
/* What the fuzzer looks at while it runs and when it is over. */
#ifndef FUZZ_JUDGE_H
#define FUZZ_JUDGE_H

struct state {
	__u64	entries[MAX_ENTRIES];
	int	nr_entries;
	long	quota, kprobes, breakpoints;
};

static long count_lines(const char *path)
{
	char line[512];
	FILE *f = fopen(path, "r");
	long n = 0;

	while (f && fgets(line, sizeof(line), f))
		n++;
	if (f)
		fclose(f);
	return n;
}

/* As many as there are free registers for. */
static long free_breakpoints(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(attr), .bp_type = HW_BREAKPOINT_W,
		.bp_addr = (unsigned long)&watched, .bp_len = HW_BREAKPOINT_LEN_8,
	};
	int fds[64], n = 0;

	for (unsigned int cpu = 0; cpu < shared->nr_cpus && n < 64; cpu++) {
		while (n < 64) {
			fds[n] = event_open(&attr, -1, cpu, -1, 0);
			if (fds[n] < 0)
				break;
			n++;
		}
	}
	for (int i = 0; i < n; i++)
		close(fds[i]);
	return n;
}

/* For a caller with neither CAP_IPC_LOCK nor RLIMIT_MEMLOCK: the pages it can map. */
static long free_pages(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
	};
	long data = 1024, pages = 0;

	/* Until even the control page alone is too much; all goes when the caller ends. */
	while (true) {
		int fd = event_open(&attr, 0, -1, -1, 0);

		if (fd < 0)
			return -1;
		if (mmap(NULL, (data + 1) * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) !=
		    MAP_FAILED) {
			pages += data + 1;
			continue;
		}
		close(fd);
		if (!data)
			return pages;
		data /= 2;
	}
}

/* What is left of the user's quota, by a child that gives up what root may. */
static long free_quota(void)
{
	struct __user_cap_header_struct hdr = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	struct rlimit none = { 0, 0 };
	int pipe_fd[2];
	long pages = -1;
	pid_t pid;

	if (pipe(pipe_fd))
		return -1;
	pid = fork();
	if (!pid) {
		if (!syscall(SYS_capget, &hdr, data)) {
			data[0].effective &= ~(1U << CAP_IPC_LOCK);
			if (!syscall(SYS_capset, &hdr, data) && !setrlimit(RLIMIT_MEMLOCK, &none))
				pages = free_pages();
		}
		_exit(write(pipe_fd[1], &pages, sizeof(pages)) != sizeof(pages));
	}
	close(pipe_fd[1]);
	if (read(pipe_fd[0], &pages, sizeof(pages)) != sizeof(pages))
		pages = -1;
	close(pipe_fd[0]);
	waitpid(pid, NULL, 0);
	return pages;
}

static void all_cpus_on(void)
{
	char path[64];

	for (unsigned int i = 1; i < shared->nr_cpus; i++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", i);
		write_file(path, "1");
	}
}

static void take_state(struct state *s)
{
	write_file(PARANOID, "2");
	write_file("/proc/sys/kernel/perf_event_mlock_kb", "516");
	s->nr_entries = list_entries(s->entries, MAX_ENTRIES);
	s->quota = free_quota();
	s->kprobes = count_lines("/sys/kernel/debug/kprobes/list");
	s->breakpoints = free_breakpoints();
}

/* The kernel's own entries may have been let go, and give back what they had. */
static bool no_less(const char *what, long before, long after)
{
	if (after < before)
		printf("fuzz: %s: %ld before, %ld after\n", what, before, after);
	return after >= before;
}

/* The registry's own count: there must be room for one entry and no more. */
static bool count_is(int nr)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY,
		.persistent = 1,
	};
	char text[16];
	int one, two;

	snprintf(text, sizeof(text), "%d", nr + 1);
	write_file(MAX_PERSISTENT, text);
	one = event_open(&attr, 0, -1, -1, 0);
	two = event_open(&attr, 0, -1, -1, 0);
	if (one >= 0 && ioctl(one, PERF_EVENT_IOC_ATTACH))
		printf("fuzz: ATTACH of the last one: %s\n", strerror(errno));
	close(one);
	close(two);
	write_file(MAX_PERSISTENT, "4096");
	if (one < 0 || two != -ENOSPC)
		printf("fuzz: the registry does not count %d entries: %s, %s\n", nr,
		       one < 0 ? strerror(-one) : "opened", two < 0 ? strerror(-two) : "opened");
	return one >= 0 && two == -ENOSPC;
}

static bool nothing_left(const struct state *before)
{
	static struct state after;
	bool good = true;
	char buf[4096], *pin;
	int n;

	all_cpus_on();
	for (int round = 0; round < 2; round++) {
		n = list_entries(after.entries, MAX_ENTRIES);
		for (int i = 0; i < n; i++) {
			bool old = false;

			for (int j = 0; j < before->nr_entries; j++)
				old |= before->entries[j] == after.entries[i];
			if (!old)
				remove_entry(after.entries[i]);
		}
	}
	/* Programs of events, and what the last of them held, go with RCU. */
	for (int i = 0; i < 50 && free_breakpoints() != before->breakpoints; i++)
		usleep(100000);
	take_state(&after);
	good &= no_less("removed entries", -before->nr_entries, -after.nr_entries);
	good &= no_less("free pages of the quota", before->quota, after.quota);
	good &= no_less("removed kprobes", -before->kprobes, -after.kprobes);
	good &= no_less("free breakpoints", before->breakpoints, after.breakpoints);
	good &= count_is(after.nr_entries);
	read_file("/proc/self/status", buf, sizeof(buf));
	pin = strstr(buf, "VmPin:");
	good &= no_less("VmPin that is not there", 0, pin ? -atol(pin + 6) : -1);
	return good;
}

static bool print_kind(unsigned int i)
{
	const struct kind *k = &kinds[i];
	unsigned long *failed = shared->failed[i];
	bool idle = !shared->worked[i] && !(k->flags & NEVER) &&
		    !(k->flags & NEEDS_CPUS && (shared->nr_cpus < 2 || !shared->hotplug)) &&
		    !(k->flags & NEEDS_NET && socks[0] < 0) &&
		    !(k->flags & NEEDS_CGROUP && cgroup_fd < 0);

	printf("%-22s %9lu", k->name, shared->worked[i]);
	for (int e = 1; e < NR_ERRNO; e++) {
		if (failed[e])
			printf(" %s %lu", strerrorname_np(e), failed[e]);
	}
	printf("%s\n", idle ? "   <- never worked" : "");
	return !idle;
}

/* What stands still, and where. */
static void show_hang(void)
{
	char path[64], buf[8192];
	struct dirent *de;
	DIR *dir;

	for (unsigned int i = 0; i < shared->procs; i++) {
		struct process *p = &shared->process[i];

		printf("fuzz: process %u (%d) %s call %lu, %s\n", i, p->pid,
		       p->done ? "is done after" : "is at", p->call, kinds[p->kind].name);
	}
	dir = opendir("/proc");
	while (dir && (de = readdir(dir))) {
		if (de->d_name[0] < '0' || de->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/stat", de->d_name);
		if (read_file(path, buf, sizeof(buf)) < 0)
			continue;
		printf("%.60s\n", buf);
		snprintf(path, sizeof(path), "/proc/%.16s/stack", de->d_name);
		if (read_file(path, buf, sizeof(buf)) > 0)
			printf("%s", buf);
	}
	fflush(stdout);
	tcdrain(1);
	/* To the console: what is blocked, and what the CPUs do. */
	write_file("/proc/sysrq-trigger", "w");
	write_file("/proc/sysrq-trigger", "l");
	sleep(2);
}

static void print_repeat(void)
{
	printf("fuzz: to repeat: tools/guest fuzz --seed %lu --calls %lu --procs %u --hotplug %u\n",
	       shared->seed, shared->calls == ~0UL ? shared->made / shared->procs : shared->calls,
	       shared->procs, shared->hotplug);
}

/* Return: whether all processes came to their end. */
static bool watch(void)
{
	unsigned long seen[NR_PROCS] = {}, since[NR_PROCS] = {}, now, begun = time(NULL);
	unsigned int left;
	int status;

	do {
		pid_t pid;

		usleep(200000);
		now = time(NULL);
		if (seconds && now - begun >= seconds) {
			for (unsigned int i = 0; i < shared->procs; i++) {
				if (!shared->process[i].done)
					kill(shared->process[i].pid, SIGTERM);
			}
		}
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			for (unsigned int i = 0; i < shared->procs; i++) {
				struct process *p = &shared->process[i];

				if (p->pid != pid || p->done)
					continue;
				me = i;
				call_nr = p->call;
				wrong("the process ended with status %#x in %s", status,
				      kinds[p->kind].name);
				p->done = true;
			}
		}
		left = 0;
		for (unsigned int i = 0; i < shared->procs; i++) {
			struct process *p = &shared->process[i];

			if (p->done)
				continue;
			left++;
			if (p->progress != seen[i] || !since[i]) {
				seen[i] = p->progress;
				since[i] = now;
			} else if (now - since[i] > hang) {
				printf("fuzz: process %u stands still since %lu s\n", i,
				       now - since[i]);
				show_hang();
				print_repeat();
				return false;
			}
		}
	} while (left);
	while (wait(NULL) > 0)
		;
	return true;
}

static int judge(const struct state *before)
{
	bool clean, all = true;

	for (int i = 0; i < nr_bpf_progs; i++)
		close(bpf_progs[i]);
	close(bpf_map);
	close(socks[0]);
	close(socks[1]);
	clean = nothing_left(before);
	for (unsigned int i = 0; i < N_KINDS; i++)
		all &= print_kind(i);
	/* A part of a run need not have all. */
	if (shared->from || shared->to != ~0UL || shared->skips || shared->made < 20000)
		all = true;
	printf("fuzz: %lu calls (%lu system calls), %lu that must not be, %s left, seed %lu\n",
	       shared->made, shared->syscalls, shared->wrong, clean ? "nothing" : "something",
	       shared->seed);
	if (clean && all && !shared->wrong)
		return 0;
	print_repeat();
	return 1;
}

#endif
