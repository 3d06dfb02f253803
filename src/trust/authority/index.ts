// SPDX-License-Identifier: Apache-2.0
import { keyOf } from '#api/object/object.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type {
  CreateAuthority,
  CreateCaRequest,
  CrossSign,
  OpenAuthority,
} from '#ca/custody/contract.ts';
import { compileProfile } from '#ca/issuance/profile.ts';
import type { EventObject } from '#kube/events/body.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { runLoop, type ReconcileResult } from '#kube/workqueue/run-loop.ts';
import { compileIssuerPolicy, compilePolicy } from '#ca/policy/compile-policy.ts';
import { compileIntermediates } from '#ca/policy/intermediates.ts';
import type { VaultAccess } from '#component/vault/access.ts';
import { resourceOf } from '#component/signers/signers.ts';
import type { Controller } from '#component/contract.ts';
import type { RecordingComponent } from '#requests/recording/recorder.ts';
import { reportRetry } from '#requests/loop/error-outcome.ts';
import { compileOncePerGeneration } from '#component/signers/compile-cache.ts';
import { ownerOf, spending } from '#component/signers/deadline.ts';
import { EvaluationDeferred } from '#component/signers/evaluation-errors.ts';
import { anchorFingerprints } from '#pki/x509/trust-bundle.ts';
import { namesOf } from '#component/rbac/permission-names.ts';
import { areClocksStillApart, requeueAt, serverTime } from '#component/server-time.ts';
import type { AccountKeys, CreateAccountKeys } from './account-keys/index.ts';
import { createActor, type Actor } from './apply/actor.ts';
import { checkSpec, nextCheck } from './check-spec.ts';
import { decide } from './decide/decide.ts';
import { invalidSpecStatus } from './decide/invalid-spec.ts';
import { inspectWith } from './decide/inspect.ts';
import type { SignerSnapshot } from './decide/snapshot.ts';
import { createCrls, type Crls } from './crl/index.ts';
import { createOwnTls, type OwnTls, type OwnTlsPlace, type WatchedCa } from './own-tls/index.ts';
import { returnedChain } from './decide/upstream.ts';
import { createHub, type HubInit } from './upstream/hub/index.ts';
import { renewTokens } from './upstream/hub/renew-token.ts';
import { reportToHubs } from './upstream/hub/report.ts';
import { createUpstreams, type Upstreams } from './upstream/index.ts';
import { createVaults, type Vaults } from './upstream/vault/index.ts';
import { AUTHORITY_SERIES } from './metrics.ts';
import { permissions } from './permissions.ts';
import { createAuthorityRecords, type AuthorityRecords } from './records.ts';
import { createServing, type ServingTracker } from './serving/index.ts';
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
import * as messages from './messages.ts';

