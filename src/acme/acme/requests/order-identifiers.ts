// SPDX-License-Identifier: Apache-2.0
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { decodePem } from '#pki/der/pem.ts';
import { canonicalDnsName, canonicalIp } from '#pki/names/canonical.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import { requestedNames } from '#pki/x509/requested-names.ts';
import type { LeafSubject, RequestField } from '#base/vocabulary.ts';
import type { OrderContents } from './decide.ts';
import * as messages from '../messages.ts';

/**
 * Reason that no Order can be created. `request`: permanently. `signer`: until its spec changes.
 */
export interface UnorderableRequest {
  readonly fault: 'request' | 'signer';
  readonly message: string;
}

/**
 * Fields that ACME proves. A CA ignores or refuses others, and a certificate without them would
 * differ from the request.
 */
const PROVABLE: readonly RequestField[] = ['commonName', 'dnsNames', 'ipAddresses'];

/** Limit of Let's Encrypt, and of the Order schema. */
const MAX_NAMES = 100;

/**
 * Returns the contents of an Order for a request. The server gets the PKCS#10 request unchanged, so
 * every name in it counts.
 *
 * @param pem - base64 of PEM: `spec.request`, with a verified signature
 * @param granted - names that the rules allow for the leaf
 */
export function orderIdentifiers(
  pem: string,
  granted: LeafSubject,
  { spec: { acme } }: AcmeSigner,
): OrderContents | UnorderableRequest {
  const der = decodePem(Buffer.from(pem, 'base64').toString('latin1'), 'CERTIFICATE REQUEST');
  const names = requestedNames(decodeRequest(der));
  const others = Object.entries(names).flatMap(
    ([field, values]: [string, string | readonly string[]]) =>
      values.length === 0 || PROVABLE.some((each) => each === field) ? [] : [field],
  );
  if (others.length > 0) return ofRequest(messages.unprovableNames(others));
  const withheld = PROVABLE.filter((field) => String(names[field]) !== String(granted[field]));
  if (withheld.length > 0) {
    const message = messages.copyMissing(withheld);
    return { fault: 'signer', message };
  }
  const identifiers = identifiersOf(names);
  if ('fault' in identifiers) return identifiers;
  const { profile } = acme;
  const request = Buffer.from(der).toString('base64');
  return { request, identifiers, ...(profile === undefined ? {} : { profile }) };
}

type Identifiers = OrderContents['identifiers'];

/**
 * Returns every name once. A common name counts, whether it is among the others or not (CA/Browser
 * Forum BR §7.1.4.3).
 */
function identifiersOf({
  commonName,
  dnsNames,
  ipAddresses,
}: LeafSubject): Identifiers | UnorderableRequest {
  const all: Identifiers = [
    ...[...new Set(dnsNames)].map((value) => ({ type: 'dns' as const, value })),
    ...[...new Set(ipAddresses)].map((value) => ({ type: 'ip' as const, value })),
  ];
  const isKnown = commonName === '' || all.some(({ value }) => value === commonName);
  const common = isKnown ? undefined : identifierOf(commonName);
  if (common !== undefined && 'fault' in common) return common;
  const identifiers = common === undefined ? all : [...all, common];
  if (identifiers.length === 0) return ofRequest(messages.NO_NAMES);
  if (identifiers.length <= MAX_NAMES) return identifiers;
  const message = messages.tooManyNames(identifiers.length, MAX_NAMES);
  return ofRequest(
    messages.listed(
      message,
      identifiers.map(({ value }) => value),
    ),
  );
}

function identifierOf(name: string): Identifiers[number] | UnorderableRequest {
  for (const [type, canonical] of [
    ['ip', canonicalIp],
    ['dns', canonicalDnsName],
  ] as const) {
    const spelled = attempt(() => canonical(name));
    if (!(spelled instanceof SignerError) && spelled === name) return { type, value: name };
  }
  return ofRequest(messages.unprovableCommonName(name));
}

function ofRequest(message: string): UnorderableRequest {
  return { fault: 'request', message };
}
