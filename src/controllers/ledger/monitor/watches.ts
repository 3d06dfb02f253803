// SPDX-License-Identifier: Apache-2.0
/** What the monitor watches: requests of three kinds, Secrets that an administrator names, and what is uploaded. */
import { CERTIFICATE_REQUEST_RESOURCE } from '../../../api/request/certificate-request.ts';
import { CSR_RESOURCE } from '../../../api/request/csr.ts';
import { readPodCertificateRequest } from '../../../api/request/pod-certificate-request-message.ts';
import { CONFIG_MAPS, SECRETS } from '../../../kube/resource/core-v1.ts';
import { resource, type Resource } from '../../../kube/resource/resource.ts';
import type { ReadMessage } from '../../../kube/watch/watch-message.ts';
import { createReflector, type Reflector } from '../../../kube/watch/reflector.ts';
import { createWatchSet } from '../../../kube/watch/watch-set.ts';
import { createApiDiscovery } from '../../../runtime/component/api-discovery.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { reduced, type SeenKind, type SeenObject } from './seen.ts';

/** The ConfigMap whose values are looked at as PEM; the manifests make it empty. */
export const UPLOADS = 'countersign-ledger-uploads';

const CSRS = resource(CSR_RESOURCE);
const CERTIFICATE_REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);

/** Pods ask for most certificates, and the API server writes one protobuf for all that watch their requests. */
const READ_MESSAGE: { readonly [kind in SeenKind]?: ReadMessage<SeenObject> } = {
  PodCertificateRequest: (type, raw) =>
    reduced('PodCertificateRequest', readPodCertificateRequest(type, raw)),
};

/** What is watched. */
export interface MonitorWatchesInit {
  readonly component: Component;
  /** Of the components. */
  readonly namespace: string;
  /** Nothing where the API server serves none. */
  readonly podCertificateRequests: Resource | undefined;
  /** `namespace/name`. */
  readonly secrets: readonly string[];
  readonly onSeen: (object: SeenObject) => void;
}

/** The watches of the monitor. */
export interface MonitorWatches {
  /** Everything that is there now. */
  readonly all: () => readonly SeenObject[];
  readonly warnings: () => readonly string[];
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Watches all of them; cert-manager's kind where it is installed. */
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
        failure === undefined ? [] : [`the monitor does not see all certificates: ${failure}`],
      ),
    run: async (signal) => {
      await Promise.all([...always, discovery].map((each) => each.run(signal)));
      await ofCertManager.stop();
    },
  };
}
