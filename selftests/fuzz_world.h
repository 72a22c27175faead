/* SPDX-License-Identifier: GPL-2.0 */
/* The calls of the fuzzer that are about files, processes, CPUs, sysfs and BPF. */
#ifndef FUZZ_WORLD_H
#define FUZZ_WORLD_H

#include "fuzz_calls.h"

static void operate(void);

static long do_read(void)
{
	int fd = any_fd();
	__u64 val[32];

	say("read(%d)", fd);
	return sys(read(fd, val, one_in(8) ? pick(64) : sizeof(val)));
}

static long do_readv(void)
{
	struct iovec iov[2] = { { (void *)(unsigned long)any_user_pointer(), pick(64) },
				{ (void *)(unsigned long)any_user_pointer(), 1024 } };
	int fd = any_fd();

	say("readv(%d)", fd);
	return sys(readv(fd, iov, 2));
}

static long do_poll(void)
{
	struct pollfd p[2] = { { any_fd(), POLLIN, 0 }, { any_fd(), POLLIN, 0 } };

	say("poll(%d, %d)", p[0].fd, p[1].fd);
	return sys(poll(p, 2, one_in(16) ? 1 : 0));
}

static long do_epoll(void)
{
	struct epoll_event ev = { .events = one_in(2) ? EPOLLIN : EPOLLIN | EPOLLET };
	int fd = any_fd();
	long ret;

	if (epoll_fd < 0)
		epoll_fd = sys(epoll_create1(EPOLL_CLOEXEC));
	say("epoll_ctl(%d)", fd);
	ret = sys(epoll_ctl(epoll_fd, one_in(3) ? EPOLL_CTL_DEL : EPOLL_CTL_ADD, fd, &ev));
	sys(epoll_wait(epoll_fd, &ev, 1, 0));
	return ret;
}

static long do_dup(void)
{
	struct slot *s = any_slot(FD_OURS, 0);
	long ret;

	say("dup(%d)", s->fd);
	ret = sys(dup(s->fd));
	if (ret >= 0)
		put_fd(ret, s->flags);
	return ret;
}

static long do_close(void)
{
	struct slot *s = any_slot(FD_OURS, 0);
	long ret;

	say("close(%d)", s->fd);
	ret = sys(close(s->fd));
	s->fd = -1;
	return ret;
}

static long do_fcntl(void)
{
	struct slot *s = any_slot(FD_OURS, 0);
	long ret;

	say("fcntl(%d, O_ASYNC and so on)", s->fd);
	sys(fcntl(s->fd, F_SETOWN, one_in(4) ? any_task() : getpid()));
	sys(fcntl(s->fd, F_SETSIG, one_in(2) ? SIGUSR1 : 0));
	ret = sys(fcntl(s->fd, F_SETFL, one_in(3) ? 0 : O_ASYNC | (one_in(2) ? O_NONBLOCK : 0)));
	return ret;
}

/* What perf files have no method for. */
static long do_file_wild(void)
{
	int fd = any_fd();
	char buf[64] = "";
	struct stat st;

	say("write, lseek, ftruncate, fsync, pread, fstat(%d)", fd);
	if (sys(write(fd, buf, 8)) >= 0)
		wrong("write() works");
	sys(lseek(fd, pick(1000), SEEK_SET));
	sys(ftruncate(fd, 0));
	sys(fsync(fd));
	sys(pread(fd, buf, sizeof(buf), next_random() >> 1));
	return sys(fstat(fd, &st));
}

static long do_fdinfo(void)
{
	char path[64], buf[512];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", any_fd());
	say("read %s", path);
	return read_file(path, buf, sizeof(buf));
}

