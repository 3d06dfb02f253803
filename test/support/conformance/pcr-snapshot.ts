// SPDX-License-Identifier: Apache-2.0
import type { Condition } from '#api/request/conditions.ts';
import { formatTime } from '#api/object/time.ts';
import { DEFAULT_PROFILE } from '#conformance/profile.ts';
import { readChain } from '#conformance/issued-leaf.ts';
import {
  PCR_OPERATIONS,
  type PcrOperation,
  type PcrScenario,
  type PcrSnapshot,
} from '#conformance/pcr/snapshot.ts';
import {
  NO_NAMES,
  type RequestedLeaf,
  type ScenarioResult,
  type ObjectVersion,
  type ObservedRequest,
} from '#conformance/observed-request.ts';
import type { Operation } from '#conformance/snapshot.ts';
import { POD_KEY_TYPES } from '#base/vocabulary.ts';
import { requestedFor } from './csr-snapshot.ts';
import { NOW, ROOT, leaf, type Parts } from './leaf.ts';
import { requested, snapshot, request } from './observed-requests.ts';

const POD = { namespace: 'team-a', serviceAccount: 'web' };
const ID = 'spiffe://cluster.local/ns/team-a/sa/web';
const HOUR = 3600;

/** What a pod of team-a/web asks for; the stub names nobody. */
export function podRequested(more: Partial<RequestedLeaf> = {}): RequestedLeaf {
  return requested({ names: NO_NAMES, usages: [], pod: POD, ...more });
}

/** What the runner made beside the pod: two that select it, and two that do not. */
const SERVICES = {
  namespace: 'team-a',
  selecting: ['served', 'headless'],
  others: ['other', 'alias'],
};

/** The request of a pod whose signer names Services. */
export function podServed(): RequestedLeaf {
  return podRequested({ services: SERVICES });
}

/** The leaf of such a pod with these DNS names. */
export function podNamed(...dnsNames: readonly string[]): ObservedRequest {
  return podIssuedFor({ uris: [ID], dnsNames }, podServed());
}

/** A status with the three times of the leaf, the refresh at half of its life. */
export function podSnapshot(pem: string, more: Partial<ObjectVersion> = {}): ObjectVersion {
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
function issuedNames(what: RequestedLeaf): RequestedLeaf {
  return {
    ...what,
    names: { ...NO_NAMES, uris: [ID] },
    usages: ['digital signature', 'client auth', 'server auth'],
  };
}

export function podIssued(
  what: RequestedLeaf = podRequested(),
  parts: Parts = {},
  more: Partial<ObjectVersion> = {},
): ObservedRequest {
  const { pem } = leaf(issuedNames(what), parts);
  return request(what, [snapshot('pending', { conditions: [] }), podSnapshot(pem, more)], {
    runnerWrites: 0,
  });
}

/** The same of a leaf with these names. */
export function podIssuedFor(
  names: Partial<RequestedLeaf['names']>,
  what: RequestedLeaf = podRequested(),
): ObservedRequest {
  const named = { ...issuedNames(what), names: { ...NO_NAMES, ...names } };
  return request(what, [snapshot('pending'), podSnapshot(leaf(named).pem)], { runnerWrites: 0 });
}

export function podDenied(reason: string, what: RequestedLeaf = podRequested()): ObservedRequest {
  const conditions = [condition('Denied', reason)];
  return request(what, [snapshot('pending'), snapshot('denied', { at: 9, conditions })], {
    runnerWrites: 0,
  });
}

export function podPending(what: RequestedLeaf = podRequested()): ObservedRequest {
  return request(what, [snapshot('pending')], { runnerWrites: 0 });
}

export function goodPcrSnapshot(more: Partial<PcrSnapshot> = {}): PcrSnapshot {
  return {
    signerName: 'kubernetes.io/kube-apiserver-client-pod',
    profile: {
      ...DEFAULT_PROFILE,
      keyTypes: ['ECDSAP256', 'ED25519'],
      maxDuration: 24 * HOUR,
      uris: ['spiffe://cluster.local/ns/{namespace}/sa/{serviceAccount}'],
      annotatedUris: ['spiffe://cluster.local/ns/{namespace}/sa/{serviceAccount}'],
    },
    scenarios: goodScenarios(),
    burst: [podIssued(), podIssued()],
    anchors: { certificates: [ROOT.certificate], from: 'ClusterTrustBundle example.com:x:primary' },
    operations: Object.fromEntries(
      PCR_OPERATIONS.map((name) => [name, { seen: 'as it must be' }]),
    ) as Readonly<Record<PcrOperation, Operation>>,
    ...more,
  };
}

function goodScenarios(): Readonly<Record<PcrScenario, ScenarioResult>> {
  const keys = Object.fromEntries(
    POD_KEY_TYPES.map((keyType) => {
      const what = podRequested({ keyType, spki: requestedFor(keyType).spki });
      const listed = keyType === 'ECDSAP256' || keyType === 'ED25519';
      return [keyType, listed ? podIssued(what) : podDenied('UnsupportedKeyType', what)];
    }),
  ) as Readonly<Record<(typeof POD_KEY_TYPES)[number], ObservedRequest>>;
  const day = podRequested({ lifetimeSeconds: 24 * HOUR });
  return {
    ...keys,
    pod: podNamed('served.team-a.svc', 'headless.team-a.svc'),
    podDefault: podIssued(day),
    podAnnotated: podIssued(),
    podUnserved: podPending(podServed()),
    plain: podIssued(),
    again: podIssued(),
    labelled: podIssued(),
    deleted: podPending(),
    foreign: podPending(),
    longerName: podPending(),
    noLifetime: podIssued(day),
    days91: podIssued(podRequested({ lifetimeSeconds: 91 * 24 * HOUR }), {
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

/** A good snapshot with other scenarios. */
export function withPodScenarios(seen: Partial<Record<PcrScenario, ScenarioResult>>): PcrSnapshot {
  const snapshot = goodPcrSnapshot();
  return { ...snapshot, scenarios: { ...snapshot.scenarios, ...seen } };
}
