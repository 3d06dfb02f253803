// SPDX-License-Identifier: Apache-2.0
/** Orders a decided certificate from a foreign CA once, and checks the chain. */
import { createHash } from 'node:crypto';
import type { ExternalSigner } from '#api/external/external-signer.ts';
import { keyOf } from '#api/object/object.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import {
  MIN_LIFETIME_SECONDS,
  type PodCertificateRequest,
} from '#api/request/pod-certificate-request.ts';
import { BoundedMap } from '#base/bounded-map.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { Component } from '#component/contract.ts';
import { serverTime } from '#component/server-time.ts';
import { encodePem } from '#pki/der/pem.ts';
import { readCertificates } from '#pki/x509/certificate.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import type {
  CertificateTemplate,
  IssuedChain,
  IssuingCas,
  NotIssued,
} from '../issuing/issuing-ca.ts';
import { cachedPemReader } from '../issuing/pem-cache.ts';
import { issuedChain, UNBOUNDED_VALIDITY } from '../issuing/returned-chain.ts';
import type { Authorities, UsableAuthority } from './authorities.ts';
import type { FailedOrder } from './backend.ts';
import type { CallEnd, CallTurn } from './call-gate.ts';
import { longerHold, YIELD_DELAYS, type Hold, type HoldDelays } from './holds.ts';
import type { KeptChains } from './kept-chains.ts';
import { EXTERNAL_SERIES } from './metrics.ts';
import * as messages from './messages.ts';
import type { WaitingCaller } from './waiting-line.ts';

/** Requests that a foreign CA answers. */
export type ExternalRequest = CertificateSigningRequest | PodCertificateRequest;

export interface ExternalCasInit {
  readonly component: Component;
  readonly authorities: Authorities;
  readonly chains: KeptChains;
}

/** Delays after refusals of one order in a row. A person must correct the CA or the rules. */
const REFUSAL_DELAYS: HoldDelays = { firstMs: 5_000, maxMs: 300_000 };
/** Orders whose failures are counted. A forgotten one is placed again at once. */
const MAX_FAILED = 20_000;

/** Delay after a leaf that is a second short. */
const SHORT_MS = 300;
/** Number of such retries of a request. */
const MAX_SHORT = 3;
/** Shortest delay of a pending request. */
const MIN_MS = 100;
/** Delay of a request whose chain could not be kept. */
const FULL_MS = 5_000;

const anchorsOf = cachedPemReader(readAnchors);

interface IssuanceState extends ExternalCasInit {
  /** Failures in a row, by the digest of the order. */
  readonly failed: BoundedMap<string, Hold>;
  /** Queue a request again, by its signer name and `namespace/name`. False: it is gone. */
  readonly listeners: ((signerName: string, storeKey: string) => boolean)[];
  /**
   * Requests that wait for an order of their holder and key, by its digest. Two requests that come
   * at once thus cost one certificate: the second finds the result of the first. It holds no worker
   * meanwhile.
   */
  readonly ordering: Map<string, Map<string, WaitingCaller['wake']>>;
}

/** Answers the requests of one loop by the CAs of their signers. */
export function externalCas<R extends ExternalRequest>(
  init: ExternalCasInit,
): IssuingCas<ExternalSigner, R> {
  const { authorities } = init;
  const failed = new BoundedMap<string, Hold>(MAX_FAILED);
  const at: IssuanceState = { ...init, failed, listeners: [], ordering: new Map() };
  return {
    serve: () => undefined,
    listed: () => true,
    onChange: authorities.onChange,
    onAnswer: (listener) => void at.listeners.push(listener),
    waitsFor: authorities.waitsFor,
    notReady: () => [],
    stop: () => Promise.resolve(),
    issuing: (signer) => ({
      validity: authorities.usable(signer)?.validity ?? UNBOUNDED_VALIDITY,
      identity: JSON.stringify(placeOf(signer)),
      issue: (wanted, request) => issue(at, signer, wanted, request),
    }),
  };
}

function placeOf({ spec }: ExternalSigner): readonly string[] {
  const { server, namespace = '', mount, role } = spec.authority.vault;
  return ['vault', server, namespace, mount, role];
}

async function issue(
  at: IssuanceState,
  signer: ExternalSigner,
  wanted: CertificateTemplate,
  request: ExternalRequest,
): Promise<IssuedChain | NotIssued> {
  const order = { signer, wanted, request, id: orderId(signer, wanted, request) };
  const { ordering } = at;
  const followers = ordering.get(order.id);
  if (followers !== undefined) {
    leaveLine(at, order);
    followers.set(request.metadata.uid, callerOf(at, order).wake);
    return { kind: 'notIssued', how: 'issuer', message: messages.SAME_KEY };
  }
  const woken = new Map<string, WaitingCaller['wake']>();
  ordering.set(order.id, woken);
  try {
    return await orderOnce(at, order);
  } finally {
    ordering.delete(order.id);
    for (const wake of woken.values()) wake();
  }
}

