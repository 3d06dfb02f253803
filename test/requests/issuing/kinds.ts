// SPDX-License-Identifier: Apache-2.0
/** The three kinds of requests that go through one machine; each law is tested with all of them. */
import { test } from 'node:test';
import type { KubeObject } from '#api/object/object.ts';
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { purposes } from '../../support/pki/chain.ts';
import { explicit, extension, implicit, seq } from '../../support/pki/der.ts';
import {
  certificateRequestStage,
  csrStage,
  pcrStage,
  type By,
  type Stage,
} from '../../support/requests/issuance-stage.ts';

export interface Kind<T extends KubeObject> {
  readonly name: string;
  readonly start: (by?: By<T>) => Stage<T>;
  /** PEM of the chain in its status. */
  readonly chainOf: (request: T) => string;
  /** All that a delivery says: the same for the same leaf. */
  readonly deliveryOf: (request: T) => string;
  /** What somebody else ended it with. */
  readonly ends: readonly (readonly [law: string, request: (before: T) => T])[];
  /** An extension of the CA that forbids the leaf, and what is said of it. */
  readonly forbidding: readonly [extension: Uint8Array, message: RegExp];
}

const fromBase64 = (text = ''): string => Buffer.from(text, 'base64').toString('latin1');
/** nameConstraints: a URI's host, or a DNS name, of example.org only. */
const elsewhere = (tag: number): Uint8Array =>
  extension('2.5.29.30', seq(explicit(0, seq(implicit(tag, Buffer.from('example.org'))))), true);
const ended = (type: string): NonNullable<CertificateRequest['status']>['conditions'] => [
  { type, status: 'True' },
];

const CSR: Kind<CertificateSigningRequest> = {
  name: 'CertificateSigningRequest',
  start: (by) => csrStage({}, by),
  chainOf: ({ status }) => fromBase64(status?.certificate),
  deliveryOf: ({ status }) => status?.certificate ?? '',
  ends: [
    ['another signer was faster', (csr) => ({ ...csr, status: { certificate: 'LS0t' } })],
    ['it was denied', (csr) => ({ ...csr, status: { conditions: ended('Denied') ?? [] } })],
    ['it failed', (csr) => ({ ...csr, status: { conditions: ended('Failed') ?? [] } })],
  ],
  forbidding: [purposes('1.3.6.1.5.5.7.3.1'), /does not allow the purpose/],
};

const PCR: Kind<PodCertificateRequest> = {
  name: 'PodCertificateRequest',
  start: (by) => pcrStage({}, by),
  chainOf: ({ status }) => status?.certificateChain ?? '',
  deliveryOf: ({ status: { certificateChain, notBefore, notAfter, beginRefreshAt } = {} }) =>
    [certificateChain, notBefore, notAfter, beginRefreshAt].join(),
  ends: ['Issued', 'Denied', 'Failed'].map((type) => [
    type,
    (request) => ({
      ...request,
      status: { conditions: ended(type) ?? [], certificateChain: 'another' },
    }),
  ]),
  forbidding: [elsewhere(6), /outside a CA’s name constraints/],
};

const CERTIFICATE_REQUEST: Kind<CertificateRequest> = {
  name: 'CertificateRequest',
  start: (by) => certificateRequestStage({}, by),
  chainOf: ({ status }) => fromBase64(status?.certificate),
  deliveryOf: ({ status }) => [status?.certificate, status?.ca].join(),
  ends: ['Issued', 'Denied', 'Failed'].map((reason) => [
    `Ready with reason ${reason}`,
    (request) => {
      const status = reason === 'Issued' ? 'True' : 'False';
      const ready = { type: 'Ready', status, reason } as const;
      return { ...request, status: { ...request.status, conditions: [ready] } };
    },
  ]),
  forbidding: [elsewhere(2), /outside a CA’s name constraints/],
};

/** A law, once for each kind. */
export function forEachKind(
  law: string,
  holds: <T extends KubeObject>(kind: Kind<T>) => Promise<void>,
): void {
  test(`${law}: ${CSR.name}`, () => holds(CSR));
  test(`${law}: ${PCR.name}`, () => holds(PCR));
  test(`${law}: ${CERTIFICATE_REQUEST.name}`, () => holds(CERTIFICATE_REQUEST));
}

/** How many different leaves were sent. */
export function leavesOf<T extends KubeObject>(kind: Kind<T>, stage: Stage<T>): number {
  return new Set(stage.sent().map(kind.deliveryOf)).size;
}

/** The same request as somebody else left it, some versions on. */
export function moved<T extends KubeObject>(request: T): T {
  return { ...request, metadata: { ...request.metadata, resourceVersion: '9' } };
}

/** Another one under the same name. */
export function namesakeOf<T extends KubeObject>(request: T): T {
  return { ...request, metadata: { ...request.metadata, uid: 'another', resourceVersion: '9' } };
}
