// SPDX-License-Identifier: Apache-2.0
/** What a component that was taken over cannot do, tried with its own token. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { selfSignedCa } from '../support/authorities/ca-secret.ts';
import { messageOf } from '../../src/errors.ts';
import { applyCrds } from '../certmanager/crds.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import { until } from '../cluster/until.ts';

const root = join(import.meta.dirname, '../..');
const NAMESPACE = 'countersign-system';
/** The API server compiles a new policy, and hears of a new grant, within a few seconds. */
const SOON = 30_000;

let cluster: Cluster;
/** What a bundle must hold to be one. */
let anchor: string;
const kubeconfigs = new Map<string, string>();

before(async () => {
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  anchor = (await selfSignedCa('Rogue')).certificate;
  const files = [
    'deploy/namespaces.yaml',
    'deploy/crds',
    'rbac',
    'deploy/admission/components.yaml',
  ];
  for (const file of [...files, 'deploy/admission/cluster-signers.yaml']) {
    await cluster.kubectl(['apply', '-f', join(root, file)]);
  }
  await established(cluster, 'crd/clustersigners.countersign.dev');
  for (const component of ['attester', 'authority', 'certificate-request']) {
    const account = `countersign-${component}`;
    kubeconfigs.set(component, await cluster.serviceAccountKubeconfig(NAMESPACE, account));
  }
});

after(async () => {
  await cluster.stop();
});

test('attester cannot make a bundle that is linked to no signer', async () => {
  const bundle = { metadata: { name: 'free-name' }, spec: { trustBundle: anchor } };
  await refusedAs('attester', trustBundle(bundle), /may not write ClusterTrustBundle free-name/);
});

test('attester cannot make another bundle of its own signer', async () => {
  const bundle = {
    metadata: { name: 'example.com:workload:second' },
    spec: { signerName: 'example.com/workload', trustBundle: anchor },
  };
  await refusedAs('attester', trustBundle(bundle), /example\.com:workload:second: it is no bundle/);
});

test('authority cannot create a Secret that is no CA of the installation', async () => {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'squatted', namespace: 'countersign-keys' },
  };
  const says = /may not create Secret countersign-keys\/squatted/;
  await refusedAs('authority', secret, says);
  await created('authority', { ...secret, metadata: { ...secret.metadata, name: 'people-ca' } });
});

test('certificate-request cannot answer a CertificateRequest of another issuer', async () => {
  await applyCrds(cluster);
  for (const group of ['cert-manager.io', 'countersign.dev']) await askedOf(group);
  const answer = async (group: string): Promise<{ code: number; stderr: string }> =>
    cluster.kubectl(
      [
        ...['patch', 'certificaterequest', nameOf(group), '-n', NAMESPACE],
        ...['--subresource=status', '--type=merge', '-p', '{"status":{"ca":"YQ=="}}'],
      ],
      { allowFailure: true, kubeconfig: kubeconfigs.get('certificate-request') ?? '' },
    );
  // Its role has update alone: kubectl patch needs patch, which the demo of an attack gets besides.
  await grantPatch();
  await saysUntil('the policy is in force', /may not answer CertificateRequest/, () =>
    answer('cert-manager.io'),
  );
  const { code, stderr } = await answer('countersign.dev');
  assert.equal(code, 0, stderr);
});

test('deleting a ClusterSigner takes the verbs that writing it takes', async () => {
  await cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(signer('guarded')) });
  const account = 'system:serviceaccount:default:default';
  await bind('deletes', { resources: ['clustersigners'], verbs: ['delete', 'get'] });
  const remove = async (): Promise<{ code: number; stderr: string }> =>
    cluster.kubectl(['delete', 'clustersigner', 'guarded', '--as', account], {
      allowFailure: true,
    });
  await until('the policy is in force', SOON, async () =>
    /may not (?:sign|attest) for component-admission\.example\.com\/guarded/.test(
      (await remove()).stderr,
    ),
  );
  await bind('signs', {
    apiGroups: ['certificates.k8s.io'],
    resources: ['signers'],
    resourceNames: ['component-admission.example.com/guarded'],
    verbs: ['sign', 'attest'],
  });
  await until('the grant is heard', SOON, async () => (await remove()).code === 0);
});

