// SPDX-License-Identifier: Apache-2.0
import { TurnEnded, requireBudget, type SpecOwner } from './deadline.ts';
import { Overrun, turnsTaken } from './put-off.ts';
import { MAX_TURNS, SLICE_MS, turnWithTime } from './turn.ts';

/**
 * How much of the thread's CPU time a piece of work may take before it fails: three whole turns, since cold code takes
 * longer than warm code, or more of them where the thread did not run all the time.
 */
const MAX_USED_MS = 3 * SLICE_MS * 0.9;

/** How often it is started: on a busy machine the thread may not run, but the time passes. */
const MAX_BEGUN = 10;

/**
 * Runs `work`, which compiles or evaluates what is in a signer's spec, in as many turns of the event loop as it
 * takes. Other work runs between the turns. It starts from its beginning each time, so it must have no side
 * effects before it completes. What was compiled is kept.
 *
 * @param owner - whose spec it is: the work of a namespace does not even begin before it may evaluate. A request that is
 * decoded and its signature verified, to be put off then, costs the others as much as one that is answered
 * @throws Overrun CEL_COST or CEL_EVALUATION (`wait`), naming the field, where one piece of the work takes
 * longer than a turn again and again
 * @throws PutOff where its namespace has spent its budget, or the machine is too busy; nothing is wrong then
 */
export async function inTurns<T>(work: () => Promise<T>, owner?: SpecOwner): Promise<T> {
  const tries: Tries = { usedMs: 0, begun: 0, turns: 0, progress: 0 };
  let where = 'spec';
  for (let isFirst = true; ; isFirst = false) {
    await begin(where, isFirst, owner);
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TurnEnded)) throw error;
      count(tries, error);
      ({ where } = error);
      if (tries.usedMs >= MAX_USED_MS) throw givenUp(error);
      if (tries.begun >= MAX_BEGUN || tries.turns >= MAX_TURNS) throw turnsTaken(where);
    }
  }
}

/** Waits for a turn. What the administrator wrote begins at once: others have hardly ever used the turn up. */
async function begin(where: string, isFirst: boolean, owner?: SpecOwner): Promise<void> {
  if (owner !== undefined) requireBudget(owner);
  if (isFirst && owner?.namespace === undefined) return;
  if (!(await turnWithTime())) throw turnsTaken(where);
}

/** Its attempts since something was last compiled. */
interface Tries {
  usedMs: number;
  begun: number;
  turns: number;
  progress: number;
}

function count(tries: Tries, { deadline, step, usedMs }: TurnEnded): void {
  const progress = deadline.progress();
  if (step === 'compile' && progress > tries.progress) Object.assign(tries, NONE);
  tries.progress = progress;
  tries.turns += 1;
  if (usedMs > 0) tries.begun += 1;
  tries.usedMs += usedMs;
  if (step === 'evaluate' && usedMs > 0) deadline.discard();
}

const NONE = { usedMs: 0, begun: 0, turns: 0 };

/** A spec that does not compile in time is not tried again for a while; a different request may succeed. */
function givenUp({ deadline, step, where }: TurnEnded): Overrun {
  const error = new Overrun(step, where);
  if (step === 'compile') deadline.refuse(error);
  return error;
}
