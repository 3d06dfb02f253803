// SPDX-License-Identifier: Apache-2.0
/** Watches requests of three kinds, the Secrets that an administrator names, and uploads. */
import { CERTIFICATE_REQUEST_RESOURCE } from '#api/request/certificate-request.ts';
import { CSR_RESOURCE } from '#api/request/csr.ts';
import { readPodCertificateRequest } from '#api/request/pod-certificate-request-message.ts';
import { CONFIG_MAPS, SECRETS } from '#kube/resource/core-v1.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import type { ReadMessage } from '#kube/watch/watch-message.ts';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import { createWatchSet } from '#kube/watch/watch-set.ts';
import { createApiDiscovery } from '#component/api-discovery.ts';
import type { Component } from '#component/contract.ts';
import { reduced, type SeenKind, type SeenObject } from './seen.ts';
import { UPLOADS } from '../objects.ts';
import * as messages from '../messages.ts';

const CSRS = resource(CSR_RESOURCE);
const CERTIFICATE_REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);

/**
 * Protobuf readers by kind. Pods request most certificates, and the API server encodes one protobuf
 * for all watchers of their requests.
 */
const READ_MESSAGE: { readonly [kind in SeenKind]?: ReadMessage<SeenObject> } = {
  PodCertificateRequest: (type, raw) =>
    reduced('PodCertificateRequest', readPodCertificateRequest(type, raw)),
};

/** Dependencies of the watches. */
export interface MonitorWatchesInit {
  readonly component: Component;
  /** Namespace of the components. */
  readonly namespace: string;
  /** Undefined if the API server does not serve them. */
  readonly podCertificateRequests: Resource | undefined;
  /** Secrets as `namespace/name`. */
  readonly secrets: readonly string[];
  readonly onSeen: (object: SeenObject) => void;
}

/** The watches of the monitor. */
export interface MonitorWatches {
  /** Returns all current objects. */
  readonly all: () => readonly SeenObject[];
  readonly warnings: () => readonly string[];
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Starts all watches, including cert-manager's kind if it is installed. */
export function createMonitorWatches(init: MonitorWatchesInit): MonitorWatches {
  const { component, namespace, podCertificateRequests } = init;
  const watch = (kind: SeenKind, path: string, name?: string): Reflector<SeenObject> =>
    createReflector<SeenObject>({
      ...component,
      path,
      readMessage: READ_MESSAGE[kind],
      ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }),
      transform: (object) => reduced(kind, object),
      onEvent: (_key, now) => {
        if (now !== undefined) init.onSeen(now);
      },
    });
  const always = [
    watch('CertificateSigningRequest', CSRS.collection()),
    watch('ConfigMap', CONFIG_MAPS.collection(namespace), UPLOADS),
    ...(podCertificateRequests === undefined
      ? []
      : [watch('PodCertificateRequest', podCertificateRequests.collection())]),
    ...init.secrets.map((key) => {
      const [secretNamespace = '', name = ''] = key.split('/');
      return watch('Secret', SECRETS.collection(secretNamespace), name);
    }),
  ];
  const ofCertManager = createWatchSet<SeenObject>(() =>
    watch('CertificateRequest', CERTIFICATE_REQUESTS.collection()),
  );
  const discovery = createApiDiscovery(component, CERTIFICATE_REQUESTS);
  discovery.onChange(() => {
    ofCertManager.reconcile(discovery.served ? [CERTIFICATE_REQUESTS.plural] : []);
  });
  const watching = (): readonly Reflector<SeenObject>[] => [
    ...always,
    ...ofCertManager.entries().map(([, each]) => each),
  ];
  return {
    all: () => watching().flatMap((each) => each.list()),
    warnings: () =>
      watching().flatMap(({ failure }) =>
        failure === undefined ? [] : [messages.incompleteWatch(failure)],
      ),
    run: async (signal) => {
      await Promise.all([...always, discovery].map((each) => each.run(signal)));
      await ofCertManager.stop();
    },
  };
}
