// SPDX-License-Identifier: Apache-2.0
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SignerError } from '../../errors.ts';
import { SLICE_MS, TurnEnded } from './deadline.ts';

/** How often a piece of work may take a whole turn before it fails: cold code takes longer than warm code. */
const MAX_OVERRUNS = 3;

/** How often it is started: on a busy machine the thread may not run, but the time passes. */
const MAX_BEGUN = 10;

/** For how many turns it waits for one that other Signers have not used up. */
const MAX_TURNS = 1_000;

/**
 * Runs `work`, which compiles or evaluates code from namespaces, in as many turns of the event loop as it
 * takes. Other work runs between the turns. It starts from its beginning each time, so it must have no side
 * effects before it completes. What was compiled is kept.
 *
 * @throws SignerError CEL_COST or CEL_EVALUATION (`wait`), naming the field, where one piece of the work takes
 * longer than a turn again and again
 */
export async function inTurns<T>(work: () => Promise<T>): Promise<T> {
  const tries: Tries = { overruns: 0, begun: 0, turns: 0, progress: 0 };
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TurnEnded)) throw error;
      count(tries, error);
      if (isHopeless(tries)) throw givenUp(error, tries);
    }
    await nextTurn();
  }
}

/** Its attempts since something was last compiled. */
interface Tries {
  overruns: number;
  begun: number;
  turns: number;
  progress: number;
}

function count(tries: Tries, { owner, step, usedMs, isOverrun }: TurnEnded): void {
  const progress = owner.progress();
  if (step === 'compile' && progress > tries.progress) Object.assign(tries, NONE);
  tries.progress = progress;
  tries.turns += 1;
  if (usedMs > 0) tries.begun += 1;
  if (isOverrun) tries.overruns += 1;
  if (step === 'evaluate' && usedMs > 0) owner.discard();
}

const NONE = { overruns: 0, begun: 0, turns: 0 };

function isHopeless({ overruns, begun, turns }: Tries): boolean {
  return overruns >= MAX_OVERRUNS || begun >= MAX_BEGUN || turns >= MAX_TURNS;
}

/**
 * A spec that does not compile in time is tried again only after it changes; a different request may succeed.
 */
function givenUp({ owner, step, where }: TurnEnded, { overruns }: Tries): SignerError {
  const error = new SignerError({
    code: step === 'compile' ? 'CEL_COST' : 'CEL_EVALUATION',
    disposition: 'wait',
    message: `${where}: was ended after ${SLICE_MS} ms, which is all the time that a Signer has at once; simplify the expression or its patterns`,
  });
  // The machine may be busy: then the work is retried like any request.
  if (step === 'compile' && overruns >= MAX_OVERRUNS) owner.refuse(error);
  return error;
}
