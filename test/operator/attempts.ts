// SPDX-License-Identifier: Apache-2.0
/**
 * What somebody tries who holds the operator's token, and must not get: a sentence of SECURITY.md
 * each. Data only.
 */
import type { RequestInit } from '#kube/client/request.ts';

const SYSTEM = 'countersign-system';
const KEYS = 'countersign-keys';
const RBAC = 'rbac.authorization.k8s.io/v1';
const ALL = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];

/** As the operator writes: by server-side apply. */
function applied(path: string, object: object): RequestInit {
  return {
    method: 'PATCH',
    path,
    body: object,
    contentType: 'application/apply-patch+yaml',
    query: { fieldManager: 'countersign-operator', force: true },
  };
}

const roles = `/apis/${RBAC}/clusterroles`;

/** A ClusterRole with rules, as the operator makes one. */
export function roleApplied(name: string, rules: readonly object[]): RequestInit {
  const role = { apiVersion: RBAC, kind: 'ClusterRole', metadata: { name }, rules };
  return applied(`${roles}/${name}`, role);
}

/** A Deployment with another image: what it may do with those of components. */
export function deploymentApplied(namespace: string, name: string): RequestInit {
  const labels = { app: name };
  return applied(`/apis/apps/v1/namespaces/${namespace}/deployments/${name}`, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'main', image: 'evil.example/evil' }] },
      },
    },
  });
}

function secretMade(namespace: string, name: string): RequestInit {
  const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace } };
  return { method: 'POST', path: `/api/v1/namespaces/${namespace}/secrets`, body };
}

function binding(): RequestInit {
  const name = 'countersign-signer';
  const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole' };
  return applied(`/apis/${RBAC}/clusterrolebindings/${name}`, {
    apiVersion: RBAC,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { ...role, name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name, namespace: SYSTEM }],
  });
}

const admission = '/apis/admissionregistration.k8s.io/v1';
const countersigns = '/apis/operator.countersign.dev/v1alpha1/countersigns';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const accounts = `/api/v1/namespaces/${SYSTEM}/serviceaccounts`;

/** What it cannot → the call. */
export const ATTEMPTS: Readonly<Record<string, RequestInit>> = {
  'make a role that may more than itself': roleApplied('countersign-signer', ALL),
  'bind a component to a role that may more than itself': binding(),
  'write a role of another name': roleApplied('other', []),
  'write a Deployment of another name': deploymentApplied(SYSTEM, 'other'),
  'write a Deployment of another namespace': deploymentApplied('kube-system', 'countersign-signer'),
  'read another Secret': { method: 'GET', path: `/api/v1/namespaces/${KEYS}/secrets/other` },
  'list Secrets': { method: 'GET', path: `/api/v1/namespaces/${KEYS}/secrets` },
  'make a Secret beside the components': secretMade(SYSTEM, 'other'),
  'delete the Secret of a CA': {
    method: 'DELETE',
    path: `/api/v1/namespaces/${KEYS}/secrets/workload-ca`,
  },
  'delete a definition': {
    method: 'DELETE',
    path: `${definitions}/clustersigners.countersign.dev`,
  },
  'delete a namespace': { method: 'DELETE', path: `/api/v1/namespaces/${KEYS}` },
  'write a MutatingAdmissionPolicy': applied(`${admission}/mutatingadmissionpolicies/any`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicy',
    metadata: { name: 'any' },
    spec: {},
  }),
  'write a webhook': applied(`${admission}/mutatingwebhookconfigurations/any`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'any' },
  }),
  'write a Countersign': applied(`${countersigns}/cluster`, {
    apiVersion: 'operator.countersign.dev/v1alpha1',
    kind: 'Countersign',
    metadata: { name: 'cluster' },
    spec: { version: '0.1.0' },
  }),
  'write its own role': roleApplied('countersign-operator', ALL),
  'mint a token': {
    method: 'POST',
    path: `${accounts}/countersign-signer/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  },
};
