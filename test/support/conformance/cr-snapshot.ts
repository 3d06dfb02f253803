// SPDX-License-Identifier: Apache-2.0
import type { Condition } from '../../../src/api/request/conditions.ts';
import {
  CR_KEY_TYPES,
  type CrScene,
  type CrWorld,
} from '../../../src/conformance/certificaterequest/snapshot.ts';
import { DEFAULT_PROFILE } from '../../../src/conformance/profile.ts';
import {
  NO_NAMES,
  type Asked,
  type Scene,
  type Snapshot,
  type Trial,
} from '../../../src/conformance/observed-request.ts';
import { askedFor } from './csr-snapshot.ts';
import { NOW, ROOT, leaf, type Parts } from './leaf.ts';
import { asked, pending, snapshot, trial } from './observed-requests.ts';

const APPROVED: Condition = {
  type: 'Approved',
  status: 'True',
  reason: 'Kit',
  message: 'by the kit',
};
const DENIED: Condition = { type: 'Denied', status: 'True', reason: 'Kit', message: 'by the kit' };
const HOUR = 3600_000;

export function ready(status: 'True' | 'False', reason: string): Condition {
  return { type: 'Ready', status, reason, message: 'as it is' };
}

export function crIssued(
  what: Asked = asked(),
  parts: Parts = {},
  more: Partial<Snapshot> = {},
): Trial {
  const conditions = [APPROVED, ready('True', 'Issued')];
  const { pem } = leaf(what, parts);
  return trial(what, [
    snapshot('pending'),
    snapshot('approved', { at: 5, conditions: [APPROVED] }),
    snapshot('issued', { at: 40, pem, conditions, ca: ROOT.pem, ...more }),
  ]);
}

export function crFailed(what: Asked = asked(), more: Partial<Snapshot> = {}): Trial {
  const conditions = [APPROVED, ready('False', 'Failed')];
  const failureTime = '2026-11-21T12:00:00Z';
  return trial(what, [
    snapshot('pending'),
    snapshot('failed', { at: 9, conditions, failureTime, ...more }),
  ]);
}

export function crWaiting(what: Asked = asked()): Trial {
  return trial(what, [snapshot('pending'), snapshot('approved', { conditions: [APPROVED] })]);
}

export function crDenied(more: Partial<Snapshot> = {}): Trial {
  const conditions = [DENIED, ready('False', 'Denied')];
  const failureTime = '2026-11-21T12:00:00Z';
  return trial(asked(), [
    snapshot('pending'),
    snapshot('denied', { conditions: [DENIED] }),
    snapshot('denied', { conditions, failureTime, ...more }),
  ]);
}

export function goodCrWorld(more: Partial<CrWorld> = {}): CrWorld {
  const anchors = { certificates: [ROOT.certificate], from: 'ca.crt' };
  return {
    signerName: 'ClusterSigner.countersign.dev/workload',
    profile: { ...DEFAULT_PROFILE, keyTypes: ['ECDSAP256', 'ED25519'], maxDuration: 12 * 3600 },
    scenes: goodScenes(),
    burst: [crIssued(), crIssued()],
    anchors,
    ownAnchor: { ...anchors, from: 'status.ca' },
    operations: {},
    ...more,
  };
}

export function withCrScenes(seen: Partial<Record<CrScene, Scene>>): CrWorld {
  const world = goodCrWorld();
  return { ...world, scenes: { ...world.scenes, ...seen } };
}

function goodScenes(): Readonly<Record<CrScene, Scene>> {
  const keys = Object.fromEntries(
    CR_KEY_TYPES.map((keyType) => {
      const listed = keyType === 'ECDSAP256' || keyType === 'ED25519';
      return [keyType, listed ? crIssued(askedFor(keyType)) : crFailed(askedFor(keyType))];
    }),
  ) as Readonly<Record<(typeof CR_KEY_TYPES)[number], Trial>>;
  const alternative = {
    ...NO_NAMES,
    commonName: 'conformance.example.com',
    dnsNames: ['a.example.com'],
  };
  return {
    ...keys,
    plain: crIssued(),
    again: crIssued(),
    annotated: crIssued(),
    unapproved: pending(),
    denied: crDenied(),
    foreign: pending(),
    otherGroup: pending(),
    tenYears: crIssued(asked({ lifetimeSeconds: 315_360_000 }), { notAfter: NOW + 11 * HOUR }),
    noDuration: crIssued(asked({ lifetimeSeconds: undefined })),
    defaultUsages: crFailed(asked({ usages: ['digital signature', 'key encipherment'] })),
    isCa: crFailed(),
    certSign: crFailed(),
    alternativeNames: crIssued(asked({ names: alternative })),
    masters: crFailed(),
    systemUser: crFailed(),
    authorityExtension: crIssued(),
    unknownExtension: crIssued(),
    RSA1024: crFailed(),
  };
}
