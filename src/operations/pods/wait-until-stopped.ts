// SPDX-License-Identifier: Apache-2.0
import type { ClusterSignerStatus } from '#api/signer/cluster-signer.ts';
import { findCondition } from '#api/request/conditions.ts';
import { SignerError } from '#base/errors.ts';
import type { Clock, Delay } from '#base/ports.ts';
import { KubeError, transientError } from '#kube/client/kube-error.ts';
import { authoritiesOf, type SignerState } from '../signer-state.ts';

/** Condition and deadline of the wait. */
export interface WaitUntilStoppedInit {
  readonly readState: () => Promise<SignerState>;
  readonly fingerprint: string;
  readonly clock: Clock;
  readonly delay: Delay;
  /** Reports one line of progress. */
  readonly progress: (line: string) => void;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** Interval between reads. The wait takes minutes, so a read every two seconds adds little load. */
const STOP_POLL_MS = 2_000;

/**
 * Waits until the CA has stopped signing and another is active. A pod that is replaced earlier
 * would get a leaf of the same CA again. It also waits while the API server is not available.
 * @returns the state in which the CA no longer signs
 * @throws SignerError USAGE (`wait`) at the deadline, or when `signal` aborts
 * @throws KubeError that a later read would have as well
 */
export async function waitUntilStopped(init: WaitUntilStoppedInit): Promise<SignerState> {
  const { clock, delay, deadline, progress, signal } = init;
  let reported = '';
  for (;;) {
    const why = await readStopped(init);
    if (typeof why !== 'string') return why;
    if (why !== reported) progress(`waiting: ${why}`);
    reported = why;
    if (clock() >= deadline || signal.aborted) throw late(why);
    await delay(STOP_POLL_MS, signal).catch(() => undefined);
  }
}

/** Returns the state in which the CA no longer signs, or why there is none yet. */
async function readStopped({
  readState,
  fingerprint,
}: WaitUntilStoppedInit): Promise<SignerState | string> {
  const read = await readState().catch(transientError);
  if (read instanceof KubeError) return read.message;
  return stillSigning(read, fingerprint) ?? read;
}

/** Returns why a replaced pod could still get a leaf of the CA, or undefined if it cannot. */
export function stillSigning(state: SignerState, fingerprint: string): string | undefined {
  const { metadata, status } = state.signer;
  const active = authoritiesOf(state).find(({ phase }) => phase === 'Active');
  if (active === undefined) return 'no CA is active yet';
  if (active.fingerprint === fingerprint) return `${fingerprint} still signs${rotation(status)}`;
  const isCurrent = status?.observedGeneration === metadata.generation;
  const ready = findCondition(status?.conditions, 'Ready');
  if (isCurrent && ready?.status === 'True') return undefined;
  return `${metadata.name} is not ready: ${ready?.message ?? ''}`;
}

function rotation(status: ClusterSignerStatus | undefined): string {
  const found = ['Rotating', 'RotationDue']
    .map((type) => findCondition(status?.conditions, type))
    .find((each) => each?.status === 'True');
  return found === undefined ? '' : `: ${found.message ?? ''}`;
}

function late(why: string): SignerError {
  const message = `no pod was evicted: ${why}; the rotation is still requested, so run the same command again later`;
  return new SignerError({ code: 'USAGE', disposition: 'wait', message });
}
