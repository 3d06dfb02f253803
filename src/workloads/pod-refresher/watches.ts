// SPDX-License-Identifier: Apache-2.0
import { CERTIFICATE_REQUEST_RESOURCE } from '#api/request/certificate-request.ts';
import { CERTIFICATE_RESOURCE, type CertManagerCertificate } from '#api/workload/certificate.ts';
import {
  DISRUPTION_BUDGET_RESOURCE,
  type DisruptionBudget,
} from '#api/workload/disruption-budget.ts';
import {
  WORKLOAD_KINDS,
  WORKLOAD_RESOURCES,
  type Workload,
  type WorkloadKind,
} from '#api/workload/workload.ts';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { KubeObject, Secret } from '#api/object/object.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { present } from '#base/object-keys.ts';
import { NAMESPACES, SECRETS } from '#kube/resource/core-v1.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import type { StoredObject } from '#kube/resource/object.ts';
import { createReflector, type Reflector, type ReflectorInit } from '#kube/watch/reflector.ts';
import { createWatchSet, type WatchSet } from '#kube/watch/watch-set.ts';
import type { ClusterView, SeenObjects } from '../refresh/cluster-view.ts';
import { isNamespaceOptedIn, REFRESH } from '../refresh/opt-in.ts';
import { CLUSTER_SIGNERS } from '#component/signers/cluster-signers.ts';
import { createApiDiscovery } from '#component/api-discovery.ts';
import type { Component } from '#component/contract.ts';
import { reducedNamespace, reducedPodRequest, reducedRequest, reducedWorkload } from './reduced.ts';
import { trustedSigner } from './signer-trust.ts';
import * as messages from './messages.ts';

const BUDGETS = resource(DISRUPTION_BUDGET_RESOURCE);
const CERTIFICATES = resource(CERTIFICATE_RESOURCE);
const CERTIFICATE_REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);

/** The kinds in the versions that the API server has. */
export interface RefreshedResources {
  readonly podCertificateRequests: Resource;
  readonly bundles: Resource;
}

export interface RefreshWatchesInit extends RefreshedResources {
  readonly component: Component;
  readonly view: ClusterView;
  /** Secrets that may be read, as `namespace/name`. */
  readonly secrets: readonly string[];
  readonly onChange: () => void;
}

