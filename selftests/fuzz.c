// SPDX-License-Identifier: GPL-2.0
/*
 * A fuzzer of perf events, persistent ones before all: several processes make random
 * calls at the same time. Nothing is expected of most of them, the kernel's own checks
 * look at what happens; but what a file for reading must not do, an errno that is not
 * documented, and whatever is left in the end is a failure.
 *
 * The seed decides what each call asks for, not how the processes interleave.
 *
 *   --seed N      default: from the time; it is printed
 *   --calls N     of each process (default 10000)
 *   --seconds N   instead: until the time is over
 *   --procs N     processes (default 4)
 *   --hotplug N   of 1000 calls that would take a CPU away so many do (default 60; 0: none)
 *   --from N, --to N   only these calls of each process
 *   --skip N,N-M,...   not these
 *   --hang N      seconds without a call that are a hang (default 60)
 *   --trace       print each call before it is made
 */
#include "fuzz_world.h"

struct kind {
	const char	*name;
	long		(*call)(void);
	unsigned int	weight;
	unsigned int	flags;
};

#define NEVER		0x01	/* must not work */
#define NEEDS_CPUS	0x02
#define NEEDS_NET	0x04
#define NEEDS_CGROUP	0x08

static const struct kind kinds[] = {
	{ "open", do_open, 40, 0 },
	{ "open persistent", do_open_persistent, 24, 0 },
	{ "open in a group", do_open_group, 24, 0 },
	{ "open with output", do_open_output, 16, 0 },
	{ "open of a task", do_open_task, 24, 0 },
	{ "open of a cgroup", do_open_cgroup, 6, NEEDS_CGROUP },
	{ "open, anything", do_open_wild, 30, 0 },
	{ "open by id", do_open_id, 50, 0 },
	{ "open by id, control", do_open_control, 40, 0 },
	{ "open by id, anything", do_open_id_wild, 12, NEVER },
	{ "ENABLE", do_enable, 12, 0 },
	{ "DISABLE", do_disable, 12, 0 },
	{ "RESET", do_reset, 6, 0 },
	{ "STOP", do_stop, 14, 0 },
	{ "START", do_start, 14, 0 },
	{ "REFRESH", do_refresh, 10, 0 },
	{ "PERIOD", do_period, 10, 0 },
	{ "SET_OUTPUT", do_set_output, 16, 0 },
	{ "SET_OUTPUT -1", do_unset_output, 8, 0 },
	{ "SET_FILTER", do_set_filter, 10, 0 },
	{ "SET_BPF", do_set_bpf, 16, 0 },
	{ "PAUSE_OUTPUT", do_pause_output, 8, 0 },
	{ "MODIFY_ATTRIBUTES", do_modify_attr, 12, 0 },
	{ "ID", do_event_id, 4, 0 },
	{ "QUERY_BPF", do_query_bpf, 8, 0 },
	{ "DETACH", do_detach, 30, 0 },
	{ "DETACH, name", do_detach_name, 16, 0 },
	{ "DETACH, join", do_join, 24, 0 },
	{ "DETACH, anything", do_detach_wild, 12, 0 },
	{ "ATTACH", do_attach, 30, 0 },
	{ "QUERY_PERSISTENT", do_query_persistent, 10, 0 },
	{ "QUERY_ATTRIBUTES", do_query_attr, 10, 0 },
	{ "ioctl, anything", do_ioctl_wild, 12, 0 },
	{ "mmap to read", do_mmap_read, 40, 0 },
	{ "mmap to write", do_mmap_write, 40, 0 },
	{ "mmap, anything", do_mmap_wild, 30, 0 },
	{ "munmap", do_munmap, 30, 0 },
	{ "munmap of a part", do_munmap_part, 8, NEVER },
	{ "mremap", do_mremap, 10, 0 },
	{ "mprotect", do_mprotect, 6, 0 },
	{ "madvise", do_madvise, 8, 0 },
	{ "touch", do_touch, 20, 0 },
	{ "read", do_read, 16, 0 },
	{ "readv", do_readv, 4, 0 },
	{ "poll", do_poll, 12, 0 },
	{ "epoll", do_epoll, 10, 0 },
	{ "dup", do_dup, 10, 0 },
	{ "close", do_close, 30, 0 },
	{ "fcntl", do_fcntl, 8, 0 },
	{ "file, anything", do_file_wild, 4, 0 },
	{ "fdinfo", do_fdinfo, 4, 0 },
	{ "pass by pidfd", do_pass, 10, 0 },
	{ "pass by socket", do_send, 6, NEEDS_NET },
	{ "fork", do_fork, 8, 0 },
	{ "exec", do_exec, 3, 0 },
	{ "task", do_task, 6, 0 },
	{ "kill", do_kill, 4, 0 },
	{ "fire", do_fire, 16, 0 },
	{ "prctl", do_prctl, 6, 0 },
	{ "affinity", do_affinity, 8, 0 },
	{ "CPU off", do_cpu_off, 10, NEEDS_CPUS },
	{ "CPU on", do_cpu_on, 10, NEEDS_CPUS },
	{ "sysfs, entry", do_sysfs_entry, 20, 0 },
	{ "sysfs, list", do_sysfs_list, 8, 0 },
	{ "sysfs, source", do_sysfs_source, 4, 0 },
	{ "sysctl", do_sysctl, 4, 0 },
	{ "BPF map", do_bpf_map, 10, 0 },
	{ "BPF link", do_bpf_link, 10, 0 },
};

