// SPDX-License-Identifier: Apache-2.0
/** The facts of a request, so that a person sees what they approve for whom. Pure. */
import { attempt, SignerError } from '#base/errors.ts';
import { membersOf } from '#base/record.ts';
import { decodePem } from '#pki/der/pem.ts';
import { nameText } from '#pki/names/distinguished-name.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';

/** Returns a line for each fact. The requester controls every text in them. */
export function requestFacts({ spec }: { readonly spec?: unknown }): readonly string[] {
  const { signerName, issuerRef, username, groups, usages, request } = membersOf(spec);
  const { kind, name } = membersOf(issuerRef);
  return [
    `signer: ${textOf(signerName) || `${textOf(kind) || 'Issuer'} ${textOf(name)}`}`,
    `requester: ${textOf(username) || 'unknown'}`,
    `groups of the requester: ${listOf(groups) || 'none'}`,
    ...nameFacts(textOf(request)),
    `usages: ${listOf(usages) || 'none named'}`,
  ];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: unknown): string {
  return Array.isArray(value) ? value.map(textOf).join(', ') : '';
}

function nameFacts(encoded: string): readonly string[] {
  const read = attempt(() => {
    const pem = Buffer.from(encoded, 'base64').toString('latin1');
    return decodeRequest(decodePem(pem, 'CERTIFICATE REQUEST'));
  });
  if (read instanceof SignerError) return [`requested names: unreadable: ${read.message}`];
  const { dnsNames, ipAddresses, uris, emails } = read.sans;
  const names = [...uris, ...dnsNames, ...ipAddresses, ...emails];
  return [
    `requested subject: ${nameText(read.subject) || 'empty'}`,
    `requested names: ${names.join(', ') || 'none'}`,
  ];
}
