// SPDX-License-Identifier: Apache-2.0
/** The facts of a request, so that a person sees what they approve for whom. Pure. */
import { CERT_MANAGER_GROUP } from '#api/request/certificate-request.ts';
import { attempt, SignerError } from '#base/errors.ts';
import { membersOf } from '#base/record.ts';
import { PURPOSE_NAMES } from '#diagnose/inspect/oid-names.ts';
import { decodePem } from '#pki/der/pem.ts';
import {
  OID_BASIC_CONSTRAINTS,
  OID_EXTENSION_REQUEST,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_SUBJECT_ALT_NAME,
} from '#pki/der/oids.ts';
import { nameText } from '#pki/names/distinguished-name.ts';
import { decodeRequest, type CertificationRequest } from '#pki/x509/pkcs10.ts';

/**
 * Returns a line for each fact: everything that a request can have, also what its signer would
 * ignore. The requester controls every text in them.
 */
export function requestFacts({ spec }: { readonly spec?: unknown }): readonly string[] {
  const { signerName, issuerRef, username, uid, groups, extra, usages, request } = membersOf(spec);
  return [
    `signer: ${textOf(signerName) || issuerText(issuerRef)}`,
    `requester: ${textOf(username) || 'unknown'}`,
    ...(textOf(uid) === '' ? [] : [`UID of the requester: ${textOf(uid)}`]),
    `groups of the requester: ${listOf(groups) || 'none'}`,
    ...Object.entries(membersOf(extra)).map(
      ([key, values]) => `${key} of the requester: ${listOf(values) || 'empty'}`,
    ),
    ...requestedFacts(textOf(request), membersOf(spec)['isCA'] === true),
    `usages: ${listOf(usages) || 'none named'}`,
    `requested life: ${lifeText(membersOf(spec))}`,
  ];
}

function issuerText(issuerRef: unknown): string {
  const { kind, name, group } = membersOf(issuerRef);
  return `${textOf(kind) || 'Issuer'} ${textOf(name)} of ${textOf(group) || CERT_MANAGER_GROUP}`;
}

/** Returns the life that either kind requests. The signer may reduce it. */
function lifeText(spec: Readonly<Record<string, unknown>>): string {
  const { duration, expirationSeconds } = spec;
  if (typeof expirationSeconds === 'number') return `${expirationSeconds} s`;
  return textOf(duration) || 'none named';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: unknown): string {
  return Array.isArray(value) ? value.map(textOf).join(', ') : '';
}

/** @param isCa - `spec.isCA`, which a CertificateRequest has besides its PKCS#10 request */
function requestedFacts(encoded: string, isCa: boolean): readonly string[] {
  const read = attempt(() => {
    const pem = Buffer.from(encoded, 'base64').toString('latin1');
    return decodeRequest(decodePem(pem, 'CERTIFICATE REQUEST'));
  });
  if (read instanceof SignerError) {
    return [...caFact(isCa), `requested names: unreadable: ${read.message}`];
  }
  const { dnsNames, ipAddresses, uris, emails } = read.sans;
  const names = [...uris, ...dnsNames, ...ipAddresses, ...emails];
  return [
    ...caFact(isCa || read.isCa),
    `key: ${read.publicKey.keyType}`,
    `requested subject: ${nameText(read.subject) || 'empty'}`,
    `requested names: ${names.join(', ') || 'none'}`,
    ...otherNames(read),
    ...requestedUsages(read),
    ...otherExtensions(read),
    ...read.attributes
      .filter((oid) => oid !== OID_EXTENSION_REQUEST)
      .map((oid) => `attribute of the PKCS#10 request: ${oid}`),
  ];
}

function caFact(isCa: boolean): readonly string[] {
  return isCa
    ? ['CA: yes: the requester wants a certificate that can sign other certificates']
    : ['CA: no'];
}

/** Returns the names of the kinds that have no text, such as otherName, as they are encoded. */
function otherNames({ sans, extensions }: CertificationRequest): readonly string[] {
  const extension = extensions.find(({ oid }) => oid === OID_SUBJECT_ALT_NAME);
  if (sans.other === 0 || extension === undefined) return [];
  return [
    `requested names of other kinds: ${sans.other}, in the subjectAltName ${hexOf(extension.value)}`,
  ];
}

function requestedUsages({ keyUsage, extKeyUsage }: CertificationRequest): readonly string[] {
  const purposes = (extKeyUsage ?? []).map((oid) => PURPOSE_NAMES.get(oid) ?? oid);
  const usages = [...(keyUsage ?? []), ...purposes];
  return usages.length === 0 ? [] : [`usages in the PKCS#10 request: ${usages.join(', ')}`];
}

/** Extensions that have lines of their own. */
const SHOWN: ReadonlySet<string> = new Set([
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_KEY_USAGE,
  OID_SUBJECT_ALT_NAME,
]);

function otherExtensions({ extensions }: CertificationRequest): readonly string[] {
  return extensions
    .filter(({ oid }) => !SHOWN.has(oid))
    .map(
      ({ oid, critical, value }) =>
        `requested extension: ${oid}${critical ? ', critical' : ''}, ${hexOf(value)}`,
    );
}

/** Bytes of an encoded value that a line shows. */
const MAX_SHOWN_BYTES = 256;

function hexOf(value: Uint8Array): string {
  const shown = Buffer.from(value.subarray(0, MAX_SHOWN_BYTES)).toString('hex');
  const isCut = value.length > MAX_SHOWN_BYTES;
  return `in DER: ${shown}${isCut ? `… (${value.length} bytes)` : ''}`;
}