#define N_KINDS	ARRAY_SIZE(kinds)

static unsigned long seconds, hang = 60;

static void operate(void)
{
	static unsigned int sum;
	unsigned int n, kind = 0;
	long ret;

	if (!sum) {
		for (unsigned int i = 0; i < N_KINDS; i++)
			sum += kinds[i].weight;
	}
	n = pick(sum);
	while (n >= kinds[kind].weight)
		n -= kinds[kind++].weight;
	if (!is_child)
		__atomic_store_n(&shared->process[me].kind, kind, __ATOMIC_RELAXED);
	ret = kinds[kind].call();
	/* It was not even tried. */
	if (ret == -ECANCELED)
		return;
	say("  %s = %ld", kinds[kind].name, ret);
	add(&shared->made, 1);
	if (ret >= 0) {
		add(&shared->worked[kind], 1);
		if (kinds[kind].flags & NEVER)
			wrong("%s works", kinds[kind].name);
	} else if (-ret < NR_ERRNO) {
		add(&shared->failed[kind][-ret], 1);
	} else {
		add(&shared->failed[kind][0], 1);
		/* What is between the errnos of user space and the kernel's own. */
		if (-ret >= 512 && -ret < 4096)
			wrong("%s: errno %ld", kinds[kind].name, -ret);
	}
}

static bool wanted(unsigned long nr)
{
	if (nr < shared->from || nr > shared->to)
		return false;
	for (unsigned int i = 0; i + 1 < shared->skips; i += 2) {
		if (nr >= shared->skip[i] && nr <= shared->skip[i + 1])
			return false;
	}
	return true;
}

