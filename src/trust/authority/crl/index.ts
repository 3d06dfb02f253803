// SPDX-License-Identifier: Apache-2.0
import { isNamespaced } from '#api/signer/signer.ts';
import { CRL_NOT_SIGNED } from '#api/serving/report.ts';
import type { ClusterSigner, CrlSpec } from '#api/signer/cluster-signer.ts';
import type { OpenAuthority } from '#ca/custody/contract.ts';
import { messageOf } from '#base/errors.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { Component } from '#component/contract.ts';
import { requeueAt, requireClocks, serverTime } from '#component/server-time.ts';
import { createErrorTracker, type ErrorTracker } from '../apply/error-tracker.ts';
import { isFresh } from '../apply/freshness.ts';
import type { ObservedSecret } from '../decide/inspect.ts';
import { decideLists, type CrlPlan, type CrlSnapshot } from './decide-lists.ts';
import { createCrlObjects, type CrlObjects } from './objects.ts';
import { revocationStatus, type PublishedList, type PublishedLists } from './revocation-status.ts';
import { signDue, writeLists, writeRevocationStatus, type SignedList } from './write.ts';
import * as messages from '../messages.ts';
import { AUTHORITY_SERIES } from '../metrics.ts';

export interface CrlsInit {
  readonly component: Component;
  readonly open: OpenAuthority;
  /** Version of this process. */
  readonly version: string;
  readonly observed: (signer: ClusterSigner) => ObservedSecret;
}

/** Signs the CRLs of ClusterSigners with `profile.crl`. */
export interface Crls {
  /** Receives all signers whenever one changed. */
  serve(signers: readonly ClusterSigner[]): void;
  /**
   * Reports whether a key of the queue belongs to CRLs. No signer name or namespace starts with its
   * prefix.
   */
  owns(key: string): boolean;
  handle(key: string): Promise<ReconcileResult>;
  /** Enqueues the CRLs of one signer. */
  wake(signer: ClusterSigner): void;
  /** Queues everything. */
  wakeAll(): void;
  /** True if any signer has CRLs, so that permissions are needed. */
  readonly isWanted: boolean;
  notReady(): readonly string[];
  warnings(): readonly string[];
  stop(): Promise<void>;
}

const PREFIX = ':crl/';

/** Interval for retrying CRLs that cannot be signed, since not every cause triggers an event. */
const FAULT_RETRY_MS = 60_000;

interface CrlsState {
  readonly init: CrlsInit;
  readonly objects: CrlObjects;
  readonly errors: ErrorTracker;
}

/** Keeps the CRLs of each ClusterSigner in the ConfigMap beside its CA Secret. */
export function createCrls(init: CrlsInit): Crls {
  const { component } = init;
  const served = new Map<string, ClusterSigner>();
  const wake = (key: string): void => {
    component.queue.add(key);
  };
  const wakeAll = (): void => {
    for (const key of served.keys()) wake(key);
  };
  const objects = createCrlObjects(component, (signerName) => {
    for (const [key, { spec }] of served)
      if (signerName === undefined || spec.signerName === signerName) wake(key);
  });
  const errors = createErrorTracker(component, { reason: CRL_NOT_SIGNED, action: 'Revoke' });
  const state: CrlsState = { init, objects, errors };
  return {
    serve: (signers) => {
      const before = [...served];
      served.clear();
      for (const each of signers) if (hasCrl(each)) served.set(keyFor(each), each);
      for (const [key, { spec }] of before)
        if (!served.has(key)) unmeasure(component, spec.signerName);
      objects.watch([...served.values()]);
      errors.retain(new Set(served.keys()));
      wakeAll();
    },
    owns: (key) => key.startsWith(PREFIX),
    handle: async (key) => {
      const signer = served.get(key);
      return signer === undefined ? undefined : reconcileNoted(state, signer);
    },
    wake: (signer) => {
      if (served.has(keyFor(signer))) wake(keyFor(signer));
    },
    wakeAll,
    get isWanted() {
      return served.size > 0;
    },
    notReady: () => objects.notReady(),
    warnings: errors.list,
    stop: objects.stop,
  };
}

function keyFor({ metadata }: ClusterSigner): string {
  return `${PREFIX}${metadata.name}`;
}

function hasCrl(signer: ClusterSigner): boolean {
  return signer.spec.profile.crl !== undefined && !isNamespaced(signer);
}

/** Reconciles CRLs and reports each failure on the signer, too. */
async function reconcileNoted(state: CrlsState, signer: ClusterSigner): Promise<ReconcileResult> {
  try {
    return await reconcile(state, signer);
  } catch (error) {
    note(state, signer, messages.crlsNotWritten(messageOf(error)));
    throw error;
  }
}

