// SPDX-License-Identifier: Apache-2.0
/**
 * A real Vault issues the certificates of pods and users, by a role that takes no name from a
 * request. It is sealed, restarted and throttled meanwhile, and the component is killed.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { findCondition, type Condition } from '#api/request/conditions.ts';
import { renderAdmission, renderRbac } from '#install/render.ts';
import { decodePem, decodePemAll } from '#pki/der/pem.ts';
import { until } from '../cluster/until.ts';
import { ACCEPTED, chainOf, openOracle } from '../oracle/oracle.ts';
import { apply, applyText } from '../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { componentKubeconfig } from '../support/cluster/installation.ts';
import { createPod, createTeam, filesOf } from '../support/cluster/pods.ts';
import { allowRequesters, requestPem } from '../support/cluster/requests/csr.ts';
import { letLogIn, makeEngine, makeRoot, tokenFor } from './engine.ts';
import { prepareVault, type Vault } from './server.ts';

const SIGNER_NAME = 'example.com/corporate';
const USAGES = ['digital signature', 'client auth', 'server auth'];
const WAIT_MS = 180_000;
/** Requests of the count. */
const MANY = 200;

let fixture: Fixture;
let vault: Vault;
let component: ComponentProcess | undefined;
const directory = mkdtempSync(join(tmpdir(), 'vault-external-'));
const at = (name: string): string => join(directory, name);
const rootPem = (): string => readFileSync(at('root.crt'), 'utf8');

before(async () => {
  makeRoot(directory);
  vault = await prepareVault(directory);
  await vault.start();
  await makeEngine(vault, directory, 'pki', 0);
  await setRole();
  fixture = await startFixture();
  const { cluster } = fixture;
  await createTeam(cluster, 'team-a', ['web']);
  await allowRequesters(cluster);
  const installation = {
    ...DEMO,
    external: { signers: [SIGNER_NAME] },
    optionalComponents: ['external-signer'],
  };
  const texts = [...renderRbac(installation).values(), ...renderAdmission(installation).values()];
  await applyText(
    cluster,
    texts.filter((each) => !each.includes('who-may-request')).join('\n---\n'),
  );
  await letLogIn(vault, cluster, {
    component: 'external-signer',
    role: 'pods',
    policy: [
      'path "pki/sign/pods" { capabilities = ["update"] }',
      'path "pki/roles/pods" { capabilities = ["read"] }',
    ].join('\n'),
  });
  const token = await tokenFor(cluster, 'external-signer', vault.url);
  writeFileSync(at('token'), `${token}\n`);
  await start();
});
after(async () => {
  await component?.stop();
  await fixture.stop();
  await vault.stop();
  rmSync(directory, { recursive: true });
});

async function start(): Promise<void> {
  component = await startComponent({
    name: 'external-signer',
    kubeconfig: await componentKubeconfig(fixture.cluster, 'external-signer'),
    args: [`--vault=${vault.url}=${at('token')}`, `--kept-chains=${at('chains')}`],
    logs: directory,
  });
}

/** As docs/how-to/external-ca.md says. It stores certificates, so that they can be counted. */
async function setRole(more: object = {}): Promise<void> {
  await vault.call('POST', 'pki/roles/pods', {
    allow_any_name: true,
    enforce_hostnames: false,
    allow_ip_sans: true,
    allowed_uri_sans: '*',
    require_cn: false,
    use_csr_sans: false,
    use_csr_common_name: false,
    key_type: 'any',
    key_usage: 'DigitalSignature',
    max_ttl: '24h',
    ...more,
  });
}

function signer(vaultFields: object = {}): object {
  return {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'ExternalClusterSigner',
    metadata: { name: 'corporate' },
    spec: {
      signerName: SIGNER_NAME,
      authority: {
        vault: {
          server: vault.url,
          caBundle: vault.ca,
          mount: 'pki',
          role: 'pods',
          auth: { role: 'pods' },
          ...vaultFields,
        },
        anchors: rootPem(),
      },
      profile: { maxDuration: '2h' },
      pods: {
        allow: "pod.namespace == 'team-a'",
        uris: ["'spiffe://example.com/ns/' + pod.namespace + '/sa/' + pod.serviceAccount"],
      },
      requests: {
        copy: ['commonName'],
        rules: [
          {
            name: 'own-name',
            when: "'dev' in request.groups",
            allow: { commonName: 'self == request.username', usages: USAGES },
          },
        ],
      },
    },
  };
}

async function readyOf(): Promise<Condition | undefined> {
  const named = ['externalclustersigner', 'corporate', '-o', 'json'];
  const { stdout } = await fixture.cluster.kubectl(['get', ...named]);
  const { status } = JSON.parse(stdout) as { status?: { conditions?: readonly Condition[] } };
  return findCondition(status?.conditions, 'Ready');
}

function ready(reason: string): Promise<string> {
  return until(`Ready is ${reason}`, WAIT_MS, async () => {
    const found = await readyOf();
    if (found?.reason === reason) return found.message ?? 'none';
    throw new Error(`${found?.reason ?? 'none'}: ${found?.message ?? ''}`);
  });
}

/** How many certificates Vault has issued. An empty list is not found. */
async function issuedByVault(): Promise<number> {
  const { keys } = await vault.call('LIST', 'pki/certs').catch(() => ({ keys: [] }));
  // The issuer itself is among them, or not.
  return (keys as readonly string[]).length;
}

