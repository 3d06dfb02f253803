// SPDX-License-Identifier: Apache-2.0
/**
 * The steps that every request takes, of any kind: remember what is signed, read the request again, deliver,
 * write once with a precondition. {@link RequestKindInit} holds what differs between the kinds.
 */
import { keyOf, type KubeObject } from '../../api/object/object.ts';
import { BoundedMap } from '../../bounded-map.ts';
import { SignerError, attempt } from '../../errors.ts';
import { charged } from '../component/charged.ts';
import { requireClocks, serverTime } from '../component/server-time.ts';
import { traced } from '../component/tracing.ts';
import { lessThanRequested, type RequestOutcome } from '../requests/outcome.ts';
import type { LeafRecord } from '../recording/leaf-record.ts';
import { isDeliverable, refusalOf, signingContextOf, type Attempt } from './deliverable.ts';
import type { CertificateTemplate, IssuedChain, IssuingCa } from './issuing-ca.ts';
import type { Settlement } from './not-issued.ts';
import { recordEnd, recordOf } from './record.ts';
import type { Decision, RequestKindInit } from './request-kind.ts';
import { look, put, read } from './stored-request.ts';

/** Signs each request once and writes it once, however often the delivery is retried. */
export interface Redelivery<T, S> {
  /**
   * Delivers the chain that was signed for this request before, if its signing context is still the same;
   * otherwise decides. Does neither while the clocks are apart.
   *
   * @throws SignerError why the request waits
   */
  readonly handle: (request: T, signer: S) => Promise<RequestOutcome>;
  /**
   * Writes the status, with the resourceVersion as precondition.
   *
   * @returns the request as the API server stored it
   */
  readonly put: (request: T) => Promise<T>;
  /**
   * The request `namespace/name` is no longer pending: drops its chain. Where a ledger has the leaf and nothing of what
   * became of it, the API server is asked: the answer to the delivery may be lost.
   *
   * @throws KubeError the chain is not dropped yet
   */
  readonly forget: (key: string) => Promise<void>;
}

/**
 * Some three KiB each, so that an API server that accepts no writes cannot exhaust our memory. Beyond this number
 * the oldest chain is evicted: its request may be signed again, and the precondition lets one write succeed.
 */
const MAX_UNDELIVERED = 10_000;

interface Remembered<I> {
  readonly uid: string;
  /** Of the request. */
  readonly path: string;
  readonly leaf: CertificateTemplate;
  readonly issued: I;
  /** By the API server's clock, in milliseconds. */
  readonly since: number;
  readonly signingContext: string;
  readonly withheld: string | undefined;
  /** Where the component has a ledger. */
  readonly record: LeafRecord | undefined;
}

/** What the kind passes in, and the chains that are issued and perhaps not persisted. */
interface Machine<T, S, I extends IssuedChain, E> {
  readonly init: RequestKindInit<T, S, I, E>;
  /** Issued and perhaps not persisted, by `namespace/name`. */
  readonly undelivered: BoundedMap<string, Remembered<I>>;
}

const GONE: RequestOutcome = { outcome: 'ignored', reason: 'Gone' };

/** The issuing steps for one kind of requests. */
export function createRedelivery<
  T extends KubeObject,
  S extends KubeObject,
  I extends IssuedChain,
  E = undefined,
>(init: RequestKindInit<T, S, I, E>): Redelivery<T, S> {
  const { resource: via } = init;
  const machine: Machine<T, S, I, E> = { init, undelivered: new BoundedMap(MAX_UNDELIVERED) };
  return {
    handle: (request, signer) => handle(machine, { request, signer, via }),
    put: (request) => put(init, request, via),
    forget: (key) => forget(machine, key),
  };
}

/**
 * Step 1: look for a chain that was signed before. If there is one, the cache may be older than our own
 * write.
 */
