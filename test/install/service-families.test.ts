// SPDX-License-Identifier: Apache-2.0
/** Services in clusters of two IP families. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMPONENTS } from '#install/component-list.ts';
import { installationFiles } from '#install/files.ts';
import { planOf } from '#install/values/plan.ts';

interface Service {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly clusterIP?: string; readonly ipFamilyPolicy?: string };
}

function services(): readonly Service[] {
  const optional = [...COMPONENTS].filter((each) => each[1].optional !== undefined);
  const values = {
    signers: [{ name: 'example.com/workload' }],
    components: Object.fromEntries(optional.map(([name]) => [name, { enabled: true }])),
    acme: { signers: [{ name: 'example.com/public' }] },
  };
  const files = installationFiles(planOf(values, { namespace: 'default', version: '0.1.0' }));
  const objects = [...files.values()].flat() as unknown as readonly Service[];
  return objects.filter(({ kind }) => kind === 'Service');
}

test('a Service for clients has an address of each family that the cluster has', () => {
  const forClients = services().filter(({ spec }) => spec.clusterIP !== 'None');
  assert.ok(forClients.length >= 5);
  for (const { metadata, spec } of forClients)
    assert.equal(spec.ipFamilyPolicy, 'PreferDualStack', metadata.name);
});

// Prometheus' role endpointslice makes a target of each address of each EndpointSlice, and there
// is one EndpointSlice for each family.
test('a Service for scrapers has one family, so that each replica is scraped once', () => {
  const headless = services().filter(({ spec }) => spec.clusterIP === 'None');
  assert.ok(headless.length >= 6);
  for (const { metadata, spec } of headless)
    assert.equal(spec.ipFamilyPolicy, undefined, metadata.name);
});
