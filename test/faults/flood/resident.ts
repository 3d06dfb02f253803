// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';

/** MiB that a process has in memory, and the most that it ever had (Linux). */
export function residentOf(pid: number): { readonly now: number; readonly most: number } {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebi = (name: string): number =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? NaN) / 1024);
  return { now: mebi('VmRSS'), most: mebi('VmHWM') };
}
