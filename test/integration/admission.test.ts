// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { renderAdmission } from '#install/render.ts';
import { DEMO } from '../../build/demo-installation.ts';
import { openCluster, type Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import { until } from '../cluster/until.ts';
import { forgedRequest } from '../support/requests/forged-pkcs10.ts';
import { stubRequest } from '../support/requests/stub-pkcs10.ts';
import { applyText } from '../support/cluster/apply.ts';

const root = join(import.meta.dirname, '../..');
const signer = 'example.com/workload';
const podCertificate = { signerName: signer, keyType: 'ED25519', credentialBundlePath: 'c.pem' };
/** Only here is the opt-in policy in force, so that nobody who shares the cluster is refused. */
const guarded = 'guarded.example.com/workload';
/** The API server compiles a new policy, and hears of a new grant, within a few seconds. */
const SOON = 60_000;

let cluster: Cluster;
/** The kubeconfigs of ServiceAccounts, by what they may. */
let owner: string;
let team: string;

before(async () => {
  cluster = await openCluster();
  const shipped = [
    'namespaces',
    'crds',
    'admission/pod-certificate-requests',
    'admission/cluster-signers',
  ];
  for (const name of shipped) {
    const path = join(root, 'deploy', name === 'crds' ? name : `${name}.yaml`);
    await cluster.kubectl(['apply', '-f', path]);
  }
  await established(cluster, 'crd/clustersigners.countersign.dev');
  const optIn = renderAdmission({ ...DEMO, signers: [guarded], bundles: [] });
  await applyText(cluster, optIn.get('who-may-request.yaml') ?? '');
  owner = await account('admission-owner');
  team = await account('admission-team');
  const csr = ['create', 'clusterrole', 'admission-requester', '--verb=create'];
  await cluster.kubectl([...csr, '--resource=certificatesigningrequests']);
  await bind('clusterrolebinding', 'admission-requester', [], { of: 'admission-team' });
  await cluster.kubectl([
    'create',
    'role',
    'all',
    '-n',
    'admission-owner',
    '--verb=*',
    '--resource=*.*',
  ]);
  await bind('rolebinding', 'all', ['--role=all', '-n', 'admission-owner']);
  await until('the shipped policies are in force', SOON, async () =>
    /only the kubelet of node/.test((await forge(owner, 'admission-owner', signer)).stderr),
  );
  await until('the opt-in policy is in force', SOON, async () =>
    /may not request/.test((await forge(undefined, 'admission-team', guarded)).stderr),
  );
});

after(async () => {
  for (const namespace of ['admission-owner', 'admission-team']) {
    await cluster.kubectl(['delete', 'namespace', namespace, '--wait=false']);
  }
  const policies = ['countersign-who-may-request', 'countersign-who-may-request-for-pods'];
  for (const kind of ['validatingadmissionpolicy', 'validatingadmissionpolicybinding']) {
    await cluster.kubectl(['delete', kind, ...policies, '--ignore-not-found']);
  }
  for (const name of made) {
    await cluster.kubectl(['delete', 'clusterrole,clusterrolebinding', name, '--ignore-not-found']);
  }
  await cluster.kubectl(['delete', 'clustersigner', 'admission', '--ignore-not-found']);
  await cluster.stop();
});

test('a namespace owner cannot create a PodCertificateRequest; the error says why', async () => {
  const { code, stderr } = await forge(owner, 'admission-owner', signer);
  assert.equal(code, 1);
  assert.match(stderr, /only the kubelet of node node-1 may create this PodCertificateRequest/);
  assert.match(stderr, /mount a podCertificate volume in the pod instead/);
  assert.match(
    stderr,
    /grant system:serviceaccount:admission-owner:default the verb request-on-behalf on signers\.certificates\.k8s\.io example\.com\/workload/,
  );
});

test("admission lets a kubelet's own PodCertificateRequest pass", async () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'honest', namespace: 'admission-owner' },
    spec: {
      nodeName: 'node-1',
      containers: [{ name: 'c', image: 'none' }],
      volumes: [{ name: 'v', projected: { sources: [{ podCertificate }] } }],
    },
  };
  await applyText(cluster, JSON.stringify(pod));
  await until('the kubelet asked', SOON, async () => {
    const path = 'jsonpath={.items[*].spec.podName}';
    const get = ['get', 'podcertificaterequests', '-n', 'admission-owner', '-o', path];
    return (await cluster.kubectl(get)).stdout.includes('honest');
  });
});

