// SPDX-License-Identifier: Apache-2.0
/**
 * Limits how long a signer's spec may block the event loop. V8 terminates the work from another
 * thread (Node's `vm`), wherever it is: in a loop, a regular expression or a sort.
 */
import { Script } from 'node:vm';
import { compiledPatterns } from '#cel/pattern/regex.ts';
import type { KubeObject } from '#api/object/object.ts';
import type { SignerError } from '#base/errors.ts';
import type { Deadline } from '#base/ports.ts';
import { createNamespaceBudgets } from './namespace-budget.ts';
import { budgetSpent } from './evaluation-errors.ts';
import { SLICE_MS, remainingMs, chargeSlice } from './cpu-slice.ts';

/**
 * The time that must remain in a turn. Work that starts with less would run twice, and compiling
 * takes time.
 */
const MIN_MS = { compile: SLICE_MS / 2, evaluate: 1 };

/**
 * The worst-case cost (20 ns) of an unwatched evaluation for a ClusterSigner: 6 ms. If the price is
 * three times too low, which the search of `make test-cel-cost` lets pass, that is still less than
 * the 20 ms of ADR 0029. A watch costs a thread, some 50 µs.
 */
const MAX_UNWATCHED = 300_000;

/**
 * The owner of a spec. Only the time of namespaces is limited, because ClusterSigners belong to the
 * administrator.
 */
export interface SpecOwner {
  readonly namespace: string | undefined;
  readonly name: string;
}

/** Returns the owner of this signer's spec. */
export function ownerOf({
  metadata: { namespace, name },
}: Pick<KubeObject, 'metadata'>): SpecOwner {
  return { namespace, name };
}

/** The deadline of one signer, and its compiled parts. */
export interface SignerDeadline extends Deadline {
  /** Drops the compiled parts, which may be incomplete. */
  readonly discard: () => void;
  /** Returns a number that grows with each compiled part of the spec, and with each pattern. */
  readonly progress: () => number;
  /** Makes the terminated work fail from now on. */
  readonly refuse: (error: SignerError) => void;
}

/** The work did not complete in this turn of the event loop. */
export class SliceEnded extends Error {
  readonly deadline: SignerDeadline;
  /** The field whose work was terminated. */
  readonly where: string;
  readonly step: 'compile' | 'evaluate';
  /**
   * The thread's CPU time that it took, in milliseconds. 0 if the turn was over before the work
   * began.
   */
  readonly usedMs: number;

  constructor(init: Pick<SliceEnded, 'deadline' | 'where' | 'step' | 'usedMs'>) {
    super(`${init.where} did not end in this turn of the event loop`);
    this.name = 'SliceEnded';
    this.deadline = init.deadline;
    this.where = init.where;
    this.step = init.step;
    this.usedMs = init.usedMs;
  }
}

/** The watched work. There is one at a time, because it is synchronous. */
interface WatchedWork {
  where: string;
  /** Called when the work is terminated, which runs no `catch` and no `finally` of its own. */
  onEnded: (() => void) | undefined;
  longest: { where: string; ms: number };
}

let watched: WatchedWork | undefined;

const budgets = createNamespaceBudgets(() => performance.now());

let task: () => unknown = () => undefined;
const HIDDEN = Symbol.for('countersign.deadline');
Object.defineProperty(globalThis, HIDDEN, { value: () => task() });
const script = new Script("globalThis[Symbol.for('countersign.deadline')]()", {
  filename: 'countersign-deadline.js',
});

/**
 * Creates the deadline of one generation of a signer.
 *
 * @param settle - receives the error with which its spec fails from now on, or undefined if it must
 *   be compiled again
 */
