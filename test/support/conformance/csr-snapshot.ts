// SPDX-License-Identifier: Apache-2.0
import { DEFAULT_PROFILE } from '#conformance/profile.ts';
import {
  CSR_OPERATIONS,
  type CsrOperation,
  type CsrScenario,
  type CsrSnapshot,
} from '#conformance/csr/snapshot.ts';
import {
  NO_NAMES,
  type RequestedLeaf,
  type ScenarioResult,
  type ObservedRequest,
} from '#conformance/observed-request.ts';
import type { Operation } from '#conformance/snapshot.ts';
import { encodeName } from '#pki/names/distinguished-name.ts';
import { KEY_TYPES, type KeyType } from '#base/vocabulary.ts';
import { privateKey, spkiOf, type TestKey } from '../pki/keys.ts';
import { ROOT } from './leaf.ts';
import { requested, issued, pending, refused, snapshot, request } from './observed-requests.ts';

const KEYS: Readonly<Record<KeyType, TestKey>> = {
  RSA2048: 'RSA-2048',
  RSA3072: 'RSA-3072',
  RSA4096: 'RSA-4096',
  ECDSAP256: 'P-256',
  ECDSAP384: 'P-384',
  ECDSAP521: 'P-521',
  ED25519: 'Ed25519',
};

export function requestedFor(keyType: KeyType): RequestedLeaf {
  return requested({ keyType, spki: spkiOf(privateKey(KEYS[keyType])) });
}

export const MASTERS = requested({
  names: { ...NO_NAMES, commonName: 'eve', organizations: ['system:masters'] },
});

/** What the runner sees of a signer that does everything right. */
export function goodCsrSnapshot(more: Partial<CsrSnapshot> = {}): CsrSnapshot {
  return {
    signerName: 'kubernetes.io/kube-apiserver-client',
    profile: {
      ...DEFAULT_PROFILE,
      keyTypes: ['ECDSAP256', 'ED25519'],
      maxDuration: 12 * 3600,
      clientAuthentication: true,
    },
    scenarios: goodScenarios(),
    burst: [issued(), issued(), issued()],
    anchors: { certificates: [ROOT.certificate], from: 'ClusterTrustBundle example.com:x:primary' },
    operations: goodOperations(),
    clientAuthentication: { username: 'conformance.example.com' },
    ...more,
  };
}

export function goodOperations(): Readonly<Record<CsrOperation, Operation>> {
  return Object.fromEntries(
    CSR_OPERATIONS.map((name) => [name, { seen: 'as it must be' }]),
  ) as Readonly<Record<CsrOperation, Operation>>;
}

function goodScenarios(): Readonly<Record<CsrScenario, ScenarioResult>> {
  const keys = Object.fromEntries(
    KEY_TYPES.map((keyType) => {
      const listed = keyType === 'ECDSAP256' || keyType === 'ED25519';
      return [keyType, listed ? issued(requestedFor(keyType)) : refused(requestedFor(keyType))];
    }),
  ) as Readonly<Record<KeyType, ObservedRequest>>;
  const alternative = {
    ...NO_NAMES,
    commonName: 'conformance.example.com',
    dnsNames: ['a.example.com'],
    ipAddresses: ['192.0.2.1'],
    uris: ['https://example.com/a'],
    emails: ['a@example.com'],
  };
  return {
    ...keys,
    plain: issued(),
    again: issued(),
    annotated: issued(),
    unapproved: pending(),
    denied: request(requested(), [snapshot('pending'), snapshot('denied')]),
    deleted: pending(),
    foreign: pending(),
    longerName: pending(),
    tenMinutes: issued(requested({ lifetimeSeconds: 600 })),
    tenYears: issued(requested({ lifetimeSeconds: 315_360_000 }), { notAfter: undatedEnd() }),
    noLifetime: issued(requested({ lifetimeSeconds: undefined })),
    certSign: refused(requested({ usages: ['client auth', 'cert sign'] })),
    anyUsage: refused(requested({ usages: ['any'] })),
    encipherment: issued(
      requested({ usages: ['digital signature', 'key encipherment', 'client auth'] }),
    ),
    alternativeNames: issued(requested({ names: alternative })),
    masters: request(MASTERS, [], { rejection: 'use of the group system:masters is not allowed' }),
    kubeadm: refused(requested()),
    systemUser: refused(requested()),
    userId: issued(),
    otherName: refused(requested()),
    twoNames: refused(requested()),
    authorityExtension: issued(),
    usageExtension: issued(),
    purposeExtension: issued(),
    unknownExtension: issued(),
    twoBlocks: issued(),
    RSA1024: refused(requested({ keyType: undefined })),
  };
}

/** Half a day from now: what a good signer makes of ten years. */
function undatedEnd(): number {
  return Date.UTC(2026, 10, 21, 23, 59);
}

/** A good snapshot with another scenario. */
export function withScenario(scenario: CsrScenario, seen: ScenarioResult): CsrSnapshot {
  const snapshot = goodCsrSnapshot();
  return { ...snapshot, scenarios: { ...snapshot.scenarios, [scenario]: seen } };
}

export function nameOf(...organizations: readonly string[]): Uint8Array {
  return encodeName({ commonName: 'eve', organizations, organizationalUnits: [] });
}
