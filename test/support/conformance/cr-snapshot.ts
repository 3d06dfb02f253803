// SPDX-License-Identifier: Apache-2.0
import type { Condition } from '#api/request/conditions.ts';
import {
  CR_KEY_TYPES,
  type CrScenario,
  type CrSnapshot,
} from '#conformance/certificaterequest/snapshot.ts';
import { DEFAULT_PROFILE } from '#conformance/profile.ts';
import {
  NO_NAMES,
  type RequestedLeaf,
  type ScenarioResult,
  type ObjectVersion,
  type ObservedRequest,
} from '#conformance/observed-request.ts';
import { requestedFor } from './csr-snapshot.ts';
import { NOW, ROOT, leaf, type Parts } from './leaf.ts';
import { requested, pending, snapshot, request } from './observed-requests.ts';

const APPROVED: Condition = {
  type: 'Approved',
  status: 'True',
  reason: 'Conformance',
  message: 'by the runner',
};
const DENIED: Condition = {
  type: 'Denied',
  status: 'True',
  reason: 'Conformance',
  message: 'by the runner',
};
const HOUR = 3600_000;

export function ready(status: 'True' | 'False', reason: string): Condition {
  return { type: 'Ready', status, reason, message: 'as it is' };
}

export function crIssued(
  what: RequestedLeaf = requested(),
  parts: Parts = {},
  more: Partial<ObjectVersion> = {},
): ObservedRequest {
  const conditions = [APPROVED, ready('True', 'Issued')];
  const { pem } = leaf(what, parts);
  return request(what, [
    snapshot('pending'),
    snapshot('approved', { at: 5, conditions: [APPROVED] }),
    snapshot('issued', { at: 40, pem, conditions, ca: ROOT.pem, ...more }),
  ]);
}

export function crFailed(
  what: RequestedLeaf = requested(),
  more: Partial<ObjectVersion> = {},
): ObservedRequest {
  const conditions = [APPROVED, ready('False', 'Failed')];
  const failureTime = '2026-11-21T12:00:00Z';
  return request(what, [
    snapshot('pending'),
    snapshot('failed', { at: 9, conditions, failureTime, ...more }),
  ]);
}

export function crWaiting(what: RequestedLeaf = requested()): ObservedRequest {
  return request(what, [snapshot('pending'), snapshot('approved', { conditions: [APPROVED] })]);
}

export function crDenied(more: Partial<ObjectVersion> = {}): ObservedRequest {
  const conditions = [DENIED, ready('False', 'Denied')];
  const failureTime = '2026-11-21T12:00:00Z';
  return request(requested(), [
    snapshot('pending'),
    snapshot('denied', { conditions: [DENIED] }),
    snapshot('denied', { conditions, failureTime, ...more }),
  ]);
}

export function goodCrSnapshot(more: Partial<CrSnapshot> = {}): CrSnapshot {
  const anchors = { certificates: [ROOT.certificate], from: 'ca.crt' };
  return {
    signerName: 'ClusterSigner.countersign.dev/workload',
    profile: { ...DEFAULT_PROFILE, keyTypes: ['ECDSAP256', 'ED25519'], maxDuration: 12 * 3600 },
    scenarios: goodScenarios(),
    burst: [crIssued(), crIssued()],
    anchors,
    statusCa: { ...anchors, from: 'status.ca' },
    operations: {},
    ...more,
  };
}

export function withCrScenarios(seen: Partial<Record<CrScenario, ScenarioResult>>): CrSnapshot {
  const snapshot = goodCrSnapshot();
  return { ...snapshot, scenarios: { ...snapshot.scenarios, ...seen } };
}

function goodScenarios(): Readonly<Record<CrScenario, ScenarioResult>> {
  const keys = Object.fromEntries(
    CR_KEY_TYPES.map((keyType) => {
      const listed = keyType === 'ECDSAP256' || keyType === 'ED25519';
      return [keyType, listed ? crIssued(requestedFor(keyType)) : crFailed(requestedFor(keyType))];
    }),
  ) as Readonly<Record<(typeof CR_KEY_TYPES)[number], ObservedRequest>>;
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
    tenYears: crIssued(requested({ lifetimeSeconds: 315_360_000 }), { notAfter: NOW + 11 * HOUR }),
    noDuration: crIssued(requested({ lifetimeSeconds: undefined })),
    defaultUsages: crFailed(requested({ usages: ['digital signature', 'key encipherment'] })),
    isCa: crFailed(),
    certSign: crFailed(),
    alternativeNames: crIssued(requested({ names: alternative })),
    masters: crFailed(),
    systemUser: crFailed(),
    authorityExtension: crIssued(),
    unknownExtension: crIssued(),
    RSA1024: crFailed(),
  };
}
