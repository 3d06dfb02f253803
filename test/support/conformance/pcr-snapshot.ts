// SPDX-License-Identifier: Apache-2.0
import type { Condition } from '../../../src/api/request/conditions.ts';
import { formatTime } from '../../../src/api/object/time.ts';
import { DEFAULT_PROFILE } from '../../../src/conformance/profile.ts';
import { readChain } from '../../../src/conformance/issued-leaf.ts';
import {
  PCR_OPERATIONS,
  type PcrOperation,
  type PcrScene,
  type PcrWorld,
} from '../../../src/conformance/pcr/snapshot.ts';
import {
  NO_NAMES,
  type Asked,
  type Scene,
  type Snapshot,
  type Trial,
} from '../../../src/conformance/observed-request.ts';
import type { Operation } from '../../../src/conformance/snapshot.ts';
import { POD_KEY_TYPES } from '../../../src/vocabulary.ts';
import { askedFor } from './csr-snapshot.ts';
import { NOW, ROOT, leaf, type Parts } from './leaf.ts';
import { asked, snapshot, trial } from './observed-requests.ts';

const POD = { namespace: 'team-a', serviceAccount: 'web' };
const ID = 'spiffe://cluster.local/ns/team-a/sa/web';
const HOUR = 3600;

/** What a pod of team-a/web asks for; the stub names nobody. */
export function podAsked(more: Partial<Asked> = {}): Asked {
  return asked({ names: NO_NAMES, usages: [], pod: POD, ...more });
}

/** A status with the three times of the leaf, the refresh at half of its life. */
export function podSnapshot(pem: string, more: Partial<Snapshot> = {}): Snapshot {
  const chain = readChain(pem);
  const [first] = typeof chain === 'string' ? [] : chain;
  const { notBefore = 0, notAfter = 0 } = first ?? {};
  return snapshot('issued', {
    at: 40,
    pem,
    conditions: [condition('Issued', 'Issued')],
    times: {
      notBefore: formatTime(notBefore),
      notAfter: formatTime(notAfter),
      beginRefreshAt: formatTime((notBefore + notAfter) / 2),
    },
    ...more,
  });
}

export function condition(type: string, reason: string): Condition {
  return { type, status: 'True', reason, message: 'as it is', lastTransitionTime: formatTime(NOW) };
}

/** What the signer puts into a pod's leaf, whatever the stub says. */
function issuedNames(what: Asked): Asked {
  return {
    ...what,
    names: { ...NO_NAMES, uris: [ID] },
    usages: ['digital signature', 'client auth', 'server auth'],
  };
}

export function podIssued(
  what: Asked = podAsked(),
  parts: Parts = {},
  more: Partial<Snapshot> = {},
): Trial {
  const { pem } = leaf(issuedNames(what), parts);
  return trial(what, [snapshot('pending', { conditions: [] }), podSnapshot(pem, more)], {
    ownWrites: 0,
  });
}

/** The same of a leaf with these names. */
export function podIssuedFor(names: Partial<Asked['names']>, what: Asked = podAsked()): Trial {
  const named = { ...issuedNames(what), names: { ...NO_NAMES, ...names } };
  return trial(what, [snapshot('pending'), podSnapshot(leaf(named).pem)], { ownWrites: 0 });
}

export function podDenied(reason: string, what: Asked = podAsked()): Trial {
  const conditions = [condition('Denied', reason)];
  return trial(what, [snapshot('pending'), snapshot('denied', { at: 9, conditions })], {
    ownWrites: 0,
  });
}

export function podPending(what: Asked = podAsked()): Trial {
  return trial(what, [snapshot('pending')], { ownWrites: 0 });
}

export function goodPcrWorld(more: Partial<PcrWorld> = {}): PcrWorld {
  return {
    signerName: 'kubernetes.io/kube-apiserver-client-pod',
    profile: {
      ...DEFAULT_PROFILE,
      keyTypes: ['ECDSAP256', 'ED25519'],
      maxDuration: 24 * HOUR,
      uris: ['spiffe://cluster.local/ns/{namespace}/sa/{serviceAccount}'],
      annotatedUris: ['spiffe://cluster.local/ns/{namespace}/sa/{serviceAccount}'],
    },
    scenes: goodScenes(),
    burst: [podIssued(), podIssued()],
    anchors: { certificates: [ROOT.certificate], from: 'ClusterTrustBundle example.com:x:primary' },
    operations: Object.fromEntries(
      PCR_OPERATIONS.map((name) => [name, { seen: 'as it must be' }]),
    ) as Readonly<Record<PcrOperation, Operation>>,
    ...more,
  };
}

function goodScenes(): Readonly<Record<PcrScene, Scene>> {
  const keys = Object.fromEntries(
    POD_KEY_TYPES.map((keyType) => {
      const what = podAsked({ keyType, spki: askedFor(keyType).spki });
      const listed = keyType === 'ECDSAP256' || keyType === 'ED25519';
      return [keyType, listed ? podIssued(what) : podDenied('UnsupportedKeyType', what)];
    }),
  ) as Readonly<Record<(typeof POD_KEY_TYPES)[number], Trial>>;
  const day = podAsked({ lifetimeSeconds: 24 * HOUR });
  return {
    ...keys,
    pod: podIssued(),
    podDefault: podIssued(day),
    podAnnotated: podIssued(),
    plain: podIssued(),
    again: podIssued(),
    labelled: podIssued(),
    deleted: podPending(),
    foreign: podPending(),
    longerName: podPending(),
    noLifetime: podIssued(day),
    days91: podIssued(podAsked({ lifetimeSeconds: 91 * 24 * HOUR }), {
      notAfter: NOW - 60_000 + 24 * HOUR * 1000,
    }),
    stubSubject: podDenied('NonEmptyStubRequest'),
    stubNames: podDenied('NonEmptyStubRequest'),
    stubAuthority: podDenied('NonEmptyStubRequest'),
    stubUnknown: podIssued(),
    unknownAnnotation: podDenied('InvalidUnverifiedUserAnnotations'),
    foreignPath: podDenied('InvalidUnverifiedUserAnnotations'),
  };
}

/** A good world with other scenes. */
export function withPodScenes(seen: Partial<Record<PcrScene, Scene>>): PcrWorld {
  const world = goodPcrWorld();
  return { ...world, scenes: { ...world.scenes, ...seen } };
}
