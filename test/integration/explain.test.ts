// SPDX-License-Identifier: Apache-2.0
/**
 * `countersign explain` on a real cluster: the same words as the conditions, and the rule that is
 * nearest.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Explanation } from '#diagnose/explain/explanation.ts';
import { until } from '../cluster/until.ts';
import { explain, explained as explainedAs } from '../support/cluster/asked.ts';
import { BUNDLE, countersign, type CommandResult } from '../support/cluster/countersign.ts';
import { KEYS_NAMESPACE } from '../support/cluster/installation.ts';
import { startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { createPod, createTeam } from '../support/cluster/pods.ts';

const WAIT_MS = 60_000;
const WEB = {
  name: 'web',
  serviceAccount: 'web',
  node: 'node-1',
  signerName: 'example.com/workload',
  keyType: 'ED25519',
};
const openssl = promisify(execFile);

let fixture: Fixture;
before(async () => {
  fixture = await startFixture();
  await createTeam(fixture.cluster, 'team-a', ['web']);
  await createTeam(fixture.cluster, 'elsewhere', ['web']);
});
after(() => fixture.stop());

const run = (...args: readonly string[]): Promise<CommandResult> =>
  explain(fixture.cluster, ...args);

function decide(verb: string, ...args: readonly string[]): Promise<CommandResult> {
  const { kubeconfig } = fixture.cluster;
  return countersign([verb, '--kubeconfig', kubeconfig, ...args], undefined, BUNDLE);
}

const explained = (state: string, ...args: readonly string[]): Promise<Explanation> =>
  explainedAs(fixture.cluster, { state }, ...args);

async function createCsr(name: string, subject: string): Promise<void> {
  const { stdout } = await openssl('openssl', [
    'req',
    '-new',
    '-newkey',
    'ed25519',
    '-nodes',
    '-keyout',
    '/dev/null',
    '-subj',
    subject,
  ]);
  const input = JSON.stringify({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(stdout).toString('base64'),
      signerName: 'example.com/people',
      usages: ['client auth'],
    },
  });
  await fixture.cluster.kubectl(['create', '-f', '-'], { input });
}

test('a CSR without a rule names the nearest one, exits 4, and is Issued once approved', async () => {
  await createCsr('almost', '/CN=somebody-else');
  const waits = await explained('WaitingForApproval', 'csr/almost');
  assert.ok(waits.rules?.some(({ outcome }) => outcome === 'noOpinion'));
  assert.match(waits.summary, /somebody-else|no rule applies/);
  assert.equal((await run('csr/almost')).code, 4);
  const dry = await decide('approve', 'csr/almost', '--dry-run');
  assert.match(
    dry.stdout,
    /^csr\/almost: approved \(dry run.*\n\n {2}what the rules say:\n[^]*own-name/,
  );
  assert.equal((await explained('WaitingForApproval', 'csr/almost')).state, 'WaitingForApproval');
  const approved = await decide('approve', 'csr/almost', '--message', 'seen the badge');
  assert.equal(approved.code, 0, approved.stderr);
  assert.match(approved.stdout, /next: countersign explain csr\/almost/);
  const issued = await explained('Issued', 'csr/almost');
  assert.match(
    issued.timeline.map(({ what }) => what).join('\n'),
    /Approved: .*\n.*issued: sha256:/,
  );
  const reads = (await fixture.cluster.readAudit()).filter(
    ({ verb, userAgent = '', objectRef, responseStatus }) =>
      verb === 'get' &&
      userAgent.startsWith('countersign-approve/') &&
      objectRef?.name === 'almost' &&
      responseStatus !== undefined,
  );
  assert.equal(reads.length, 2, 'each of the two runs judges the version that it decides on');
});

test('a decision is final: repeating is a no-op, reversing and typos are rejected', async () => {
  await createCsr('stranger', '/CN=stranger');
  const typo = await decide('deny', 'csr/stranger', 'csr/strange');
  assert.equal(typo.code, 1);
  assert.match(typo.stderr, /there is no csr\/strange$/m);
  assert.equal((await decide('deny', 'csr/stranger', 'pod/x')).code, 2);
  await explained('WaitingForApproval', 'csr/stranger');
  const denied = await decide('deny', 'csr/stranger', '--message', 'not ours', '-o', 'json');
  assert.equal(denied.code, 0, denied.stderr);
  const [result] = JSON.parse(denied.stdout) as [{ outcome: string; rules: object[] }];
  assert.equal(result.outcome, 'Denied');
  assert.ok(result.rules.length > 0);
  assert.match((await explained('Denied', 'csr/stranger')).summary, /not ours/);
  assert.match((await decide('deny', 'csr/stranger')).stdout, /nothing is written: it is Denied/);
  const late = await decide('approve', 'csr/stranger');
  assert.deepEqual([late.code, late.stderr], [3, '']);
});

test('a CSR of a name that nobody serves says so', async () => {
  const { stdout } = await openssl('openssl', [
    'req',
    '-new',
    '-newkey',
    'ed25519',
    '-nodes',
    '-keyout',
    '/dev/null',
    '-subj',
    '/CN=x',
  ]);
  const input = JSON.stringify({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'stray' },
    spec: {
      request: Buffer.from(stdout).toString('base64'),
      signerName: 'example.com/wrkload',
      usages: ['client auth'],
    },
  });
  await fixture.cluster.kubectl(['create', '-f', '-'], { input });
  const waits = await explained('WaitingForSigner', 'csr/stray');
  assert.match(waits.summary, /has the signer name example\.com\/wrkload/);
});

test('a pod that runs shows its request, and when it is renewed', async () => {
  await createPod(fixture.cluster, { ...WEB, namespace: 'team-a' });
  const pod = await explained('Issued', 'pod/web', '-n', 'team-a');
  assert.equal(pod.parts?.length, 1);
  assert.equal(pod.next?.what, 'the kubelet requests a new one');
});

test('a pod that the rule does not allow says which expression, and ends with 3', async () => {
  await createPod(fixture.cluster, { ...WEB, namespace: 'elsewhere' });
  const pod = await explained('Denied', 'pod/web', '-n', 'elsewhere');
  assert.match(pod.summary, /NotAllowed: spec\.pods\.allow/);
  const { code, stdout } = await run('pod/web', '-n', 'elsewhere');
  assert.equal(code, 3);
  assert.match(stdout, /what you can do:/);
});

test('a pod whose requests a ResourceQuota refuses names the quota', async () => {
  const { cluster } = fixture;
  await createTeam(cluster, 'team-full', ['web']);
  const hard = 'count/podcertificaterequests.certificates.k8s.io=0';
  await cluster.kubectl(['create', 'quota', 'small', '-n', 'team-full', `--hard=${hard}`]);
  await createPod(cluster, { ...WEB, namespace: 'team-full' });
  await until('the quota is named', WAIT_MS, async () => {
    const { summary, remediation } = await explained(
      'WaitingForComponent',
      'pod/web',
      '-n',
      'team-full',
    );
    if (!summary.includes('ResourceQuota small of the namespace allows 0'))
      throw new Error(summary);
    assert.match(
      remediation[0] ?? '',
      /^kubectl -n team-full patch resourcequota small --type=merge /,
    );
    assert.equal(remediation.length, 1);
    return true;
  });
});

test('a Secret with a CA tells of its signer, and its data is not asked for', async () => {
  const namespace = ['-n', KEYS_NAMESPACE];
  const secret = await explained('Ready', 'secret/workload-ca', ...namespace);
  assert.match(secret.summary, /^it is for a CA: ClusterSigner workload serves/);
  assert.equal(secret.parts?.length, 1);
  const none = await explained('NotUsed', 'secret/none', ...namespace);
  assert.match(none.summary, /^there is no Secret none in namespace/);
});

test('a signer tells what happens to its CA next', async () => {
  const signer = await explained('Ready', 'signer/workload');
  assert.match(signer.next?.what ?? '', /a CA is replaced/);
});

test('what is not there, and what is no kind, is said in a sentence', async () => {
  const { code, stderr } = await run('pod/none', '-n', 'team-a');
  assert.equal(code, 1);
  assert.match(stderr, /there is no pod\/none \(.*team-a/);
  assert.equal((await run('pod')).code, 2);
  assert.equal((await run('node/x')).code, 2);
});

test('a user who may not read the signer is told so, and still sees the request', async () => {
  const { cluster } = fixture;
  await cluster.kubectl([
    'create',
    'clusterrole',
    'csr-reader',
    '--verb=get',
    '--resource=certificatesigningrequests.certificates.k8s.io',
  ]);
  await cluster.kubectl([
    'create',
    'clusterrolebinding',
    'csr-reader',
    '--clusterrole=csr-reader',
    '--user=joe',
  ]);
  const { stdout } = await run('csr/stray', '--as', 'joe');
  assert.match(stdout, /you may not read the signer of example\.com\/wrkload/);
});
