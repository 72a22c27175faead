# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The cases of a job with perf; sourced, never run. The job sets $job, its name.
# shellcheck disable=SC2154

sysfs=/sys/bus/event_source/devices/persistent
out=/tmp/out
n=0 failed=0

# result TEXT: of the function of that name, which says what is wrong on stdout; 0
# passed, 4 skipped with the reason in the last line.
result() {
	n=$((n + 1))
	before=" $(cd $sysfs/entries 2>/dev/null && echo *) "
	began=$(cut -d. -f1 /proc/uptime)
	"$1" >$out.case 2>&1
	rc=$?
	sed 's/^/# /' $out.case
	echo "# $1: $(($(cut -d. -f1 /proc/uptime) - began)) s"
	case $rc in
	0) echo "ok $n $job.$1" ;;
	4) echo "ok $n $job.$1 # SKIP $(tail -n 1 $out.case)" ;;
	*) echo "not ok $n $job.$1 # status $rc"; failed=1 ;;
	esac
	pkill -9 fire 2>/dev/null
	# What the case started, and nothing else: the kernel's own entry stays.
	for id in "$sysfs"/entries/[0-9]*; do
		id=${id##*/}
		case $before in
		*" $id "*) ;;
		*) perf persistent stop "$id" >/dev/null 2>&1 ;;
		esac
	done
	return 0
}

# results CASE...: all of them; the status is that of the job.
results() {
	echo "TAP version 13"
	echo "1..$#"
	for c; do
		result "$c"
	done
	return $failed
}

# show COMMAND...: what a person types, and what is printed.
show() { echo "\$ $*"; "$@" 2>&1; }