async function orderOnce(
  at: IssuanceState,
  order: ExternalOrder,
): Promise<IssuedChain | NotIssued> {
  const { authorities, component } = at;
  const { signer } = order;
  const before = (await answeredBefore(at, order)) ?? heldOrder(at, order) ?? heldFlow(at, order);
  if (before !== undefined) {
    leaveLine(at, order);
    return before;
  }
  const authority = authorities.usable(signer);
  if (authority === undefined) return waits(authorities, signer);
  // Other requests use the worker while this one waits for the CA.
  return component.concurrency.lend(() => orderInTurn(at, order, authority));
}

async function orderInTurn(
  at: IssuanceState,
  order: ExternalOrder,
  authority: UsableAuthority,
): Promise<IssuedChain | NotIssued> {
  const { authorities, chains, component } = at;
  const { signer } = order;
  const turn = await authority.gate.enter(callerOf(at, order));
  if (turn === 'paused') return waits(authorities, signer);
  if (turn === 'busy') return { kind: 'notIssued', how: 'issuer', message: messages.BUSY };
  const held = heldMeanwhile(at, order, authority) ?? noSpace(at, order);
  if (held !== undefined) {
    turn.end('unused');
    return held;
  }
  try {
    return await place(at, order, authority, turn);
  } finally {
    // An unexpected error leaves the turn open, and the CA may have issued.
    turn.end('unavailable');
    chains.release(order.id);
    component.metrics.of(EXTERNAL_SERIES).keptBytes.set({}, chains.bytes());
  }
}

/** Gives the place of a request that needs no call now to another one. */
function leaveLine(at: IssuanceState, order: ExternalOrder): void {
  at.authorities.usable(order.signer)?.gate.leave(callerOf(at, order));
}

function callerOf(
  { authorities, listeners }: IssuanceState,
  { signer, request }: ExternalOrder,
): WaitingCaller {
  const { signerName } = signer.spec;
  // The function must not keep the request, which may be large.
  const storeKey = keyOf(request.metadata);
  return {
    id: request.metadata.uid,
    flow: `${signerName} ${flowOf(request)}`,
    // The next check wakes the requests of a signer that waits.
    wake: () =>
      authorities.waitsFor(signer) === undefined &&
      listeners.some((listener) => listener(signerName, storeKey)),
  };
}

/** Reserves space for the chain of an order, or returns the reason against the order. */
function noSpace({ chains }: IssuanceState, { id }: ExternalOrder): NotIssued | undefined {
  return chains.reserve(id) ? undefined : pending(messages.NO_SPACE, FULL_MS);
}

/**
 * Returns the reason against an order whose turn has come. While it waited, an answer may have been
 * refused, or another replica may lead.
 */
function heldMeanwhile(
  at: IssuanceState,
  order: ExternalOrder,
  { backend }: UsableAuthority,
): NotIssued | undefined {
  const { authorities, component } = at;
  const { signer, request } = order;
  const held = heldFlow(at, order);
  if (held !== undefined) return held;
  const isOwn = component.shard.owns(request.metadata.uid);
  const isSame = authorities.usable(signer)?.backend === backend;
  return isOwn && isSame ? undefined : waits(authorities, signer);
}

/** A certificate to order, for a request. */
interface ExternalOrder {
  readonly signer: ExternalSigner;
  readonly wanted: CertificateTemplate;
  readonly request: ExternalRequest;
  readonly id: string;
}

/**
 * Returns the result of an earlier answer for the same holder and key, which is not paid again.
 * Undefined also if its chain can no longer be delivered: the API server accepts it for five
 * minutes.
 */
async function answeredBefore(
  at: IssuanceState,
  order: ExternalOrder,
): Promise<IssuedChain | NotIssued | undefined> {
  const { component, chains } = at;
  const known = chains.get(order.id);
  if (known === undefined) return undefined;
  // A CA that gave a wrong certificate for this key would give another one, and have it paid.
  if ('refusal' in known)
    return pending(messages.refusedBefore(known.refusal), chains.leftMs(order.id));
  const chain = attempt(() => checked(at, order, known.chain));
  if (chain instanceof SignerError) {
    await chains.drop(order.id);
    return undefined;
  }
  const { signerName } = order.signer.spec;
  component.metrics.of(EXTERNAL_SERIES).reusedChains.inc({ signer: signerName });
  return chain;
}