test('a ClusterSigner takes no Secret that its writer may not use', async () => {
  const account = 'system:serviceaccount:default:writer';
  const subject = ['--as', account];
  await bind('writes', { resources: ['clustersigners'], verbs: ['create', 'get'] }, 'writer');
  await bind(
    'signs-squatter',
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['signers'],
      resourceNames: ['component-admission.example.com/squatter'],
      verbs: ['sign', 'attest'],
    },
    'writer',
  );
  const create = async (): Promise<{ code: number; stderr: string }> =>
    cluster.kubectl(['create', '-f', '-', ...subject], {
      input: JSON.stringify(signer('squatter')),
      allowFailure: true,
    });
  await until('the policy is in force', SOON, async () =>
    /may not use Secret countersign-keys\/squatter-ca for a CA/.test((await create()).stderr),
  );
  await bind(
    'uses',
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['squatter-ca'], verbs: ['use'] },
    'writer',
  );
  await until('the grant is heard', SOON, async () => (await create()).code === 0);
});

function signer(name: string): object {
  return {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'ClusterSigner',
    metadata: { name },
    spec: {
      signerName: `component-admission.example.com/${name}`,
      authority: {
        managed: { secret: { namespace: 'countersign-keys', name: `${name}-ca` }, commonName: 'x' },
      },
      profile: { keyTypes: ['ED25519'], usages: ['client auth'] },
    },
  };
}

function trustBundle(parts: object): object {
  return { apiVersion: 'certificates.k8s.io/v1', kind: 'ClusterTrustBundle', ...parts };
}

/** What was refused, in the words of the API server. */
async function saysUntil(
  what: string,
  says: RegExp,
  attempt: () => Promise<{ stderr: string }>,
): Promise<void> {
  const last = { stderr: '' };
  const matches = async (): Promise<boolean> => {
    last.stderr = (await attempt()).stderr;
    return says.test(last.stderr);
  };
  await until(what, SOON, matches).catch((error: unknown) => {
    throw new Error(`${messageOf(error)}: ${last.stderr}`);
  });
}

async function refusedAs(component: string, object: object, says: RegExp): Promise<void> {
  await saysUntil(`the policy refuses ${component}`, says, () => createAs(component, object));
}

async function created(component: string, object: object): Promise<void> {
  const { code, stderr } = await createAs(component, object);
  assert.equal(code, 0, stderr);
}

async function createAs(
  component: string,
  object: object,
): Promise<{ code: number; stderr: string }> {
  return cluster.kubectl(['create', '--validate=false', '-f', '-'], {
    input: JSON.stringify(object),
    allowFailure: true,
    kubeconfig: kubeconfigs.get(component) ?? '',
  });
}

function nameOf(group: string): string {
  return `of-${group.replaceAll('.', '-')}`;
}

async function askedOf(group: string): Promise<void> {
  const request = {
    apiVersion: 'cert-manager.io/v1',
    kind: 'CertificateRequest',
    metadata: { name: nameOf(group), namespace: NAMESPACE },
    spec: { request: 'YQ==', issuerRef: { name: 'x', kind: 'ClusterSigner', group } },
  };
  await cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(request) });
}

async function grantPatch(): Promise<void> {
  await bind(
    'patches',
    {
      apiGroups: ['cert-manager.io'],
      resources: ['certificaterequests/status'],
      verbs: ['get', 'patch'],
    },
    'countersign-certificate-request',
    NAMESPACE,
  );
}

async function bind(
  suffix: string,
  rule: object,
  account = 'default',
  namespace = 'default',
): Promise<void> {
  const name = `component-admission-${suffix}`;
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules: [{ apiGroups: ['countersign.dev'], ...rule }],
  };
  await cluster.kubectl(['apply', '-f', '-'], { input: JSON.stringify(role) });
  const subject = `--serviceaccount=${namespace}:${account}`;
  await cluster.kubectl(['create', 'clusterrolebinding', name, `--clusterrole=${name}`, subject]);
}
