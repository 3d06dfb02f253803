// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';
import { median } from '../measure/median.ts';
import { memoryOf } from '../measure/process-memory.ts';

/** What a process has in memory from now on, in bytes, until `stop`. */
export interface Resident {
  readonly stop: () => readonly number[];
}

const SAMPLE_MS = 250;

export function sampleResident(pid: number): Resident {
  const samples: number[] = [];
  const sample = (): void => {
    const memory = memoryOf(pid);
    if (memory !== undefined) samples.push(memory.resident);
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return {
    stop: () => {
      clearInterval(timer);
      sample();
      return samples;
    },
  };
}

/** The median of so many seconds from now: a collection of garbage in between moves it little. */
export async function settledResident(pid: number, seconds: number): Promise<number> {
  const resident = sampleResident(pid);
  await delay(seconds * 1000);
  return median(resident.stop());
}