/**
 * Returns the reason against an order that failed before. Each check of the CA wakes all requests,
 * and one that fails each time would always have the first turn.
 */
function heldOrder(
  { component, failed }: IssuanceState,
  { id }: ExternalOrder,
): NotIssued | undefined {
  const hold = failed.get(id);
  const leftMs = (hold?.until ?? 0) - serverTime(component);
  return hold === undefined || leftMs <= 0 ? undefined : pending(hold.problem, leftMs);
}

/** Counts a failure of an order, and returns until when it is not placed again. */
function holdOrder(
  { component, failed }: IssuanceState,
  { id }: ExternalOrder,
  problem: string,
  { delays, afterMs = 0 }: { readonly delays: HoldDelays; readonly afterMs?: number },
): number {
  const start = { from: serverTime(component) + afterMs, delays, random: component.random };
  const hold = longerHold(failed.get(id), problem, start);
  failed.set(id, hold);
  return hold.until - serverTime(component);
}

function heldFlow(
  { component, authorities }: IssuanceState,
  { signer, request }: ExternalOrder,
): NotIssued | undefined {
  const hold = authorities.flowHold(signer, flowOf(request));
  if (hold === undefined) return undefined;
  const leftMs = hold.until - serverTime(component);
  return pending(messages.flowHeld(Math.ceil(leftMs / 1000), hold.problem), leftMs);
}

/** Orders a certificate, and checks what the CA returns. */
async function place(
  at: IssuanceState,
  order: ExternalOrder,
  authority: UsableAuthority,
  turn: CallTurn,
): Promise<IssuedChain | NotIssued> {
  const { component, authorities, chains } = at;
  const { signer, wanted, request } = order;
  const { uid } = request.metadata;
  const { signerName } = signer.spec;
  const result = await authority.backend.order({ wanted, csr: csrOf(request) });
  const { outcome } = result;
  component.metrics.of(EXTERNAL_SERIES).orders.inc({ signer: signerName, outcome });
  component.log.debug({ uid, signer: signerName, outcome }, messages.ORDERED);
  if (result.outcome === 'unusable') return refuse(at, order, turn, result.message);
  if (result.outcome !== 'issued') {
    turn.end(ENDS[result.outcome], result.retryAfterMs);
    return notIssued(at, order, authority, result);
  }
  const chain = attempt(() => checked(at, order, result.chain));
  if (!(chain instanceof SignerError)) {
    turn.end('answered');
    authorities.acceptedAnswer(signer, flowOf(request));
    at.failed.delete(order.id);
    await chains.keep(order.id, { chain: result.chain });
    return chain;
  }
  if (!takeShortLeafRetry(at, order, result.chain)) return refuse(at, order, turn, chain.message);
  turn.end('answer-refused');
  return pending(chain.message, SHORT_MS);
}

/** Ends an order whose answer cannot be delivered. This key never costs a second one soon. */
async function refuse(
  { component, authorities, chains }: IssuanceState,
  { signer, request, id }: ExternalOrder,
  turn: CallTurn,
  message: string,
): Promise<NotIssued> {
  // The next request has its turn only after this report.
  authorities.refusedAnswer(signer, flowOf(request), message);
  turn.end('answer-refused');
  const { signerName } = signer.spec;
  component.log.warn({ signer: signerName, error: message }, messages.ANSWER_REFUSED);
  await chains.keep(id, { refusal: message });
  return refusedNow(message, chains.leftMs(id));
}

/**
 * Counts a retry of the request. Returns true if its leaf is one second short of the least life and
 * a retry was left. The same order then soon gives a longer leaf: Vault reads the clock twice, and
 * a new second may begin in between.
 */
function takeShortLeafRetry(
  { failed }: IssuanceState,
  { id, request: { spec } }: ExternalOrder,
  chain: string,
): boolean {
  const read = attempt(() => readCertificates(chain));
  const [leaf] = read instanceof SignerError ? [] : read;
  const count = failed.get(id)?.count ?? 0;
  if (leaf === undefined || !('podUID' in spec) || count >= MAX_SHORT) return false;
  failed.set(id, { until: 0, count: count + 1, problem: '' });
  return (leaf.notAfter - leaf.notBefore) / 1000 === MIN_LIFETIME_SECONDS - 1;
}

/**
 * Returns the flow of a request: namespaces and users do not stop each other. ServiceAccounts have
 * the flow of their namespace, whose users can create more of them.
 */
function flowOf({ metadata, spec }: ExternalRequest): string {
  if ('podUID' in spec) return `namespace ${metadata.namespace ?? ''}`;
  const { username = '' } = spec;
  const [, namespace] = SERVICE_ACCOUNT.exec(username) ?? [];
  return namespace === undefined ? `user ${username}` : `namespace ${namespace}`;
}

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):[^:]+$/;

