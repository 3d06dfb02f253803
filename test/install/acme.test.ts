// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO, DEMO_PLAN } from '../../build/demo-installation.ts';
import { checkInstallation } from '#install/installation.ts';
import { COMPONENTS } from '#install/component-list.ts';
import { deployment } from '#install/workloads/deployment.ts';
import { components, linesOf } from './roles.ts';

test('the keys of accounts are read by name, by acme alone', () => {
  const secrets = [{ namespace: 'countersign-keys', name: 'letsencrypt' }];
  const acme = { signers: ['example.com/public'], secrets };
  const rule = 'get,list,watch /secrets [letsencrypt] @countersign-keys';
  assert.ok(linesOf('acme', { ...DEMO, acme }).includes(rule));
  for (const component of components.filter((each) => each !== 'acme'))
    assert.doesNotMatch(linesOf(component, { ...DEMO, acme }).join(), /letsencrypt/);
});

test('authority creates account keys and acme reads them, by name, only with ACME', () => {
  const accountKeys = [{ namespace: 'countersign-keys', name: 'letsencrypt' }];
  const acme = { signers: ['example.com/public'], secrets: [], accountKeys };
  const named = (component: (typeof components)[number]): readonly string[] =>
    linesOf(component, { ...DEMO, acme }).filter((each) => each.includes('letsencrypt'));
  assert.deepEqual(named('authority'), [
    'list,watch,patch /secrets [letsencrypt] @countersign-keys',
  ]);
  assert.deepEqual(named('acme'), ['get,list,watch /secrets [letsencrypt] @countersign-keys']);
  for (const component of components.filter((each) => each !== 'acme' && each !== 'authority'))
    assert.deepEqual(named(component), []);
  const reads = 'get,list,watch acme.countersign.dev/acmeclustersigners';
  assert.ok(linesOf('authority', { ...DEMO, acme }).includes(reads));
  assert.doesNotMatch(linesOf('authority', DEMO).join(), /acmeclustersigners/);
});

test('the Secret of an account key is none of a CA', () => {
  const acme = { signers: ['example.com/public'], secrets: [], accountKeys: DEMO.secrets };
  assert.throws(
    () => checkInstallation({ ...DEMO, acme }),
    /is that of a CA and of an ACME account/,
  );
});

test('a Secret that an ACME component reads is none of a CA', () => {
  const ca = { namespace: 'team-a', name: 'ca' };
  const signers = { namespacedSigners: true, signerSecrets: [ca] };
  const acme = { signers: ['example.com/public'], secrets: [ca] };
  const solverSecrets = DEMO.secrets;
  for (const more of [{ ...signers, acme }, { ...signers, solverSecrets: [ca] }, { solverSecrets }])
    assert.throws(() => checkInstallation({ ...DEMO, ...more }), /is that of a CA; name another/);
});

test('no signer of ACME or of another CA has the name of the components’ own', () => {
  for (const name of [DEMO.servingSigner, 'acmesigners.acme.countersign.dev/team-a.public'])
    for (const more of [
      { acme: { signers: [name], secrets: [] } },
      { external: { signers: [name] } },
    ])
      assert.throws(
        () => checkInstallation({ ...DEMO, ...more }),
        /is (?:always served|the derived)/,
      );
});

test('the approver of an ACME signer may approve for that signer name alone', () => {
  const acme = { signers: ['example.com/public'], secrets: [] };
  for (const component of components) {
    const lines = linesOf(component, { ...DEMO, acme }).filter((each) => each.includes('/public'));
    const verb = { approver: 'approve', acme: 'sign' }[component];
    assert.deepEqual(
      lines.map((line) => line.split(' ')[0]),
      verb === undefined ? [] : [verb],
      component,
    );
  }
});

test('the component gets the flag to mark Certificates only where its role permits', () => {
  const { replicas, resources } = COMPONENTS.get('acme') ?? assert.fail();
  const argumentsOf = (renewCertificates: boolean): string =>
    JSON.stringify(
      deployment('acme', {
        ...DEMO_PLAN,
        components: new Map([['acme', { replicas, resources }]]),
        installation: { ...DEMO, acme: { signers: [], secrets: [], renewCertificates } },
      }),
    );
  assert.match(argumentsOf(true), /"--renew-certificates"/);
  assert.doesNotMatch(argumentsOf(false), /--renew-certificates/);
});
