// SPDX-License-Identifier: Apache-2.0
/** State of a Challenge: initial memory, self-check, and the write of its status. */
import { NEW_CHALLENGE, NO_CHALLENGE_MEMORY } from '#acme/orders/index.ts';
import type { ChallengeMemory } from '#acme/orders/memory.ts';
import { changed, isFinalChallenge, toWrite } from '#acme/orders/status.ts';
import type { ToCheck } from '#acme/solving/self-check.ts';
import type { Challenge, ChallengeObjectStatus } from '#api/acme/challenge.ts';
import { CHALLENGES } from '#api/acme/names.ts';
import { keyOf } from '#api/object/object.ts';
import { resource } from '#kube/resource/resource.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import { requeueAt } from '#component/server-time.ts';
import type { AcmeContext } from '../context.ts';
import { eventOfChallenge } from '../store/events.ts';
import type { HeldChallenge, Term } from '../store/leader-state.ts';
import { statusChanged, writeStatus } from '../store/write-status.ts';
import * as messages from '../messages.ts';
import { ACME_SERIES } from '../metrics.ts';

const PATHS = resource(CHALLENGES);

/** Returns the state of a Challenge in this term. The first reading takes its status. */
export function heldChallenge(term: Term, challenge: Challenge): HeldChallenge {
  const { metadata, status } = challenge;
  const held = term.challenges.get(metadata.uid) ?? {
    status: { ...NEW_CHALLENGE, ...status },
    memory: memoryOf(challenge, term),
  };
  term.challenges.set(metadata.uid, held);
  return held;
}

/**
 * Returns the initial memory. Continues a clean-up that an earlier leader started for a yielding
 * Challenge.
 */
function memoryOf(
  { spec, status }: Challenge,
  { orders, beganAt: now }: Pick<Term, 'orders' | 'beganAt'>,
): ChallengeMemory {
  const expiresAt = expiryOf(spec, orders);
  const { processing = false, presented = false, solver } = status;
  const isYielding = !processing && (presented || solver?.presented === true);
  return { ...NO_CHALLENGE_MEMORY, expiresAt, ...(isYielding ? { yieldedAt: now } : {}) };
}

/** Returns the end of the authorization, which the Order has read. */
function expiryOf(
  { orderRef, authorizationURL }: Challenge['spec'],
  orders: Term['orders'],
): number | undefined {
  return orders.get(orderRef.uid)?.memory.expiries.get(authorizationURL);
}

/** Checks that the presented record or file is visible. @returns the problem */
export async function checkChallenge(
  { component, checkChallenge: check }: Pick<AcmeContext, 'component' | 'checkChallenge'>,
  { spec }: Challenge,
  how: Pick<ToCheck, 'presentedAt' | 'persist' | 'settings'>,
): Promise<string | undefined> {
  const namespaced = spec.signerRef.kind === 'AcmeSigner';
  const begun = component.monotonic();
  const problem = await check({ ...spec, ...how, namespaced }, new AbortController().signal);
  const seconds = (component.monotonic() - begun) / 1000;
  const passed = String(problem === undefined);
  component.metrics.of(ACME_SERIES).selfChecks.observe({ type: spec.type, passed }, seconds);
  return problem;
}

/** Writes a changed status. @returns the Challenge in its new version */
export async function saveChallenge(
  { component, challenges }: Pick<AcmeContext, 'component' | 'challenges'>,
  before: Challenge,
  held: ChallengeObjectStatus,
): Promise<Challenge> {
  // acme-solver writes its own member.
  const status = toWrite(changed(held, { solver: before.status.solver }));
  if (!isWorthWriting(before.status, status)) return before;
  const written = await writeStatus(component, PATHS, { ...before, status });
  challenges.applyWrite(written);
  const event = eventOfChallenge(written, before.status);
  if (event !== undefined) component.events.record(event);
  const { state, reason } = status;
  component.log.info(
    { challenge: keyOf(before.metadata), state, reason },
    messages.CHALLENGE_CHANGED,
  );
  return written;
}

function isWorthWriting(before: ChallengeObjectStatus, status: ChallengeObjectStatus): boolean {
  // An untouched Challenge has an empty status.
  if (Object.keys(before).length === 0 && status.processing !== true)
    return status.reason !== undefined || status.state !== undefined;
  return statusChanged(before, status, isFinalChallenge(status.state) ? ['presented'] : []);
}

/** Limits any wait to the end of the authorization. */
export function untilExpiry(
  { component }: Pick<AcmeContext, 'component'>,
  { status, memory }: HeldChallenge,
  result: ReconcileResult,
): ReconcileResult {
  if (memory.expiresAt === undefined || isFinalChallenge(status.state)) return result;
  const expiry = requeueAt(component, memory.expiresAt);
  if (result === undefined) return expiry;
  const isLater = typeof result === 'object' && 'requeueAt' in result;
  return isLater && result.requeueAt > expiry.requeueAt ? expiry : result;
}