async function handle<T extends KubeObject, S extends KubeObject, I extends IssuedChain, E>(
  machine: Machine<T, S, I, E>,
  at: Attempt<T, S>,
): Promise<RequestOutcome> {
  const { init, undelivered } = machine;
  const { uid } = at.request.metadata;
  await requireClocks(init.component, () => look(init, at));
  const key = keyOf(at.request.metadata);
  const remembered = undelivered.get(key);
  if (remembered?.uid !== uid) return decide(machine, at);
  const fresh = await look(init, at);
  if (fresh?.metadata.uid !== uid || init.isFinished(fresh)) {
    undelivered.delete(key);
    return ended(init, remembered, fresh);
  }
  if (isDeliverable(init, remembered, at)) {
    return deliver(machine, { ...at, request: fresh }, remembered);
  }
  // An earlier write still in flight cannot succeed beside a new one: both have the same precondition.
  drop(machine, key);
  return decide(machine, { ...at, request: fresh });
}

/** The request needs no delivery any longer. @param fresh - as the API server has it now */
function ended<T extends KubeObject, I extends IssuedChain>(
  init: Pick<RequestKindInit<T, never, I, never>, 'chainOf'>,
  { uid, issued, record }: Pick<Remembered<I>, 'uid' | 'issued' | 'record'>,
  fresh: T | undefined,
): RequestOutcome {
  if (fresh?.metadata.uid !== uid || init.chainOf(fresh) !== issued.chain) {
    record?.abandoned();
    return GONE;
  }
  record?.delivered();
  return { outcome: 'issued', reason: 'Issued', written: fresh };
}

async function forget<T extends KubeObject, S, I extends IssuedChain, E>(
  { init, undelivered }: Machine<T, S, I, E>,
  key: string,
): Promise<void> {
  const remembered = undelivered.get(key);
  const asks = remembered?.record?.isOpen === true;
  const fresh = asks ? await read<T>(init, remembered.path) : undefined;
  // Another request of this name may have come meanwhile.
  if (remembered === undefined || undelivered.get(key) !== remembered) return;
  undelivered.delete(key);
  ended(init, remembered, fresh);
}

/** The chain will not be delivered. */
function drop<T, S, I extends IssuedChain, E>(
  { undelivered }: Machine<T, S, I, E>,
  key: string,
): void {
  undelivered.get(key)?.record?.abandoned();
  undelivered.delete(key);
}

/** Step 2: decide about the request, by its signer and its CA as they are now. */
async function decide<T extends KubeObject, S extends KubeObject, I extends IssuedChain, E>(
  machine: Machine<T, S, I, E>,
  at: Attempt<T, S>,
): Promise<RequestOutcome> {
  const { init } = machine;
  const { request, signer, via } = at;
  const { gather } = init;
  const evidence =
    gather && (await traced(init.component, 'gather evidence', () => gather(request, signer)));
  const issuing = attempt(() => init.issuingOf(signer));
  const authority = issuing instanceof SignerError ? issuing : issuing.validity;
  const moment = { authority, now: serverTime(init.component), via, evidence };
  const decision = charged(init.component, init.flowOf(request), () =>
    init.decide(request, signer, moment),
  );
  switch (decision.kind) {
    case 'wait':
      throw decision.error;
    case 'settle':
      return settle(init, decision, at);
    case 'reread':
      return reread(machine, { ...at, via: decision.via });
    case 'issue':
      if (issuing instanceof SignerError) throw issuing;
      return issueUnlessRefused(machine, at, { ...decision, issuing });
  }
}

async function issueUnlessRefused<
  T extends KubeObject,
  S extends KubeObject,
  I extends IssuedChain,
  E,
>(
  machine: Machine<T, S, I, E>,
  at: Attempt<T, S>,
  to: Parameters<typeof issue<T, S, I, E>>[2],
): Promise<RequestOutcome> {
  const { init } = machine;
  const refusal = refusalOf(init, at, to.leaf);
  if (refusal === undefined) return issue(machine, at, to);
  return settle(init, init.refused(at.request, refusal, serverTime(init.component)), at);
}

