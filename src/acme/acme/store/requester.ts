// SPDX-License-Identifier: Apache-2.0
import type { AcmeSignerRef } from '#api/acme/fields.ts';
import type { Order } from '#api/acme/order.ts';
import { CERTIFICATE_NAME } from '#api/workload/certificate.ts';

/** Names of a certificate. */
export interface CertificateNames {
  readonly identifiers: readonly { readonly type: string; readonly value: string }[];
}

/** Returns one text for each set of names. */
export function namesOf({ identifiers }: CertificateNames): string {
  const each = identifiers.map(({ type, value }) => `${type} ${value}`);
  return each.sort().join(',');
}

/** Requester of successive certificates: each new one renews the previous one. */
export interface RenewalRequester extends CertificateNames {
  readonly namespace: string;
  readonly signerRef: AcmeSignerRef;
  /**
   * Certificate of cert-manager. Without one, all requests for the same names have one requester.
   */
  readonly certificate: string | undefined;
}

/** Returns one text for each requester. */
export function requesterKey(requester: RenewalRequester): string {
  const { namespace, signerRef, certificate } = requester;
  const who = certificate === undefined ? namesOf(requester) : `Certificate ${certificate}`;
  return `${namespace} ${signerRef.kind} ${signerRef.name} ${who}`;
}

/** Returns the requester of an Order. */
export function requesterOf({
  metadata,
  spec,
}: Pick<Order, 'metadata' | 'spec'>): RenewalRequester {
  const { namespace = '' } = metadata;
  const { signerRef, identifiers } = spec;
  return { namespace, signerRef, identifiers, certificate: certificateNameOf({ metadata }) };
}

/**
 * Returns the name of the Certificate that cert-manager created a request for. An Order has the
 * annotation of its request.
 */
export function certificateNameOf({ metadata }: Pick<Order, 'metadata'>): string | undefined {
  return metadata.annotations?.[CERTIFICATE_NAME];
}
