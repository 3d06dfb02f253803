// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { isCaReady } from '../../api/serving/report.ts';
import { SignerError } from '../../errors.ts';
import { REFUSED_MS } from '../../runtime/signers/compile-cache.ts';
import { inTurns } from '../../runtime/signers/in-turns.ts';
import { Overrun, PutOff } from '../../runtime/signers/put-off.ts';
import type { SignerSnapshot } from './decide/snapshot.ts';

/** What is known of a spec that the schema accepts. */
export interface SpecCheck extends Pick<SignerSnapshot, 'specError' | 'putOff'> {
  /** When to check it again, in milliseconds from now; undefined: when it changes. */
  readonly againInMs: number | undefined;
}

/**
 * Compiles a spec in as many turns of the event loop as it takes. One that does not get its turns is checked again
 * later: the rest of the signer, and all others, go on. It begins without a look at the namespace's budget: a spec that has
 * compiled costs nothing, and is no reason to put anything off; one that has not is on the budget as soon as it compiles.
 *
 * @param compile - throws if the spec does not compile
 */
export async function checkSpec(
  compile: (signer: ClusterSigner) => void,
  signer: ClusterSigner,
): Promise<SpecCheck> {
  try {
    await inTurns(async () => {
      await Promise.resolve();
      compile(signer);
    });
    return { specError: undefined, putOff: undefined, againInMs: undefined };
  } catch (error) {
    if (error instanceof PutOff) return putOff(signer, error);
    if (!(error instanceof SignerError)) throw error;
    const againInMs = error instanceof Overrun ? REFUSED_MS : undefined;
    return { specError: error, putOff: undefined, againInMs };
  }
}

/**
 * When the signer is looked at next, in milliseconds.
 *
 * @param requeueAt - when there is something else to do
 */
export function nextCheck(requeueAt: number, { againInMs }: SpecCheck, now: number): number {
  return againInMs === undefined ? requeueAt : Math.min(requeueAt, now + againInMs);
}

/** That its CA was found usable in this generation shows that the spec has compiled before. */
function putOff(signer: ClusterSigner, { reason, message, waitMs }: PutOff): SpecCheck {
  const { status, metadata } = signer;
  const isKnownGood =
    status?.observedGeneration === metadata.generation && isCaReady(status?.conditions);
  return {
    specError: undefined,
    putOff: isKnownGood ? undefined : { reason, message },
    againInMs: waitMs,
  };
}
