// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import type { LedgerRecord } from '#ledger/records/record.ts';
import type { AppendRequest } from '#ledger/store/append.ts';
import type { LogNaming } from '#ledger/store/logs.ts';
import { certificateDer, named } from '../pki/certificate-der.ts';
import { san } from '../pki/chain.ts';
import { bits, seq, tlv, utcTime } from '../pki/der.ts';

export const PREFIX = 'countersign.example/ledger';
export const SENDER = 'system:serviceaccount:countersign-system:pcr-issuer';
export const NOW = Date.UTC(2026, 10, 22, 13, 30);
export const CA = `sha256:${'ca'.repeat(32)}`;

export const naming: LogNaming = { prefix: PREFIX, publicKey: new Uint8Array(32).fill(7) };

const SIGNATURE = bits(new Uint8Array(70));
const NOT_BEFORE = utcTime('261122133000Z');

/** A certificate of pod `n`, which nobody has signed; it expires `n` minutes after {@link NOW}. */
export function podCertificate(n: number): Uint8Array {
  const expires = new Date(NOW + n * 60_000).toISOString().replace(/\.\d+|[-:T]/g, '');
  const serial = Buffer.alloc(9);
  serial.writeBigUInt64BE(BigInt(n), 1);
  serial[0] = 0x5a;
  return certificateDer({
    serial: tlv(0x02, serial),
    subject: named(`pod-${n}`),
    validity: seq(NOT_BEFORE, utcTime(expires.slice(2))),
    extensions: [san([6, uriOf(n)], [2, `pod-${n}.example.com`])],
    signature: SIGNATURE,
  });
}

export function uriOf(n: number): string {
  return `spiffe://cluster.local/ns/${namespaceOf(n)}/sa/web-${n}`;
}

export function namespaceOf(n: number): string {
  return `team-${n % 10}`;
}

export function serialOf(n: number): string {
  return `5a${n.toString(16).padStart(16, '0')}`;
}

type Issued = Extract<LedgerRecord, { readonly kind: 'issued' }>;

/** What a pcr-issuer sends of the certificate of pod `n`. */
export function issuedRecord(n: number, changes: Partial<Issued> = {}): Issued {
  const namespace = namespaceOf(n);
  return {
    kind: 'issued',
    key: `request-${n}/issued`,
    at: new Date(NOW).toISOString(),
    component: { name: 'pcr-issuer', version: '0.1.0', replica: 'pcr-issuer-0' },
    signer: {
      name: 'example.com/workload',
      kind: 'ClusterSigner',
      object: { name: 'workload', uid: 'signer-uid' },
      generation: 3,
    },
    request: {
      kind: 'PodCertificateRequest',
      namespace,
      name: `request-${n}`,
      uid: `request-${n}`,
    },
    requester: {
      pod: { namespace, name: `pod-${n}`, uid: `pod-uid-${n}` },
      serviceAccount: { namespace, name: `web-${n}`, uid: `sa-uid-${n}` },
      node: { name: `node-${n % 7}`, uid: `node-uid-${n % 7}` },
    },
    decision: { rule: 'allow' },
    certificate: Buffer.from(podCertificate(n)).toString('base64'),
    ca: CA,
    ...changes,
  };
}

export function resultRecord(n: number): LedgerRecord {
  const { component, at, key } = issuedRecord(n);
  return {
    kind: 'result',
    key: `request-${n}/result`,
    at,
    component,
    of: key,
    outcome: 'delivered',
  };
}

export function appending(record: LedgerRecord): AppendRequest {
  return { record, by: SENDER, salt: randomBytes(32) };
}

export function issuedBatch(from: number, to: number): readonly AppendRequest[] {
  return Array.from({ length: to - from }, (_, at) => appending(issuedRecord(from + at)));
}

/** A record as the API lists it, as far as components read it. */
export interface ListedObject {
  readonly metadata: { readonly name: string };
  readonly record: unknown;
  readonly results?: readonly { readonly outcome: string }[];
}

/** The record at an index of the first log. */
export function listed(record: LedgerRecord, index = 0): ListedObject {
  return { metadata: { name: `1-${index}` }, record };
}
