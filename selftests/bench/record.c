// SPDX-License-Identifier: GPL-2.0
/* What one record costs: in perf's buffers, in those of ftrace and of BPF. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "bench.h"

/* Whatever the size of a record, as many pages are begun in each batch. */
#define ROUNDS		512

#define ENABLE		"/sys/kernel/tracing/events/task/task_prctl_unknown/enable"
#define BPFFS		"/tmp/bpf"

static void enable(const char *value)
{
	int fd = open(ENABLE, O_WRONLY);

	if (fd < 0 || write(fd, value, 1) != 1)
		die(ENABLE);
	close(fd);
}

#define INSN(c, d, s, o, i) \
	((struct bpf_insn) { .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define MOV(d, s)	INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define SET(d, v)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, v)
#define CALL(f)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define STORE(d, o, s)	INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define LOAD(d, s, o)	INSN(BPF_LDX | BPF_MEM | BPF_DW, d, s, o, 0)

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* A pinned ring buffer that keeps the newest records, or -1. */
static int ringbuf(void)
{
	union bpf_attr attr = {
		.map_type	= BPF_MAP_TYPE_RINGBUF,
		.max_entries	= BUFFER,
		.map_flags	= BPF_F_RB_OVERWRITE,
	};
	int map = bpf(BPF_MAP_CREATE, &attr);

	if (map < 0 && errno == ENOSYS)
		return -1;
	if (map < 0)
		die("BPF_MAP_CREATE");
	mkdir(BPFFS, 0700);
	if (mount("bpf", BPFFS, "bpf", 0, NULL) && errno != EBUSY)
		die("mount bpf");
	attr = (union bpf_attr) {
		.pathname	= (__u64)BPFFS "/ring",
		.bpf_fd		= map,
	};
	if (bpf(BPF_OBJ_PIN, &attr))
		die("BPF_OBJ_PIN");
	return map;
}

/* The fields that the perf event records: time, task, CPU, the five arguments. */
static int program(int map)
{
	struct bpf_insn code[] = {
		MOV(6, 1),
		INSN(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		SET(2, 64),
		SET(3, 0),
		CALL(BPF_FUNC_ringbuf_reserve),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 20, 0),
		MOV(7, 0),
		CALL(BPF_FUNC_ktime_get_ns),
		STORE(7, 0, 0),
		CALL(BPF_FUNC_get_current_pid_tgid),
		STORE(7, 8, 0),
		CALL(BPF_FUNC_get_smp_processor_id),
		STORE(7, 16, 0),
		LOAD(1, 6, 0), STORE(7, 24, 1),
		LOAD(1, 6, 8), STORE(7, 32, 1),
		LOAD(1, 6, 16), STORE(7, 40, 1),
		LOAD(1, 6, 24), STORE(7, 48, 1),
		LOAD(1, 6, 32), STORE(7, 56, 1),
		MOV(1, 7),
		SET(2, BPF_RB_NO_WAKEUP),
		CALL(BPF_FUNC_ringbuf_submit),
		SET(0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	static char log[8192];
	union bpf_attr attr = {
		.prog_type	= BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns		= (__u64)code,
		.insn_cnt	= ARRAY_SIZE(code),
		.license	= (__u64)"GPL",
		.log_level	= 1,
		.log_buf	= (__u64)log,
		.log_size	= sizeof(log),
	};
	int prog = bpf(BPF_PROG_LOAD, &attr), link;

	if (prog < 0) {
		printf("%s\n", log);
		die("BPF_PROG_LOAD");
	}
	attr = (union bpf_attr) {
		.raw_tracepoint = { .name = (__u64)"task_prctl_unknown", .prog_fd = prog },
	};
	link = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
	if (link < 0)
		die("BPF_RAW_TRACEPOINT_OPEN");

	struct bpf_prog_info info = { 0 };

	attr = (union bpf_attr) {
		.info = { .bpf_fd = prog, .info_len = sizeof(info), .info = (__u64)&info },
	};
	if (bpf(BPF_OBJ_GET_INFO_BY_FD, &attr))
		die("BPF_OBJ_GET_INFO_BY_FD");
	if (!info.jited_prog_len)
		printf("bench: note: the BPF program is interpreted, there is no JIT\n");
	close(prog);
	return link;
}

static void bench_bpf(double nothing)
{
	int map = ringbuf(), link;
	__u64 *pos;

	if (map < 0)
		return;
	link = program(map);
	row("record.bpf", best(fire, NULL, ROUNDS) - nothing, "ns");
	/* The page behind that of the consumer is the producer's. */
	pos = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, map, PAGE);
	if (pos == MAP_FAILED || *pos < BATCHES * ROUNDS * 64UL) {
		errno = ENODATA;
		die("the BPF program did not record");
	}
	munmap(pos, PAGE);
	close(link);
	close(map);
	unlink(BPFFS "/ring");
}

void bench_record(void)
{
	double nothing = best(fire, NULL, ROUNDS);

	row("nothing", nothing, "ns");
	for (int persistent = 0; persistent <= have_persistent; persistent++) {
		struct perf_event_attr attr = attr_fire();
		struct subject s = { .persistent = persistent };

		subject_make(&s, &attr, -1, 0, PROT_READ);
		row(persistent ? "record.persistent" : "record.perf",
		    best(fire, NULL, ROUNDS) - nothing, "ns");
		subject_drop(&s);
	}

	enable("1");
	row("record.ftrace", best(fire, NULL, ROUNDS) - nothing, "ns");
	enable("0");
	bench_bpf(nothing);
}
