// SPDX-License-Identifier: Apache-2.0
import type { Certificate } from '#pki/x509/certificate.ts';
import type { Answer, Problem } from './answer.ts';
import type { RenewalWindow } from './resources.ts';
import { jsonOf } from './read-answer.ts';
import type { AcmeServer } from './server.ts';
import * as messages from './messages.ts';

/**
 * Returns the id of a certificate in renewal information (RFC 9773 §4.1): key identifier of its CA,
 * a dot, its serial number.
 *
 * @returns undefined if the certificate has no key identifier of its CA
 */
export function renewalId(
  leaf: Pick<Certificate, 'authorityKeyIdentifier' | 'serial'>,
): string | undefined {
  const { authorityKeyIdentifier: key, serial } = leaf;
  if (key === undefined) return undefined;
  return `${Buffer.from(key).toString('base64url')}.${Buffer.from(serial).toString('base64url')}`;
}

const NO_RENEWAL_INFO: Problem = {
  kind: 'problem',
  status: 404,
  type: 'none',
  subproblems: [],
  detail: messages.NO_RENEWAL_INFO,
};

/**
 * Requests the suggested renewal window of a certificate (RFC 9773 §4.2).
 *
 * @param id - from {@link renewalId}
 * @returns a problem `none` of 404 if the server has no renewal information, or none for this
 *   certificate
 */
export async function getRenewalWindow(
  server: AcmeServer,
  id: string,
  signal?: AbortSignal,
): Promise<Answer<RenewalWindow>> {
  const directory = await server.directory(signal);
  if (directory.kind !== 'ok') return directory;
  const base = directory.value.renewalInfo;
  if (base === undefined) return NO_RENEWAL_INFO;
  const url = `${base.replace(/\/$/, '')}/${id}`;
  const read = jsonOf(server.resources.renewalInfo);
  return server.get({ endpoint: 'renewalInfo', url, read }, signal);
}
