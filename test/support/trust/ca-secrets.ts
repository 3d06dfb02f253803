// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from 'node:crypto';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { SERVED_SINCE, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { Condition } from '#api/request/conditions.ts';
import type { Secret } from '#api/object/object.ts';
import { formatTime } from '#api/object/time.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { decide, type SignerPlan } from '#trust/authority/decide/decide.ts';
import { inspectWith } from '#trust/authority/decide/inspect.ts';
import { NOW, ca, keyIds, link, usage, type Link } from '../pki/chain.ts';
import { workload } from '../signers/workload-profile.ts';
import type { SignerSnapshot } from '#trust/authority/decide/snapshot.ts';

export const authority = (name: string): Link =>
  link(name, { extensions: [ca(), usage(), ...keyIds(name)] });

export const A = authority('A');
export const B = authority('B');
/** A CA below A. */
export const BELOW = link('below', {
  extensions: [ca(0), usage(), ...keyIds('below', 'A')],
  by: A,
});

export const certificate = (of: Link): X509Certificate => new X509Certificate(of.certificate.raw);
export const fingerprintOf = (of: Link): string =>
  `sha256:${certificate(of).fingerprint256.replaceAll(':', '').toLowerCase()}`;
export const keyOf = ({ key }: Link): string =>
  key.export({ type: 'pkcs8', format: 'pem' }).toString();

const GRANT = { 'countersign.dev/signer-name': 'example.com/workload' };

/** What `authority` writes into a Secret that it made for {@link workload}. */
export const OURS = {
  ...GRANT,
  'countersign.dev/cluster-signer-uid': '5d7b4a1c-0000-4000-8000-000000000001',
};

/** The CA Secret, granted, with these texts replaced; `undefined` leaves a key out. */
export function secret(
  of: Link,
  texts: Readonly<Record<string, string | undefined>> = {},
  annotations: Readonly<Record<string, string>> = GRANT,
): Secret {
  const all: Record<string, string | undefined> = {
    'tls.crt': certificate(of).toString(),
    'tls.key': keyOf(of),
    ...texts,
  };
  const data = Object.entries(all).flatMap(([key, text]) =>
    text === undefined ? [] : [[key, Buffer.from(text).toString('base64')] as const],
  );
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      namespace: 'countersign-keys',
      name: 'workload-ca',
      uid: 's-1',
      resourceVersion: '3',
      creationTimestamp: '2026-05-01T00:00:00Z',
      annotations,
    },
    type: 'kubernetes.io/tls',
    data: Object.fromEntries(data),
  };
}

export const OWN = {
  'authority.managed': undefined,
  'authority.secret': { namespace: 'countersign-keys', name: 'corp-ca' },
};

/** The bundle with these anchors, each served since so many seconds before {@link NOW}. */
export function bundleWith(...anchors: readonly (readonly [Link, number])[]): ClusterTrustBundle {
  const since = anchors.map(([of, age]) => [fingerprintOf(of), formatTime(NOW - age * 1000)]);
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    metadata: {
      ...workload().metadata,
      name: 'example.com:workload:primary',
      annotations: { [SERVED_SINCE]: JSON.stringify(Object.fromEntries(since)) },
    },
    spec: {
      signerName: 'example.com/workload',
      trustBundle: anchors.map(([of]) => certificate(of).toString()).join(''),
    },
  };
}

const LONG = 86_400;

/** What is decided, by default on a managed CA whose Secret holds A; A and B are long published. */
export function planOf(more: Partial<SignerSnapshot> = {}): SignerPlan {
  const now = more.now ?? NOW;
  return decide({
    signer: workload(),
    elder: undefined,
    serving: undefined,
    specError: undefined,
    secret: { kind: 'found', secret: secret(A) },
    inspect: inspectWith(openLocalAuthority, now, workload()),
    bundle: bundleWith([A, LONG], [B, LONG]),
    isBundleKnown: false,
    secretNamespace: 'countersign-keys',
    propagationSeconds: 600,
    clocksApart: false,
    now,
    ...more,
  });
}

export function readyOf({ status }: SignerPlan): Condition {
  const [ready] = status.conditions ?? [];
  if (ready?.type !== 'Ready') throw new Error('Ready comes first');
  return ready;
}

/** The ClusterSigner once the plan's status is written. */
export function after(plan: SignerPlan, signer: ClusterSigner = workload()): ClusterSigner {
  return { ...signer, status: plan.status };
}
