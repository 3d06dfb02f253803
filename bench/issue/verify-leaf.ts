// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from 'node:crypto';
import type { Contender } from './baselines.ts';
import type { Work } from './work.ts';

const NAMES = {
  csr: ['O=dev', 'CN=jane'],
  pcr: ['URI:spiffe://cluster.local/ns/team-a/sa/web'],
} as const;

/**
 * That a contender made what was asked for: all of them the same leaf, by node:crypto's reading.
 */
export function verifyLeaf({ name, kind }: Contender, work: Work, last: string): void {
  if (name === 'bare-sign') return;
  const leaf = new X509Certificate(Buffer.from(last, 'base64'));
  const ca = new X509Certificate(work.certificate);
  const keys = work.requests[kind].map((request) => Buffer.from(request, 'base64'));
  const spki = leaf.publicKey.export({ type: 'spki', format: 'der' });
  const { subject = '', subjectAltName = '' } = leaf as Partial<X509Certificate>;
  const named = [...subject.split(/[\n+]/), ...subjectAltName.split(', ')].map((one) => one.trim());
  const wrong = [
    ...(leaf.verify(ca.publicKey) && leaf.checkIssued(ca) ? [] : ['it is not by the CA']),
    ...(keys.some((request) => request.includes(spki)) ? [] : ['its key is nobody’s']),
    ...NAMES[kind].filter((one) => !named.includes(one)).map((one) => `${one} is missing`),
    ...(leaf.ca ? ['it is a CA'] : []),
    ...(leaf.keyUsage.length === 2 ? [] : ['its purposes are others']),
  ];
  if (wrong.length > 0) throw new Error(`${kind} ${name}: ${wrong.join(', ')}`);
}