static void ignore_signals(void)
{
	static const int fault[] = { SIGSEGV, SIGBUS };
	struct sigaction act = { .sa_handler = on_fault };

	for (unsigned int i = 0; i < ARRAY_SIZE(fault); i++)
		sigaction(fault[i], &act, NULL);
	signal(SIGIO, SIG_IGN);
	signal(SIGTRAP, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
}

static volatile bool time_is_over;

static void on_term(int sig)
{
	(void)sig;
	time_is_over = true;
}

static void __attribute__((noreturn)) work(void)
{
	struct process *self = &shared->process[me];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (call_nr = 0; call_nr < shared->calls && !time_is_over; call_nr++) {
		if (!wanted(call_nr))
			continue;
		__atomic_store_n(&self->call, call_nr, __ATOMIC_RELAXED);
		add(&self->progress, 1);
		begin_random(call_nr, 0);
		operate();
	}
	/* By hand, for what close() and munmap() say. */
	for (int i = 0; i < NR_MAPS; i++)
		drop_map(&maps[i]);
	for (int i = 0; i < NR_FDS; i++) {
		if (slots[i].fd >= 0 && sys(close(slots[i].fd)))
			wrong("close(%d): %s", slots[i].fd, strerror(errno));
	}
	for (int i = 0; i < NR_CHILDREN; i++) {
		if (children[i] > 0)
			sys(kill(children[i], SIGKILL));
		reap(i);
	}
	__atomic_store_n(&self->done, true, __ATOMIC_RELEASE);
	_exit(0);
}

/* In the new program: a few more calls, with what exec left. */
static int after_exec(char **argv)
{
	char *p = argv[4];

	me = atoi(argv[2]);
	call_nr = strtoul(argv[3], NULL, 10);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, SHARED_FD, 0);
	if (shared == MAP_FAILED)
		return 1;
	is_child = true;
	for (int i = 0; i < NR_FDS; i++) {
		slots[i].fd = strtol(p, &p, 10);
		p += *p == ',';
		/* What was CLOEXEC is gone. */
		if (slots[i].fd >= 0 && fcntl(slots[i].fd, F_GETFD) < 0)
			slots[i].fd = -1;
	}
	begin_random(call_nr, 2);
	operate_as_child(1 + pick(6));
	return 0;
}

static int find_probe(struct dl_phdr_info *info, size_t size, void *data)
{
	__u64 at = (unsigned long)probed - info->dlpi_addr;

	(void)size;
	(void)data;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && at >= ph->p_vaddr && at < ph->p_vaddr + ph->p_memsz)
			shared->probe_offset = at - ph->p_vaddr + ph->p_offset;
	}
	return 1;
}

static void look_around(void)
{
	static const char * const events[] = {
		"task/task_prctl_unknown", "sched/sched_switch", "sched/sched_process_exec",
		"sched/sched_process_fork", "sched/sched_process_exit", "sched/sched_waking",
		"signal/signal_generate",
	};
	char line[256], path[128];
	FILE *f;

	for (unsigned int i = 0; i < ARRAY_SIZE(events); i++) {
		int id;

		snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", events[i]);
		id = read_number(path);
		if (id > 0)
			shared->tracepoints[shared->nr_tracepoints++] = id;
	}
	shared->kprobe_type = read_number(SOURCES "/kprobe/type");
	shared->uprobe_type = read_number(SOURCES "/uprobe/type");
	dl_iterate_phdr(find_probe, NULL);
	f = fopen("/proc/kallsyms", "r");
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long addr;
		char name[128];

		if (sscanf(line, "%lx %*c %127s", &addr, name) == 2 && !strcmp(name, probe_func))
			shared->kernel_text = addr;
	}
	if (f)
		fclose(f);
	mkdir(CGROUP, 0700);
	if (!mount("none", CGROUP, "cgroup", 0, "perf_event") ||
	    !mount("none", CGROUP, "cgroup2", 0, NULL)) {
		mkdir(CGROUP "/one", 0700);
		cgroup_fd = open(CGROUP "/one", O_RDONLY | O_CLOEXEC);
	}
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, socks))
		socks[0] = -1;
	set_up_bpf();
}

#include "fuzz_judge.h"

static unsigned long number(const char *option, const char *text, unsigned long max)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text ? text : "", &end, 10);
	if (!text || errno || end == text || *end || *text == '-' || n > max) {
		printf("fuzz: %s wants a number up to %lu\n", option, max);
		exit(2);
	}
	return n;
}

