// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';

/** USER_HZ, which is 100 on every Linux that Node runs on: the grain is 10 ms. */
const MICROSECONDS_A_TICK = 10_000;

/** User and system time of a process so far, in microseconds; undefined when it is gone. */
export function cpuTimeOf(pid: number): number | undefined {
  try {
    // proc_pid_stat(5): utime and stime are fields 14 and 15; the name in field 2 may hold spaces.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * MICROSECONDS_A_TICK;
  } catch {
    return undefined;
  }
}

/** Time that any process of the machine spent on a core so far, in microseconds. */
export function cpuTimeOfAll(): number {
  // proc_stat(5): user, nice, system, idle, iowait, irq, softirq, …
  const [user, nice, system, , , irq, softirq] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)
    .join('')
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const busy = [user, nice, system, irq, softirq].reduce<number>((sum, n) => sum + (n ?? 0), 0);
  return busy * MICROSECONDS_A_TICK;
}
