// SPDX-License-Identifier: Apache-2.0
/** Signers that know of Countersign what its package exports, on the real API server and kubelets. */
import assert from 'node:assert/strict';
import { X509Certificate, type KeyObject } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { selfSignedTbs } from '../../src/issuance/ca-certificate.ts';
import { encodePem } from '../../src/pki/pem.ts';
import { generatePrivateKey } from '../../src/pki/private-key.ts';
import { signatureAlgorithm } from '../../src/pki/signature-algorithm.ts';
import { encodeCertificate } from '../../src/pki/tbs.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { getCsr, waitForCertificate } from '../support/csr.ts';
import {
  node,
  packOutsider,
  startProgram,
  type Outsider,
  type Program,
} from '../support/packed.ts';
import { createPod, createTeam, filesOf } from '../support/pods.ts';
import { allowRequesters, createCsr } from '../support/requests.ts';

const WAIT_MS = 120_000;

let cluster: Cluster;
let outsider: Outsider;
const programs: Program[] = [];

before(async () => {
  outsider = packOutsider([
    'examples/key-on-disk.ts',
    'test/outsider/signer.ts',
    'test/outsider/package.json',
  ]);
  cluster = await startCluster({ version: '1.37' });
  await allowRequesters(cluster);
  await createTeam(cluster, 'team-library', ['web']);
});
after(async () => {
  await Promise.all(programs.map((each) => each.stop()));
  await cluster.stop();
  outsider.remove();
});

const apply = (text: string): Promise<unknown> =>
  cluster.kubectl(['apply', '-f', '-'], { input: text });
const applyObject = (object: object): Promise<unknown> => apply(JSON.stringify(object));
const file = (name: string): string => join(outsider.directory, name);

interface Material {
  readonly certificate: string;
  readonly key: string;
}

async function newCa(commonName: string): Promise<Material> {
  const { key, pem, spki }: { key: KeyObject; pem: string; spki: Uint8Array } =
    await generatePrivateKey('ECDSAP256');
  const algorithm = signatureAlgorithm(key);
  const random = (size: number): Uint8Array => crypto.getRandomValues(new Uint8Array(size));
  const tbs = selfSignedTbs({
    ...{ commonName, durationSeconds: 86_400, now: Date.now(), spki, random },
    signatureAlgorithm: algorithm.der,
  });
  const der = encodeCertificate(tbs, algorithm.der, algorithm.sign(tbs));
  return { certificate: encodePem('CERTIFICATE', der), key: pem };
}