/* Take a file from another process: what a message with a file does, without sockets. */
static long do_pass(void)
{
	struct process *from = &shared->process[pick(shared->procs)];
	int pidfd, fd = pick(64) + 3;
	char link[64], path[64];
	long ret, len;

	pidfd = sys(syscall(SYS_pidfd_open, from->pid, 0));
	say("pidfd_getfd(of %d, %d)", from->pid, fd);
	if (pidfd < 0)
		return pidfd;
	ret = sys(syscall(SYS_pidfd_getfd, pidfd, fd, 0));
	sys(close(pidfd));
	if (ret < 0)
		return ret;
	/* Whatever else the other one has open is of no use. */
	snprintf(path, sizeof(path), "/proc/self/fd/%ld", ret);
	len = sys(readlink(path, link, sizeof(link) - 1));
	link[len < 0 ? 0 : len] = 0;
	if (strncmp(link, "anon_inode:[perf_event]", 23)) {
		sys(close(ret));
		return -ENOENT;
	}
	/* Whether it is for reading only does F_GETFL say. */
	put_fd(ret, FD_OURS | ((sys(fcntl(ret, F_GETFL)) & O_ACCMODE) == O_RDONLY ?
			       FD_READONLY : 0));
	return ret;
}

/* The same by a socket to oneself, where the kernel has them: then it holds the file. */
static long do_send(void)
{
	char buf[CMSG_SPACE(sizeof(int))] = "", byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = buf, .msg_controllen = sizeof(buf),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	struct slot *s = any_slot(FD_OURS, 0);
	int fd;
	long ret;

	if (socks[0] < 0)
		return -EAFNOSUPPORT;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &s->fd, sizeof(int));
	say("sendmsg(%d)", s->fd);
	ret = sys(sendmsg(socks[0], &msg, MSG_DONTWAIT));
	if (ret < 0 || one_in(2))
		return ret;
	msg.msg_controllen = sizeof(buf);
	if (sys(recvmsg(socks[1], &msg, MSG_DONTWAIT)) > 0 && CMSG_FIRSTHDR(&msg)) {
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
		put_fd(fd, FD_OURS | ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY ?
				      FD_READONLY : 0));
	}
	return ret;
}

static void reap(int slot)
{
	if (children[slot] > 0)
		sys(waitpid(children[slot], NULL, 0));
	children[slot] = 0;
}

static void become_child(void)
{
	is_child = true;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memset(children, 0, sizeof(children));
	/* Mappings are not inherited. */
	memset(maps, 0, sizeof(maps));
}

static void operate_as_child(unsigned int n)
{
	while (n--)
		operate();
}

/* A child with all files: does a few calls while its parent goes on. */
static long do_fork(void)
{
	unsigned int slot = pick(NR_CHILDREN), how = pick(4);
	pid_t pid;

	if (is_child)
		return -EAGAIN;
	reap(slot);
	say("fork(), the child %s", how == 1 ? "gives up its rights" : how ? "works" : "ends");
	pid = sys(fork());
	if (pid > 0)
		children[slot] = pid;
	if (pid)
		return pid;
	become_child();
	begin_random(call_nr, 1);
	if (how == 1 && setresuid(1000, 1000, 1000))
		_exit(1);
	operate_as_child(how ? 1 + pick(8) : 0);
	_exit(0);
}

/* The new program finds the files that are kept by their numbers. */
static long do_exec(void)
{
	unsigned int slot = pick(NR_CHILDREN);
	char args[6][24], fds[NR_FDS * 8] = "";
	char *argv[8] = { "fuzz", "--exec" };
	pid_t pid;
	int n = 0;

	if (is_child)
		return -EAGAIN;
	reap(slot);
	for (int i = 0; i < NR_FDS; i++)
		n += snprintf(fds + n, sizeof(fds) - n, "%d,", slots[i].fd);
	snprintf(args[0], sizeof(args[0]), "%u", me);
	snprintf(args[1], sizeof(args[1]), "%lu", call_nr);
	argv[2] = args[0];
	argv[3] = args[1];
	argv[4] = fds;
	argv[5] = NULL;
	say("fork() and execve()");
	pid = sys(fork());
	if (pid > 0)
		children[slot] = pid;
	if (pid)
		return pid;
	become_child();
	fire(1);
	execv("/proc/self/exe", argv);
	_exit(1);
}

