// SPDX-License-Identifier: Apache-2.0
/** The CRD on a real API server: what it fills in, what it refuses, and that our reader agrees. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { KubeObject } from '#api/object/object.ts';
import { readClusterSigner, readSigner } from '#api/signer/read-signer.ts';
import { openCluster, type Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import type { KubectlResult } from '../cluster/kubectl.ts';
import { namespacedSigner, teamSpec } from '../support/signers/namespaced-signer.ts';
import {
  changed,
  clusterSigner,
  without,
  workloadSpec,
} from '../support/signers/cluster-signer.ts';

const crd = join(import.meta.dirname, '../../deploy/crds/clustersigners.yaml');
const signerCrd = join(import.meta.dirname, '../../deploy/crds/signers.yaml');
const operatorCrds = join(import.meta.dirname, '../../deploy/crds/operator');
const name = 'crd-test';

let cluster: Cluster;
before(async () => {
  cluster = await openCluster();
  const both = ['-f', crd, '-f', signerCrd];
  await cluster.kubectl(['apply', ...both]);
  await established(cluster, ...both);
});
after(async () => {
  await cluster.kubectl(['delete', 'clustersigner', name, '--ignore-not-found']);
  await cluster.stop();
});

const secret = { namespace: 'countersign-keys', name: 'other' };

function kubectl(verb: string, spec: unknown, ...flags: readonly string[]): Promise<KubectlResult> {
  const input = JSON.stringify({ ...clusterSigner(spec), metadata: { name } });
  return cluster.kubectl([verb, '-f', '-', ...flags], { input, allowFailure: true });
}

test('the API server accepts every shipped definition', async () => {
  const definitions = join(import.meta.dirname, '../../deploy/crds');
  const dryRun = ['apply', '--server-side', '--force-conflicts', '--dry-run=server'];
  await cluster.kubectl([...dryRun, '-R', '-f', definitions]);
});

test('fsGroup of a Countersign is a group that Kubernetes accepts, or none', async () => {
  await cluster.kubectl(['apply', '-f', operatorCrds]);
  await established(cluster, '-f', operatorCrds);
  const messageOf = async (fsGroup: unknown): Promise<string> => {
    const input = JSON.stringify({
      apiVersion: 'operator.countersign.dev/v1alpha1',
      kind: 'Countersign',
      metadata: { name: 'cluster' },
      spec: { version: '0.0.0', defaults: { podSecurityContext: { fsGroup } } },
    });
    const create = ['create', '-f', '-', '--dry-run=server'];
    return (await cluster.kubectl(create, { input, allowFailure: true })).stderr;
  };
  for (const accepted of [1, 65532, 2_147_483_647, 'none'])
    assert.equal(await messageOf(accepted), '');
  for (const rejected of [0, -1, 2_147_483_648, '65532', 'None', ''])
    assert.match(await messageOf(rejected), /must be a group from 1 to 2147483647, or none/);
});

test('the defaults of the ClusterSigner CRD are those of our decoder', async () => {
  const spec = without(workloadSpec(), 'profile');
  const { stdout, stderr } = await kubectl('create', spec, '--dry-run=server', '-o', 'json');
  assert.equal(stderr, '');
  const stored = JSON.parse(stdout) as KubeObject & { spec: unknown };
  assert.deepEqual(stored.spec, readClusterSigner(clusterSigner(spec)).spec);
});

test('the Signer CRD has the decoder’s defaults and no fields of cluster scope', async () => {
  const metadata = { name, namespace: 'default' };
  const create = (spec: object): Promise<KubectlResult> =>
    cluster.kubectl(['create', '-f', '-', '--dry-run=server', '-o', 'json'], {
      input: JSON.stringify({ ...namespacedSigner(spec), metadata }),
      allowFailure: true,
    });
  const spec = without(teamSpec(), 'profile');
  const { stdout, stderr } = await create(spec);
  assert.equal(stderr, '');
  const stored = JSON.parse(stdout) as KubeObject;
  const read = readSigner(namespacedSigner(spec, metadata));
  assert.deepEqual(readSigner(stored).spec, read.spec);
  const { profile } = (stored as KubeObject & { spec: { profile: unknown } }).spec;
  assert.deepEqual(profile, read.spec.profile);
  for (const [field, value] of [
    ['signerName', 'example.com/web'],
    ['trustBundle', { name: 'primary' }],
  ] as const) {
    assert.match((await create({ ...spec, [field]: value })).stderr, /unknown field/);
  }
});

const label63 = 'a'.repeat(63);
const managed = { secret, commonName: 'CA' };

/** Refused by both: the field that both name, and what the API server says of it. */
const refused: [law: string, path: string, value: unknown, field: string, says: RegExp][] = [
  ['a name of Kubernetes', 'signerName', 'a.kubernetes.io/x', 'signerName', /your own/],
  [
    'a name of a namespace’s Signer',
    'signerName',
    'signers.countersign.dev/team-a.web',
    'signerName',
    /reserved for the derived names of Signers/,
  ],
  ['a name without path', 'signerName', 'example.com', 'signerName', /should match/],
  ['a long label', 'signerName', `a${label63}.com/x`, 'signerName', /should match/],
  [
    'a long domain',
    'signerName',
    `${[label63, label63, label63, label63].join('.')}/x`,
    'signerName',
    /at most 253/,
  ],
  ['two authorities', 'authority.secret', secret, 'spec.authority', /exactly one member/],
  ['no authority', 'authority', {}, 'spec.authority', /exactly one member/],
  ['a late renewal', 'authority.managed.renewBefore', '8760h', 'renewBefore', /less than duration/],
  ['a CA of two leaves', 'authority.managed', { ...managed, duration: '47h' }, 'duration', /twice/],
  ['far backdate', 'profile.backdate', '4m1s', 'profile.backdate', /at most 4m/],
  ['a short pod leaf', 'profile.maxDuration', '59m', 'profile.maxDuration', /from 1h to 2184h/],
  ['a long pod leaf', 'profile.maxDuration', '2184h1s', 'profile.maxDuration', /from 1h to 2184h/],
  ['an endless leaf', 'profile.maxDuration', '9999999h', 'profile.maxDuration', /hundred years/],
  ['a day is no unit', 'profile.maxDuration', '1d', 'profile.maxDuration', /should match/],
  ['cert sign', 'profile.usages', ['cert sign'], 'profile.usages[0]', /Unsupported value/],
  ['pods without any name', 'pods.uris', [], 'spec.pods', /must give the leaf a name/],
  [
    'an annotation without its select',
    'pods.services',
    { annotation: 'example.com/service' },
    'spec.pods.services',
    /exactly where select is FromAnnotation/,
  ],
  [
    'a form twice',
    'pods.services',
    { forms: ['Service', 'Service'] },
    'spec.pods.services.forms',
    /Duplicate value/,
  ],
  [
    'a leaf of an address alone',
    'pods',
    { allow: 'true', ipAddresses: ['pod.ip'] },
    'spec.pods',
    /must give the leaf a name/,
  ],
  [
    'a leaf of Services that need not be',
    'pods',
    { allow: 'true', services: { required: false } },
    'spec.pods',
    /must give the leaf a name/,
  ],
  [
    'twin rules',
    'requests.rules',
    [1, 2].map(() => ({ name: 'a', when: 'true', allow: {} })),
    'requests.rules',
    /Duplicate value/,
  ],
  ['a bell', 'authority.managed.commonName', 'a\u0007', 'commonName', /should match/],
];