static void parse_skip(char *text)
{
	for (char *p = strtok(text, ","); p; p = strtok(NULL, ",")) {
		char *dash = strchr(p, '-');

		if (shared->skips + 2 > MAX_SKIP) {
			printf("fuzz: --skip takes at most %d ranges\n", MAX_SKIP / 2);
			exit(2);
		}
		if (dash)
			*dash++ = 0;
		shared->skip[shared->skips++] = number("--skip", p, ~0UL);
		shared->skip[shared->skips++] = number("--skip", dash ? dash : p, ~0UL);
	}
}

static void parse(char **argv)
{
	for (char **a = argv + 1; *a; a++) {
		char *value = a[1];

		if (!strcmp(*a, "--trace")) {
			shared->trace = true;
			continue;
		}
		if (!strcmp(*a, "--seed")) {
			shared->seed = number(*a, value, ~0UL);
		} else if (!strcmp(*a, "--calls")) {
			shared->calls = number(*a, value, ~0UL);
		} else if (!strcmp(*a, "--seconds")) {
			seconds = number(*a, value, 1000000);
		} else if (!strcmp(*a, "--procs")) {
			shared->procs = number(*a, value, NR_PROCS);
		} else if (!strcmp(*a, "--hotplug")) {
			shared->hotplug = number(*a, value, 1000);
		} else if (!strcmp(*a, "--from")) {
			shared->from = number(*a, value, ~0UL);
		} else if (!strcmp(*a, "--to")) {
			shared->to = number(*a, value, ~0UL);
		} else if (!strcmp(*a, "--hang")) {
			hang = number(*a, value, 100000);
		} else if (!strcmp(*a, "--skip") && value) {
			parse_skip(value);
		} else {
			printf("fuzz: unknown option '%s'; see the top of selftests/fuzz.c\n", *a);
			exit(2);
		}
		a++;
	}
	if (!shared->procs)
		shared->procs = 1;
	if (seconds)
		shared->calls = ~0UL;
}

static void start(unsigned int nr)
{
	pid_t pid = fork();

	if (pid < 0)
		die("cannot fork");
	if (pid) {
		shared->process[nr].pid = pid;
		return;
	}
	me = nr;
	/* All have to know each other, so that the seed decides. */
	while (!__atomic_load_n(&shared->process[shared->procs - 1].pid, __ATOMIC_ACQUIRE))
		usleep(1000);
	work();
}

int main(int argc, char **argv)
{
	struct rlimit files = { 512, 512 };
	struct state before;
	int fd;

	page_size = sysconf(_SC_PAGESIZE);
	for (int i = 0; i < NR_FDS; i++)
		slots[i].fd = -1;
	ignore_signals();
	if (argc == 5 && !strcmp(argv[1], "--exec"))
		return after_exec(argv);

	setrlimit(RLIMIT_NOFILE, &files);
	fd = memfd_create("fuzz", 0);
	if (fd < 0 || ftruncate(fd, sizeof(*shared)) || dup2(fd, SHARED_FD) < 0)
		die("cannot make the shared memory");
	close(fd);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, SHARED_FD, 0);
	if (shared == MAP_FAILED)
		die("cannot map the shared memory");
	shared->seed = time(NULL);
	shared->calls = 10000;
	shared->procs = 4;
	shared->hotplug = 60;
	shared->to = ~0UL;
	shared->nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	parse(argv);
	if (access(ENTRIES, F_OK)) {
		printf("fuzz: needs CONFIG_PERF_EVENTS_PERSISTENT\n");
		return 4;
	}
	look_around();
	printf("fuzz: seed %lu, %u processes, %u CPUs\n", shared->seed, shared->procs,
	       shared->nr_cpus);
	fflush(stdout);
	write_file(PARANOID, "2");
	take_state(&before);

	signal(SIGTERM, on_term);
	for (unsigned int i = 0; i < shared->procs; i++)
		start(i);
	if (!watch())
		return 1;
	return judge(&before);
}
