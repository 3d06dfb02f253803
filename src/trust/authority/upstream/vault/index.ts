// SPDX-License-Identifier: Apache-2.0
/** Has Vault or OpenBao sign the keys that wait, for `upstream.vault`. */
import { createHash } from 'node:crypto';
import type { ClusterSigner, VaultUpstream } from '#api/signer/cluster-signer.ts';
import { parseDuration } from '#api/object/duration.ts';
import { keyOf, type Secret } from '#api/object/object.ts';
import { parseTime } from '#api/object/time.ts';
import { isOwned } from '#api/signer/grant.ts';
import { findCondition } from '#api/request/conditions.ts';
import { BoundedMap } from '#base/bounded-map.ts';
import { messageOf } from '#base/errors.ts';
import type { Clock, Log, Random } from '#base/ports.ts';
import { refusal, refusalReason, upstreamUnavailable } from '#ca/upstream/refusals.ts';
import { wantedCaOf, type WantedCa } from '#ca/upstream/wanted-ca.ts';
import { isWithinDelay, serverTime } from '#component/server-time.ts';
import type { VaultAccess } from '#component/vault/access.ts';
import { tokenUnread } from '#component/vault/messages.ts';
import type { Client } from '#kube/client/client.ts';
import { backoffDelay } from '#kube/wait/backoff.ts';
import { pendingIn, type PendingRequest } from '../../decide/upstream.ts';
import * as messages from '../../messages.ts';
import type { UpstreamAnswer } from '../answer.ts';
import { enginePlace, signByVault, type VaultOutcome, type VaultResult } from './sign.ts';

export interface VaultsInit {
  readonly client: Pick<Client, 'clockOffset'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly access: VaultAccess;
  /** Reconciles a signer whose answer has arrived. */
  readonly wake: (key: string) => void;
  /** Counts calls. */
  readonly count: (outcome: VaultOutcome) => void;
}

/** A key that waits for Vault. */
interface WantedSignature {
  readonly signer: ClusterSigner;
  readonly vault: VaultUpstream;
  readonly pending: PendingRequest;
  readonly wanted: WantedCa;
  readonly durationSeconds: number;
  /** Digest of what Vault receives. Another key, engine or duration has another. */
  readonly id: string;
}

/** An answer, and the facts that decide when Vault is called again. */
interface VaultAnswer {
  readonly id: string;
  /** Another one may correct a refusal. */
  readonly generation: number | undefined;
  readonly answer: UpstreamAnswer;
  /** Milliseconds, by the API server's clock. */
  readonly answeredAt: number;
  /** Number of calls in a row that brought no chain. */
  readonly failures: number;
}

/** Signers whose answers are kept. */
const MAX_ANSWERS = 1_000;
/** Calls at once, of all signers. The others wait for {@link FULL_MS}. */
const MAX_VAULT_CALLS = 8;
const FULL_MS = 5_000;
/** When to look again at a call that runs. Its end wakes the signer before. */
const RUNNING_MS = 60_000;
/** Delay before the next call, doubled for each failure, and its limit. */
const FIRST_DELAY_MS: Readonly<Record<VaultOutcome, number>> = {
  signed: 0,
  unavailable: 5_000,
  // A person corrects it, in Vault or in the spec. A change of the spec ends the delay.
  refused: 60_000,
  // Each further call may have another certificate signed.
  lost: 60_000,
};
const MAX_DELAY_MS = 600_000;

/** The calls of Vault, at most one at a time for each signer. */
export interface Vaults {
  /** Returns the answer at once. A call runs beside it, since Vault may be slow. */
  answerFor(signer: ClusterSigner, secret: Secret | undefined): UpstreamAnswer | undefined;
}

/** The answers of all signers, and the signers whose calls run. */
interface VaultsState {
  readonly init: VaultsInit;
  readonly known: BoundedMap<string, VaultAnswer>;
  readonly running: Set<string>;
}

export function createVaults(init: VaultsInit): Vaults {
  const known = new BoundedMap<string, VaultAnswer>(MAX_ANSWERS);
  const state = { init, known, running: new Set<string>() };
  return {
    answerFor: (signer, secret) => {
      const key = keyOf(signer.metadata);
      const wanted = secret === undefined ? undefined : wantedSignature(signer, secret);
      if (wanted !== undefined) return answerTo(state, key, wanted);
      known.delete(key);
      return undefined;
    },
  };
}

function answerTo(state: VaultsState, key: string, wanted: WantedSignature): UpstreamAnswer {
  const { init, known, running } = state;
  const now = serverTime(init);
  const before = sameOf(known.get(key), wanted);
  const final = finalAnswer(before, wanted);
  if (final !== undefined) return final;
  if (!running.has(key)) {
    if (before !== undefined && isDelayed(before, wanted, now)) return before.answer;
    if (running.size >= MAX_VAULT_CALLS) return waiting(now + FULL_MS);
    running.add(key);
    void run(state, { key, wanted, before });
  }
  // While Vault is called again, the last answer remains in the condition.
  return { ...(before?.answer ?? waiting(now)), lookAt: now + RUNNING_MS };
}

/** Returns what is known of this key at this engine. */
function sameOf(last: VaultAnswer | undefined, { id }: WantedSignature): VaultAnswer | undefined {
  return last?.id === id ? last : undefined;
}

