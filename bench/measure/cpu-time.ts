// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';

/** USER_HZ, which is 100 on every Linux that Node runs on: the grain is 10 ms. */
const MICROSECONDS_A_TICK = 10_000;

/**
 * Reads fields of proc_pid_stat(5), by the numbers that it gives them.
 *
 * @throws Error if the process is gone
 */
export function readStat(pid: number, ...fields: readonly number[]): readonly number[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in field 2 may hold spaces.
  const fromThird = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields.map((field) => Number(fromThird[field - 3]));
}

/** User and system time of a process so far, in microseconds; undefined when it is gone. */
export function cpuTimeOf(pid: number): number | undefined {
  try {
    const [utime = 0, stime = 0] = readStat(pid, 14, 15);
    return (utime + stime) * MICROSECONDS_A_TICK;
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