export interface AuthorityInit {
  readonly component: RecordingComponent;
  readonly open: OpenAuthority;
  readonly create: CreateAuthority;
  readonly createRequest: CreateCaRequest;
  readonly crossSign: CrossSign;
  /** The ClusterTrustBundle resource in the version that the server has. */
  readonly bundles: Resource;
  /** Version of this process. */
  readonly version: string;
  /** Names of the components that may serve signers. */
  readonly components: readonly string[];
  /**
   * Maximum time that a CA waits for targets of trust after its anchor is published. If absent, it
   * does not wait.
   */
  readonly targetDeadlineSeconds?: number | undefined;
  /** Location of the certificates of our own ports. If absent, none are issued. */
  readonly ownTls?: OwnTlsPlace | undefined;
  /** Opens clients of the hubs of fleets. If absent, no hub is called. */
  readonly connectHub?: HubInit['connect'] | undefined;
  /** If absent, the keys of ACME accounts are left alone. */
  readonly createAccountKeys?: CreateAccountKeys | undefined;
  /** The servers of Vault that sign managed CAs. */
  readonly vaults: VaultAccess;
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
        ownTls: ownTls?.place,
        aggregatedApi: init.ownTls?.aggregatedApi,
        crls: crls.isWanted,
        // Users make the keys in Secrets that were not granted.
        accountKeys: accountKeys && [],
      }),
    notReady: () =>
      failuresOf(watches)
        .map((failure) => messages.unlisted(failure))
        .concat(ownTls?.notReady() ?? [], crls.notReady()),
    warnings: () => [
      ...signers.warnings(),
      ...serving.warnings(),
      ...crls.warnings(),
      ...(ownTls?.warnings() ?? []),
      ...(accountKeys?.warnings() ?? []),
    ],
    run: async (signal) => {
      const watching = [
        signers.run(signal),
        serving.run(signal),
        accountKeys?.run(signal),
        serveHubs(init, watches, signal),
      ];
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

/** State of one authority controller. */
interface AuthorityState {
  readonly init: AuthorityInit;
  readonly watches: AuthorityWatches;
  readonly actor: Actor;
  readonly ownTls: OwnTls | undefined;
  readonly crls: Crls;
  readonly serving: ServingTracker;
  readonly accountKeys: AccountKeys | undefined;
  readonly records: AuthorityRecords | undefined;
  readonly upstreams: Upstreams;
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
  const serving = createServing(component, init.components, watches.signers, () => {
    ownTls?.wake();
  });
  const actor = createActor({ ...init, observe: (secret) => watches.secrets.observe(secret) });
  const compile = compileOncePerGeneration((signer: ClusterSigner, deadline) => {
    compileProfile(signer.spec, deadline);
    compilePolicy(signer.spec, deadline);
    compileIssuerPolicy(signer.spec, deadline);
    compileIntermediates(signer.spec, deadline);
  });
  const watched = (signer: ClusterSigner): WatchedCa | undefined => watchedCa(watches, signer);
  const records = createAuthorityRecords(component);
  const { runs } = serving;
  const ownTls =
    init.ownTls && createOwnTls({ ...init, place: init.ownTls, watched, runs, records });
  const crls = createCrls({ ...init, observed: (signer) => observedSecret(watches, signer) });
  const accountKeys = init.createAccountKeys?.(component, init.version);
  const upstreams = upstreamsOf(init);
  return { init, watches, actor, ownTls, crls, serving, accountKeys, records, upstreams, compile };
}

/** Returns the upstream CAs of all kinds that `authority` calls. */
function upstreamsOf(init: AuthorityInit): Upstreams {
  const { component, connectHub: connect } = init;
  const others = createUpstreams({ ...component, vaults: vaultsOf(init) });
  const hub = connect && createHub({ ...component, connect });
  return {
    answerFor: (signer, secret) => {
      const isOfHub = signer.spec.authority.managed?.upstream?.csr !== undefined;
      return isOfHub && hub !== undefined
        ? hub.answerFor(signer, secret)
        : others.answerFor(signer, secret);
    },
  };
}

/** Renews the tokens for hubs and reports to them, for the signers that this replica handles. */
async function serveHubs(
  { component, connectHub: connect, version }: AuthorityInit,
  watches: AuthorityWatches,
  signal: AbortSignal,
): Promise<void> {
  if (connect === undefined) return;
  const signers = (): readonly ClusterSigner[] =>
    watches.signers.all().filter(({ metadata }) => component.shard.owns(keyOf(metadata)));
  const anchorsOf = (signer: ClusterSigner): readonly string[] => [
    ...anchorFingerprints(publishedBundle(watches, signer)?.spec.trustBundle ?? ''),
  ];
  await Promise.all([
    renewTokens({ ...component, connect, signers }, signal),
    reportToHubs({ ...component, connect, version, signers, anchorsOf }, signal),
  ]);
}

function vaultsOf({ component, vaults: access }: AuthorityInit): Vaults {
  const { upstreamCalls } = component.metrics.of(AUTHORITY_SERIES);
  return createVaults({
    ...component,
    access,
    wake: (key) => component.queue.add(key),
    count: (outcome) => upstreamCalls.inc({ outcome }),
  });
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
    if (error instanceof EvaluationDeferred)
      return { requeueAt: init.component.clock() + error.waitMs };
    throw error;
  }
}

/** Requeue interval while bundles are being listed for the first time. */
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
  // A lost status is restored from the bundle, and the attester acts on it at once.
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
  const found = secret.kind === 'found' ? secret.secret : undefined;
  const isServed = watches.signers.elderOf(key) === undefined && spec.specError === undefined;
  const upstreamAnswer = isServed ? await state.upstreams.answerFor(signer, found) : undefined;
  const now = serverTime(component);
  const snapshot = snapshotOf(state, key, {
    signer,
    secret,
    upstreamAnswer,
    clocksApart,
    now,
    ...spec,
  });
  // A namespace may rewrite the CA in a loop, so opening it is charged to its budget.
  const plan = spending(ownerOf(signer), 'spec.authority', () => decide(snapshot));
  if (found !== undefined) state.records?.cas(signer, found, plan.status);
  const result = await actor.apply({
    signer,
    secret: found,
    plan,
    chain: returnedChain(upstreamAnswer),
    clocksApart,
    now,
  });
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
    'signer' | 'secret' | 'upstreamAnswer' | 'clocksApart' | 'now' | 'specError' | 'deferred'
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

function get({ client }: RecordingComponent, signer: ClusterSigner): Promise<unknown> {
  const path = resourceOf(signer).object(signer.metadata);
  return client.request({ method: 'GET', path }).catch(ignoreNotFound);
}

/**
 * Returns the object for Events, except for a Signer: authority has no permission for Events in its
 * namespace. Its status reports the fault.
 */
function regardingOf(key: string): EventObject | undefined {
  if (key.includes('/')) return undefined;
  return { apiVersion: 'countersign.dev/v1alpha1', kind: 'ClusterSigner', name: key };
}