test('admission ignores PodCertificateRequests for other signers', async () => {
  const { code, stderr } = await forge(owner, 'admission-owner', 'elsewhere.example.org/x');
  assert.equal(code, 0, stderr);
});

test('a user named system:node:… outside the group system:nodes is not a kubelet', async () => {
  await bind('rolebinding', 'impostor', ['--role=all', '-n', 'admission-owner'], {
    subject: '--user=system:node:node-1',
  });
  await until('RBAC lets the impostor in', SOON, async () => {
    // Without a group of its own, impersonation of that name joins system:nodes by itself.
    const as = ['--as=system:node:node-1', '--as-group=impostors'];
    const { stderr } = await forge(undefined, 'admission-owner', signer, as);
    return /only the kubelet of node node-1 may create/.test(stderr);
  });
});

test('a user with the verb request-on-behalf on the signer name may create the request', async () => {
  await grant('admission-on-behalf', 'request-on-behalf', signer);
  await until('the grant is heard', SOON, async () => {
    const { code } = await forge(owner, 'admission-owner', signer);
    return code === 0;
  });
});

test('a team is rejected at create without permission, and served after the grant', async () => {
  const refused = await forge(undefined, 'admission-team', guarded);
  assert.match(
    refused.stderr,
    /ServiceAccount admission-team\/default may not request certificates of guarded\.example\.com\/workload; ask an administrator to grant it the verb request on signers\.certificates\.k8s\.io guarded/,
  );
  const csr = await request(guarded);
  assert.match(csr.stderr, /admission-team:default\s+may not request certificates of guarded/);
  await grant('admission-request', 'request', guarded, 'admission-team');
  await until('the grant is heard', SOON, async () => {
    const { code } = await forge(undefined, 'admission-team', guarded);
    return code === 0;
  });
  await until('the grant is heard for CSRs', SOON, async () => (await request(guarded)).code === 0);
});

test('writing a ClusterSigner requires the verbs sign and attest on its signer name', async () => {
  const create = ['create', 'clusterrole', 'admission-writer', '--verb=create,update,get,patch'];
  await cluster.kubectl([...create, '--resource=clustersigners.countersign.dev']);
  await bind('clusterrolebinding', 'admission-writer');
  // The API server asks its policies in any order and names one: each step leaves only one to
  // refuse.
  await grantRule('admission-use', { apiGroups: [''], resources: ['secrets'], verbs: ['use'] });
  const write = (commonName: string, flags = ['--dry-run=server']): Promise<Answer> =>
    cluster.kubectl(['apply', '-f', '-', ...flags], {
      input: clusterSigner(commonName),
      allowFailure: true,
      kubeconfig: owner,
    });
  const untilRefused = (what: string, refusal: RegExp, commonName = 'a'): Promise<true> =>
    until(what, SOON, async () => refusal.test((await write(commonName)).stderr));
  await untilRefused(
    'RBAC lets the writer in',
    /may not sign for admission\.example\.com\/x, so it may not write or delete its ClusterSigner; ask an administrator/,
  );
  await grant('admission-sign', 'sign', 'admission.example.com/x');
  await untilRefused('sign alone is not enough', /may not attest for admission\.example\.com\/x/);
  await grant('admission-attest', 'attest', 'admission.example.com/x');
  await until('all three are', SOON, async () => (await write('a')).code === 0);
  await cluster.kubectl(['delete', 'clusterrolebinding', 'admission-use']);
  await untilRefused(
    'both are not, without the Secret of the CA',
    /may not use Secret \S+ for a CA/,
  );
  await bind('clusterrolebinding', 'admission-use');
  await until('the Secret is granted again', SOON, async () => (await write('a', [])).code === 0);
  await cluster.kubectl(['delete', 'clusterrolebinding', 'admission-attest']);
  await untilRefused('an update needs both as well', /may not attest for/, 'b');
});

