// SPDX-License-Identifier: Apache-2.0
import type { AcmeSigner } from '../../../api/acme/index.ts';
import { SignerError, attempt } from '../../../errors.ts';
import { decodePem } from '../../../pki/der/pem.ts';
import { canonicalDnsName, canonicalIp } from '../../../pki/names/canonical.ts';
import { decodeRequest } from '../../../pki/x509/pkcs10.ts';
import { requestedNames } from '../../../pki/x509/requested-names.ts';
import { quote, quoteList } from '../../../quote.ts';
import type { LeafSubject, RequestField } from '../../../vocabulary.ts';
import type { AskedNames } from './decide.ts';

/** Why nothing can be asked for: `request` for ever, `signer` until its spec changes. */
export interface NotAskable {
  readonly fault: 'request' | 'signer';
  readonly message: string;
}

/** What ACME proves. A CA ignores or refuses the others, and a certificate without them is another one. */
const PROVABLE: readonly RequestField[] = ['commonName', 'dnsNames', 'ipAddresses'];

/** As many as Let's Encrypt allows; the schema of Orders has the same limit. */
const MAX_NAMES = 100;

/**
 * What an Order for a request asks for. The server gets the PKCS#10 request as it is, so every name in it counts.
 *
 * @param pem - base64 of PEM: `spec.request`, whose signature was verified before
 * @param granted - the names that the leaf was allowed
 */
export function askedFor(
  pem: string,
  granted: LeafSubject,
  { spec: { acme } }: AcmeSigner,
): AskedNames | NotAskable {
  const der = decodePem(Buffer.from(pem, 'base64').toString('latin1'), 'CERTIFICATE REQUEST');
  const names = requestedNames(decodeRequest(der));
  const others = Object.entries(names).flatMap(
    ([field, values]: [string, string | readonly string[]]) =>
      values.length === 0 || PROVABLE.some((each) => each === field) ? [] : [field],
  );
  if (others.length > 0)
    return ofRequest(
      `it asks for ${others.join(', ')}, and an ACME server certifies DNS names and addresses only; leave them out`,
    );
  const withheld = PROVABLE.filter((field) => String(names[field]) !== String(granted[field]));
  if (withheld.length > 0) {
    const message = `spec.requests.copy does not list ${withheld.join(', ')}, and an ACME server certifies all names of a request or none`;
    return { fault: 'signer', message };
  }
  const identifiers = identifiersOf(names);
  if ('fault' in identifiers) return identifiers;
  const { profile } = acme;
  const request = Buffer.from(der).toString('base64');
  return { request, identifiers, ...(profile === undefined ? {} : { profile }) };
}

type Identifiers = AskedNames['identifiers'];

/** Every name once; a common name counts, whether it is among the others or not (CA/Browser Forum BR §7.1.4.3). */
function identifiersOf({
  commonName,
  dnsNames,
  ipAddresses,
}: LeafSubject): Identifiers | NotAskable {
  const all: Identifiers = [
    ...[...new Set(dnsNames)].map((value) => ({ type: 'dns' as const, value })),
    ...[...new Set(ipAddresses)].map((value) => ({ type: 'ip' as const, value })),
  ];
  const isKnown = commonName === '' || all.some(({ value }) => value === commonName);
  const common = isKnown ? undefined : identifierOf(commonName);
  if (common !== undefined && 'fault' in common) return common;
  const identifiers = common === undefined ? all : [...all, common];
  if (identifiers.length === 0) return ofRequest('it asks for no DNS name and no address');
  if (identifiers.length <= MAX_NAMES) return identifiers;
  const message = `it asks for ${identifiers.length} names, more than the ${MAX_NAMES} of one certificate`;
  return ofRequest(`${message}: ${quoteList(identifiers.map(({ value }) => value))}`);
}

function identifierOf(name: string): Identifiers[number] | NotAskable {
  for (const [type, canonical] of [
    ['ip', canonicalIp],
    ['dns', canonicalDnsName],
  ] as const) {
    const spelled = attempt(() => canonical(name));
    if (!(spelled instanceof SignerError) && spelled === name) return { type, value: name };
  }
  return ofRequest(
    `its common name ${quote(name)} is neither a DNS name nor an address; leave it out`,
  );
}

function ofRequest(message: string): NotAskable {
  return { fault: 'request', message };
}
