// SPDX-License-Identifier: Apache-2.0
import { readFileSync, readdirSync } from 'node:fs';

import { readStat } from './cpu-time.ts';

/** What a process has used so far, or between two moments. Times are in microseconds. */
export interface Counters {
  /** On a core, all threads. */
  readonly cpu: number;
  /** On a core: the event loop. */
  readonly loop: number;
  /** On a core: V8's threads, which compile and collect garbage. */
  readonly v8: number;
  /** On a core: libuv's threads, which do what node:crypto and node:fs hand over. */
  readonly pool: number;
  /** The event loop was ready to run and waited for a core. */
  readonly waits: number;
  /** Times that a thread gave its core up, and that it was taken from one. */
  readonly switches: number;
  readonly preempted: number;
  /** Pages that were not mapped when they were used. */
  readonly faults: number;
  /** System calls that read or write, on sockets and files. */
  readonly readsAndWrites: number;
}

const FIELDS = [
  'cpu',
  'loop',
  'v8',
  'pool',
  'waits',
  'switches',
  'preempted',
  'faults',
  'readsAndWrites',
] as const satisfies readonly (keyof Counters)[];

/** Names of threads (`comm`) as Node 24 gives them. */
const V8 = ['V8Worker', 'DelayedTaskSche'];
const POOL = ['libuv-worker'];

/** What a thread has used so far, in microseconds: on a core, and ready to run without one. */
interface ThreadTimes {
  readonly cpu: number;
  readonly waits: number;
}

interface Thread extends ThreadTimes {
  readonly id: string;
  readonly name: string;
  readonly switches: number;
  readonly preempted: number;
}

/**
 * Reads the counters of a process (proc_pid_stat(5), proc_pid_status(5), proc_pid_io(5)).
 *
 * @throws Error if the process is gone
 */
export function readCounters(pid: number): Counters {
  const threads = readdirSync(`/proc/${pid}/task`).map((id) => readThread(pid, id));
  const sum = (of: (thread: Thread) => number, names?: readonly string[]): number =>
    threads
      .filter(({ name }) => names === undefined || names.includes(name))
      .reduce((all, thread) => all + of(thread), 0);
  const loop = threads.find(({ id }) => id === String(pid));
  // minflt and majflt.
  const [minor = 0, major = 0] = readStat(pid, 10, 12);
  const io = readFileSync(`/proc/${pid}/io`, 'utf8');
  return {
    cpu: sum(({ cpu }) => cpu),
    loop: loop?.cpu ?? 0,
    v8: sum(({ cpu }) => cpu, V8),
    pool: sum(({ cpu }) => cpu, POOL),
    waits: loop?.waits ?? 0,
    switches: sum(({ switches }) => switches),
    preempted: sum(({ preempted }) => preempted),
    faults: minor + major,
    readsAndWrites: labelled(io, 'syscr') + labelled(io, 'syscw'),
  };
}

/** Returns what each of `count` certificates took between two readings. */
export function countersEach(from: Counters, to: Counters, count: number): Counters {
  const entries = FIELDS.map((field) => [field, (to[field] - from[field]) / count]);
  return Object.fromEntries(entries) as Record<keyof Counters, number>;
}

/**
 * Reads the times of one thread of a process (Documentation/scheduler/sched-stats.rst).
 *
 * @throws Error if the thread is gone
 */
export function readThreadTimes(pid: number, id: string): ThreadTimes {
  const text = readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8');
  const [cpu = 0, waits = 0] = text.split(' ').map(Number);
  return { cpu: cpu / 1_000, waits: waits / 1_000 };
}

function readThread(pid: number, id: string): Thread {
  const task = `/proc/${pid}/task/${id}`;
  const status = readFileSync(`${task}/status`, 'utf8');
  return {
    id,
    name: readFileSync(`${task}/comm`, 'utf8').trim(),
    ...readThreadTimes(pid, id),
    switches: labelled(status, 'voluntary_ctxt_switches'),
    preempted: labelled(status, 'nonvoluntary_ctxt_switches'),
  };
}

/** Returns the number behind `label:` at the start of a line. */
function labelled(text: string, label: string): number {
  const line = text.split('\n').find((each) => each.startsWith(`${label}:`)) ?? '';
  return Number(line.slice(label.length + 1));
}
