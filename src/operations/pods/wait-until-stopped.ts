// SPDX-License-Identifier: Apache-2.0
import type { ClusterSignerStatus } from '../../api/signer/cluster-signer.ts';
import { findCondition } from '../../api/request/conditions.ts';
import { SignerError } from '../../errors.ts';
import type { Clock, Delay } from '../../ports.ts';
import { authoritiesOf, type SignerState } from '../signer-state.ts';

export interface WaitUntilStoppedInit {
  readonly readState: () => Promise<SignerState>;
  readonly fingerprint: string;
  readonly clock: Clock;
  readonly delay: Delay;
  readonly say: (line: string) => void;
  /** Milliseconds. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** Often enough for minutes of waiting, seldom enough for the API server. */
const POLL_MS = 2_000;

/**
 * Waits until the CA signs no more and another does: a pod that is made anew before gets a leaf of the
 * very CA that is to go.
 *
 * @throws SignerError USAGE (`wait`) at the deadline
 */
export async function waitUntilStopped(init: WaitUntilStoppedInit): Promise<SignerState> {
  const { clock, delay, deadline, say, signal } = init;
  let said = '';
  for (;;) {
    const state = await init.readState();
    const why = whyNotStopped(state, init.fingerprint);
    if (why === undefined) return state;
    if (why !== said) say(`waits: ${why}`);
    said = why;
    if (clock() >= deadline || signal.aborted) throw late(why);
    await delay(POLL_MS, signal).catch(() => undefined);
  }
}

/** Why pods that are made anew could still get a leaf of the CA; undefined when they cannot. */
export function whyNotStopped(state: SignerState, fingerprint: string): string | undefined {
  const { metadata, status } = state.signer;
  const active = authoritiesOf(state).find(({ phase }) => phase === 'Active');
  if (active === undefined) return 'no CA signs yet';
  if (active.fingerprint === fingerprint) return `${fingerprint} signs still${rotation(status)}`;
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
  const message = `no pod was evicted, because ${why}; the order stands, try --restart again later`;
  return new SignerError({ code: 'USAGE', disposition: 'wait', message });
}
