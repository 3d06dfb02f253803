// SPDX-License-Identifier: Apache-2.0
/** Each component does its job with exactly its role, and says which rule is missing without it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { COMPONENTS as DESCRIPTIONS } from '#install/component-list.ts';
import { DEMO } from '../../build/demo-installation.ts';
import { applyCrds } from '../certmanager/crds.ts';
import { until } from '../cluster/until.ts';
import { componentCalls, outsideRoles } from '../support/cluster/audit.ts';
import {
  allowCertificateRequesters,
  approvedRequest,
  waitForReadyReason,
} from '../support/cluster/requests/certificate-request.ts';
import { allowRequesters, createCsr, waitForCertificate } from '../support/cluster/requests/csr.ts';
import { applySigner, example, startFixture, type Fixture } from '../support/cluster/fixture.ts';
import {
  EVERY_COMPONENT as COMPONENTS,
  startComponent,
  type ComponentName,
  type ComponentProcess,
} from '../support/cluster/component-process.ts';
import {
  SYSTEM_NAMESPACE,
  applyManifests,
  componentKubeconfig,
} from '../support/cluster/installation.ts';
import { waitForRequest } from '../support/cluster/requests/pod-certificate-request.ts';
import { createPod, createTeam } from '../support/cluster/pods.ts';
import { eachVerb, withoutVerb } from '../support/cluster/roles.ts';

const WAIT_MS = 120_000;

let fixture: Fixture;
before(async () => {
  fixture = await startFixture({ only: COMPONENTS });
  await applyCrds(fixture.cluster);
  await allowCertificateRequesters(fixture.cluster);
  await allowRequesters(fixture.cluster);
  await createTeam(fixture.cluster, 'team-a', ['web']);
  // With it the authority needs all of its role: the certificates of our own ports, and CRLs, as
  // well.
  const { spec, ...serving } = example('serving');
  const profile = { ...spec.profile, crl: { validity: '24h' } };
  await applySigner(fixture.cluster, { ...serving, spec: { ...spec, profile } });
  // Whoever signs reads Revocations where there are CRLs.
  const patch = JSON.stringify({ spec: { profile: { crl: { validity: '24h' } } } });
  const { stdout: signers } = await fixture.cluster.kubectl([
    'get',
    'clustersigners',
    '-o',
    'name',
  ]);
  for (const each of signers.trim().split('\n')) {
    await fixture.cluster.kubectl(['patch', each, '--type=merge', '-p', patch]);
  }
  await until('they are made', WAIT_MS, async () => {
    const path = 'jsonpath={.items[*].data.tls\\.crt}';
    const { stdout } = await fixture.cluster.kubectl([
      'get',
      'secrets',
      '-n',
      SYSTEM_NAMESPACE,
      '-o',
      path,
    ]);
    return stdout.split(' ').length === DESCRIPTIONS.size;
  });
});
after(() => fixture.stop());

const BUNDLE = [process.execPath, join(import.meta.dirname, '../../dist/countersign.mjs')];

async function start(name: ComponentName): Promise<ComponentProcess> {
  const kubeconfig = await componentKubeconfig(fixture.cluster, name);
  // The bundle starts three times as fast as the sources.
  return startComponent({ name, kubeconfig, program: BUNDLE });
}

/** A pod's certificate, a person's, and cert-manager's. */
async function issueAll(name: string): Promise<void> {
  await createPod(fixture.cluster, {
    namespace: 'team-a',
    name,
    serviceAccount: 'web',
    node: 'node-1',
    signerName: 'example.com/workload',
    keyType: 'ED25519',
  });
  const csr = await createCsr(fixture.cluster);
  const key = await approvedRequest(fixture.cluster);
  const request = await waitForRequest(fixture.cluster, 'team-a', name, 'Issued');
  assert.ok(new X509Certificate(request.status?.certificateChain ?? ''));
  await waitForCertificate(fixture.cluster, csr);
  await waitForReadyReason(fixture.cluster, key, 'Issued');
}

test('the shipped roles suffice: no call gets 403, and none is outside the roles', async () => {
  await issueAll('whole');
  const calls = await componentCalls(fixture.cluster);
  const users = new Set(calls.map(({ user }) => user.username));
  assert.equal(users.size, COMPONENTS.length);
  assert.deepEqual(
    calls.filter(({ responseStatus }) => responseStatus?.code === 403),
    [],
  );
  assert.deepEqual(outsideRoles(calls), []);
});