/** Step 3: ask the CA, and remember its answer before anything is sent. */
async function issue<T extends KubeObject, S extends KubeObject, I extends IssuedChain, E>(
  machine: Machine<T, S, I, E>,
  at: Attempt<T, S>,
  to: Extract<Decision<T, I>, { kind: 'issue' }> & { readonly issuing: IssuingCa<T> },
): Promise<RequestOutcome> {
  const { init, undelivered } = machine;
  const { request, signer } = at;
  const { leaf, completed, issuing } = to;
  const chain = await traced(init.component, 'sign', () => issuing.issue(leaf, request));
  if (chain.kind === 'notIssued') {
    const { component, maxRetryMs } = init;
    const ahead = component.client.clockOffset();
    const times = { now: serverTime(component), ahead, maxRetryMs };
    return settle(init, init.notIssued(request, chain, times), at);
  }
  const issued = completed(chain);
  const remembered = {
    uid: request.metadata.uid,
    path: at.via.object(request.metadata),
    leaf,
    issued,
    since: init.deliverableSince?.(issued) ?? serverTime(init.component),
    signingContext: signingContextOf(signer, issuing),
    withheld: to.withheld,
    record: recordOf(init, { request, signer, rule: to.rule, proven: to.proven, issuing }, issued),
  };
  undelivered.set(keyOf(request.metadata), remembered);
  return deliver(machine, at, remembered);
}

/**
 * Step 4: write once, after the record is kept where there is a ledger. If either fails, the signed chain stays
 * remembered and step 1 finds it.
 */
async function deliver<T extends KubeObject, S, I extends IssuedChain, E>(
  machine: Machine<T, S, I, E>,
  { request, via }: Attempt<T, S>,
  { issued, withheld, record }: Remembered<I>,
): Promise<RequestOutcome> {
  const { init, undelivered } = machine;
  if (record !== undefined) await traced(init.component, 'record', () => record.append());
  const changed = await init.confirm?.(request, issued);
  if (changed !== undefined) {
    drop(machine, keyOf(request.metadata));
    throw changed;
  }
  const delivered = init.withIssued(request, issued, serverTime(init.component));
  const written = await put(init, delivered, via).catch((error: unknown) => {
    record?.failed(error);
    throw error;
  });
  record?.delivered();
  init.onDelivered?.(request, issued);
  undelivered.delete(keyOf(request.metadata));
  const less = withheld === undefined ? {} : { event: lessThanRequested('Sign', withheld) };
  return { outcome: 'issued', reason: 'Issued', written, ...less };
}

/** Starts again through another version of the API. */
async function reread<T extends KubeObject, S extends KubeObject, I extends IssuedChain, E>(
  machine: Machine<T, S, I, E>,
  at: Attempt<T, S>,
): Promise<RequestOutcome> {
  const whole = await look(machine.init, at);
  // A different request with the same name, perhaps for another signer: its own watch delivers it.
  if (whole?.metadata.uid !== at.request.metadata.uid) return GONE;
  return handle(machine, { ...at, request: whole });
}

/** A request without a leaf: one write, or none. */
async function settle<T extends KubeObject, S>(
  init: Pick<RequestKindInit<T, S, never>, 'component' | 'bodyOf' | 'askedOf'>,
  { write, ends, outcome }: Settlement<T>,
  { request, signer, via }: Attempt<T, S>,
): Promise<RequestOutcome> {
  if (write === undefined) return outcome;
  if (ends) await recordEnd(init, { request, signer }, outcome);
  const written = await put(init, write, via);
  return ends ? { ...outcome, written } : { ...outcome, changed: written };
}

/** The chain in a status that holds it as base64 of its PEM. */
export function chainFromBase64(certificate: string | undefined): string | undefined {
  return certificate === undefined
    ? undefined
    : Buffer.from(certificate, 'base64').toString('latin1');
}