export function createSignerDeadline(
  owner: SpecOwner,
  settle: (error: SignerError | undefined) => void,
): SignerDeadline {
  const compiled = new Map<string, unknown>();
  let patterns = 0;
  const isFree = owner.namespace === undefined;
  const deadline: SignerDeadline = {
    compile: <T>(where: string, work: () => T): T => {
      // One place compiles one kind of value.
      if (compiled.has(where)) return compiled.get(where) as T;
      const before = compiledPatterns();
      try {
        const made = within({ deadline, owner, step: 'compile', where }, work);
        compiled.set(where, made);
        return made;
      } finally {
        patterns += compiledPatterns() - before;
      }
    },
    evaluate: (where, work, onEnded) => {
      if (watched !== undefined) return nested(watched, where, work, onEnded);
      if (isFree) return work();
      return within({ deadline, owner, step: 'evaluate', where, onEnded }, work);
    },
    together: (where, cost, work) => {
      if (watched !== undefined || (isFree && cost <= MAX_UNWATCHED)) return work();
      return within({ deadline, owner, step: 'evaluate', where }, work);
    },
    discard: () => {
      compiled.clear();
      settle(undefined);
    },
    progress: () => compiled.size + patterns,
    refuse: settle,
  };
  return deadline;
}

/** A piece of work, and its owner. */
interface Piece extends Pick<SliceEnded, 'deadline' | 'where' | 'step'> {
  readonly owner: SpecOwner;
  readonly onEnded?: (() => void) | undefined;
}

function within<T>(piece: Piece, work: () => T): T {
  const { deadline, owner, step, where, onEnded } = piece;
  requireBudget(owner);
  const leftMs = remainingMs();
  if (leftMs < MIN_MS[step]) throw new SliceEnded({ deadline, step, where, usedMs: 0 });
  const { stackTraceLimit } = Error;
  const at: WatchedWork = { where, onEnded, longest: { where, ms: 0 } };
  const before = process.threadCpuUsage();
  watched = at;
  try {
    return runFor(leftMs, work);
  } catch (error) {
    if (!isTimeout(error)) throw error;
    at.onEnded?.();
    at.longest.where = at.where;
    throw new SliceEnded({ deadline, step, where: at.where, usedMs: milliseconds(before) });
  } finally {
    watched = undefined;
    // Terminated work runs no `finally` of its own.
    Error.stackTraceLimit = stackTraceLimit;
    charge(owner, milliseconds(before), at.longest.where);
  }
}

function nested<T>(
  at: WatchedWork,
  where: string,
  work: () => T,
  onEnded: (() => void) | undefined,
): T {
  at.where = where;
  at.onEnded = onEnded;
  const begun = performance.now();
  try {
    return work();
  } finally {
    const ms = performance.now() - begun;
    if (ms > at.longest.ms) at.longest = { where, ms };
    at.onEnded = undefined;
  }
}

function runFor(milliseconds: number, work: () => unknown): never {
  task = work;
  try {
    // The script returns the task's result, whose type its caller names.
    return script.runInThisContext({
      timeout: Math.ceil(milliseconds),
      displayErrors: false,
    }) as never;
  } finally {
    task = () => undefined;
  }
}

/**
 * Checks the budget before work on the spec of a namespace.
 *
 * @throws EvaluationDeferred if the namespace has spent its budget
 */
export function requireBudget({ namespace }: SpecOwner): void {
  const refusal = namespace === undefined ? undefined : budgets.refusal(namespace);
  if (namespace === undefined || refusal === undefined) return;
  throw budgetSpent(namespace, refusal);
}

/**
 * Does work on the namespace's budget that cannot be terminated, such as opening its CA.
 *
 * @param where - the field that causes it
 * @throws EvaluationDeferred before the work, if the namespace has spent its budget
 */
export function spending<T>(owner: SpecOwner, where: string, work: () => T): T {
  requireBudget(owner);
  const before = process.threadCpuUsage();
  try {
    return work();
  } finally {
    charge(owner, milliseconds(before), where);
  }
}

function charge({ namespace, name }: SpecOwner, usedMs: number, where: string): void {
  chargeSlice(usedMs);
  if (namespace !== undefined) budgets.charge(namespace, usedMs, { signer: name, where });
}

function milliseconds(since: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(since);
  // Never 0, which means that the work did not begin.
  return (user + system) / 1_000 + 0.001;
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
