// SPDX-License-Identifier: Apache-2.0
/**
 * What components try with objects that they may write: fields by which another controller acts, or
 * nothing acts any more.
 */
import { THEIRS } from '../held-writes/routes.ts';
import type { Call } from './attempts.ts';
import { ROUTE_ATTEMPTS } from './route-attempts.ts';

const KEYS = 'countersign-keys';
const SYSTEM = 'countersign-system';
const core = (namespace: string, plural: string, name: string): string =>
  `/api/v1/namespaces/${namespace}/${plural}/${name}`;
const copied = { metadata: { annotations: { 'reflector.example/copy-to': '*' } } };
const kept = { finalizers: ['example.com/stay'] };

/** What has to be there, besides the Secret of a CA. */
export function heldObjects(): readonly Record<string, unknown>[] {
  const of = (kind: string, name: string): Record<string, unknown> => ({
    apiVersion: 'v1',
    kind,
    metadata: { namespace: SYSTEM, name },
  });
  const theirs = { ...THEIRS, metadata: { ...THEIRS.metadata, namespace: SYSTEM } };
  const cursors = of('ConfigMap', 'countersign-notifier');
  return [of('Secret', 'countersign-ledger-key'), cursors, theirs];
}

/** A bundle with a finalizer. */
function keptBundle(name: string, more: object): Call {
  return {
    verb: 'create',
    path: '/apis/certificates.k8s.io/v1/clustertrustbundles',
    body: { metadata: { name, ...kept }, ...more },
  };
}

const AUTHORITY = {
  'make the Secret of a CA immutable': {
    verb: 'patch',
    path: core(KEYS, 'secrets', 'workload-ca'),
    body: { immutable: true },
  },
  'have a key copied by an annotation of another controller': {
    verb: 'patch',
    path: core(KEYS, 'secrets', 'workload-ca'),
    body: copied,
  },
  'write the APIService of the ledger where no administrator chose it': {
    verb: 'patch',
    path: '/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.ledger.countersign.dev',
    body: { spec: { insecureSkipTLSVerify: true } },
  },
} as const satisfies Readonly<Record<string, Call>>;

const ATTESTER = {
  'make a bundle that cannot be deleted': keptBundle('example.com:workload:primary', {
    spec: { signerName: 'example.com/workload' },
  }),
} as const;

const LEDGER = {
  'have its key copied by an annotation of another controller': {
    verb: 'replace',
    path: core(SYSTEM, 'secrets', 'countersign-ledger-key'),
    body: copied,
  },
  'read how the API server proves itself where no administrator chose that': {
    verb: 'get',
    path: core('kube-system', 'configmaps', 'extension-apiserver-authentication'),
  },
} as const satisfies Readonly<Record<string, Call>>;

const NOTIFIER = {
  'write something beside its cursors': {
    verb: 'patch',
    path: core(SYSTEM, 'configmaps', 'countersign-notifier'),
    body: { data: { 'run.sh': 'x' } },
  },
} as const satisfies Readonly<Record<string, Call>>;

/** `acme` begins as `acme-solver` does. */
const ACME = {
  'write the Lease of acme-solver as its own': {
    verb: 'create',
    path: `/apis/coordination.k8s.io/v1/namespaces/${SYSTEM}/leases`,
    body: {
      metadata: {
        name: `countersign-acme-solver.${KEYS}`,
        labels: { 'app.kubernetes.io/component': 'acme' },
      },
      spec: { holderIdentity: 'forged', leaseDurationSeconds: 300 },
    },
  },
} as const satisfies Readonly<Record<string, Call>>;

/** Component → sentence of SECURITY.md → what is tried. */
export const HELD: Readonly<Record<string, Readonly<Record<string, Call>>>> = {
  acme: ACME,
  'acme-solver': ROUTE_ATTEMPTS,
  attester: ATTESTER,
  authority: AUTHORITY,
  ledger: LEDGER,
  notifier: NOTIFIER,
};