/** The watches of pod-refresher. */
export interface RefreshWatches {
  readonly workloads: ReadonlyMap<string, Reflector<Workload>>;
  /**
   * Reports whether everything is listed. Before that a missing object would look like a change.
   */
  readonly isComplete: () => boolean;
  readonly notReady: () => readonly string[];
  readonly warnings: () => readonly string[];
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/**
 * Watches the inputs of all decisions and updates the view. Waits for the kinds of cert-manager.
 */
export function createRefreshWatches(init: RefreshWatchesInit): RefreshWatches {
  const { component } = init;
  const workloads = new Map<string, Reflector<Workload>>(
    WORKLOAD_KINDS.map((kind) => [kind, workloadReflector(init, kind)]),
  );
  const always: readonly ReflectorHandle[] = [
    ...workloads.values(),
    ...others(init),
    ...secretsOf(init),
  ];
  const ofCertManager = createWatchSet<StoredObject>((plural) => certManager(init, plural));
  const discovery = createApiDiscovery(component, CERTIFICATES);
  discovery.onChange(() => {
    ofCertManager.reconcile(
      discovery.served ? [CERTIFICATES.plural, CERTIFICATE_REQUESTS.plural] : [],
    );
    init.onChange();
  });
  const all = (): readonly ReflectorHandle[] => [
    ...always,
    ...ofCertManager.entries().map(([, each]) => each),
  ];
  return {
    workloads,
    isComplete: () => discovery.notReady().length === 0 && all().every(({ synced }) => synced),
    notReady: () => [
      ...discovery.notReady(),
      ...all()
        .filter(({ synced }) => !synced)
        .map(({ failure }) => messages.unlisted(failure)),
    ],
    warnings: () => [
      ...discovery.warnings(),
      ...all().flatMap(({ failure }) =>
        failure === undefined ? [] : [messages.brokenWatch(failure)],
      ),
    ],
    run: (signal) => runAll(always, [discovery], ofCertManager, signal),
  };
}

type ReflectorHandle = Pick<Reflector<StoredObject>, 'synced' | 'failure' | 'run'>;

async function runAll(
  always: readonly ReflectorHandle[],
  more: readonly { run(signal: AbortSignal): Promise<void> }[],
  set: WatchSet<StoredObject>,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all([...always, ...more].map((each) => each.run(signal)));
  await set.stop();
}

/** Creates a reflector that updates the view. */
function reflector<K extends keyof SeenObjects>(
  { component, view, onChange }: RefreshWatchesInit,
  kind: K,
  more: Pick<ReflectorInit<SeenObjects[K]>, 'path' | 'fieldSelector' | 'keep' | 'transform'>,
): Reflector<SeenObjects[K]> {
  return createReflector<SeenObjects[K]>({
    ...component,
    ...more,
    onEvent: (key, now, before) => {
      view.seen[kind](key, now, before);
      onChange();
    },
  });
}

function workloadReflector(init: RefreshWatchesInit, kind: WorkloadKind): Reflector<Workload> {
  return reflector(init, 'workloads', {
    path: resource(WORKLOAD_RESOURCES[kind]).collection(),
    keep: ({ metadata }) => metadata.annotations?.[REFRESH] !== undefined,
    // Items of a list have no kind.
    transform: (workload) => reducedWorkload({ ...workload, apiVersion: 'apps/v1', kind }),
  });
}

function others(init: RefreshWatchesInit): readonly ReflectorHandle[] {
  return [
    reflector<'namespaces'>(init, 'namespaces', {
      path: NAMESPACES.collection(),
      keep: ({ metadata }: KubeObject) => isNamespaceOptedIn(metadata.labels),
      transform: reducedNamespace,
    }),
    reflector<'budgets'>(init, 'budgets', {
      path: BUDGETS.collection(),
      transform: ({ apiVersion, kind, metadata, spec, status }: DisruptionBudget) => ({
        apiVersion,
        kind,
        metadata,
        ...(spec === undefined ? {} : { spec }),
        ...(status === undefined ? {} : { status }),
      }),
    }),
    reflector<'podCertificateRequests'>(init, 'podCertificateRequests', {
      path: init.podCertificateRequests.collection(),
      transform: (request: PodCertificateRequest) => reducedPodRequest(request),
    }),
    reflector<'signers'>(init, 'signers', {
      path: CLUSTER_SIGNERS.collection(),
      transform: trustedSigner,
    }),
    // Kept with managedFields, which contain the time of the last write.
    reflector<'bundles'>(init, 'bundles', {
      path: init.bundles.collection(),
      transform: (bundle: ClusterTrustBundle) => bundle,
    }),
  ];
}

function secretsOf(init: RefreshWatchesInit): readonly ReflectorHandle[] {
  return init.secrets.map((key) => {
    const [namespace = '', name = ''] = key.split('/');
    return reflector<'secrets'>(init, 'secrets', {
      path: SECRETS.collection(namespace),
      fieldSelector: `metadata.name=${name}`,
      transform: withoutKey,
    });
  });
}

/** Drops the private key. */
function withoutKey({ data = {}, ...secret }: Secret): Secret {
  return { ...secret, data: { 'tls.crt': data['tls.crt'] ?? '' } };
}

function certManager(init: RefreshWatchesInit, plural: string): Reflector<StoredObject> {
  const made: Reflector<StoredObject> =
    plural === CERTIFICATES.plural
      ? reflector<'certificates'>(init, 'certificates', {
          path: CERTIFICATES.collection(),
          transform: ({ apiVersion, kind, metadata, spec, status }: CertManagerCertificate) => ({
            apiVersion,
            kind,
            metadata,
            spec: present('secretName', spec?.secretName),
            ...(status === undefined ? {} : { status }),
          }),
        })
      : reflector<'certificateRequests'>(init, 'certificateRequests', {
          path: CERTIFICATE_REQUESTS.collection(),
          transform: reducedRequest,
        });
  return made;
}
