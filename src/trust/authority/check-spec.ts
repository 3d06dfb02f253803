// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { isCaReady } from '#api/serving/report.ts';
import { SignerError } from '#base/errors.ts';
import { REFUSED_MS } from '#component/signers/compile-cache.ts';
import { runInSlices } from '#component/signers/run-in-slices.ts';
import { EvaluationTimeout, EvaluationDeferred } from '#component/signers/evaluation-errors.ts';
import type { SignerSnapshot } from './decide/snapshot.ts';

/** Result of compiling a spec that the schema accepts. */
export interface SpecCheck extends Pick<SignerSnapshot, 'specError' | 'deferred'> {
  /** Milliseconds until the next check, or undefined to wait for a change. */
  readonly againInMs: number | undefined;
}

/**
 * Compiles a spec in slices of the event loop. A spec that gets no CPU time is checked again later,
 * while the rest of the signer and all other signers continue.
 *
 * Does not check the namespace's budget first: a compiled spec is free, and a new one is charged as
 * soon as it compiles.
 *
 * @param compile - throws if the spec does not compile
 */
export async function checkSpec(
  compile: (signer: ClusterSigner) => void,
  signer: ClusterSigner,
): Promise<SpecCheck> {
  try {
    await runInSlices(async () => {
      await Promise.resolve();
      compile(signer);
    });
    return { specError: undefined, deferred: undefined, againInMs: undefined };
  } catch (error) {
    if (error instanceof EvaluationDeferred) return deferred(signer, error);
    if (!(error instanceof SignerError)) throw error;
    const againInMs = error instanceof EvaluationTimeout ? REFUSED_MS : undefined;
    return { specError: error, deferred: undefined, againInMs };
  }
}

/**
 * Returns the time of the next reconcile in milliseconds.
 *
 * @param requeueAt - time of other pending work
 */
export function nextCheck(requeueAt: number, { againInMs }: SpecCheck, now: number): number {
  return againInMs === undefined ? requeueAt : Math.min(requeueAt, now + againInMs);
}

/** Treats the spec as good if its CA was usable in this generation, since it compiled then. */
function deferred(
  signer: ClusterSigner,
  { reason, message, waitMs }: EvaluationDeferred,
): SpecCheck {
  const { status, metadata } = signer;
  const isKnownGood =
    status?.observedGeneration === metadata.generation && isCaReady(status?.conditions);
  return {
    specError: undefined,
    deferred: isKnownGood ? undefined : { reason, message },
    againInMs: waitMs,
  };
}
