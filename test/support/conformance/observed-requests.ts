// SPDX-License-Identifier: Apache-2.0
/** What the runner would have seen of a good signer, and of bad ones. */
import type { Condition } from '#api/request/conditions.ts';
import {
  NO_NAMES,
  type RequestedLeaf,
  type ObjectVersion,
  type RequestState,
  type ObservedRequest,
} from '#conformance/observed-request.ts';
import { privateKey, spkiOf } from '../pki/keys.ts';
import { NOW, leaf, type Parts } from './leaf.ts';

export function requested(more: Partial<RequestedLeaf> = {}): RequestedLeaf {
  return {
    keyType: 'ECDSAP256',
    spki: spkiOf(privateKey('P-256', 'requested')),
    names: { ...NO_NAMES, commonName: 'conformance.example.com' },
    usages: ['digital signature', 'client auth'],
    lifetimeSeconds: 3600,
    ...more,
  };
}

const FRAME = JSON.stringify({ labels: {}, annotations: {} });

let version = 100;

export function snapshot(state: RequestState, more: Partial<ObjectVersion> = {}): ObjectVersion {
  version += 1;
  return {
    at: 0,
    resourceVersion: String(version),
    state,
    conditions: conditionsOf(state),
    pem: '',
    immutableFields: FRAME,
    ...more,
  };
}

const approved: Condition = {
  type: 'Approved',
  status: 'True',
  reason: 'Conformance',
  message: 'by the runner',
};

function conditionsOf(state: RequestState): readonly Condition[] {
  if (state === 'pending') return [];
  if (state === 'denied')
    return [{ type: 'Denied', status: 'True', reason: 'NotAllowed', message: 'not allowed' }];
  if (state === 'failed') {
    return [
      approved,
      { type: 'Failed', status: 'True', reason: 'SigningPolicy', message: 'not by this CA' },
    ];
  }
  return [approved];
}

export function request(
  what: RequestedLeaf,
  versions: readonly ObjectVersion[],
  more: Partial<ObservedRequest> = {},
): ObservedRequest {
  return {
    requested: what,
    versions,
    isComplete: true,
    runnerWrites: 1,
    createdAt: NOW,
    endedAt: NOW,
    waitedMs: 30_000,
    ...more,
  };
}

/** Created, approved by the run, signed. */
export function issued(
  what: RequestedLeaf = requested(),
  parts: Parts = {},
  more: Partial<ObjectVersion> = {},
): ObservedRequest {
  const { pem } = leaf(what, parts);
  return request(what, [
    snapshot('pending'),
    snapshot('approved', { at: 5 }),
    snapshot('issued', { at: 40, pem, ...more }),
  ]);
}

export function refused(
  what: RequestedLeaf,
  state: 'denied' | 'failed' = 'failed',
): ObservedRequest {
  return request(what, [
    snapshot('pending'),
    snapshot('approved', { at: 5 }),
    snapshot(state, { at: 9 }),
  ]);
}

/** Created, approved by the run, and nothing since. */
export function waiting(what: RequestedLeaf = requested()): ObservedRequest {
  return request(what, [snapshot('pending'), snapshot('approved', { at: 5 })]);
}

/** Created, and nothing since. */
export function pending(what: RequestedLeaf = requested()): ObservedRequest {
  return request(what, [snapshot('pending')], { runnerWrites: 0 });
}

/** `first`, then one more version in which `more` is different. */
export function writtenAgain(
  first: ObservedRequest,
  more: Partial<ObjectVersion> = {},
): ObservedRequest {
  const last = first.versions.at(-1) ?? snapshot('pending');
  version += 1;
  return {
    ...first,
    versions: [
      ...first.versions,
      { ...last, resourceVersion: String(version), at: last.at + 1, ...more },
    ],
  };
}