/** Returns the answer to a key that Vault signed. Another call would have it signed twice. */
function finalAnswer(
  before: VaultAnswer | undefined,
  wanted: WantedSignature,
): UpstreamAnswer | undefined {
  if (before === undefined) return refusedBefore(wanted);
  return before.answer.kind === 'chain' ? before.answer : undefined;
}

/** Reports whether the next call must wait. A change of the spec may be a correction. */
function isDelayed(
  { generation, answer, answeredAt }: VaultAnswer,
  { signer }: WantedSignature,
  now: number,
): boolean {
  const delay = { from: answeredAt, until: answer.lookAt };
  return generation === signer.metadata.generation && isWithinDelay(now, delay);
}

/** Calls Vault, keeps its answer, and wakes the signer. */
async function run(
  { init, known, running }: VaultsState,
  {
    key,
    wanted,
    before,
  }: {
    readonly key: string;
    readonly wanted: WantedSignature;
    readonly before: VaultAnswer | undefined;
  },
): Promise<void> {
  const { failures = 0 } = before ?? {};
  const result = await call(init, wanted);
  init.count(result.outcome);
  const { generation } = wanted.signer.metadata;
  const answeredAt = serverTime(init);
  const lookAt = Math.floor(answeredAt + nextCallDelay(init, result, failures));
  const answer = { ...result.verdict, lookAt };
  known.set(key, { id: wanted.id, generation, answer, answeredAt, failures: failures + 1 });
  running.delete(key);
  init.wake(key);
}

function waiting(lookAt: number): UpstreamAnswer {
  return { kind: 'waiting', message: messages.REQUESTING_CERTIFICATE, lookAt };
}

/** Returns the signature to request for the key that waits. Undefined if none is wanted. */
function wantedSignature(signer: ClusterSigner, secret: Secret): WantedSignature | undefined {
  const { managed } = signer.spec.authority;
  const vault = managed?.upstream?.vault;
  if (managed === undefined || vault === undefined) return undefined;
  if (!isOwned(secret, signer.metadata.uid)) return undefined;
  const pending = pendingIn(secret, managed);
  const wanted = wantedCaOf(signer);
  if (pending === undefined || wanted === undefined) return undefined;
  const durationSeconds = parseDuration(managed.duration);
  const { server, namespace, mount, issuer, auth } = vault;
  const content = [pending.pem, durationSeconds, server, namespace, mount, issuer, auth];
  const id = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  return { signer, vault, pending, wanted, durationSeconds, id };
}

/**
 * Returns the refusal of a chain that an earlier process received for this key. Without it, each
 * restart would have Vault sign the key again. The next key follows at the time in the status.
 */
function refusedBefore({ signer, pending }: WantedSignature): UpstreamAnswer | undefined {
  const { status, metadata } = signer;
  const { upstream, observedGeneration, conditions } = status ?? {};
  if (upstream?.request !== pending.pem || observedGeneration !== metadata.generation) {
    return undefined;
  }
  const reason = refusalReason(findCondition(conditions, 'AwaitingCertificate')?.reason);
  // At this time the next key replaces this one, so Vault never sees this one again.
  const lookAt = parseTime(upstream.retryAt ?? '');
  if (reason === undefined || Number.isNaN(lookAt)) return undefined;
  return { kind: 'refused', refusal: refusal(reason, messages.VAULT_REFUSED_BEFORE), lookAt };
}

function nextCallDelay(
  { random }: VaultsInit,
  { outcome, retryAfterMs = 0 }: VaultResult,
  failures: number,
): number {
  const firstMs = FIRST_DELAY_MS[outcome];
  const delay = backoffDelay(failures, { firstMs, maxMs: MAX_DELAY_MS, random });
  return Math.max(delay, retryAfterMs);
}

/** Calls Vault. Never throws. */
async function call(init: VaultsInit, wanted: WantedSignature): Promise<VaultResult> {
  const { signer, vault, pending, durationSeconds } = wanted;
  const { log, access } = init;
  const fields = { signer: signer.spec.signerName, engine: enginePlace(vault) };
  const file = access.tokenFiles.get(vault.server);
  if (file === undefined) return unavailable(messages.vaultNotListed(vault.server));
  let token: string;
  try {
    token = (await access.readToken(file)).trim();
  } catch (error) {
    return unavailable(tokenUnread(vault.server, messageOf(error)));
  }
  const exchange = access.open(vault);
  let after: Promise<unknown> = Promise.resolve();
  try {
    const now = serverTime(init);
    const order = { vault, token, pending, wanted: wanted.wanted, durationSeconds, now };
    const result = await signByVault(exchange, order);
    const { verdict } = result;
    after = result.after ?? after;
    const detail = verdict.kind === 'unavailable' ? verdict.refusal.message : '';
    log.info({ ...fields, outcome: result.outcome, detail }, messages.VAULT_CALLED);
    return result;
  } catch (error) {
    // A fault of this program. It ends no other signer.
    log.error({ ...fields, error: messageOf(error) }, messages.VAULT_CALLED);
    return unavailable(messageOf(error));
  } finally {
    void after.finally(() => exchange.close());
  }
}

function unavailable(problem: string): VaultResult {
  const verdict = { kind: 'unavailable', refusal: upstreamUnavailable(problem) } as const;
  return { outcome: 'unavailable', verdict };
}