static void task_main(unsigned int life)
{
	become_child();
	for (unsigned int i = 0; i < life; i++) {
		fire(5);
		if (!(i % 64) && !fork()) {
			fire(5);
			_exit(0);
		}
		if (!(i % 8))
			usleep(200);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	_exit(0);
}

/* A task for events to be of, until it ends or is killed. */
static long do_task(void)
{
	unsigned int slot = pick(NR_CHILDREN), life = pick(600);
	pid_t pid;

	if (is_child)
		return -EAGAIN;
	if (children[slot] > 0 && one_in(2))
		sys(kill(children[slot], SIGKILL));
	reap(slot);
	say("fork(), the child fires %u times", life);
	pid = sys(fork());
	if (!pid)
		task_main(life);
	if (pid < 0)
		return pid;
	children[slot] = pid;
	__atomic_store_n(&shared->tasks[pick(NR_TASKS)], pid, __ATOMIC_RELAXED);
	return 0;
}

static long do_kill(void)
{
	unsigned int slot = pick(NR_CHILDREN);

	if (children[slot] <= 0)
		return -ESRCH;
	say("kill(%d, SIGKILL)", children[slot]);
	sys(kill(children[slot], SIGKILL));
	reap(slot);
	return 0;
}

static long do_fire(void)
{
	say("fire");
	fire(10);
	if (one_in(8))
		usleep(100);
	return 0;
}

static long do_prctl(void)
{
	int what = one_in(2) ? PR_TASK_PERF_EVENTS_DISABLE : PR_TASK_PERF_EVENTS_ENABLE;

	say("prctl(%d)", what);
	return sys(prctl(what, 0, 0, 0, 0));
}

static long do_affinity(void)
{
	unsigned int cpu = pick(shared->nr_cpus + 1);
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned int i = 0; i < shared->nr_cpus; i++) {
		if (cpu == shared->nr_cpus || i == cpu)
			CPU_SET(i, &set);
	}
	say("sched_setaffinity(%u)", cpu);
	return sys(sched_setaffinity(0, sizeof(set), &set));
}

static long set_cpu(const char *state)
{
	char path[64];

	if (shared->nr_cpus < 2 || is_child)
		return -EAGAIN;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online",
		 1 + pick(shared->nr_cpus - 1));
	say("write %s to %s", state, path);
	return write_file(path, state);
}

static long do_cpu_off(void)
{
	/* It takes as long as hundreds of other calls. */
	if (!shared->hotplug || pick(1000) >= shared->hotplug)
		return -ECANCELED;
	return set_cpu("0");
}

static long do_cpu_on(void)
{
	if (!shared->hotplug || pick(1000) >= 4 * shared->hotplug)
		return -ECANCELED;
	return set_cpu("1");
}

static long do_sysfs_entry(void)
{
	static const char * const files[] = { "name", "cpus", "pid", "uid", "comm", "state" };
	char path[128], buf[512];
	long ret;

	snprintf(path, sizeof(path), ENTRIES "/%llu/%s", any_id(), files[pick(ARRAY_SIZE(files))]);
	say("read %s", path);
	ret = read_file(path, buf, sizeof(buf));
	if (!ret)
		wrong("%s is empty", path);
	return ret;
}

/* Also keeps the number of entries in bounds. */
static long do_sysfs_list(void)
{
	__u64 ids[256];
	int n;

	say("list the entries");
	n = list_entries(ids, ARRAY_SIZE(ids));
	if (n > 64)
		remove_entry(ids[pick(n)]);
	return n;
}

/* Each file of a PMU, or of events/ and format/ of that one. */
static long do_sysfs_source(void)
{
	static const char * const dirs[] = {
		"persistent", "persistent/events", "persistent/format", "software", "tracepoint",
		"breakpoint", "kprobe", "kprobe/format", "uprobe", "uprobe/format",
	};
	char path[400], buf[512];
	unsigned int n = 0;
	struct dirent *de;
	DIR *dir;

	snprintf(path, sizeof(path), SOURCES "/%s", dirs[pick(ARRAY_SIZE(dirs))]);
	say("read all of %s", path);
	dir = opendir(path);
	if (!dir)
		return sys(-1);
	while ((de = readdir(dir)) && n < 32) {
		char file[700];

		if (de->d_type != DT_REG || !strcmp(de->d_name, "uevent"))
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, de->d_name);
		read_file(file, buf, sizeof(buf));
		n++;
	}
	closedir(dir);
	return n;
}

