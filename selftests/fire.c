// SPDX-License-Identifier: GPL-2.0
/*
 * fire FROM COUNT [TIMES]: fire task:task_prctl_unknown COUNT times, on the CPU that it
 * runs on, with the numbers FROM, FROM + 1 and so on as arg2. No prctl() has the
 * option 0x7065. With TIMES it begins again that often.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

int main(int argc, char **argv)
{
	unsigned long from, count, times;

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: fire FROM COUNT [TIMES]\n");
		return 2;
	}
	from = strtoul(argv[1], NULL, 0);
	count = strtoul(argv[2], NULL, 0);
	times = argc > 3 ? strtoul(argv[3], NULL, 0) : 1;
	while (times--) {
		for (unsigned long i = 0; i < count; i++)
			prctl(0x7065, from + i, 0, 0, 0);
	}
	return 0;
}
