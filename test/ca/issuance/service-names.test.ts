// SPDX-License-Identifier: Apache-2.0
/**
 * Held to Kubernetes DNS-Based Service Discovery 1.0.1 (kubernetes/dns, docs/specification.md) as a
 * model of records.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { serviceNames, type NamedPod } from '#ca/issuance/service-names.ts';
import { SERVICE_NAME_FORMS, type ServiceNameForm } from '#base/vocabulary.ts';
import { refuses } from '../../support/pki/refuses.ts';

const zone = 'cluster.local';
const FULL = { forms: ['FullyQualified'], clusterDomain: zone } as const;

function podBehind(services: NamedPod['services'], more: Partial<NamedPod> = {}): NamedPod {
  return {
    namespace: 'shop',
    labels: {},
    hostname: '',
    subdomain: '',
    ip: '',
    services,
    ...more,
  };
}

const web = { name: 'web', isHeadless: false };
const db = { name: 'db', isHeadless: true };

test('each form is what its name says', () => {
  const spelled: Record<ServiceNameForm, readonly string[]> = {
    Service: ['web'],
    ServiceNamespace: ['web.shop'],
    ServiceNamespaceSvc: ['web.shop.svc'],
    FullyQualified: ['web.shop.svc.cluster.local'],
  };
  for (const form of SERVICE_NAME_FORMS) {
    const found = serviceNames(podBehind([web]), { forms: [form], clusterDomain: zone });
    assert.deepEqual(found, spelled[form]);
  }
});

test('a pod of a StatefulSet has its own name below the headless Service, in each form', () => {
  const pod = podBehind([db], { hostname: 'db-0', subdomain: 'db' });
  assert.deepEqual(serviceNames(pod, { forms: SERVICE_NAME_FORMS, clusterDomain: zone }), [
    'db',
    'db-0.db',
    'db.shop',
    'db-0.db.shop',
    'db.shop.svc',
    'db-0.db.shop.svc',
    'db.shop.svc.cluster.local',
    'db-0.db.shop.svc.cluster.local',
  ]);
});

test('names below a cluster IP, another Service or a pod without hostname do not exist', () => {
  const own = { hostname: 'web-0', subdomain: 'web' };
  const plain = ['web.shop.svc.cluster.local'];
  assert.deepEqual(serviceNames(podBehind([web], own), FULL), plain);
  const headless = { name: 'web', isHeadless: true };
  assert.deepEqual(serviceNames(podBehind([headless], { ...own, subdomain: 'db' }), FULL), plain);
  assert.deepEqual(serviceNames(podBehind([headless], { ...own, hostname: '' }), FULL), plain);
});

/** RFC 1035 label, short: collisions are what is looked for. */
const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,3}[a-z0-9])?$/);

const cluster = fc.record({
  namespace: label,
  services: fc.uniqueArray(fc.record({ name: label, isHeadless: fc.boolean() }), {
    selector: ({ name }) => name,
    maxLength: 5,
  }),
  hostname: fc.option(label, { nil: '' }),
  subdomain: fc.option(label, { nil: '' }),
});

/**
 * §2.3.1, §2.4.1: the A records whose address is that of the Service, or of this endpoint of it.
 */
function records({
  namespace,
  services,
  hostname,
  subdomain,
}: Pick<NamedPod, 'namespace' | 'services' | 'hostname' | 'subdomain'>): Set<string> {
  const found = new Set<string>();
  for (const { name, isHeadless } of services) {
    found.add(`${name}.${namespace}.svc.${zone}`);
    // The endpoint's field `hostname`, as kube-controller-manager sets it (ShouldSetHostname).
    const endpointHostname = subdomain === name && hostname !== '' ? hostname : undefined;
    if (isHeadless && endpointHostname !== undefined)
      found.add(`${endpointHostname}.${name}.${namespace}.svc.${zone}`);
  }
  return found;
}

test('fully qualified names are exactly the specified A records that lead to the pod', () => {
  fc.assert(
    fc.property(cluster, (of) => {
      const found = serviceNames(podBehind(of.services, of), FULL);
      assert.deepEqual(new Set(found), records(of));
      assert.equal(new Set(found).size, found.length);
    }),
  );
});

test('a shorter form is a specified record, completed by the namespace’s search list', () => {
  fc.assert(
    fc.property(cluster, fc.subarray([...SERVICE_NAME_FORMS], { minLength: 1 }), (of, forms) => {
      const search = [`${of.namespace}.svc.${zone}`, `svc.${zone}`, zone];
      const known = records(of);
      for (const name of serviceNames(podBehind(of.services, of), { forms, clusterDomain: zone })) {
        const completed = [name, ...search.map((suffix) => `${name}.${suffix}`)];
        assert.ok(
          completed.some((each) => known.has(each)),
          name,
        );
      }
    }),
  );
});

test('without a Service there is no name', () => {
  assert.deepEqual(serviceNames(podBehind([], { hostname: 'a', subdomain: 'b' }), FULL), []);
});

test('a name longer than DNS allows is refused, not cut', () => {
  const long = 'x'.repeat(63);
  const pod = podBehind([{ name: long, isHeadless: true }], {
    namespace: long,
    hostname: long,
    subdomain: long,
  });
  const clusterDomain = `${long}.${'y'.repeat(56)}`;
  refuses(
    () => serviceNames(pod, { forms: ['FullyQualified'], clusterDomain }),
    ...(['NAME_INVALID', /more than 253 characters/] as const),
  );
});