function pending(message: string, afterMs: number): NotIssued {
  return { kind: 'notIssued', how: 'pending', message, afterMs: Math.max(afterMs, MIN_MS) };
}

/** Meaning of an outcome for the load of the CA. After a lost answer, the next call waits. */
const ENDS: Readonly<Record<FailedOrder, CallEnd>> = {
  refused: 'answered',
  denied: 'answer-refused',
  throttled: 'throttled',
  unavailable: 'unavailable',
  lost: 'unavailable',
  unorderable: 'unused',
};

function notIssued(
  at: IssuanceState,
  order: ExternalOrder,
  authority: UsableAuthority,
  { outcome, message }: { readonly outcome: FailedOrder; readonly message: string },
): NotIssued {
  switch (outcome) {
    case 'unorderable':
      return { kind: 'notIssued', how: 'permanent', message };
    case 'denied':
      return denied(at, order, message);
    case 'refused':
      return refusedNow(message, holdOrder(at, order, message, { delays: REFUSAL_DELAYS }));
    case 'throttled':
      at.authorities.unserved(order.signer, message);
      return { kind: 'notIssued', how: 'issuer', message };
    case 'unavailable':
    case 'lost':
      return unserved(at, order, authority, message);
  }
}

function denied(at: IssuanceState, order: ExternalOrder, message: string): NotIssued {
  const { component, authorities, failed } = at;
  const { signer, request, id } = order;
  authorities.denied(signer, flowOf(request), message);
  // The login may have ended, so the first denial costs the order no delay of its own.
  if (failed.get(id) === undefined) failed.set(id, { until: 0, count: 0, problem: message });
  else holdOrder(at, order, message, { delays: REFUSAL_DELAYS });
  if (authorities.waitsFor(signer) !== undefined) {
    return { kind: 'notIssued', how: 'issuer', message };
  }
  return refusedNow(message, (failed.get(id)?.until ?? 0) - serverTime(component));
}

function unserved(
  at: IssuanceState,
  order: ExternalOrder,
  { gate }: UsableAuthority,
  message: string,
): NotIssued {
  const { component, authorities } = at;
  const { signer, request } = order;
  const afterMs = Math.max(0, (gate.pausedUntil() ?? 0) - component.clock());
  holdOrder(at, order, message, { delays: YIELD_DELAYS, afterMs });
  authorities.unserved(signer, message, flowOf(request));
  return { kind: 'notIssued', how: 'issuer', message };
}

/** Returns the result for a request that the CA refused, with the text for its user. */
function refusedNow(message: string, afterMs: number): NotIssued {
  const condition = { type: REFUSED, status: 'True', reason: REFUSED, message } as const;
  return { ...pending(message, afterMs), condition };
}

/** Type of the condition of a request that the CA refused, and reason of its Event. */
const REFUSED = 'RefusedByExternalCA';

/** @throws SignerError if this is not a chain for this request */
function checked(
  { component, chains }: IssuanceState,
  { signer, wanted, request, id }: ExternalOrder,
  chain: string,
): IssuedChain {
  const anchors = anchorsOf(signer.spec.authority.anchors);
  const issued = issuedChain(component, wanted, request, { chain, anchors });
  return { ...issued, settled: () => void chains.settled(id) };
}

function waits(authorities: Authorities, signer: ExternalSigner): NotIssued {
  const message = authorities.waitsFor(signer) ?? messages.NOT_CHECKED;
  return { kind: 'notIssued', how: 'issuer', message };
}

/**
 * Returns the digest of an order: one for each pod and key, also if the kubelet creates its request
 * again.
 */
function orderId(
  { metadata: { uid, generation } }: ExternalSigner,
  { publicKey }: Pick<CertificateTemplate, 'publicKey'>,
  request: ExternalRequest,
): string {
  const holder = 'podUID' in request.spec ? request.spec.podUID : request.metadata.uid;
  const key = Buffer.from(publicKey.spki).toString('base64');
  const parts = JSON.stringify([uid, generation, holder, key]);
  return createHash('sha256').update(parts).digest('hex');
}

/** Returns the PKCS#10 request as PEM. Undefined if an old kubelet sent a bare key. */
function csrOf(request: ExternalRequest): string | undefined {
  if (!('podUID' in request.spec)) {
    return Buffer.from(request.spec.request, 'base64').toString('latin1');
  }
  const stub = request.spec.stubPKCS10Request ?? '';
  return stub === '' ? undefined : encodePem('CERTIFICATE REQUEST', Buffer.from(stub, 'base64'));
}
