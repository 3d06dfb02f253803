// SPDX-License-Identifier: Apache-2.0
/**
 * Limits how long code from namespaces may block the event loop. V8 terminates it from another thread (Node's
 * `vm`), wherever it is: in a loop, a regular expression or a sort.
 */
import { Script } from 'node:vm';
import type { SignerError } from '../../errors.ts';
import type { Deadline } from '../../ports.ts';

/**
 * Milliseconds in one turn of the event loop, for all Signers together. We promise 20, and termination takes
 * some of them. The thread's own CPU time counts. On a busy machine a thread that does not run is also
 * terminated too early, and its work is then tried again.
 */
export const SLICE_MS = 15;

/**
 * The time that must remain in a turn. Work that starts with less would run twice, and compiling takes time.
 */
const LEAST_MS = { compile: SLICE_MS / 2, evaluate: 1 };

/**
 * The part of a turn after which a Signer was terminated for its own use, not for that of others. Some
 * systems count a thread's time in steps of 10 ms.
 */
const OWN_SHARE = 0.6;

/** The deadline of one Signer, and what it has compiled so far. */
export interface SignerDeadline extends Deadline {
  /** Drops what was compiled: it may be incomplete. */
  readonly discard: () => void;
  /** How many parts of the spec are compiled so far. */
  readonly progress: () => number;
  /** Makes the terminated work fail from now on. */
  readonly refuse: (error: SignerError) => void;
}

/** The work did not complete in this turn of the event loop. */
export class TurnEnded extends Error {
  readonly owner: SignerDeadline;
  /** The field whose work was terminated. */
  readonly where: string;
  readonly step: 'compile' | 'evaluate';
  /** How much of the thread's time it took, in milliseconds; 0: the turn was over before the work began. */
  readonly usedMs: number;

  constructor(init: Pick<TurnEnded, 'owner' | 'where' | 'step' | 'usedMs'>) {
    super(`${init.where} did not end in this turn of the event loop`);
    this.name = 'TurnEnded';
    this.owner = init.owner;
    this.where = init.where;
    this.step = init.step;
    this.usedMs = init.usedMs;
  }

  /** Whether the work itself used the turn; otherwise other Signers did, or the machine was busy. */
  get isOverrun(): boolean {
    return this.usedMs >= OWN_SHARE * SLICE_MS;
  }
}

/** How this thread's turn has been used. Each thread has one event loop, so there is one of these. */
const turn = { usedMs: 0, usedBy: new Map<SignerDeadline, number>() };

let task: () => unknown = () => undefined;
const HIDDEN = Symbol.for('countersign.deadline');
Object.defineProperty(globalThis, HIDDEN, { value: () => task() });
const watched = new Script("globalThis[Symbol.for('countersign.deadline')]()", {
  filename: 'countersign-deadline.js',
});

/**
 * The deadline of one generation of a Signer.
 *
 * @param settle - called with why its spec fails from now on; with undefined: it is to be compiled again
 */
export function createSignerDeadline(
  settle: (error: SignerError | undefined) => void,
): SignerDeadline {
  const compiled = new Map<string, unknown>();
  const deadline: SignerDeadline = {
    compile: <T>(where: string, work: () => T): T => {
      if (compiled.has(where)) return compiled.get(where) as T;
      const made = within(deadline, 'compile', where, work);
      compiled.set(where, made);
      return made;
    },
    evaluate: (where, work) => within(deadline, 'evaluate', where, work),
    discard: () => {
      compiled.clear();
      settle(undefined);
    },
    progress: () => compiled.size,
    refuse: settle,
  };
  return deadline;
}

function within<T>(
  owner: SignerDeadline,
  step: TurnEnded['step'],
  where: string,
  work: () => T,
): T {
  if (turn.usedMs === 0) setImmediate(endTurn);
  const leftMs = SLICE_MS - turn.usedMs;
  if (leftMs < LEAST_MS[step]) throw new TurnEnded({ owner, step, where, usedMs: 0 });
  const { stackTraceLimit } = Error;
  const before = process.threadCpuUsage();
  try {
    return runFor(leftMs, work);
  } catch (error) {
    if (!isTimeout(error)) throw error;
    // What is compiled is kept, but not what is evaluated: a decision starts again from its beginning.
    const earlier = step === 'evaluate' ? (turn.usedBy.get(owner) ?? 0) : 0;
    throw new TurnEnded({ owner, step, where, usedMs: earlier + milliseconds(before) });
  } finally {
    // Terminated work runs no `finally` of its own.
    Error.stackTraceLimit = stackTraceLimit;
    charge(owner, before);
  }
}

function runFor<T>(milliseconds: number, work: () => T): T {
  const outer = task;
  task = work;
  try {
    return watched.runInThisContext({
      timeout: Math.ceil(milliseconds),
      displayErrors: false,
    }) as T;
  } finally {
    task = outer;
  }
}

function charge(owner: SignerDeadline, since: NodeJS.CpuUsage): void {
  // Never 0, which means that the turn did no work.
  const used = milliseconds(since) + 0.001;
  turn.usedMs += used;
  turn.usedBy.set(owner, (turn.usedBy.get(owner) ?? 0) + used);
}

function endTurn(): void {
  turn.usedMs = 0;
  turn.usedBy.clear();
}

function milliseconds(since: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(since);
  return (user + system) / 1_000;
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