/** Applies what the program itself prints, and starts it as its own ServiceAccount. */
async function start(
  program: string,
  wanted: {
    namespaces: readonly string[];
    signerName: string;
    crd: string;
    env?: Readonly<Record<string, string>>;
  },
): Promise<Program> {
  for (const name of wanted.namespaces) {
    await applyObject({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  await apply(node(file(program), ['crd']));
  await cluster.kubectl([
    'wait',
    '--for=condition=Established',
    '--timeout=60s',
    `crd/${wanted.crd}`,
  ]);
  const printed = node(file(program), ['roles', wanted.signerName]);
  await apply(printed);
  const [, account = ''] = /kind: ServiceAccount\nmetadata:\n {2}name: (\S+)/.exec(printed) ?? [];
  const kubeconfig = await cluster.serviceAccountKubeconfig(wanted.namespaces[0] ?? '', account);
  const started = startProgram(file(program), { KUBECONFIG: kubeconfig, ...wanted.env });
  programs.push(started);
  return started;
}

async function readyOf(resource: string, name: string): Promise<string> {
  const path = 'jsonpath={.status.conditions[?(@.type=="Ready")].reason}';
  const { stdout } = await cluster.kubectl(['get', resource, name, '-o', path]);
  return stdout;
}

const spec = (authority: object): object => ({
  authority,
  requests: { copy: ['commonName', 'organizations'] },
  pods: {
    allow: 'true',
    uris: ["'spiffe://example.com/ns/' + pod.namespace + '/sa/' + pod.serviceAccount"],
  },
});

/** A person's certificate and a pod's, by this signer name. */
async function requireBoth(signerName: string, pod: string, ca: Material): Promise<void> {
  const name = await createCsr(cluster, { signerName });
  await cluster.kubectl(['certificate', 'approve', name]);
  const root = new X509Certificate(ca.certificate);
  const person = new X509Certificate(await waitForCertificate(cluster, name));
  assert.equal(person.subject, 'O=dev\nCN=jane');
  assert.ok(person.verify(root.publicKey));
  const wanted = { namespace: 'team-library', name: pod, serviceAccount: 'web', signerName };
  const [first] = cluster.nodes;
  await createPod(cluster, {
    ...wanted,
    node: first?.name ?? '',
    keyType: 'ECDSAP256',
    trustBundle: false,
  });
  const files = await filesOf(cluster, wanted);
  const credentials = readFileSync(files.credentials, 'utf8');
  const pem = credentials.slice(credentials.indexOf('-----BEGIN CERTIFICATE'));
  const leaf = new X509Certificate(pem);
  assert.equal(leaf.subjectAltName, 'URI:spiffe://example.com/ns/team-library/sa/web');
  assert.ok(leaf.verify(root.publicKey));
}

test('an outsider’s signer, from its Secret: CRD and roles as it prints them, a CSR and a pod', async () => {
  const ca = await newCa('Outsider CA');
  const signerName = 'outsiders.outside.example.com/mine';
  const program = await start('signer.ts', {
    ...{ namespaces: ['outsider-system', 'outsider-keys'], signerName },
    crd: 'outsiders.outside.example.com',
  });
  const data = { 'tls.crt': ca.certificate, 'tls.key': ca.key };
  await applyObject({
    apiVersion: 'outside.example.com/v1alpha1',
    kind: 'Outsider',
    metadata: { name: 'mine' },
    spec: spec({ secret: 'outsider-ca' }),
  });
  await until(
    'it says what is missing',
    WAIT_MS,
    async () => (await readyOf('outsiders', 'mine')) === 'Pending',
  );
  await applyObject({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: {
      name: 'outsider-ca',
      namespace: 'outsider-keys',
      annotations: { 'countersign.dev/signer-name': signerName },
    },
    stringData: data,
  });
  await until(
    'it is ready',
    WAIT_MS,
    async () => (await readyOf('outsiders', 'mine')) === 'Checked',
  );
  await requireBoth(signerName, 'outsider', ca);

  const refused = await createCsr(cluster, { signerName, commonName: 'nobody' });
  await cluster.kubectl(['certificate', 'approve', refused]);
  const failed = await until('it is failed', WAIT_MS, async () => {
    const { status } = await getCsr(cluster, refused);
    return status?.conditions?.find(({ type }) => type === 'Failed');
  });
  assert.equal(failed.message, 'nobody gets nothing');
  assert.equal(await program.stop(), 0);
});

test('examples/key-on-disk.ts signs a CSR and a pod with two files', async () => {
  const ca = await newCa('Disk CA');
  const folder = file('ca/blue');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'tls.crt'), ca.certificate);
  writeFileSync(join(folder, 'tls.key'), ca.key, { mode: 0o600 });
  await start('key-on-disk.ts', {
    ...{ namespaces: ['disk-signer'], signerName: 'diskissuers.disk.example.com/blue' },
    crd: 'diskissuers.disk.example.com',
    env: { CA_ROOT: file('ca') },
  });
  await applyObject({
    apiVersion: 'disk.example.com/v1',
    kind: 'DiskIssuer',
    metadata: { name: 'blue' },
    spec: spec({ folder: 'blue' }),
  });
  await until(
    'it is ready',
    WAIT_MS,
    async () => (await readyOf('diskissuers', 'blue')) === 'Checked',
  );
  await requireBoth('diskissuers.disk.example.com/blue', 'disk', ca);
});
