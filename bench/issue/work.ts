// SPDX-License-Identifier: Apache-2.0
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import { encodeRequest } from '#pki/x509/encode-request.ts';

export const KINDS = ['csr', 'pcr'] as const;
export type Kind = (typeof KINDS)[number];

/** What every contender is given, whatever it is written in. */
export interface Work {
  /** PEM: a self-signed P-256 CA and its key as PKCS#8. */
  readonly certificate: string;
  readonly key: string;
  /** base64 of DER PKCS#10 requests, each with a P-256 key of its own. */
  readonly requests: Readonly<Record<Kind, readonly string[]>>;
}

/** More keys than any cache holds by chance, few enough to be made at once. */
const REQUESTS = 256;

export async function writeWork(file: string): Promise<Work> {
  const { certificate, key } = await createManagedAuthorities((size) => randomBytes(size))({
    keyType: 'ECDSAP256',
    commonName: 'Bench CA',
    durationSeconds: 365 * 24 * 3600,
    now: Date.now(),
  });
  const all = (commonName: string, organizations: readonly string[]): readonly string[] =>
    Array.from({ length: REQUESTS }, () => newRequest(commonName, organizations));
  const work = { certificate, key, requests: { csr: all('jane', ['dev']), pcr: all('', []) } };
  writeFileSync(file, JSON.stringify(work), { mode: 0o600 });
  return work;
}

export function readWork(file: string): Work {
  return JSON.parse(readFileSync(file, 'utf8')) as Work;
}

/** A person's request for her name and group; of a pod the empty one, with a key alone. */
function newRequest(commonName: string, organizations: readonly string[]): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const der = encodeRequest({
    subject: { commonName, organizations, organizationalUnits: [] },
    sans: { dnsNames: [], ipAddresses: [], uris: [], emails: [] },
    key: privateKey,
  });
  return Buffer.from(der).toString('base64');
}

/** Issues the leaf of the request with this number, DER. */
export type Issue = (index: number) => Uint8Array | Promise<Uint8Array>;
