// SPDX-License-Identifier: Apache-2.0
/** Watches requests, including those of cert-manager if it is installed. */
import { CERTIFICATE_REQUEST_RESOURCE } from '#api/request/certificate-request.ts';
import { CSR_RESOURCE } from '#api/request/csr.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import { createWatchSet } from '#kube/watch/watch-set.ts';
import { createApiDiscovery } from '#component/api-discovery.ts';
import type { Component } from '#component/contract.ts';
import { seenRequest, type RequestPlural, type SeenRequest } from './events/seen-request.ts';

const CSRS = resource(CSR_RESOURCE);
const CERTIFICATE_REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);

/** Dependencies of the watches. */
export interface RequestWatchesInit {
  readonly component: Component;
  /** Undefined if the API server does not serve them. */
  readonly podCertificateRequests: Resource | undefined;
  readonly onEvent: (now: SeenRequest | undefined, before: SeenRequest | undefined) => void;
}

/** The watches of requests. */
export interface RequestWatches {
  /** Returns the running watches. */
  readonly all: () => readonly (readonly [RequestPlural, Reflector<SeenRequest>])[];
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/**
 * Watches the requests of all signers. The session filters those of this installation when a
 * request ends.
 */
export function createRequestWatches(init: RequestWatchesInit): RequestWatches {
  const { component, podCertificateRequests, onEvent } = init;
  const watch = (plural: RequestPlural, of: Resource): Reflector<SeenRequest> =>
    createReflector<SeenRequest>({
      ...component,
      path: of.collection(),
      transform: (object) => seenRequest(plural, object),
      onEvent: (_key, now, before) => {
        onEvent(now, before);
      },
    });
  const always: (readonly [RequestPlural, Reflector<SeenRequest>])[] = [
    ['certificatesigningrequests', watch('certificatesigningrequests', CSRS)],
  ];
  if (podCertificateRequests !== undefined)
    always.push([
      'podcertificaterequests',
      watch('podcertificaterequests', podCertificateRequests),
    ]);
  const ofCertManager = createWatchSet<SeenRequest>(() =>
    watch('certificaterequests', CERTIFICATE_REQUESTS),
  );
  const discovery = createApiDiscovery(component, CERTIFICATE_REQUESTS);
  discovery.onChange(() => {
    ofCertManager.reconcile(discovery.served ? [CERTIFICATE_REQUESTS.plural] : []);
  });
  return {
    all: () => [
      ...always,
      ...ofCertManager.entries().map(([, each]) => ['certificaterequests', each] as const),
    ],
    run: async (signal) => {
      await Promise.all([...always.map(([, each]) => each.run(signal)), discovery.run(signal)]);
      await ofCertManager.stop();
    },
  };
}
