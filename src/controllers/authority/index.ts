// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import type { CreateAuthority, CrossSign, OpenAuthority } from '../../authorities/contract.ts';
import { compileProfile } from '../../issuance/profile.ts';
import type { EventObject } from '../../kube/events/body.ts';
import { ignoreNotFound } from '../../kube/client/kube-error.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import { runLoop, type ReconcileResult } from '../../kube/workqueue/run-loop.ts';
import { compileCertificateRequestPolicy, compilePolicy } from '../../policy/compile-policy.ts';
import { resourceOf } from '../../runtime/signers/signers.ts';
import type { Component, Controller } from '../../runtime/component/component.ts';
import { reportRetry } from '../../runtime/requests/error-outcome.ts';
import { compileOncePerGeneration } from '../../runtime/signers/compile-cache.ts';
import { ownerOf, spending } from '../../runtime/signers/deadline.ts';
import { PutOff } from '../../runtime/signers/put-off.ts';
import { namesOf } from '../../runtime/rbac/permission-names.ts';
import { areClocksStillApart, requeueAt, serverTime } from '../../runtime/component/server-time.ts';
import type { AccountKeys, CreateAccountKeys } from './account-keys/index.ts';
import { createActor, type Actor } from './apply/actor.ts';
import { checkSpec, nextCheck } from './check-spec.ts';
import { decide } from './decide/decide.ts';
import { invalidSpecStatus } from './decide/invalid-spec.ts';
import { inspectWith } from './decide/inspect.ts';
import type { SignerSnapshot } from './decide/snapshot.ts';
import { createCrls, type Crls } from './crl/index.ts';
import { createOwnTls, type OwnTls, type OwnTlsPlace, type WatchedCa } from './own-tls/index.ts';
import { permissions } from './permissions.ts';
import { createAuthorityRecords, type AuthorityRecords } from './records.ts';
import { createServing, type Serving } from './serving/index.ts';
import {
  areBundlesListed,
  isBundleAwaited,
  type AuthorityWatches,
  createAuthorityWatches,
  failuresOf,
  fairnessKeyOf,
  observedSecret,
  publishedBundle,
  watchedCa,
} from './watches.ts';

export interface AuthorityInit {
  readonly component: Component;
  readonly open: OpenAuthority;
  readonly create: CreateAuthority;
  readonly crossSign: CrossSign;
  /** The ClusterTrustBundle resource in the version that the server has. */
  readonly bundles: Resource;
  /** Of this process. */
  readonly version: string;
  /** How long after its anchor is published a CA waits for targets of trust at most; absent: not at all. */
  readonly targetDeadlineSeconds?: number | undefined;
  /** Where the certificates of our own ports are; absent: none are issued. */
  readonly ownTls?: OwnTlsPlace | undefined;
  /** Absent: it leaves the keys of ACME accounts alone. */
  readonly createAccountKeys?: CreateAccountKeys | undefined;
}

const SIGNER_WORKERS = 2;

/** Checks signers, creates and rotates managed CAs, and writes the status of every signer. */
export function createAuthorityController(init: AuthorityInit): Controller {
  const { component } = init;
  const state = createState(init);
  const { watches, ownTls, crls, serving, accountKeys } = state;
  const { signers, secrets, bundles } = watches;
  component.shard.onChange(() => {
    ownTls?.wake();
    crls.wakeAll();
    accountKeys?.wake();
    for (const key of signers.keys()) component.queue.add(key);
  });
  component.queue.assignFlows(fairnessKeyOf);
  return {
    signers: signers.all,
    permissions: () =>
      permissions({
        ...namesOf(signers.all(), component),
        ownTls: ownTls?.namespace,
        crls: crls.isWanted,
        // Secrets that it was not granted are left to people.
        accountKeys: accountKeys && [],
      }),
    notReady: () =>
      failuresOf(watches)
        .map((failure) => `ClusterSigners, CA Secrets or bundles: ${failure ?? 'not listed yet'}`)
        .concat(ownTls?.notReady() ?? [], crls.notReady()),
    warnings: () => [
      ...[...signers.warnings(), ...serving.warnings(), ...crls.warnings()],
      ...(ownTls?.warnings() ?? []),
      ...(accountKeys?.warnings() ?? []),
    ],
    run: async (signal) => {
      const watching = [signers.run(signal), serving.run(signal), accountKeys?.run(signal)];
      const handle = (key: string): Promise<ReconcileResult> => reconcile(state, key);
      const onError = (key: string, error: unknown): void => {
        reportRetry(component, error, {
          noun: 'signer',
          named: { key },
          regarding: regardingOf(key),
        });
      };
      await runLoop({ ...component, workers: SIGNER_WORKERS, handle, onError }, signal);
      await Promise.all([...watching, secrets.stop(), bundles.stop(), ownTls?.stop()]);
      await crls.stop();
    },
  };
}

/** What one authority controller works with. */
interface AuthorityState {
  readonly init: AuthorityInit;
  readonly watches: AuthorityWatches;
  readonly actor: Actor;
  readonly ownTls: OwnTls | undefined;
  readonly crls: Crls;
  readonly serving: Serving;
  readonly accountKeys: AccountKeys | undefined;
  readonly records: AuthorityRecords | undefined;
  /** Throws if a spec that the schema accepts does not compile. */
  readonly compile: (signer: ClusterSigner) => void;
}