static long do_sysctl(void)
{
	static const char * const set[][2] = {
		{ PARANOID, "2" }, { PARANOID, "1" }, { PARANOID, "-1" },
		{ MAX_PERSISTENT, "4096" }, { MAX_PERSISTENT, "4096" }, { MAX_PERSISTENT, "4096" },
		{ MAX_PERSISTENT, "4096" }, { MAX_PERSISTENT, "40" },
		{ "/proc/sys/kernel/perf_event_mlock_kb", "516" },
		{ "/proc/sys/kernel/perf_event_mlock_kb", "0" },
		{ "/proc/sys/kernel/perf_event_max_sample_rate", "100000" },
		{ "/proc/sys/kernel/perf_event_max_stack", "127" },
	};
	unsigned int i = pick(ARRAY_SIZE(set));

	say("write %s to %s", set[i][1], set[i][0]);
	return write_file(set[i][0], set[i][1]);
}

static long bpf(int cmd, union bpf_attr *attr)
{
	return sys(syscall(__NR_bpf, cmd, attr, sizeof(*attr)));
}

static long do_bpf_map(void)
{
	__u32 key = pick(shared->nr_cpus + 1), val = any_fd();
	union bpf_attr attr = {
		.map_fd = bpf_map, .key = (unsigned long)&key, .value = (unsigned long)&val,
	};

	if (one_in(4)) {
		say("bpf(BPF_MAP_DELETE_ELEM, %u)", key);
		return bpf(BPF_MAP_DELETE_ELEM, &attr);
	}
	say("bpf(BPF_MAP_UPDATE_ELEM, %u, %d)", key, (int)val);
	return bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

/* The link holds the program and the event's file. */
static long do_bpf_link(void)
{
	union bpf_attr attr = {
		.link_create.attach_type = BPF_PERF_EVENT,
		.link_create.prog_fd = nr_bpf_progs ? bpf_progs[pick(nr_bpf_progs)] : -1,
	};
	struct slot *s = any_slot(FD_OURS, FD_READONLY);
	long ret;

	attr.link_create.target_fd = s->fd;
	say("bpf(BPF_LINK_CREATE, prog %d, fd %d)", (int)attr.link_create.prog_fd, s->fd);
	ret = bpf(BPF_LINK_CREATE, &attr);
	if (ret >= 0)
		put_fd(ret, 0);
	return ret;
}

#define INSN(c, d, s, o, i) { .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) }

static void load_bpf_prog(__u32 type, const struct bpf_insn *insns, unsigned int n)
{
	static char log[4096];
	union bpf_attr attr = {
		.prog_type = type, .insns = (unsigned long)insns, .insn_cnt = n,
		.license = (unsigned long)"GPL", .log_buf = (unsigned long)log,
		.log_size = sizeof(log), .log_level = 1,
	};
	long fd = bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0)
		printf("fuzz: no program of type %u: %s\n%s", type, strerror(-fd), log);
	else if (nr_bpf_progs < (int)ARRAY_SIZE(bpf_progs))
		bpf_progs[nr_bpf_progs++] = fd;
}

/* Programs that let the record be, and such that write to another event as well. */
static void set_up_bpf(void)
{
	union bpf_attr map = {
		.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY, .key_size = 4, .value_size = 4,
		.max_entries = shared->nr_cpus,
	};
	struct bpf_insn keep[] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 1),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	struct bpf_insn output[] = {
		INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -8, 42),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 2, BPF_PSEUDO_MAP_FD, 0, 0),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 3, 0, 0, -1),	/* BPF_F_CURRENT_CPU */
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 4, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 4, 0, 0, -8),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 5, 0, 0, 8),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_perf_event_output),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 1),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	static const __u32 types[] = {
		BPF_PROG_TYPE_PERF_EVENT, BPF_PROG_TYPE_TRACEPOINT, BPF_PROG_TYPE_KPROBE,
	};

	bpf_map = bpf(BPF_MAP_CREATE, &map);
	output[1].imm = bpf_map;
	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
		load_bpf_prog(types[i], keep, ARRAY_SIZE(keep));
		if (bpf_map >= 0)
			load_bpf_prog(types[i], output, ARRAY_SIZE(output));
	}
}

#endif
