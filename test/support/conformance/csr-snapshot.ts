// SPDX-License-Identifier: Apache-2.0
import { DEFAULT_PROFILE } from '../../../src/conformance/profile.ts';
import {
  CSR_OPERATIONS,
  type CsrOperation,
  type CsrScene,
  type CsrWorld,
} from '../../../src/conformance/csr/snapshot.ts';
import {
  NO_NAMES,
  type Asked,
  type Scene,
  type Trial,
} from '../../../src/conformance/observed-request.ts';
import type { Operation } from '../../../src/conformance/snapshot.ts';
import { encodeName } from '../../../src/pki/names/distinguished-name.ts';
import { KEY_TYPES, type KeyType } from '../../../src/vocabulary.ts';
import { privateKey, spkiOf, type TestKey } from '../pki/keys.ts';
import { ROOT } from './leaf.ts';
import { asked, issued, pending, refused, snapshot, trial } from './observed-requests.ts';

const KEYS: Readonly<Record<KeyType, TestKey>> = {
  RSA2048: 'RSA-2048',
  RSA3072: 'RSA-3072',
  RSA4096: 'RSA-4096',
  ECDSAP256: 'P-256',
  ECDSAP384: 'P-384',
  ECDSAP521: 'P-521',
  ED25519: 'Ed25519',
};

export function askedFor(keyType: KeyType): Asked {
  return asked({ keyType, spki: spkiOf(privateKey(KEYS[keyType])) });
}

export const MASTERS = asked({
  names: { ...NO_NAMES, commonName: 'eve', organizations: ['system:masters'] },
});

/** What the kit sees of a signer that does everything right. */
export function goodCsrWorld(more: Partial<CsrWorld> = {}): CsrWorld {
  return {
    signerName: 'kubernetes.io/kube-apiserver-client',
    profile: {
      ...DEFAULT_PROFILE,
      keyTypes: ['ECDSAP256', 'ED25519'],
      maxDuration: 12 * 3600,
      clientAuthentication: true,
    },
    scenes: goodScenes(),
    burst: [issued(), issued(), issued()],
    anchors: { certificates: [ROOT.certificate], from: 'ClusterTrustBundle example.com:x:primary' },
    operations: goodOperations(),
    login: { username: 'conformance.example.com' },
    ...more,
  };
}

export function goodOperations(): Readonly<Record<CsrOperation, Operation>> {
  return Object.fromEntries(
    CSR_OPERATIONS.map((name) => [name, { seen: 'as it must be' }]),
  ) as Readonly<Record<CsrOperation, Operation>>;
}

function goodScenes(): Readonly<Record<CsrScene, Scene>> {
  const keys = Object.fromEntries(
    KEY_TYPES.map((keyType) => {
      const listed = keyType === 'ECDSAP256' || keyType === 'ED25519';
      return [keyType, listed ? issued(askedFor(keyType)) : refused(askedFor(keyType))];
    }),
  ) as Readonly<Record<KeyType, Trial>>;
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
    denied: trial(asked(), [snapshot('pending'), snapshot('denied')]),
    deleted: pending(),
    foreign: pending(),
    longerName: pending(),
    tenMinutes: issued(asked({ lifetimeSeconds: 600 })),
    tenYears: issued(asked({ lifetimeSeconds: 315_360_000 }), { notAfter: undatedEnd() }),
    noLifetime: issued(asked({ lifetimeSeconds: undefined })),
    certSign: refused(asked({ usages: ['client auth', 'cert sign'] })),
    anyUsage: refused(asked({ usages: ['any'] })),
    encipherment: issued(
      asked({ usages: ['digital signature', 'key encipherment', 'client auth'] }),
    ),
    alternativeNames: issued(asked({ names: alternative })),
    masters: trial(MASTERS, [], { refusal: 'use of the group system:masters is not allowed' }),
    kubeadm: refused(asked()),
    systemUser: refused(asked()),
    userId: issued(),
    otherName: refused(asked()),
    twoNames: refused(asked()),
    authorityExtension: issued(),
    usageExtension: issued(),
    purposeExtension: issued(),
    unknownExtension: issued(),
    twoBlocks: issued(),
    RSA1024: refused(asked({ keyType: undefined })),
  };
}

/** Half a day from now: what a good signer makes of ten years. */
function undatedEnd(): number {
  return Date.UTC(2026, 10, 21, 23, 59);
}

/** A good world with another scene. */
export function withScene(scene: CsrScene, seen: Scene): CsrWorld {
  const world = goodCsrWorld();
  return { ...world, scenes: { ...world.scenes, [scene]: seen } };
}

export function nameOf(...organizations: readonly string[]): Uint8Array {
  return encodeName({ commonName: 'eve', organizations, organizationalUnits: [] });
}
