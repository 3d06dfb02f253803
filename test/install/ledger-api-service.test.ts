// SPDX-License-Identifier: Apache-2.0
/**
 * The ledger harms nothing when it is away: no installation has its APIService that did not choose
 * it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMPONENTS } from '#install/component-list.ts';
import { installationFiles } from '#install/files.ts';
import { planOf } from '#install/values/plan.ts';
import { DEMO } from '../../build/demo-installation.ts';
import { components, linesOf } from './roles.ts';

function objectsOf(ledger: object, replicas: number): readonly Record<string, unknown>[] {
  const all = [...COMPONENTS].filter(([, { optional }]) => optional !== undefined);
  const values = {
    signers: [{ name: 'example.com/workload' }],
    components: {
      ...Object.fromEntries(all.map(([name]) => [name, { enabled: true }])),
      ledger: { enabled: true, replicas },
    },
    acme: { signers: [{ name: 'example.com/public' }] },
    ledger,
  };
  const files = installationFiles(planOf(values, { namespace: 'default', version: '0.1.0' }));
  return [...files.values()].flat();
}

const isApiService = ({ kind }: Record<string, unknown>): boolean => kind === 'APIService';

test('an installation with every component has no APIService', () => {
  assert.deepEqual(objectsOf({}, 1).filter(isApiService), []);
});

test('one that chose the aggregated API has that of the ledger', () => {
  const chosen = { aggregatedApi: true, postgres: { secret: 'ledger-database' } };
  const found = objectsOf(chosen, 2).filter(isApiService);
  assert.deepEqual(
    found.map(({ metadata }) => (metadata as { readonly name: string }).name),
    ['v1alpha1.ledger.countersign.dev'],
  );
});

/** Component → the rights that it has with the aggregated API alone. */
const SERVES: Readonly<Record<string, readonly string[]>> = {
  authority: [
    'get,list,watch,patch apiregistration.k8s.io/apiservices [v1alpha1.ledger.countersign.dev]',
  ],
  ledger: ['get /configmaps [extension-apiserver-authentication] @kube-system'],
};
const readsPolicies = (line: string): boolean => line.includes('validatingadmissionpolicies');

test('only when aggregated: authority writes the APIService, ledger reads the proxy CA', () => {
  for (const component of components) {
    const before = linesOf(component);
    const more = linesOf(component, { ...DEMO, aggregatedApi: true }).filter(
      (line) => !before.includes(line) && !readsPolicies(line),
    );
    assert.deepEqual(more, SERVES[component] ?? [], component);
    for (const line of SERVES[component] ?? []) assert.ok(!before.includes(line), line);
  }
});

test('the flag that takes these rights is there where they are', () => {
  const flagged = (ledger: object): readonly string[] =>
    objectsOf(ledger, 'postgres' in ledger ? 2 : 1)
      .filter(({ kind }) => kind === 'Deployment')
      .filter((each) => JSON.stringify(each).includes('"--aggregated-api"'))
      .map(({ metadata }) => (metadata as { readonly name: string }).name);
  assert.deepEqual(flagged({}), []);
  const chosen = { aggregatedApi: true, postgres: { secret: 'ledger-database' } };
  assert.deepEqual(flagged(chosen).toSorted(), ['countersign-authority', 'countersign-ledger']);
});

test('who may ask the ledger may do nothing else by that', () => {
  const role = objectsOf({}, 1).find(
    ({ kind, metadata }) =>
      kind === 'ClusterRole' &&
      (metadata as { readonly name: string }).name === 'countersign-ledger-client',
  );
  assert.deepEqual(role?.['rules'], [
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests'],
      verbs: ['create'],
    },
    {
      apiGroups: [''],
      resources: ['services/proxy'],
      resourceNames: ['https:countersign-ledger-api:443'],
      verbs: ['get', 'create'],
    },
    {
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: ['countersign-serving-ca'],
      verbs: ['get'],
    },
  ]);
});