function createState(init: AuthorityInit): AuthorityState {
  const { component } = init;
  const watches = createAuthorityWatches(component, init.bundles, () => {
    serving.changed();
    ownTls?.serve(watches.signers.all());
    crls.serve(watches.signers.all());
  });
  const serving = createServing(component, watches.signers);
  const actor = createActor({ ...init, observe: (secret) => watches.secrets.observe(secret) });
  const compile = compileOncePerGeneration((signer: ClusterSigner, deadline) => {
    compileProfile(signer.spec, deadline);
    compilePolicy(signer.spec, deadline);
    compileCertificateRequestPolicy(signer.spec, deadline);
  });
  const watched = (signer: ClusterSigner): WatchedCa | undefined => watchedCa(watches, signer);
  const records = createAuthorityRecords(component);
  const ownTls = init.ownTls && createOwnTls({ ...init, place: init.ownTls, watched, records });
  const crls = createCrls({ ...init, observed: (signer) => observedSecret(watches, signer) });
  const accountKeys = init.createAccountKeys?.(component, init.version);
  return { init, watches, actor, ownTls, crls, serving, accountKeys, records, compile };
}

async function reconcile(state: AuthorityState, key: string): Promise<ReconcileResult> {
  const { init, ownTls, crls, accountKeys } = state;
  if (!init.component.shard.owns(key)) return undefined;
  if (ownTls?.owns(key) === true) return ownTls.handle(key);
  if (crls.owns(key)) return crls.handle(key);
  if (accountKeys?.owns(key) === true) return accountKeys.handle(key);
  try {
    return await reconcileSigner(state, key);
  } catch (error) {
    if (error instanceof PutOff) return { requeueAt: init.component.clock() + error.waitMs };
    throw error;
  }
}

/** How soon to look again while bundles are being listed for the first time. */
const LISTING_MS = 1_000;

async function reconcileSigner(state: AuthorityState, key: string): Promise<ReconcileResult> {
  const { init, watches, actor } = state;
  const { component } = init;
  const invalid = watches.signers.faulty(key);
  if (invalid !== undefined) {
    await actor.writeStatus(invalid.object, invalidSpecStatus(invalid, serverTime(component)));
    return undefined;
  }
  const signer = watches.signers.get(key);
  if (signer === undefined) return undefined;
  // A status that was lost is made again with what the bundle tells: the attester acts on it at once.
  if (isBundleAwaited(watches, signer)) return { requeueAt: component.clock() + LISTING_MS };
  return decideAndApply(state, key, signer);
}

async function decideAndApply(
  state: AuthorityState,
  key: string,
  signer: ClusterSigner,
): Promise<ReconcileResult> {
  const { init, watches, actor, ownTls, crls } = state;
  const { component } = init;
  const spec = await checkSpec(state.compile, signer);
  const clocksApart = await areClocksStillApart(component, () => get(component, signer));
  const secret = observedSecret(watches, signer);
  const now = serverTime(component);
  const snapshot = snapshotOf(state, key, { signer, secret, clocksApart, now, ...spec });
  // It opens the CA, which a namespace may write in a loop: that is on its budget.
  const plan = spending(ownerOf(signer), 'spec.authority', () => decide(snapshot));
  const found = secret.kind === 'found' ? secret.secret : undefined;
  if (found !== undefined) state.records?.cas(signer, found, plan.status);
  const result = await actor.apply({ signer, secret: found, plan, clocksApart, now });
  if (signer.spec.signerName === init.ownTls?.signerName) ownTls?.wake();
  crls.wake(signer);
  const next = requeueAt(component, plan.requeueAt);
  return result ?? { requeueAt: nextCheck(next.requeueAt, spec, component.clock()) };
}

function snapshotOf(
  { init, watches, serving }: AuthorityState,
  key: string,
  looked: Pick<
    SignerSnapshot,
    'signer' | 'secret' | 'clocksApart' | 'now' | 'specError' | 'putOff'
  >,
): SignerSnapshot {
  const { signer, now } = looked;
  return {
    ...looked,
    elder: watches.signers.elderOf(key),
    inspect: inspectWith(init.open, now, signer),
    bundle: publishedBundle(watches, signer),
    serving: serving.of(signer),
    isBundleKnown: areBundlesListed(watches, signer),
    secretNamespace: init.component.secretNamespace,
    propagationSeconds: init.component.propagationSeconds,
    targetDeadlineSeconds: init.targetDeadlineSeconds,
  };
}

function get({ client }: Component, signer: ClusterSigner): Promise<unknown> {
  const path = resourceOf(signer).object(signer.metadata);
  return client.request({ method: 'GET', path }).catch(ignoreNotFound);
}

/** There is no permission to write Events in a Signer's namespace: its status reports the fault. */
function regardingOf(key: string): EventObject | undefined {
  if (key.includes('/')) return undefined;
  return { apiVersion: 'countersign.dev/v1alpha1', kind: 'ClusterSigner', name: key };
}
