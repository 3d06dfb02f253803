// SPDX-License-Identifier: Apache-2.0
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SignerError } from '../../errors.ts';
import { SLICE_MS, TurnEnded } from './deadline.ts';

/** How often a piece of work may take a whole turn before it is given up: cold code takes longer than warm. */
const MAX_OVERRUNS = 3;

/** How often it is begun: on a busy machine the thread does not run, and the time is over all the same. */
const MAX_BEGUN = 10;

/** For how many turns it waits for one that other Signers have not used up. */
const MAX_TURNS = 1_000;

/**
 * Does `work`, which compiles or evaluates what namespaces wrote, in as many turns of the event loop as it
 * takes; between them everybody else is served. It begins from its start each time, so it must have changed
 * nothing before it does so; what was compiled is kept.
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

/** What became of it so far, since something was compiled last. */
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

/** A spec that does not compile in time is not tried again before it changes; a request may be another one. */
function givenUp({ owner, step, where }: TurnEnded, { overruns }: Tries): SignerError {
  const error = new SignerError({
    code: step === 'compile' ? 'CEL_COST' : 'CEL_EVALUATION',
    disposition: 'wait',
    message: `${where}: was ended after ${SLICE_MS} ms, which is all the time that a Signer has at once; simplify the expression or its patterns`,
  });
  // On a busy machine it may be the machine: then it is tried again as any request is.
  if (step === 'compile' && overruns >= MAX_OVERRUNS) owner.refuse(error);
  return error;
}
