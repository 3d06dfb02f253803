// SPDX-License-Identifier: Apache-2.0
/**
 * The life of an installation on a real API server: installed, used, changed, rolled back, removed,
 * installed again. The components run as processes under the ServiceAccounts that the chart makes.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { spawnSync } from 'node:child_process';
import { until } from '../cluster/until.ts';
import { SERVED, SVID, allowEndpoint, heardBy, issuedNames } from './bundle-endpoint.ts';
import { CHART, type Said } from './helm.ts';
import { writeSchemas } from './schemas.ts';
import {
  KINDS,
  NEXT_TAG,
  ONE,
  RELEASE,
  SYSTEM,
  namesOf,
  runCommands,
  startStand,
  type Stand,
} from './stand.ts';
import { buildKubeconform } from './tools/build.ts';

const WAIT_MS = 60_000;
const CA = ['workload-ca', 'countersign-keys'] as const;

let stand: Stand;
let components: { stop(): Promise<void> } | undefined;
let installed: Said;
let began: number;
before(async () => {
  stand = await startStand();
  began = performance.now();
  installed = await stand.helm(['install', RELEASE, CHART], ONE);
  components = await stand.components();
});
after(async () => {
  await components?.stop();
  await stand.close();
});

/**
 * What the notes say to type, but for the upgrade. Faked pods are never ready: nobody waits for
 * those.
 */
function commandsIn(notes: string): string {
  let within = false;
  const lines = notes.split('\n').filter((line) => {
    const command = within || /^ *kubectl /.test(line);
    within = command && (line.includes("<<'EOF'") || (within && line !== 'EOF'));
    return command && (stand.realPods || !line.includes('condition=Available'));
  });
  return lines.join('\n');
}

test('the commands that helm install prints lead to a pod with a certificate', async (t) => {
  const said = await runCommands(stand, commandsIn(installed.stdout));
  assert.equal(said.code, 0, said.stderr);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const how = stand.realPods ? 'pods that run' : 'processes in place of pods';
  t.diagnostic(`${seconds} s from helm install to a Ready pod with a certificate, by ${how}`);
  const args = ['get', 'podcertificaterequests', '-n', 'team-a', '-o', 'json'];
  const { items } = JSON.parse((await stand.cluster.kubectl(args)).stdout) as {
    items: { status?: { certificateChain?: string } }[];
  };
  assert.ok(items.some(({ status }) => status?.certificateChain !== undefined));
});

test('what the chart makes is valid for the OpenAPI of the API server', async () => {
  const location = await writeSchemas(stand.cluster, join(stand.cluster.directory, 'schemas'));
  const every = { ...ONE, whoMayRequest: true, networkPolicy: { enabled: true } };
  const known = ['--api-versions', 'countersign.dev/v1alpha1/ClusterSigner'];
  const { stdout } = await stand.helm(['template', RELEASE, CHART, ...known], every);
  const program = await buildKubeconform((line) => {
    console.error(line);
  });
  const judge = (input: string): { status: number | null; stdout: string } =>
    spawnSync(program, ['-strict', '-summary', '-schema-location', location], {
      input,
      encoding: 'utf8',
    });
  const judged = judge(stdout);
  assert.equal(judged.status, 0, judged.stdout);
  assert.match(judged.stdout, /Invalid: 0, Errors: 0, Skipped: 0/);
  assert.notEqual(judge(stdout.replace('replicas: 2', 'replicaz: 2')).status, 0);
  assert.notEqual(judge(stdout.replace('replicas: 2', 'replicas: two')).status, 0);
});

test('the pod security standard admits a pod of every component', async () => {
  await until('every Deployment has its pod', WAIT_MS, async () => {
    const pods = await stand.all('pods');
    const found = pods.map(({ metadata }) => metadata.labels?.['app.kubernetes.io/component']);
    return new Set(found).size === 6;
  });
});

test('an upgrade adds our ports’ ClusterSigner, and one more line adds a signer', async () => {
  const two = { signers: [...ONE.signers, { name: 'example.com/people', bundle: '' }] };
  await stand.install(two);
  assert.deepEqual(await namesOf(stand, 'approver'), [
    'example.com/workload',
    'example.com/people',
  ]);
  assert.ok((await stand.get('clustersigner', 'serving')) !== undefined);
});

test('a signer that is left out is served no longer, and its CA stays', async () => {
  const next = { ...ONE, image: { tag: NEXT_TAG } };
  await stand.install(next);
  await stand.rolledOut();
  // This upgrade takes away what the pods of the release before still needed.
  await stand.install(next);
  for (const component of ['approver', 'signer', 'pcr-issuer'])
    assert.deepEqual(await namesOf(stand, component), ['example.com/workload']);
  assert.ok((await stand.get('secret', ...CA)) !== undefined);
});

