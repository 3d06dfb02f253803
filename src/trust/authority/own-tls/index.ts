// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { Secret } from '#api/object/object.ts';
import { LEDGER_API_SERVICE, OWN_TLS_CONFIG_MAP, ownTlsSecret } from '#api/signer/own-tls.ts';
import type { Authority, OpenAuthority } from '#ca/custody/contract.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { Component } from '#component/contract.ts';
import { distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import { createOpenedSecrets, type OpenedSecrets } from '#requests/ca/opened-secrets.ts';
import { requeueAt, requireClocks, serverTime } from '#component/server-time.ts';
import { usableAuthority } from '#requests/ca/usable-authority.ts';
import { isFresh } from '../apply/freshness.ts';
import { JSON_PATCH } from '../apply/secret-patch.ts';
import { API_SERVICES, caBundlePatch, type ApiService } from './api-service.ts';
import { decideBundle } from './decide-bundle.ts';
import { decideLeaf } from './decide-leaf.ts';
import { issueLeaf } from './issue.ts';
import { createOwnTlsObjects, type OwnTlsObjects } from './objects.ts';
import { readableFrom } from './readable-from.ts';
import { createErrorTracker, type ErrorTracker } from '../apply/error-tracker.ts';
import { desiredLeafOf } from './desired-leaf.ts';
import { writeBundle, writeLeaf } from './write.ts';
import type { AuthorityRecords } from '../records.ts';
import * as messages from '../messages.ts';

/** Location and signer of the serving certificates of our own ports. */
export interface OwnTlsPlace {
  /** Namespace of the components. */
  readonly namespace: string;
  /** Names of the components. */
  readonly components: readonly string[];
  readonly signerName: string;
  /** True if the API server aggregates the ledger's API, so that it must know the ledger's CA. */
  readonly aggregatedApi?: boolean | undefined;
}

export interface OwnTlsInit {
  readonly component: Component;
  readonly place: OwnTlsPlace;
  readonly open: OpenAuthority;
  /** Version of this process. */
  readonly version: string;
  /**
   * Returns the CA's Secret and bundle as the watches show them, or undefined until both are
   * listed.
   */
  readonly watched: (signer: ClusterSigner) => WatchedCa | undefined;
  /** Reports whether a replica of a component is live. `wake` follows each change. */
  readonly runs: (component: string) => boolean;
  /** Absent without a ledger. */
  readonly records: AuthorityRecords | undefined;
}

export interface WatchedCa {
  readonly secret: Secret | undefined;
  readonly bundle: ClusterTrustBundle | undefined;
}

/** Manages the certificates of our own ports. */
export interface OwnTls {
  /** Receives all ClusterSigners, to find the one that serves the signer name of our ports. */
  serve(signers: readonly ClusterSigner[]): void;
  /**
   * Reports whether a key of the queue belongs to our own ports. No signer name or namespace starts
   * with its prefix.
   */
  owns(key: string): boolean;
  handle(key: string): Promise<ReconcileResult>;
  /** Queues everything. */
  wake(): void;
  /** Set while there is such a ClusterSigner, so that permissions are needed. */
  readonly place: OwnTlsPlace | undefined;
  notReady(): readonly string[];
  warnings(): readonly string[];
  stop(): Promise<void>;
}

const SERVING_WAITS = { reason: 'ServingCertificateWaits', action: 'Issue' };

const PREFIX = ':own-tls/';
const CONFIG_MAP_KEY = `${PREFIX}ca`;
const keyOfComponent = (name: string): string => `${PREFIX}component/${name}`;
const API_SERVICE_KEY = `${PREFIX}api-service`;

/** Requeue interval of a key that waits for the CA, since not every cause triggers an event. */
const WAIT_MS = 15_000;

/** Fills in the Secrets of our own ports and the ConfigMap that their clients read. */
export function createOwnTls(init: OwnTlsInit): OwnTls {
  const { component, place } = init;
  const state: OwnTlsState = {
    init,
    opened: createOpenedSecrets(init.open, () => serverTime(component)),
    objects: createOwnTlsObjects(component, place, () => {
      enqueueAll(init);
    }),
    errors: createErrorTracker(component, SERVING_WAITS),
  };
  const { objects, errors } = state;
  let signer: ClusterSigner | undefined;
  return {
    serve: (signers) => {
      signer = signers.find(({ spec }) => spec.signerName === place.signerName);
      objects.watch(signer !== undefined);
      if (signer === undefined) errors.clear();
      else enqueueAll(init);
    },
    owns: (key) => key.startsWith(PREFIX),
    handle: async (key) => {
      const watched = signer === undefined ? undefined : init.watched(signer);
      if (signer === undefined || watched === undefined) return undefined;
      if (key === CONFIG_MAP_KEY) return reconcileConfigMap(state, signer, watched);
      if (key === API_SERVICE_KEY) return reconcileApiService(state, signer);
      const name = place.components.find((each) => keyOfComponent(each) === key);
      return name === undefined ? undefined : reconcileLeaf(state, name, signer, watched);
    },
    wake: () => {
      enqueueAll(init);
    },
    get place() {
      return signer === undefined ? undefined : place;
    },
    notReady: () => objects.notReady(),
    warnings: errors.list,
    stop: objects.stop,
  };
}

/** State of the manager of our own ports' certificates. */
interface OwnTlsState {
  readonly init: OwnTlsInit;
  readonly opened: OpenedSecrets;
  readonly objects: OwnTlsObjects;
  readonly errors: ErrorTracker;
}

function enqueueAll({ component, place }: OwnTlsInit): void {
  const leaves = place.components.map(keyOfComponent);
  for (const key of [CONFIG_MAP_KEY, API_SERVICE_KEY, ...leaves]) component.queue.add(key);
}

async function reconcileConfigMap(
  { init, objects, errors }: OwnTlsState,
  serving: ClusterSigner,
  { bundle }: WatchedCa,
): Promise<ReconcileResult> {
  const { component, place, version } = init;
  const now = serverTime(component);
  const plan = decideBundle({
    name: `${place.namespace}/${OWN_TLS_CONFIG_MAP}`,
    configMap: objects.configMap(),
    signerName: place.signerName,
    bundle,
    isDistrusted: distrustedCas(serving),
    now,
  });
  errors.note(serving, CONFIG_MAP_KEY, plan.kind === 'wait' ? plan.why : undefined);
  if (plan.kind !== 'write') return undefined;
  if (!(await isFresh(component, serving, now))) return 'backoff';
  objects.observeConfigMap(await writeBundle({ ...component, version, signer: serving }, plan));
  component.log.info({ configMap: OWN_TLS_CONFIG_MAP }, messages.OWN_CA_PUBLISHED);
  enqueueAll(init);
  return undefined;
}

/**
 * Writes the ConfigMap's anchors into the APIService, by which the API server authenticates the
 * ledger.
 */
async function reconcileApiService(
  { init, objects }: OwnTlsState,
  serving: ClusterSigner,
): Promise<ReconcileResult> {
  const { component, place } = init;
  const look = objects.configMap();
  const configMap = look.kind === 'found' ? look.configMap : undefined;
  const body = caBundlePatch(objects.apiService(), configMap, place.signerName);
  if (body === undefined) return undefined;
  if (!(await isFresh(component, serving, serverTime(component)))) return 'backoff';
  const path = API_SERVICES.object({ name: LEDGER_API_SERVICE });
  const patch = { method: 'PATCH', path, contentType: JSON_PATCH, body } as const;
  objects.observeApiService(await component.client.request<ApiService>(patch));
  component.log.info({ apiService: LEDGER_API_SERVICE }, messages.LEDGER_CA_PUBLISHED);
  return undefined;
}

async function reconcileLeaf(
  state: OwnTlsState,
  name: string,
  serving: ClusterSigner,
  watched: WatchedCa,
): Promise<ReconcileResult> {
  const { init, objects, errors } = state;
  const { component, place, version } = init;
  const now = serverTime(component);
  const secretName = ownTlsSecret(name);
  const desired = desiredLeafOf(serving, name, place.namespace);
  const authority = attempt(() => usable(state, serving, watched));
  const plan = decideLeaf({
    name: `${place.namespace}/${secretName}`,
    secret: objects.secret(secretName),
    runs: init.runs(name),
    signerName: place.signerName,
    desired,
    authority: authority instanceof SignerError ? authority : authority.facts,
    readFrom: readableFrom({
      authority,
      secret: watched.secret,
      configMap: objects.configMap(),
      signerName: place.signerName,
      propagationSeconds: component.propagationSeconds,
      now,
    }),
    now,
  });
  errors.note(serving, keyOfComponent(name), plan.kind === 'wait' ? plan.why : undefined);
  if (plan.kind === 'keep') return requeueAt(component, plan.lookAt);
  if (plan.kind === 'wait') return requeueAt(component, plan.lookAt ?? now + WAIT_MS);
  if (authority instanceof SignerError) return 'backoff';
  if (!(await isFresh(component, serving, now))) return 'backoff';
  // A preceding request to the API server has shown its time.
  await requireClocks(component, () => isFresh(component, serving, now));
  const leaf = await issueLeaf(authority, desired, { ...component, now });
  init.records?.serving(serving, leaf.certificate, authority.facts.certificate);
  const to = { ...component, version, signer: serving };
  objects.observeSecret(await writeLeaf(to, plan.secret, leaf, desired));
  const { reason, message } = plan.due;
  component.log.info(
    { secret: secretName, reason, why: message },
    messages.SERVING_CERTIFICATE_ISSUED,
  );
  component.queue.add(keyOfComponent(name));
  return undefined;
}

function usable(
  { init, opened }: OwnTlsState,
  serving: ClusterSigner,
  { secret, bundle }: WatchedCa,
): Authority {
  const { component } = init;
  const { propagationSeconds } = component;
  const authority = usableAuthority({
    signer: serving,
    secret,
    bundle,
    propagationSeconds,
    open: opened.open,
    last: opened.last,
    now: serverTime(component),
  });
  if (secret !== undefined) opened.signedWith(secret, authority);
  return authority;
}