for (const [law, path, value, field, says] of refused) {
  test(`rejected by the API server and by our decoder: ${law}`, async () => {
    const spec = changed(workloadSpec(), path, value);
    assert.throws(
      () => readClusterSigner(clusterSigner(spec)),
      ({ message }: Error) => message.includes(field),
    );
    const { stderr } = await kubectl('create', spec, '--dry-run=server');
    assert.ok(stderr.includes(field), stderr);
    assert.match(stderr, says);
  });
}

test('the signer name and the CA of a ClusterSigner are immutable', async () => {
  assert.equal((await kubectl('create', workloadSpec())).stderr, '');
  const renamed = changed(workloadSpec(), 'signerName', 'example.com/other');
  assert.match((await kubectl('replace', renamed)).stderr, /signerName: .*is immutable/);
  const other = changed(workloadSpec(), 'authority', { secret });
  assert.match(
    (await kubectl('replace', other)).stderr,
    /authority: .*cannot switch to managed or from it/,
  );
  const grown = changed(workloadSpec(), 'profile.maxDuration', '48h');
  assert.equal((await kubectl('replace', grown)).stderr, '');
});

test('kubectl finds a ClusterSigner by its name, short name and signer name', async () => {
  const status = {
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Checked',
        message: '',
        lastTransitionTime: '2026-11-21T06:00:00Z',
      },
    ],
    authorities: [
      {
        fingerprint: `sha256:${'0'.repeat(64)}`,
        phase: 'Active',
        notBefore: '2026-11-21T06:00:00Z',
        notAfter: '2099-11-21T06:00:00Z',
        longestLeaf: '24h',
        anchors: '',
      },
    ],
  };
  const patch = JSON.stringify({ status });
  await cluster.kubectl([
    'patch',
    'clustersigner',
    name,
    '--subresource=status',
    '--type=merge',
    '-p',
    patch,
  ]);
  const selector = '--field-selector=spec.signerName=example.com/workload';
  const { stdout } = await cluster.kubectl(['get', 'csigner', selector]);
  assert.match(stdout, /^NAME +SIGNER +READY +REASON +CA EXPIRES +AGE\n/);
  assert.match(stdout, /example\.com\/workload +True +Checked +2099-11-21T06:00:00Z +/);
  const byCategory = await cluster.kubectl(['get', 'countersign', '-o', 'name']);
  assert.match(byCategory.stdout, /clustersigner\.countersign\.dev\/crd-test/);
});
