// SPDX-License-Identifier: Apache-2.0
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import { readOrder, type Order } from '#api/acme/order.ts';
import { readAcmeSigner } from '#api/acme/read-acme-signer.ts';
import type { KubeObject } from '#api/object/object.ts';
import type { OrderContents } from '#acme/acme/requests/decide.ts';
import { acmeObject } from '../../../api/acme/build.ts';

export const NOW = Date.parse('2026-11-22T12:00:00Z');
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

export const ASKED: OrderContents = {
  request: 'AAAA',
  identifiers: [{ type: 'dns', value: 'a.example' }],
};

/** RFC 3339 in whole seconds. */
export function at(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('.000Z', 'Z');
}

/** Order web-<attempt> of CertificateRequest team-a/web. */
export function order(
  attempt: number,
  status: Partial<Order['status']> = {},
  spec: Partial<Order['spec']> = {},
): Order {
  return readOrder({
    apiVersion: 'acme.countersign.dev/v1alpha1',
    kind: 'Order',
    metadata: {
      namespace: 'team-a',
      name: `web-${attempt}`,
      uid: `order-${attempt}`,
      resourceVersion: '1',
      creationTimestamp: at(NOW),
    },
    spec: {
      signerRef: { kind: 'AcmeClusterSigner', name: 'web' },
      requestRef: { kind: 'CertificateRequest', name: 'web', uid: 'request-1' },
      ...ASKED,
      attempt,
      ...spec,
    },
    status,
  });
}

const OBJECT = acmeObject({}, 'example.com/public') as KubeObject & { spec: object };

/** Ready, with the longest life that may be accepted. */
export const SIGNER: AcmeSigner = readAcmeSigner({
  ...OBJECT,
  spec: { ...OBJECT.spec, profile: { maxDuration: '9600h' } },
  status: {
    conditions: [{ type: 'Ready', status: 'True', reason: 'AccountReady', observedGeneration: 1 }],
  },
} as KubeObject);
