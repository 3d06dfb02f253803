// SPDX-License-Identifier: Apache-2.0
/**
 * acme-responder and acme-solver on a real API server, each with its own role; the test takes
 * acme's part.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../cluster/until.ts';
import { componentCalls, outsideRoles } from '../support/cluster/audit.ts';
import { SYSTEM_NAMESPACE } from '../support/cluster/installation.ts';
import { COMPONENTS } from './acme-solving/stand.ts';
import {
  ask,
  challenge,
  cluster,
  ENDED,
  KEYS,
  reportOf,
  roles,
  routes,
  running,
  RUNS,
  say,
  SOLVER_FLAGS,
  SOON,
  start,
  startStand,
  stopStand,
  TEAM,
} from './acme-solving/stand.ts';

before(startStand);
after(stopStand);

test('the responder answers only while a Challenge has to be presented', async () => {
  const one = await challenge('plain');
  assert.equal((await ask(one.token)).status, 404);
  await say(one, { processing: true });
  await say(one, RUNS);
  await until('it is answered', SOON, async () => (await ask(one.token)).status === 200);
  assert.equal((await ask(one.token)).body, one.key);
  await say(one, ENDED);
  await until('it is not', SOON, async () => (await ask(one.token)).status === 404);
});

test('an AcmeSigner proves by HTTP-01 only what its namespace was granted', async () => {
  const granted = await challenge('plain', { kind: 'AcmeSigner', dnsName: 'x.a.example.com' });
  const taken = await challenge('plain', { kind: 'AcmeSigner', dnsName: 'b.example.com' });
  await say(granted, RUNS);
  await say(taken, RUNS);
  await until('it is answered', SOON, async () => (await ask(granted.token)).status === 200);
  assert.equal((await ask(taken.token, 'b.example.com')).status, 404);
  const said = await until('it is said', SOON, async () => {
    const report = await reportOf(taken);
    return report.reason === undefined ? undefined : report;
  });
  assert.equal(said.reason, 'NameNotGranted');
  assert.match(
    said.message ?? '',
    /may not prove "b\.example\.com" by HTTP-01.*--http01-zone team-a=/,
  );
  assert.deepEqual(await routes('ingresses'), []);
});

test('an Ingress for the path of the token, while the Challenge is to be presented', async () => {
  const one = await challenge('ingress');
  await say(one, RUNS);
  await until('presented', SOON, async () => (await reportOf(one)).presented === true);
  const [ingress, ...others] = await routes('ingresses');
  assert.deepEqual(others, []);
  const backend = { service: { name: 'countersign-acme-challenges', port: { number: 80 } } };
  assert.deepEqual(ingress?.spec, {
    ingressClassName: 'nginx',
    rules: [
      {
        host: 'a.example.com',
        http: {
          paths: [{ path: `/.well-known/acme-challenge/${one.token}`, pathType: 'Exact', backend }],
        },
      },
    ],
  });
  assert.equal((await reportOf(one)).at, `Ingress ${SYSTEM_NAMESPACE}/${ingress.metadata.name}`);
  await say(one, ENDED);
  await until('cleaned up', SOON, async () => (await reportOf(one)).presented === false);
  assert.deepEqual(await routes('ingresses'), []);
});

test('an Ingress has its signer’s path type, labels and annotations, and ours win', async () => {
  const one = await challenge('marked', { kind: 'AcmeClusterSigner' });
  await say(one, RUNS);
  await until('presented', SOON, async () => (await reportOf(one)).presented === true);
  const [ingress] = await routes('ingresses');
  const { labels = {}, annotations = {} } = ingress?.metadata ?? {};
  assert.equal(labels['team'], 'edge');
  assert.equal(labels['app.kubernetes.io/component'], 'acme-solver');
  assert.equal(annotations['nginx.ingress.kubernetes.io/ssl-redirect'], 'false');
  assert.match(JSON.stringify(ingress?.spec), /"pathType":"ImplementationSpecific"/);
  await say(one, ENDED);
  await until('cleaned up', SOON, async () => (await reportOf(one)).presented === false);
});

test('an HTTPRoute of the Gateway, in the same way', async () => {
  const one = await challenge('gateway');
  await say(one, RUNS);
  await until('presented', SOON, async () => (await reportOf(one)).presented === true);
  const [route] = await routes('httproutes');
  assert.deepEqual(route?.spec, {
    parentRefs: [
      {
        group: 'gateway.networking.k8s.io',
        kind: 'Gateway',
        name: 'web',
        namespace: 'infra',
        sectionName: 'http',
      },
    ],
    hostnames: ['a.example.com'],
    rules: [
      {
        matches: [{ path: { type: 'Exact', value: `/.well-known/acme-challenge/${one.token}` } }],
        backendRefs: [
          { group: '', kind: 'Service', name: 'countersign-acme-challenges', port: 80, weight: 1 },
        ],
      },
    ],
  });
  await say(one, ENDED);
  await until('cleaned up', SOON, async () => (await reportOf(one)).presented === false);
  assert.deepEqual(await routes('httproutes'), []);
});

test('a note that is lost is written again, and one route is there', async () => {
  const one = await challenge('ingress');
  await say(one, RUNS);
  await until('presented', SOON, async () => (await reportOf(one)).presented === true);
  await say(one, { solver: null });
  await until('presented again', SOON, async () => (await reportOf(one)).presented === true);
  assert.equal((await routes('ingresses')).length, 1);
  await say(one, ENDED);
  await until('cleaned up', SOON, async () => (await reportOf(one)).presented === false);
});

test('a solver that fails says what is wrong and when it is called again', async () => {
  const one = await challenge('dns');
  await say(one, RUNS);
  const said = await until('it is said', SOON, async () => {
    const report = await reportOf(one);
    return report.reason === undefined ? undefined : report;
  });
  assert.ok(said.presented !== true);
  assert.ok(Date.parse(said.nextAttemptAt ?? '') > 0);
  await cluster.kubectl(['delete', 'challenges.acme.countersign.dev', one.name, '-n', TEAM]);
});

test('the next process removes a route whose Challenge is gone, even after a crash', async () => {
  const one = await challenge('ingress');
  await say(one, RUNS);
  await until('presented', SOON, async () => (await reportOf(one)).presented === true);
  await running.get('acme-solver')?.kill();
  await cluster.kubectl(['delete', 'challenges.acme.countersign.dev', one.name, '-n', TEAM]);
  assert.equal((await routes('ingresses')).length, 1);
  await start('acme-solver', ...SOLVER_FLAGS);
  await until('swept', SOON, async () => (await routes('ingresses')).length === 0);
});

test('a Challenge that goes while it is presented leaves no route', async () => {
  const one = await challenge('gateway');
  await say(one, RUNS);
  await until('a route is there', SOON, async () => (await routes('httproutes')).length === 1);
  await say(one, ENDED);
  await cluster.kubectl(['delete', 'challenges.acme.countersign.dev', one.name, '-n', TEAM]);
  // Nobody keeps it: acme's finalizer is not on it.
  await until('removed or swept', SOON, async () => (await routes('httproutes')).length === 0);
});

test('the roles suffice: no call gets 403 or is outside them, and each verb is used', async () => {
  // The cluster is shared: other files run other components, with roles of their own.
  const calls = (await componentCalls(cluster)).filter(({ user }) =>
    COMPONENTS.some((name) => user.username.endsWith(`:countersign-${name}`)),
  );
  const refused = calls.filter(({ responseStatus }) => responseStatus?.code === 403);
  assert.deepEqual(
    refused.map(({ requestURI }) => requestURI),
    [],
  );
  assert.deepEqual(
    outsideRoles(calls, (component) => roles.get(`${component}.yaml`) ?? ''),
    [],
  );
  // Finished or not: a watch is finished when it ends.
  const begun = (await cluster.readAudit()).filter(({ user }) =>
    COMPONENTS.some((name) => user.username.endsWith(`:countersign-${name}`)),
  );
  const used = new Set(
    begun.map(({ user, verb, objectRef }) => {
      const { resource = '', subresource } = objectRef ?? {};
      const what = subresource === undefined ? resource : `${resource}/${subresource}`;
      return `${user.username.replace(/^.*countersign-/, '')} ${verb} ${what}`;
    }),
  );
  // A list is streamed by a watch (KEP-3157); create is asked for where server-side apply makes an
  // object.
  for (const needed of [
    'acme-responder watch challenges',
    'acme-solver watch challenges',
    'acme-solver watch acmeclustersigners',
    'acme-solver watch acmesigners',
    'acme-solver patch challenges/status',
    'acme-solver get secrets',
    'acme-solver list ingresses',
    'acme-solver patch ingresses',
    'acme-solver delete ingresses',
    'acme-solver list httproutes',
    'acme-solver patch httproutes',
    'acme-solver delete httproutes',
    'acme-solver create events',
  ]) {
    assert.ok(used.has(needed), `nobody used: ${needed}`);
  }
});

const CANNOT: Readonly<Record<(typeof COMPONENTS)[number], readonly string[]>> = {
  'acme-responder': [
    `get secrets/dns -n ${KEYS}`,
    `get secrets/account -n ${KEYS}`,
    `list secrets -n ${SYSTEM_NAMESPACE}`,
    'list orders.acme.countersign.dev -A',
    'list acmeclustersigners.acme.countersign.dev',
    `patch challenges.acme.countersign.dev --subresource=status -n ${TEAM}`,
    `delete challenges.acme.countersign.dev -n ${TEAM}`,
    `create ingresses.networking.k8s.io -n ${SYSTEM_NAMESPACE}`,
    `create leases.coordination.k8s.io -n ${SYSTEM_NAMESPACE}`,
    'create events.events.k8s.io -n default',
    `create serviceaccounts/countersign-acme-solver --subresource=token -n ${SYSTEM_NAMESPACE}`,
  ],
  'acme-solver': [
    `get secrets/account -n ${KEYS}`,
    `list secrets -n ${KEYS}`,
    `update secrets/dns -n ${KEYS}`,
    `create secrets -n ${SYSTEM_NAMESPACE}`,
    'list orders.acme.countersign.dev -A',
    `update orders.acme.countersign.dev --subresource=status -n ${TEAM}`,
    `create challenges.acme.countersign.dev -n ${TEAM}`,
    `update challenges.acme.countersign.dev -n ${TEAM}`,
    `delete challenges.acme.countersign.dev -n ${TEAM}`,
    `create ingresses.networking.k8s.io -n ${TEAM}`,
    `delete httproutes.gateway.networking.k8s.io -n ${TEAM}`,
    'list certificatesigningrequests.certificates.k8s.io',
    'sign signers.certificates.k8s.io/example.com/public',
    `create serviceaccounts/countersign-authority --subresource=token -n ${SYSTEM_NAMESPACE}`,
  ],
};

for (const [component, calls] of Object.entries(CANNOT)) {
  for (const call of calls) {
    test(`${component} that was taken over cannot ${call}`, async () => {
      const user = `system:serviceaccount:${SYSTEM_NAMESPACE}:countersign-${component}`;
      const { stdout } = await cluster.kubectl(
        ['auth', 'can-i', ...call.split(' '), '--as', user],
        { allowFailure: true },
      );
      assert.equal(stdout.trim(), 'no');
    });
  }
}
