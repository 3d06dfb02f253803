// SPDX-License-Identifier: Apache-2.0
/** What components create: Events, Leases and evictions. */
import { FORGED } from '../taken-over/event-attempts.ts';
import { OPTED_IN } from './workloads.ts';
import { KEYS, METADATA, SYSTEM, type Body } from './writes.ts';

/** One object that a component creates. */
export interface Creation {
  readonly component: string;
  /** The component may, or may not, … */
  readonly law: string;
  readonly isAllowed: boolean;
  readonly path: string;
  readonly body: Body;
}

const leases = `/apis/coordination.k8s.io/v1/namespaces/${SYSTEM}/leases`;

function lease(
  component: string,
  name: string,
  more: object = {},
): Pick<Creation, 'path' | 'body'> {
  const labels = {
    'app.kubernetes.io/name': 'countersign',
    'app.kubernetes.io/component': component,
    'countersign.dev/secret-namespace': KEYS,
  };
  const spec = { holderIdentity: 'x', leaseDurationSeconds: 15 };
  const metadata = { name, labels, ...more };
  const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
  return { path: leases, body };
}

const may = { isAllowed: true };
const mayNot = { isAllowed: false };
const leaderOf = (component: string): string => `countersign-${component}.${KEYS}`;

export const LEASES: readonly Creation[] = [
  ...['acme', 'acme-solver', 'attester', 'authority', 'ledger', 'notifier'].map((component) => ({
    component,
    law: 'write the Lease of its leader',
    ...may,
    ...lease(component, leaderOf(component)),
  })),
  ...['approver', 'signer'].map((component) => ({
    component,
    law: 'write the Lease of a replica',
    ...may,
    ...lease(component, `countersign-${component}-5d9f-x2v`),
  })),
  {
    component: 'acme',
    law: 'write a Lease of acme-solver as its own',
    ...mayNot,
    ...lease('acme', leaderOf('acme-solver')),
  },
  {
    component: 'acme',
    law: 'write a Lease that begins as its own',
    ...mayNot,
    ...lease('acme', 'countersign-acme-x'),
  },
  {
    component: 'signer',
    law: 'write a Lease that begins with its name',
    ...mayNot,
    ...lease('signer', 'countersign-signers'),
  },
  {
    component: 'signer',
    law: 'write a Lease that is none of ours',
    ...mayNot,
    ...lease('signer', 'kube-scheduler', { labels: {} }),
  },
  ...Object.entries(METADATA).map(([change, { metadata }]) => {
    const { labels = {}, ...more } = metadata as { readonly labels?: object };
    const { path, body } = lease('signer', 'countersign-signer-5d9f-x2v', more);
    const given = body['metadata'] as { readonly labels: object };
    return {
      component: 'signer',
      law: `write its Lease with ${change}`,
      ...mayNot,
      path,
      body: { ...body, metadata: { ...given, labels: { ...given.labels, ...labels } } },
    };
  }),
];

const event = (component: string, metadata: object = {}): Pick<Creation, 'path' | 'body'> => ({
  path: FORGED.path,
  body: {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    ...FORGED.body,
    reportingController: `countersign.dev/${component}`,
    metadata: { ...FORGED.body.metadata, ...metadata },
  },
});

export const EVENTS: readonly Creation[] = [
  { component: 'signer', law: 'write an Event', ...may, ...event('signer') },
  { component: 'signer', law: 'write an Event of another', ...mayNot, ...event('approver') },
  ...(['a finalizer', 'an owner that does not exist'] as const).map((change) => ({
    component: 'signer',
    law: `write an Event with ${change}`,
    ...mayNot,
    ...event('signer', METADATA[change].metadata),
  })),
];

function eviction(deleteOptions: object): Pick<Creation, 'path' | 'body'> {
  const metadata = { name: 'web', namespace: OPTED_IN };
  return {
    path: `/api/v1/namespaces/${OPTED_IN}/pods/web/eviction`,
    body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata, deleteOptions },
  };
}

const uid = '1b4e28ba-2fa1-11d2-883f-0016d3cca427';

export const EVICTIONS: readonly Creation[] = [
  {
    component: 'pod-refresher',
    law: 'evict a pod without its UID',
    ...mayNot,
    ...eviction({}),
  },
  {
    component: 'pod-refresher',
    law: 'end a pod sooner than its author says',
    ...mayNot,
    ...eviction({ preconditions: { uid }, gracePeriodSeconds: 0 }),
  },
];
