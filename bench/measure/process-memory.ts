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
  // proc_pid_status(5).
  const memory = { resident: bytesOf(text, 'VmRSS'), peak: bytesOf(text, 'VmHWM') };
  // A process that has ended and was not yet reaped has no memory any more.
  return Number.isNaN(memory.resident) ? undefined : memory;
}

/** What a process has in memory at one moment. MiB. */
export interface MemoryNow {
  /** Memory that it shares with no other process. */
  readonly ownMiB: number;
  readonly residentMiB: number;
}

const MIB = 2 ** 20;

export function memoryNow(pid: number): MemoryNow {
  return {
    ownMiB: ownMemoryOf(pid) / MIB,
    residentMiB: (memoryOf(pid)?.resident ?? NaN) / MIB,
  };
}

/**
 * The memory of a process that no other process shares, in bytes. It is what one more process of
 * the same program costs a node.
 */
export function ownMemoryOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  // proc_pid_smaps(5).
  return bytesOf(text, 'Private_Clean') + bytesOf(text, 'Private_Dirty');
}

/** Reads a field of a file below /proc, which states it in KiB. */
function bytesOf(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? NaN) * 1024;
}