async function reconcile(state: CrlsState, signer: ClusterSigner): Promise<ReconcileResult> {
  const { component } = state.init;
  const snapshot = snapshotOf(state, signer);
  if (snapshot === undefined) return undefined;
  const { now } = snapshot;
  const plan = decideLists(snapshot);
  const signed = signDue(plan);
  const due = plan.lists.some(({ next }) => next.due) || plan.gone.length > 0;
  if (due && (signed.lists.length > 0 || plan.gone.length > 0)) {
    if (!(await isFresh(component, signer, now))) return 'backoff';
    await requireClocks(component, () => isFresh(component, signer, now));
    await publish(state, snapshot, plan.gone, signed.lists);
  }
  const faults = [...plan.faults, ...signed.faults];
  note(state, signer, faults.length === 0 ? undefined : faults.join('; '));
  const lists = publishedOf(plan, signed.lists);
  measure(component, signer, lists);
  await noteRevocations(state, snapshot, { lists, held: plan.held });
  const times = plan.lists.map(({ next }) => next.lookAt);
  const again = faults.length === 0 ? times : [...times, now + FAULT_RETRY_MS];
  return again.length === 0 ? undefined : requeueAt(component, Math.min(...again));
}

/** @param why - undefined if the fault is gone */
function note({ init, errors }: CrlsState, signer: ClusterSigner, why: string | undefined): void {
  errors.note(signer, keyFor(signer), why);
  const { metrics, serving } = init.component;
  if (why === undefined) serving.retract(signer, CRL_NOT_SIGNED);
  else serving.report(signer, { reason: CRL_NOT_SIGNED, message: why, stops: false });
  const { crlFailing } = metrics.of(AUTHORITY_SERIES);
  crlFailing.set({ signer: signer.spec.signerName }, Number(why !== undefined));
}

/** Returns undefined until all inputs are known. */
function snapshotOf(state: CrlsState, signer: ClusterSigner): CrlSnapshot | undefined {
  const { init, objects } = state;
  const secret = init.observed(signer);
  const crl: CrlSpec | undefined = signer.spec.profile.crl;
  const [revocations, configMap] = [
    objects.revocationsOf(signer.spec.signerName),
    objects.configMapOf(signer),
  ];
  if (secret.kind === 'missing') {
    note(state, signer, mayHaveLeaves(signer) ? messages.NO_CA_SECRET : undefined);
  }
  if (secret.kind !== 'found' || crl === undefined) return undefined;
  if (revocations === undefined || configMap === undefined) return undefined;
  return {
    signer,
    crl,
    secret: secret.secret,
    configMap: configMap.found,
    revocations,
    open: init.open,
    now: serverTime(init.component),
  };
}

/** Reports whether a CA may have signed leaves. Without leaves, no verifier needs a CRL. */
function mayHaveLeaves({ status }: ClusterSigner): boolean {
  const phases = (status?.authorities ?? []).map(({ phase }) => phase);
  return phases.includes('Active') || phases.includes('Retiring');
}

async function publish(
  { init, objects }: CrlsState,
  { signer, configMap }: CrlSnapshot,
  gone: readonly string[],
  signed: readonly SignedList[],
): Promise<void> {
  const { component } = init;
  const to = { ...component, version: init.version, signer };
  objects.observeConfigMap(await writeLists(to, configMap, { signed, gone }));
  for (const { fingerprint, list } of signed) {
    const fields = { signer: signer.spec.signerName, authority: fingerprint };
    const facts = { crlNumber: String(list.number), entries: list.revoked.length };
    component.log.info({ ...fields, ...facts }, messages.CRL_SIGNED);
  }
}

/** Returns the CRLs that verifiers can fetch now. */
function publishedOf(plan: CrlPlan, signed: readonly SignedList[]): readonly PublishedList[] {
  return plan.lists.flatMap(({ authority, published }) => {
    const { fingerprint } = authority.facts;
    const list = signed.find((each) => each.fingerprint === fingerprint)?.list ?? published;
    return list === undefined ? [] : [{ fingerprint, list }];
  });
}

function measure(
  { metrics }: Component,
  { spec }: ClusterSigner,
  lists: readonly PublishedList[],
): void {
  if (lists.length === 0) return;
  const ends = lists.map(({ list }) => list.nextUpdate / 1000);
  const entries = lists.reduce((count, { list }) => count + list.revoked.length, 0);
  const { crlNextUpdate, crlEntries } = metrics.of(AUTHORITY_SERIES);
  crlNextUpdate.set({ signer: spec.signerName }, Math.min(...ends));
  crlEntries.set({ signer: spec.signerName }, entries);
}

function unmeasure({ metrics }: Component, signer: string): void {
  const { crlNextUpdate, crlEntries, crlFailing } = metrics.of(AUTHORITY_SERIES);
  for (const each of [crlNextUpdate, crlEntries, crlFailing]) each.remove({ signer });
}

async function noteRevocations(
  { init, objects }: CrlsState,
  { revocations, now }: CrlSnapshot,
  published: PublishedLists,
): Promise<void> {
  for (const revocation of revocations) {
    const status = revocationStatus(revocation, published, now);
    if (status === undefined) continue;
    const { client } = init.component;
    objects.observeRevocation(await writeRevocationStatus(client, revocation, status));
  }
}
