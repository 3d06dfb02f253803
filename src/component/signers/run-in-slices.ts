// SPDX-License-Identifier: Apache-2.0
import { SliceEnded, requireBudget, type SpecOwner } from './deadline.ts';
import { EvaluationTimeout, throttled } from './evaluation-errors.ts';
import { MAX_TURNS, SLICE_MS, acquireSlice } from './cpu-slice.ts';

/**
 * The CPU time of the thread that a piece of work may take before it fails: three whole turns,
 * since cold code takes longer than warm code. It has more turns if the thread did not run all the
 * time.
 */
const MAX_USED_MS = 3 * SLICE_MS * 0.9;

/** The limit of starts. On a busy machine the thread may not run, but the time passes. */
const MAX_BEGUN = 10;

/**
 * Runs `work`, which compiles or evaluates a signer's spec, in as many turns of the event loop as
 * it takes. Other work runs between the turns. It starts from its beginning each time, so it must
 * have no side effects before it completes. Compiled parts are kept.
 *
 * @param owner - the owner of the spec. The work of a namespace does not begin before it may
 *   evaluate. To decode a request, verify its signature and then defer it costs others as much as
 *   to answer it.
 * @throws EvaluationTimeout CEL_COST or CEL_EVALUATION (`wait`) with the field, if one piece of the
 *   work repeatedly takes longer than a turn
 * @throws EvaluationDeferred if its namespace has spent its budget, or the machine is too busy,
 *   although the spec is correct
 */
export async function runInSlices<T>(work: () => Promise<T>, owner?: SpecOwner): Promise<T> {
  const tries: Tries = { usedMs: 0, begun: 0, turns: 0, progress: 0 };
  let where = 'spec';
  for (let isFirst = true; ; isFirst = false) {
    await begin(where, isFirst, owner);
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof SliceEnded)) throw error;
      count(tries, error);
      ({ where } = error);
      if (tries.usedMs >= MAX_USED_MS) throw givenUp(error);
      if (tries.begun >= MAX_BEGUN || tries.turns >= MAX_TURNS) throw throttled(where);
    }
  }
}

/**
 * Waits for a turn. The administrator's work begins at once, because others have hardly ever used
 * the turn up.
 */
async function begin(where: string, isFirst: boolean, owner?: SpecOwner): Promise<void> {
  if (owner !== undefined) requireBudget(owner);
  if (isFirst && owner?.namespace === undefined) return;
  if (!(await acquireSlice())) throw throttled(where);
}

/** The attempts since something was last compiled. */
interface Tries {
  usedMs: number;
  begun: number;
  turns: number;
  progress: number;
}

function count(tries: Tries, { deadline, step, usedMs }: SliceEnded): void {
  const progress = deadline.progress();
  if (step === 'compile' && progress > tries.progress) Object.assign(tries, NONE);
  tries.progress = progress;
  tries.turns += 1;
  if (usedMs > 0) tries.begun += 1;
  tries.usedMs += usedMs;
  if (step === 'evaluate' && usedMs > 0) deadline.discard();
}

const NONE = { usedMs: 0, begun: 0, turns: 0 };

/**
 * Returns the error of work that took too long. A spec that does not compile in time is not tried
 * again for a while, but a different request may succeed.
 */
function givenUp({ deadline, step, where }: SliceEnded): EvaluationTimeout {
  const error = new EvaluationTimeout(step, where);
  if (step === 'compile') deadline.refuse(error);
  return error;
}
