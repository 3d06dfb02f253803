// SPDX-License-Identifier: Apache-2.0
import type { Secret } from '#api/object/object.ts';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import {
  decideLeaf,
  type LeafPlan,
  type LeafSnapshot,
} from '#trust/authority/own-tls/decide-leaf.ts';
import { issueLeaf } from '#trust/authority/own-tls/issue.ts';
import type { DesiredLeaf } from '#ca/rotation/leaf-renewal.ts';
import { NOW, random } from '../ca/issuing.ts';

export const SIGNER_NAME = 'countersign.dev/serving';
export const SERVICE = 'countersign-approver.countersign-system.svc';
export const WEEK = 7 * 86_400;

export const DESIRED: DesiredLeaf = {
  keyType: 'ECDSAP256',
  dnsNames: [SERVICE, `${SERVICE}.cluster.local`],
  durationSeconds: WEEK,
  backdateSeconds: 240,
};

/** A managed CA of a year, made at that time. */
export async function caOf(commonName: string, now = NOW): Promise<Authority> {
  const create = createManagedAuthorities(random);
  const wanted = { keyType: 'ECDSAP256', commonName, durationSeconds: 365 * 86_400 } as const;
  return openLocalAuthority(await create({ ...wanted, now }), now);
}

export const CA = await caOf('Countersign serving CA');

/** The texts of a certificate as we make it; `more` changes what is wished. */
export async function texts(
  more: Partial<DesiredLeaf> = {},
  by = CA,
  now = NOW,
): Promise<Readonly<Record<'tls.crt' | 'tls.key', string>>> {
  const { certificate, key } = await issueLeaf(by, { ...DESIRED, ...more }, { random, now });
  return { 'tls.crt': certificate, 'tls.key': key };
}

/** The Secret that the manifests make, filled in with these texts. */
export function secretWith(
  data: Readonly<Record<string, string>> | undefined,
  more: {
    readonly annotations?: Readonly<Record<string, string>>;
    readonly type?: string;
    readonly immutable?: boolean;
  } = {},
): Secret {
  const { annotations = { 'countersign.dev/duration': '168h' }, ...rest } = more;
  const encoded = Object.entries(data ?? {}).map(([key, text]) => [
    key,
    Buffer.from(text).toString('base64'),
  ]);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      namespace: 'countersign-system',
      name: 'countersign-approver-serving',
      uid: 's-1',
      resourceVersion: '7',
      creationTimestamp: '2026-05-01T00:00:00Z',
      annotations: { 'countersign.dev/filled-by': SIGNER_NAME, ...annotations },
    },
    type: 'Opaque',
    ...(data === undefined ? {} : { data: Object.fromEntries(encoded) as Record<string, string> }),
    ...rest,
  };
}

/**
 * What is decided, by default about the given Secret, with the CA's anchor known to all readers.
 */
export function planOf(secret: Secret | undefined, more: Partial<LeafSnapshot> = {}): LeafPlan {
  return decideLeaf({
    name: 'countersign-system/countersign-approver-serving',
    secret: secret === undefined ? { kind: 'missing' } : { kind: 'found', secret },
    runs: true,
    signerName: SIGNER_NAME,
    desired: DESIRED,
    authority: CA.facts,
    readFrom: Number.NEGATIVE_INFINITY,
    now: NOW,
    ...more,
  });
}
