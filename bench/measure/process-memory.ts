// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';

export interface ProcessMemory {
  /** Bytes. */
  readonly resident: number;
  /** The most it ever was, bytes. */
  readonly peak: number;
}

/** What a process has in memory now; undefined when it is gone. */
export function memoryOf(pid: number): ProcessMemory | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return undefined;
  }
  // proc_pid_status(5): in KiB.
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? NaN) * 1024;
  const memory = { resident: field('VmRSS'), peak: field('VmHWM') };
  // A process that has ended and was not yet reaped has no memory any more.
  return Number.isNaN(memory.resident) ? undefined : memory;
}