async function imageOf(component: string): Promise<string> {
  const path = 'jsonpath={.spec.template.spec.containers[0].image}';
  const args = ['get', 'deployment', `countersign-${component}`, '-n', SYSTEM, '-o', path];
  return (await stand.cluster.kubectl(args)).stdout;
}

test('a rollback brings back the names and the image', async () => {
  assert.equal(await imageOf('signer'), `countersign:${NEXT_TAG}`);
  await stand.helm(['rollback', RELEASE, '2']);
  assert.equal(await imageOf('signer'), 'countersign:0.1.0');
  assert.deepEqual(await namesOf(stand, 'signer'), ['example.com/workload', 'example.com/people']);
});

test('a certificate of our own ports stays through an upgrade', async () => {
  const filled = await until('authority has filled the Secret in', WAIT_MS, async () => {
    const secret = await stand.get('secret', 'countersign-signer-serving');
    return secret?.['data'] as object | undefined;
  });
  await stand.install(ONE);
  const secret = await stand.get('secret', 'countersign-signer-serving');
  assert.deepEqual(Object.keys(secret?.['data'] ?? {}), Object.keys(filled));
});

test('a definition of a newer version is not overwritten', async () => {
  const crd = ['crd', 'clustersigners.countersign.dev'];
  const label = (version: string): Promise<unknown> =>
    stand.cluster.kubectl(['label', ...crd, `app.kubernetes.io/version=${version}`, '--overwrite']);
  await label('99.1.0');
  const { code, stderr } = await stand.helm.tried(['upgrade', RELEASE, CHART], ONE);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /clustersigners\.countersign\.dev is there in version 99\.1\.0, and this chart has 0\.1\.0/,
  );
  assert.match(stderr, /install a chart of version 99\.1\.0 or newer, or set crds\.install=false/);
  await label('0.1.0');
  await stand.install(ONE);
});

test('bundle-endpoint serves by an X509-SVID of a signer of the same release', async () => {
  await allowEndpoint(stand);
  await stand.install(SERVED);
  if (stand.realPods) await stand.components();
  assert.equal(await issuedNames(stand), `URI:${SVID}`);
  if (stand.realPods) {
    const heard = await heardBy(stand, 'team-a');
    const uses = ['x509-svid'];
    assert.deepEqual(heard, { peer: `URI:${SVID}`, status: 200, hasSequence: true, uses });
  }
  await stand.install(ONE);
  assert.equal(await stand.get('deployment', 'countersign-bundle-endpoint'), undefined);
});

/** The fingerprint of the CA that signs. */
async function caOf(): Promise<unknown> {
  const signer = await until('the ClusterSigner is Ready', WAIT_MS, async () => {
    await stand.cluster.kubectl(['wait', '--for=condition=Ready', 'clustersigner/workload']);
    return stand.get('clustersigner', 'workload');
  });
  const { authorities } = signer['status'] as { authorities: { fingerprint: string }[] };
  return authorities[0]?.fingerprint;
}

test('an uninstall removes components and keeps CAs, bundles, definitions and signers', async () => {
  const ca = await caOf();
  const ports = (await stand.get('clustersigner', 'serving'))?.metadata.uid;
  assert.ok(ports !== undefined);
  await components?.stop();
  components = undefined;
  await stand.helm(['uninstall', RELEASE, '--wait']);
  const namesLeft = async (): Promise<readonly string[]> =>
    (await stand.all(KINDS)).map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  // The pods of its Deployments are gone a moment later.
  const left = await until('the components are gone', WAIT_MS, async () => {
    const names = await namesLeft();
    return names.some((each) => each.startsWith('Deployment/')) ? undefined : [...names];
  });
  assert.deepEqual(left.sort(), [
    'CustomResourceDefinition/acmeclustersigners.acme.countersign.dev',
    'CustomResourceDefinition/acmesigners.acme.countersign.dev',
    'CustomResourceDefinition/challenges.acme.countersign.dev',
    'CustomResourceDefinition/clustersigners.countersign.dev',
    'CustomResourceDefinition/externalclustersigners.countersign.dev',
    'CustomResourceDefinition/orders.acme.countersign.dev',
    'CustomResourceDefinition/revocations.countersign.dev',
    'CustomResourceDefinition/signers.countersign.dev',
    'Namespace/countersign-keys',
    'Namespace/countersign-system',
  ]);
  assert.ok((await stand.get('secret', ...CA)) !== undefined);
  assert.ok((await stand.get('clustersigner', 'workload')) !== undefined);
  assert.ok((await stand.get('clustertrustbundle', 'example.com:workload:primary')) !== undefined);
  await stand.helm(['install', RELEASE, CHART], ONE);
  components = await stand.components();
  assert.equal(await caOf(), ca);
  // Its CA Secret names it by this; of another one the CA would never be replaced.
  assert.equal((await stand.get('clustersigner', 'serving'))?.metadata.uid, ports);
});