interface Answer {
  readonly code: number;
  readonly stderr: string;
}

/** A PodCertificateRequest for a pod, a ServiceAccount and a node that its writer invented. */
async function forge(
  kubeconfig: string | undefined,
  namespace: string,
  signerName: string,
  flags: readonly string[] = [],
): Promise<Answer> {
  const { stdout } = await cluster.kubectl([
    'api-resources',
    '--api-group=certificates.k8s.io',
    '--no-headers',
  ]);
  const apiVersion = /certificates\.k8s\.io\/\S+(?=\s+true\s+PodCertificateRequest)/.exec(stdout);
  const object = forgedRequest(apiVersion?.[0] ?? '', { namespace, signerName });
  return cluster.kubectl(['create', ...flags, '-f', '-'], {
    input: JSON.stringify(object),
    allowFailure: true,
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
  });
}

/** A CertificateSigningRequest of the team itself. */
async function request(signerName: string): Promise<Answer> {
  const der = Buffer.from(stubRequest(), 'base64').toString('base64');
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${der}\n-----END CERTIFICATE REQUEST-----\n`;
  const object = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: `admission-${randomUUID()}` },
    spec: {
      signerName,
      request: Buffer.from(pem).toString('base64'),
      usages: ['digital signature', 'client auth'],
    },
  };
  return cluster.kubectl(['create', '-f', '-'], {
    input: JSON.stringify(object),
    allowFailure: true,
    kubeconfig: team,
  });
}

function clusterSigner(commonName: string): string {
  return JSON.stringify({
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'ClusterSigner',
    metadata: { name: 'admission' },
    spec: {
      signerName: 'admission.example.com/x',
      authority: {
        managed: { secret: { namespace: 'nobodys-keys', name: 'x' }, commonName },
      },
      profile: { keyTypes: ['ED25519'], usages: ['client auth'] },
    },
  });
}

/** A namespace, and the kubeconfig of its default ServiceAccount. */
async function account(name: string): Promise<string> {
  await cluster.kubectl(['create', 'namespace', name]);
  await until(`${name} has its ServiceAccount`, SOON, async () => {
    const get = ['get', 'serviceaccount', 'default', '-n', name];
    return (await cluster.kubectl(get, { allowFailure: true })).code === 0;
  });
  return cluster.serviceAccountKubeconfig(name, 'default');
}

/** What is cluster-wide and has to go at the end. */
const made: string[] = [];

/** Binds the role of that name, or what `flags` say, to a ServiceAccount, or to `subject`. */
async function bind(
  kind: 'rolebinding' | 'clusterrolebinding',
  name: string,
  flags: readonly string[] = [],
  whom: { readonly of?: string; readonly subject?: string } = {},
): Promise<void> {
  const role = flags.length === 0 ? [`--clusterrole=${name}`] : flags;
  const subject = whom.subject ?? `--serviceaccount=${whom.of ?? 'admission-owner'}:default`;
  if (kind === 'clusterrolebinding') made.push(name);
  await cluster.kubectl(['create', kind, name, ...role, subject]);
}

/** Grants a verb on a signer name to the default ServiceAccount of `namespace`. */
async function grant(
  name: string,
  verb: string,
  signerName: string,
  namespace = 'admission-owner',
): Promise<void> {
  const rule = {
    apiGroups: ['certificates.k8s.io'],
    resources: ['signers'],
    resourceNames: [signerName],
    verbs: [verb],
  };
  await grantRule(name, rule, namespace);
}

/** `kubectl create clusterrole` knows no virtual resources and verbs. */
async function grantRule(name: string, rule: object, namespace = 'admission-owner'): Promise<void> {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  await applyText(
    cluster,
    JSON.stringify({ apiVersion, kind: 'ClusterRole', metadata: { name }, rules: [rule] }),
  );
  await bind('clusterrolebinding', name, [], { of: namespace });
}