test('each ServiceAccount has no permission in certificates.k8s.io beyond its role', async () => {
  for (const name of COMPONENTS) {
    const user = `system:serviceaccount:${SYSTEM_NAMESPACE}:countersign-${name}`;
    const { stdout } = await fixture.cluster.kubectl(['auth', 'can-i', '--list', '--as', user]);
    const lines = stdout.split('\n').filter((line) => line.includes('certificates.k8s.io'));
    const rules = DESCRIPTIONS.get(name)?.permissions({ ...DEMO, signerNames: DEMO.signers }) ?? [];
    const allowed = rules
      .filter(({ apiGroups }) => apiGroups.includes('certificates.k8s.io'))
      .flatMap(({ resources }) =>
        resources.map((each) => `${each.split('/')[0] ?? ''}.certificates.k8s.io`),
      );
    const everybodys = 'clustertrustbundles.certificates.k8s.io';
    for (const line of lines) {
      const resource = (line.split(/\s/)[0] ?? '').replace(/\/.*/, '');
      assert.ok([...allowed, everybodys].includes(resource), `${name}: ${line}`);
    }
    const others = ['approve', 'sign', 'attest'].filter(
      (verb) =>
        !rules.some(
          ({ resources, verbs }) => resources.includes('signers') && verbs.includes(verb),
        ),
    );
    for (const verb of others) {
      const asked = [
        'auth',
        'can-i',
        verb,
        'signers.certificates.k8s.io/example.com/workload',
        '--as',
        user,
      ];
      const { stdout: answer } = await fixture.cluster.kubectl(asked, { allowFailure: true });
      assert.match(answer, /^no/, `${name} may ${verb}`);
    }
  }
});

/** `VERB_SHARE=1/3` takes every third verb, from the second on. */
const SHARE = /^(\d)\/(\d)$/.exec(process.env['VERB_SHARE'] ?? '0/1');
if (SHARE === null || Number(SHARE[1]) >= Number(SHARE[2])) throw new Error('VERB_SHARE: want 1/3');

// The components' roles are their own: one chain of tests a component, side by side.
describe('one verb less', { concurrency: COMPONENTS.length }, () => {
  for (const name of COMPONENTS) describe(name, { concurrency: 1 }, () => oneVerbLess(name));
});

function oneVerbLess(name: ComponentName): void {
  before(() => fixture.installation.components[name].stop());
  // Rights that Kubernetes grants everybody cannot be taken away by our file.
  const verbs = eachVerb()
    .filter((each) => each.component === name && !each.everybodys)
    .filter((_, index) => index % Number(SHARE?.[2]) === Number(SHARE?.[1]));
  for (const each of verbs) {
    test(`${name} without ${each.text} is not ready, names the rule, and heals`, async () => {
      const restore = await withoutVerb(fixture.cluster, each);
      const component = await start(name);
      try {
        await until('it says what is missing', WAIT_MS, async () => {
          const { status, text } = await component.readyz();
          const says = text.includes(`lacks: ${each.verb} `) && text.includes(each.resource);
          return status === 503 && says;
        });
        await restore();
        await component.ready(WAIT_MS);
      } finally {
        await restore();
        await component.stop();
      }
    });
  }
}

test('requests wait with an Event while a role is missing, and are answered after it', async () => {
  await applyManifests(fixture.cluster);
  const component = await start('pcr-issuer');
  const attester = await start('attester');
  const authority = await start('authority');
  try {
    await component.ready();
    const sign = eachVerb().find(
      ({ component: name, verb }) => name === 'pcr-issuer' && verb === 'sign',
    );
    assert.ok(sign !== undefined);
    const restore = await withoutVerb(fixture.cluster, sign);
    await createPod(fixture.cluster, {
      namespace: 'team-a',
      name: 'waits',
      serviceAccount: 'web',
      node: 'node-1',
      signerName: 'example.com/workload',
      keyType: 'ED25519',
    });
    await until('the Event is there', WAIT_MS, async () => {
      const { stdout } = await fixture.cluster.kubectl([
        'get',
        'events.events.k8s.io',
        '-n',
        'team-a',
        '--field-selector',
        'reason=MissingPermissions',
        '-o',
        'jsonpath={.items[*].note}',
      ]);
      return stdout.includes('countersign-pcr-issuer');
    });
    await restore();
    await waitForRequest(fixture.cluster, 'team-a', 'waits', 'Issued');
  } finally {
    await Promise.all([component.stop(), attester.stop(), authority.stop()]);
  }
});
