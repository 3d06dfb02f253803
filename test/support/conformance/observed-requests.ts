// SPDX-License-Identifier: Apache-2.0
/** What the kit would have seen of a good signer, and of bad ones. */
import type { Condition } from '../../../src/api/request/conditions.ts';
import {
  NO_NAMES,
  type Asked,
  type Snapshot,
  type State,
  type Trial,
} from '../../../src/conformance/observed-request.ts';
import { privateKey, spkiOf } from '../pki/keys.ts';
import { NOW, leaf, type Parts } from './leaf.ts';

export function asked(more: Partial<Asked> = {}): Asked {
  return {
    keyType: 'ECDSAP256',
    spki: spkiOf(privateKey('P-256', 'asked')),
    names: { ...NO_NAMES, commonName: 'conformance.example.com' },
    usages: ['digital signature', 'client auth'],
    lifetimeSeconds: 3600,
    ...more,
  };
}

const FRAME = JSON.stringify({ labels: {}, annotations: {} });

let version = 100;

export function snapshot(state: State, more: Partial<Snapshot> = {}): Snapshot {
  version += 1;
  return {
    at: 0,
    resourceVersion: String(version),
    state,
    conditions: conditionsOf(state),
    pem: '',
    frame: FRAME,
    ...more,
  };
}

const approved: Condition = {
  type: 'Approved',
  status: 'True',
  reason: 'Kit',
  message: 'by the kit',
};

function conditionsOf(state: State): readonly Condition[] {
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

export function trial(
  what: Asked,
  versions: readonly Snapshot[],
  more: Partial<Trial> = {},
): Trial {
  return {
    asked: what,
    versions,
    watched: true,
    ownWrites: 1,
    endedAt: NOW,
    waitedMs: 30_000,
    ...more,
  };
}

/** Created, approved by the kit, signed. */
export function issued(
  what: Asked = asked(),
  parts: Parts = {},
  more: Partial<Snapshot> = {},
): Trial {
  const { pem } = leaf(what, parts);
  return trial(what, [
    snapshot('pending'),
    snapshot('approved', { at: 5 }),
    snapshot('issued', { at: 40, pem, ...more }),
  ]);
}

export function refused(what: Asked, state: 'denied' | 'failed' = 'failed'): Trial {
  return trial(what, [
    snapshot('pending'),
    snapshot('approved', { at: 5 }),
    snapshot(state, { at: 9 }),
  ]);
}

/** Created, approved by the kit, and nothing since. */
export function waiting(what: Asked = asked()): Trial {
  return trial(what, [snapshot('pending'), snapshot('approved', { at: 5 })]);
}

/** Created, and nothing since. */
export function pending(what: Asked = asked()): Trial {
  return trial(what, [snapshot('pending')], { ownWrites: 0 });
}

/** `first`, then one more version in which `more` is different. */
export function writtenAgain(first: Trial, more: Partial<Snapshot> = {}): Trial {
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
