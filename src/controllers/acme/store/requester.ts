// SPDX-License-Identifier: Apache-2.0
import type { AcmeSignerRef, Order } from '../../../api/acme/index.ts';
import { CERTIFICATE_NAME } from '../../../api/workload/certificate.ts';

/** Names of a certificate. */
export interface AskedIdentifiers {
  readonly identifiers: readonly { readonly type: string; readonly value: string }[];
}

/** One text for one set of names. */
export function namesOf({ identifiers }: AskedIdentifiers): string {
  const each = identifiers.map(({ type, value }) => `${type} ${value}`);
  return each.sort().join(',');
}

/** Whose certificates follow each other: who asks again renews the one before. */
export interface RenewalRequester extends AskedIdentifiers {
  readonly namespace: string;
  readonly signerRef: AcmeSignerRef;
  /** cert-manager's Certificate; without it, everybody who asks for the same names is one requester. */
  readonly certificate: string | undefined;
}

/** One text for one requester. */
export function requesterKey(requester: RenewalRequester): string {
  const { namespace, signerRef, certificate } = requester;
  const who = certificate === undefined ? namesOf(requester) : `Certificate ${certificate}`;
  return `${namespace} ${signerRef.kind} ${signerRef.name} ${who}`;
}

/** The requester of an Order. */
export function requesterOf({
  metadata,
  spec,
}: Pick<Order, 'metadata' | 'spec'>): RenewalRequester {
  const { namespace = '' } = metadata;
  const { signerRef, identifiers } = spec;
  return { namespace, signerRef, identifiers, certificate: certificateNameOf({ metadata }) };
}

/** The Certificate that cert-manager made a request for. An Order has the annotation of its request. */
export function certificateNameOf({ metadata }: Pick<Order, 'metadata'>): string | undefined {
  return metadata.annotations?.[CERTIFICATE_NAME];
}
