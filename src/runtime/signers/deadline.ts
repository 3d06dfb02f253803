// SPDX-License-Identifier: Apache-2.0
/**
 * Limits how long what is in a signer's spec may block the event loop. V8 terminates it from another thread
 * (Node's `vm`), wherever it is: in a loop, a regular expression or a sort.
 */
import { Script } from 'node:vm';
import { compiledPatterns } from '../../cel/pattern/regex.ts';
import type { KubeObject } from '../../api/object/object.ts';
import type { SignerError } from '../../errors.ts';
import type { Deadline } from '../../ports.ts';
import { createNamespaceBudgets } from './namespace-budget.ts';
import { budgetSpent } from './put-off.ts';
import { SLICE_MS, leftOfTurn, useTurn } from './turn.ts';

/**
 * The time that must remain in a turn. Work that starts with less would run twice, and compiling takes time.
 */
const LEAST_MS = { compile: SLICE_MS / 2, evaluate: 1 };

/**
 * Worst-case cost (20 ns) of what a ClusterSigner evaluates at once without being watched: 6 ms. Where the price is
 * three times too low, as much as the search of `make test-cel-cost` lets pass, that is less than the 20 ms that are
 * promised. The watch costs a thread, some 50 µs.
 */
const MAX_UNWATCHED = 300_000;

/** Whose spec it is. Only the time of namespaces is limited: ClusterSigners are the administrator's. */
export interface SpecOwner {
  readonly namespace: string | undefined;
  readonly name: string;
}

/** Whose the spec of this signer is. */
export function ownerOf({
  metadata: { namespace, name },
}: Pick<KubeObject, 'metadata'>): SpecOwner {
  return { namespace, name };
}

/** The deadline of one signer, and what it has compiled so far. */
export interface SignerDeadline extends Deadline {
  /** Drops what was compiled: it may be incomplete. */
  readonly discard: () => void;
  /** Grows with each part of the spec, and each pattern, that is compiled. */
  readonly progress: () => number;
  /** Makes the terminated work fail from now on. */
  readonly refuse: (error: SignerError) => void;
}

/** The work did not complete in this turn of the event loop. */
export class TurnEnded extends Error {
  readonly deadline: SignerDeadline;
  /** The field whose work was terminated. */
  readonly where: string;
  readonly step: 'compile' | 'evaluate';
  /** How much of the thread's time it took, in milliseconds; 0: the turn was over before the work began. */
  readonly usedMs: number;

  constructor(init: Pick<TurnEnded, 'deadline' | 'where' | 'step' | 'usedMs'>) {
    super(`${init.where} did not end in this turn of the event loop`);
    this.name = 'TurnEnded';
    this.deadline = init.deadline;
    this.where = init.where;
    this.step = init.step;
    this.usedMs = init.usedMs;
  }
}

/** The work that is being watched. There is one at a time: it is synchronous. */
interface Watched {
  where: string;
  /** Told when the work is terminated, which runs no `catch` and no `finally` of its own. */
  onEnded: (() => void) | undefined;
  longest: { where: string; ms: number };
}

let watched: Watched | undefined;

const budgets = createNamespaceBudgets(() => performance.now());

let task: () => unknown = () => undefined;
const HIDDEN = Symbol.for('countersign.deadline');
Object.defineProperty(globalThis, HIDDEN, { value: () => task() });
const script = new Script("globalThis[Symbol.for('countersign.deadline')]()", {
  filename: 'countersign-deadline.js',
});

/**
 * The deadline of one generation of a signer.
 *
 * @param settle - called with why its spec fails from now on; with undefined: it is to be compiled again
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

/** A piece of work, and whose it is. */
interface Piece extends Pick<TurnEnded, 'deadline' | 'where' | 'step'> {
  readonly owner: SpecOwner;
  readonly onEnded?: (() => void) | undefined;
}

function within<T>(piece: Piece, work: () => T): T {
  const { deadline, owner, step, where, onEnded } = piece;
  requireBudget(owner);
  const leftMs = leftOfTurn();
  if (leftMs < LEAST_MS[step]) throw new TurnEnded({ deadline, step, where, usedMs: 0 });
  const { stackTraceLimit } = Error;
  const at: Watched = { where, onEnded, longest: { where, ms: 0 } };
  const before = process.threadCpuUsage();
  watched = at;
  try {
    return runFor(leftMs, work);
  } catch (error) {
    if (!isTimeout(error)) throw error;
    at.onEnded?.();
    at.longest.where = at.where;
    throw new TurnEnded({ deadline, step, where: at.where, usedMs: milliseconds(before) });
  } finally {
    watched = undefined;
    // Terminated work runs no `finally` of its own.
    Error.stackTraceLimit = stackTraceLimit;
    charge(owner, milliseconds(before), at.longest.where);
  }
}

function nested<T>(
  at: Watched,
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
    return script.runInThisContext({
      timeout: Math.ceil(milliseconds),
      displayErrors: false,
    }) as never;
  } finally {
    task = () => undefined;
  }
}

/**
 * What comes before work on the spec of a namespace.
 *
 * @throws PutOff if the namespace has spent its budget
 */
export function requireBudget({ namespace }: SpecOwner): void {
  const refusal = namespace === undefined ? undefined : budgets.refusal(namespace);
  if (namespace === undefined || refusal === undefined) return;
  throw budgetSpent(namespace, refusal);
}

/**
 * Does work that a namespace causes and that nobody can end, such as opening its CA, on the namespace's budget.
 *
 * @param where - the field that causes it
 * @throws PutOff before the work, if the namespace has spent its budget
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
  useTurn(usedMs);
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
