// SPDX-License-Identifier: Apache-2.0
/** Signers that know of Countersign what its package exports, on a real cluster. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../../cluster/cluster.ts';
import { established } from '../../cluster/established.ts';
import { until } from '../../cluster/until.ts';
import { createCsr, waitForCertificate } from './requests/csr.ts';
import { node, startProgram, type Outsider, type Program } from './npm-package.ts';
import { createPod, filesOf } from './pods.ts';
import type { CaPem } from '../ca/ca-secret.ts';
import { apply, applyText } from './apply.ts';

const WAIT_MS = 120_000;

export interface SignerWanted {
  /** A file of the outsider's package. */
  readonly program: string;
  /** The first is where it runs. */
  readonly namespaces: readonly string[];
  readonly signerName: string;
  /** `<plural>.<group>` of its Issuer kind. */
  readonly crd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Applies what the program itself prints, and starts it as its own ServiceAccount. */
export async function startLibrarySigner(
  cluster: Cluster,
  { directory }: Outsider,
  wanted: SignerWanted,
): Promise<Program> {
  const file = join(directory, wanted.program);
  const kubeconfig = await installLibrarySigner(cluster, file, wanted);
  return startProgram(file, { KUBECONFIG: kubeconfig, ...wanted.env });
}

/**
 * Applies what a program prints: the definition of its kind, and its roles.
 *
 * @returns the path of its ServiceAccount's kubeconfig
 */
export async function installLibrarySigner(
  cluster: Cluster,
  file: string,
  wanted: Pick<SignerWanted, 'namespaces' | 'signerName' | 'crd'>,
  options: { readonly duration?: string } = {},
): Promise<string> {
  for (const name of wanted.namespaces) {
    await apply(cluster, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  await applyText(cluster, node(file, ['crd']));
  await established(cluster, `crd/${wanted.crd}`);
  const roles = node(file, ['roles', wanted.signerName]);
  await applyText(cluster, roles);
  const [, account = ''] = /kind: ServiceAccount\nmetadata:\n {2}name: (\S+)/.exec(roles) ?? [];
  return cluster.serviceAccountKubeconfig(wanted.namespaces[0] ?? '', account, options);
}

/** A CA's Secret, granted to a signer name. */
export function applyCaSecret(
  cluster: Cluster,
  { namespace, name, signerName }: Readonly<Record<'namespace' | 'name' | 'signerName', string>>,
  ca: CaPem,
): Promise<void> {
  return apply(cluster, {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: { name, namespace, annotations: { 'countersign.dev/signer-name': signerName } },
    stringData: { 'tls.crt': ca.certificate, 'tls.key': ca.key },
  });
}

/** Resolves when `Ready` of an issuer has that reason. @returns its message */
export function untilReadyIs(
  cluster: Cluster,
  [resource, name]: readonly [string, string],
  reason: string,
): Promise<string> {
  const path = '{.status.conditions[?(@.type=="Ready")]}';
  return until(`${resource} ${name} is ${reason}`, WAIT_MS, async () => {
    const { stdout } = await cluster.kubectl(['get', resource, name, '-o', `jsonpath=${path}`]);
    const ready = JSON.parse(stdout) as { readonly reason: string; readonly message: string };
    if (ready.reason === reason) return ready.message || ' ';
    throw new Error(`it is ${stdout}`);
  });
}

/** The spec of an issuer that copies a person's names, and gives pods a URI of their own. */
export const issuerSpec = (authority: object, more: object = {}): object => ({
  authority,
  requests: { copy: ['commonName', 'organizations'] },
  pods: {
    allow: 'true',
    uris: ["'spiffe://example.com/ns/' + pod.namespace + '/sa/' + pod.serviceAccount"],
  },
  ...more,
});

/** A certificate for a person, approved by hand. */
export async function certificateOfPerson(
  cluster: Cluster,
  signerName: string,
  expirationSeconds = 3600,
): Promise<readonly X509Certificate[]> {
  const name = await createCsr(cluster, { signerName, expirationSeconds });
  await cluster.kubectl(['certificate', 'approve', name]);
  return chainOf(await waitForCertificate(cluster, name));
}

/** A certificate for a pod of ServiceAccount `web`, from the file that its kubelet wrote. */
export async function certificateOfPod(
  cluster: Cluster,
  signerName: string,
  pod: { readonly namespace: string; readonly name: string },
): Promise<readonly X509Certificate[]> {
  const [first] = cluster.nodes;
  const wanted = { ...pod, serviceAccount: 'web', signerName, keyType: 'ECDSAP256' };
  await createPod(cluster, { ...wanted, node: first?.name ?? '', trustBundle: false });
  const { credentials } = await filesOf(cluster, wanted);
  return chainOf(readFileSync(credentials, 'utf8'));
}

/**
 * A person's certificate and a pod's, by this signer name: who they are for, and that `root` is
 * above.
 */
export async function requireBoth(
  cluster: Cluster,
  signerName: string,
  pod: { readonly namespace: string; readonly name: string },
  root: string,
): Promise<void> {
  const anchor = new X509Certificate(root);
  const person = await certificateOfPerson(cluster, signerName);
  assert.deepEqual(person[0]?.subject.split('\n').sort(), ['CN=jane', 'O=dev']);
  requireChain(person, anchor);
  const credentials = await certificateOfPod(cluster, signerName, pod);
  const uri = `URI:spiffe://example.com/ns/${pod.namespace}/sa/web`;
  assert.equal(credentials[0]?.subjectAltName, uri);
  requireChain(credentials, anchor);
}

function requireChain(chain: readonly X509Certificate[], anchor: X509Certificate): void {
  for (const [index, certificate] of chain.entries()) {
    assert.ok(certificate.verify((chain[index + 1] ?? anchor).publicKey));
  }
}

export function chainOf(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((each) => new X509Certificate(each));
}
