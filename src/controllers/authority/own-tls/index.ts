// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import type { ClusterTrustBundle } from '../../../api/object/cluster-trust-bundle.ts';
import type { Secret } from '../../../api/object/object.ts';
import {
  LEDGER_API_SERVICE,
  OWN_TLS_COMPONENTS,
  OWN_TLS_CONFIG_MAP,
  ownTlsSecret,
} from '../../../api/signer/own-tls.ts';
import type { Authority, OpenAuthority } from '../../../authorities/contract.ts';
import { SignerError, attempt } from '../../../errors.ts';
import type { ReconcileResult } from '../../../kube/workqueue/run-loop.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { distrustedCas } from '../../../rotation/distrusted-cas.ts';
import { createOpenedSecrets, type OpenedSecrets } from '../../../runtime/ca/opened-secrets.ts';
import { requeueAt, requireClocks, serverTime } from '../../../runtime/component/server-time.ts';
import { usableAuthority } from '../../../runtime/ca/usable-authority.ts';
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

/** Where the serving certificates of our own ports are, and which signer signs them. */
export interface OwnTlsPlace {
  /** Of the components. */
  readonly namespace: string;
  readonly signerName: string;
}

export interface OwnTlsInit {
  readonly component: Component;
  readonly place: OwnTlsPlace;
  readonly open: OpenAuthority;
  /** Of this process. */
  readonly version: string;
  /** Its CA's Secret and its bundle as the watches show them; undefined until both are listed. */
  readonly watched: (signer: ClusterSigner) => WatchedCa | undefined;
  /** Absent: there is no ledger. */
  readonly records: AuthorityRecords | undefined;
}

export interface WatchedCa {
  readonly secret: Secret | undefined;
  readonly bundle: ClusterTrustBundle | undefined;
}

/** Manages the certificates of our own ports. */
export interface OwnTls {
  /** Passes in the ClusterSigner that serves the signer name of our ports, if there is one. */
  serve(signers: readonly ClusterSigner[]): void;
  /** Whether a key of the queue is one of ours; no signer name or namespace begins like this. */
  owns(key: string): boolean;
  handle(key: string): Promise<ReconcileResult>;
  /** Queues everything. */
  wake(): void;
  /** Set while there is such a ClusterSigner, which is when permissions are needed. */
  readonly namespace: string | undefined;
  notReady(): readonly string[];
  warnings(): readonly string[];
  stop(): Promise<void>;
}

const SERVING_WAITS = { reason: 'ServingCertificateWaits', action: 'Issue' };

const PREFIX = ':own-tls/';
const CONFIG_MAP_KEY = `${PREFIX}ca`;
const keyOfComponent = (name: string): string => `${PREFIX}component/${name}`;
const API_SERVICE_KEY = `${PREFIX}api-service`;
const KEYS = [CONFIG_MAP_KEY, API_SERVICE_KEY, ...OWN_TLS_COMPONENTS.map(keyOfComponent)];

/** How soon a key that waits for the CA is reconciled again: not all that it waits for triggers it. */
const WAIT_MS = 15_000;

/** Fills in the Secrets of our own ports and the ConfigMap that their clients read. */
export function createOwnTls(init: OwnTlsInit): OwnTls {
  const { component, place } = init;
  const state: OwnTlsState = {
    init,
    opened: createOpenedSecrets(init.open, () => serverTime(component)),
    objects: createOwnTlsObjects(component, place.namespace, () => {
      enqueueAll(component);
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
      else enqueueAll(component);
    },
    owns: (key) => key.startsWith(PREFIX),
    handle: async (key) => {
      const watched = signer === undefined ? undefined : init.watched(signer);
      if (signer === undefined || watched === undefined) return undefined;
      if (key === CONFIG_MAP_KEY) return reconcileConfigMap(state, signer, watched);
      if (key === API_SERVICE_KEY) return reconcileApiService(state, signer);
      const name = OWN_TLS_COMPONENTS.find((each) => keyOfComponent(each) === key);
      return name === undefined ? undefined : reconcileLeaf(state, name, signer, watched);
    },
    wake: () => {
      enqueueAll(component);
    },
    get namespace() {
      return signer === undefined ? undefined : place.namespace;
    },
    notReady: () => objects.notReady(),
    warnings: errors.list,
    stop: objects.stop,
  };
}

/** What issuing the certificates of our own ports needs. */
interface OwnTlsState {
  readonly init: OwnTlsInit;
  readonly opened: OpenedSecrets;
  readonly objects: OwnTlsObjects;
  readonly errors: ErrorTracker;
}

function enqueueAll({ queue }: Component): void {
  for (const key of KEYS) queue.add(key);
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
  component.log.info({ configMap: OWN_TLS_CONFIG_MAP }, 'published the CA of our own ports');
  enqueueAll(component);
  return undefined;
}

/** The API server believes the ledger's port by what the ConfigMap has: nothing else can be in the way of it. */
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
  component.log.info({ apiService: LEDGER_API_SERVICE }, 'published the CA of the ledger');
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
    signerName: place.signerName,
    desired,
    authority: authority instanceof SignerError ? authority : authority.facts,
    readFrom: readableFrom({
      ...{ authority, secret: watched.secret, configMap: objects.configMap() },
      ...{ signerName: place.signerName, propagationSeconds: component.propagationSeconds, now },
    }),
    now,
  });
  errors.note(serving, keyOfComponent(name), plan.kind === 'wait' ? plan.why : undefined);
  if (plan.kind === 'keep') return requeueAt(component, plan.lookAt);
  if (plan.kind === 'wait') return requeueAt(component, plan.lookAt ?? now + WAIT_MS);
  if (authority instanceof SignerError) return 'backoff';
  if (!(await isFresh(component, serving, now))) return 'backoff';
  // After a request to the API server, whose response shows the time.
  await requireClocks(component, () => isFresh(component, serving, now));
  const leaf = await issueLeaf(authority, desired, { ...component, now });
  init.records?.serving(serving, leaf.certificate, authority.facts.certificate);
  const to = { ...component, version, signer: serving };
  objects.observeSecret(await writeLeaf(to, plan.secret, leaf, desired));
  const { reason, message } = plan.due;
  component.log.info({ secret: secretName, reason, why: message }, 'issued a serving certificate');
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
    ...{ signer: serving, secret, bundle, propagationSeconds },
    open: opened.open,
    last: opened.last,
    now: serverTime(component),
  });
  if (secret !== undefined) opened.signedWith(secret, authority);
  return authority;
}
