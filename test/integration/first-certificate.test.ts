// SPDX-License-Identifier: Apache-2.0
/**
 * From a stranger's cluster to a first certificate: each command is one that the command before has
 * printed.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { X509Certificate } from 'node:crypto';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { EVERY_COMPONENT } from '../support/cluster/component-process.ts';
import { BUNDLE } from '../support/cluster/countersign.ts';
import { VERSION } from '../support/cluster/fixture.ts';
import {
  grantClientCa,
  startComponents,
  type Installation,
} from '../support/cluster/installation.ts';

const WAIT_MS = 120_000;
const ROOT = join(import.meta.dirname, '../..');
const VALUES =
  "signers: [{name: example.com/workload}, {name: example.com/people, bundle: ''}, {name: example.com/serving}]\n";
/** The commands of the page, block by block. */
const PAGE = [
  ...readFileSync(join(ROOT, 'docs/how-to/first-certificate.md'), 'utf8').matchAll(
    /^```sh\n(.*?)^```$/gms,
  ),
].map(([, block = '']) => block);

let cluster: Cluster;
let installation: Installation | undefined;
/** Where the stranger types: the examples are there, and nothing of a checkout else. */
let directory: string;

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'first-certificate-'));
  symlinkSync(join(ROOT, 'deploy'), join(directory, 'deploy'));
  mkdirSync(join(directory, 'bin'));
  const program = `#!/bin/sh\nexec "${process.execPath}" "${BUNDLE}" "$@"\n`;
  writeFileSync(join(directory, 'bin/countersign'), program, { mode: 0o755 });
  writeFileSync(join(directory, 'values.yaml'), VALUES);
  cluster = await startCluster({ version: VERSION });
});
after(async () => {
  await installation?.stop();
  await cluster.stop();
  rmSync(directory, { recursive: true });
});

interface Typed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A line in a shell, with the rights of an administrator. */
function type(line: string): Promise<Typed> {
  const path = `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`;
  const env = { ...process.env, PATH: path, KUBECONFIG: cluster.kubeconfig };
  return new Promise((resolve) => {
    execFile('sh', ['-c', line], { cwd: directory, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
  });
}

/**
 * The command that one has printed: ` COMMAND` below `Next:`, a comment apart by blanks, or
 * `next: COMMAND`.
 */
function printed({ code, stdout, stderr }: Typed, begin: string): string {
  assert.equal(code, 0, stdout + stderr);
  const [, below = ''] = /^Next:.*\n((?: {2}\S.*\n)+)/m.exec(stdout) ?? [];
  const lines = [...below.split('\n'), ...stderr.replaceAll(/^next: /gm, '').split('\n')];
  const commands = lines.map((line) => line.trim().replace(/ {3,}.*/, ''));
  const found = commands.find((command) => command.startsWith(begin));
  assert.ok(found !== undefined, `nothing begins with ${begin}:\n${stdout}${stderr}`);
  return found;
}

test('each command prints the next, up to the certificates of a pod and a person', async () => {
  const able = await type('countersign check --pre');
  const installed = await type(printed(able, 'countersign install'));
  const check = printed(installed, 'countersign check');
  // These nodes run no containers: the components run beside the cluster, by the ServiceAccounts
  // that were installed.
  const scaled = 'kubectl scale deployment --all --replicas=0 -n countersign-system';
  assert.equal((await type(scaled)).code, 0);
  installation = await startComponents(cluster, { only: EVERY_COMPONENT });
  await grantClientCa(cluster, { name: 'people-ca', signerName: 'example.com/people' });

  const well = await type(check);
  for (const example of ['workload', 'people']) {
    const { code, stderr } = await type(
      printed(well, `kubectl apply -f deploy/examples/${example}`),
    );
    assert.equal(code, 0, stderr);
  }

  const ready = await type(check);
  const pod = await type(printed(ready, 'kubectl apply -f deploy/examples/pod.yaml'));
  assert.equal(pod.code, 0, pod.stderr);
  const chain = await until('the pod has a certificate', WAIT_MS, async () => {
    const { stdout } = await type(
      'kubectl get podcertificaterequests -n team-a -o jsonpath={.items[*].status.certificateChain}',
    );
    return stdout === '' ? undefined : stdout;
  });
  assert.match(new X509Certificate(chain).subjectAltName ?? '', /ns\/team-a\/sa\/web$/);

  const request = printed(ready, 'countersign request');
  const { code, stderr } = await type(request);
  assert.equal(code, 0, stderr);
  const { stdout: name } = await type(
    'kubectl auth whoami -o jsonpath={.status.userInfo.username}',
  );
  const own = new X509Certificate(readFileSync(join(directory, `${name}.crt`)));
  assert.equal(own.subject, `CN=${name}`);
  assert.ok(own.verify(new X509Certificate(readFileSync(cluster.clientCa.certFile)).publicKey));
});

test('the commands of the page get the certificate of Kubernetes’ own task', async () => {
  assert.ok(PAGE.length >= 5, String(PAGE.length));
  for (const block of PAGE) {
    const { code, stdout, stderr } = await type(block);
    assert.equal(code, 0, `${block}\n${stdout}${stderr}`);
  }
  const leaf = new X509Certificate(readFileSync(join(directory, 'server.crt')));
  assert.equal(leaf.subject, 'CN=my-pod.my-namespace.pod.cluster.local');
  assert.equal(
    leaf.subjectAltName,
    'DNS:my-svc.my-namespace.svc.cluster.local, DNS:my-pod.my-namespace.pod.cluster.local, IP Address:192.0.2.24, IP Address:10.0.34.2',
  );
  const { stdout } = await type('openssl x509 -in server.crt -noout -ext keyUsage');
  assert.match(stdout, /critical\n\s+Digital Signature\n/);
});

test('a request that would fail is refused before a person approves it', async () => {
  const { code, stderr } = await type(
    `openssl req -new -key server-key.pem -subj /CN=web -addext subjectAltName=DNS:WEB.example.com -out upper.csr
kubectl apply -f - <<END
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: upper}
spec:
  request: $(base64 < upper.csr | tr -d '\\n')
  signerName: example.com/serving
  usages: [digital signature, server auth]
END`,
  );
  assert.equal(code, 0, stderr);
  await until('an Event warns of it', WAIT_MS, async () => {
    const { stdout } = await type(
      "kubectl get events.events.k8s.io -n default -o jsonpath='{.items[*].note}'",
    );
    return stdout.includes('if approved, it fails: the DNS name "WEB.example.com"')
      ? stdout
      : undefined;
  });
  const explained = await type('countersign explain csr/upper');
  assert.match(explained.stdout, /if approved, it fails: .*write "web\.example\.com"/);
  const approved = await type('countersign approve csr/upper');
  assert.equal(approved.code, 3, approved.stdout);
  const { stdout } = await type("kubectl get csr upper -o jsonpath='{.status.conditions}'");
  assert.equal(stdout, '');
});