/** The chain of a new pod, as the kubelet mounts it. */
async function chainOfPod(name: string): Promise<string> {
  const wanted = { namespace: 'team-a', name, serviceAccount: 'web', node: 'node-1' };
  const of = { signerName: SIGNER_NAME, keyType: 'ECDSAP256', maxExpirationSeconds: 3600 };
  await createPod(fixture.cluster, { ...wanted, ...of, trustBundle: false });
  const { credentials } = await filesOf(fixture.cluster, wanted);
  const text = await readFile(credentials, 'utf8');
  return text.slice(text.indexOf('-----BEGIN CERTIFICATE'));
}

async function createCsrs(count: number, prefix: string): Promise<void> {
  const pem = await requestPem({ organizations: [] });
  const items = Array.from({ length: count }, (_, index) => ({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: `${prefix}-${index}`, labels: { count: prefix } },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: SIGNER_NAME,
      usages: USAGES,
      expirationSeconds: 3600,
    },
  }));
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  const as = ['--as', 'jane', '--as-group', 'dev'];
  await fixture.cluster.kubectl(['create', '-f', '-', ...as], { input: list });
}

interface Answered {
  readonly items: readonly { readonly status?: { readonly certificate?: string } }[];
}

async function answered(prefix: string): Promise<number> {
  const of = ['get', 'csr', '-l', `count=${prefix}`, '-o', 'json'];
  const { items } = JSON.parse((await fixture.cluster.kubectl(of)).stdout) as Answered;
  return items.filter(({ status }) => status?.certificate !== undefined).length;
}

test('a user without the verb use cannot name the secrets engine', async () => {
  const { cluster } = fixture;
  const verbs = ['--verb=get,create,patch', '--resource=externalclustersigners.countersign.dev'];
  await cluster.kubectl(['create', 'clusterrole', 'writer', ...verbs]);
  await cluster.kubectl([
    'create',
    'clusterrolebinding',
    'w',
    '--clusterrole=writer',
    '--user=eve',
  ]);
  const create = ['create', '-f', '-', '--as=eve'];
  const input = JSON.stringify(signer());
  await assert.rejects(
    cluster.kubectl(create, { input }),
    /may not (sign|attest) for|may not use the secrets engine/,
  );
  await apply(cluster, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'writer' },
    rules: [
      {
        apiGroups: ['countersign.dev'],
        resources: ['externalclustersigners'],
        verbs: ['get', 'create', 'patch'],
      },
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['signers'],
        resourceNames: [SIGNER_NAME],
        verbs: ['sign', 'attest'],
      },
    ],
  });
  const refused = /may not use the secrets engine https:\/\/127\.0\.0\.1:\d+\/pki; /;
  await assert.rejects(cluster.kubectl(create, { input }), refused);
});

test('a role that takes names from requests is refused before anything is ordered', async () => {
  await setRole({ use_csr_sans: true });
  await apply(fixture.cluster, signer());
  assert.match(await ready('RoleUnsuitable'), /use_csr_sans must be false/);
  await setRole();
  await ready('Checked');
});

test('a pod gets the names of the rules for exactly an hour, and Go accepts the chain', async () => {
  const chain = await chainOfPod('first');
  const leaf = new X509Certificate(chain);
  assert.equal(leaf.subjectAltName, 'URI:spiffe://example.com/ns/team-a/sa/web');
  assert.equal(Date.parse(leaf.validTo) - Date.parse(leaf.validFrom), 3_600_000);
  const [first, ...intermediates] = decodePemAll(chain, 'CERTIFICATE');
  assert.ok(first !== undefined);
  await using oracle = await openOracle();
  const roots = [decodePem(rootPem(), 'CERTIFICATE')];
  const parts = { leaf: first, intermediates, roots, now: Date.now() };
  const byGo = await oracle.ask('v', chainOf(parts));
  assert.equal(byGo.level, ACCEPTED, byGo.reason);
});

test('pods wait while Vault is sealed or away, and continue once it answers', async () => {
  await vault.seal();
  const sealed = chainOfPod('sealed');
  await until('the pod waits', WAIT_MS, async () => {
    const text = await component?.metrics();
    return text?.includes('outcome="unavailable"') === true;
  });
  await vault.unseal();
  assert.match(await sealed, /BEGIN CERTIFICATE/);
  await vault.stop();
  const away = chainOfPod('away');
  await vault.start();
  assert.match(await away, /BEGIN CERTIFICATE/);
});

test('throttled, sealed and killed meanwhile, each certificate is issued about once', async () => {
  const before = await issuedByVault();
  await vault.call('POST', 'sys/quotas/rate-limit/pods', { path: 'pki/sign/pods', rate: 20 });
  await createCsrs(MANY, 'many');
  const some = (count: number): Promise<unknown> =>
    until(`${count} are answered`, WAIT_MS, async () => (await answered('many')) >= count);
  await some(MANY / 4);
  await component?.kill();
  await start();
  await some(MANY / 2);
  await vault.seal();
  await vault.unseal();
  await some(MANY);
  const issued = (await issuedByVault()) - before;
  // One call may be lost with the process, and one with the seal, for each that runs at once.
  assert.ok(issued >= MANY && issued <= MANY + 16, `${issued} certificates for ${MANY} requests`);
  console.log(`${issued} certificates issued by Vault for ${MANY} requests`);
});

test('no log line and no status has a token', async () => {
  const [, , signature = ''] = readFileSync(at('token'), 'utf8').trim().split('.');
  const named = ['get', 'externalclustersigners,events', '-A', '-o', 'json'];
  const { stdout } = await fixture.cluster.kubectl(named);
  const log = readFileSync(at('external-signer.log'), 'utf8');
  for (const text of [stdout, log]) assert.ok(!text.includes(signature) && !/hvs\./.test(text));
});
