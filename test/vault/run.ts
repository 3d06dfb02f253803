// SPDX-License-Identifier: Apache-2.0
/**
 * A real Vault with an intermediate below a company's root signs a managed CA, by a token of
 * authority's ServiceAccount. Go and OpenSSL judge the leaves from the root alone.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { AuthorityStatus, ClusterSigner, VaultUpstream } from '#api/signer/cluster-signer.ts';
import { PREPARE_AT, ROTATE_AT } from '#api/signer/rotation-annotations.ts';
import { findCondition } from '#api/request/conditions.ts';
import { formatTime } from '#api/object/time.ts';
import { decodePem, decodePemAll } from '#pki/der/pem.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { until } from '../cluster/until.ts';
import { ACCEPTED, chainOf, openOracle } from '../oracle/oracle.ts';
import { apply } from '../support/cluster/apply.ts';
import { getSigner, startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { createPod, createTeam, filesOf } from '../support/cluster/pods.ts';
import { letLogIn, makeEngine, makeRoot, tokenFor } from './engine.ts';
import { prepareVault, type Vault } from './server.ts';

const NAME = 'workload';
const WAIT_MS = 120_000;
const DAY = 86_400_000;

let fixture: Fixture;
let vault: Vault;
const directory = mkdtempSync(join(tmpdir(), 'vault-upstream-'));
const at = (name: string): string => join(directory, name);

before(async () => {
  makeRoot(directory);
  vault = await prepareVault(directory);
  await vault.start();
  await makeEngine(vault, directory, 'pki', 1);
  await makeEngine(vault, directory, 'leaf-only', 0);
  writeFileSync(at('token'), '');
  fixture = await startFixture({
    args: ['--propagation', '3s'],
    argsOf: { authority: [`--upstream-vault=${vault.url}=${at('token')}`] },
  });
  await createTeam(fixture.cluster, 'team-a', ['web']);
  await letAuthorityLogIn();
});
after(async () => {
  await fixture.stop();
  await vault.stop();
  rmSync(directory, { recursive: true });
});

const rootDer = (): Uint8Array => decodePem(readFileSync(at('root.crt'), 'utf8'), 'CERTIFICATE');

/** Lets authority have these engines sign. */
async function letAuthorityLogIn(): Promise<void> {
  const paths = ['pki', 'leaf-only'].map(
    (mount) => `path "${mount}/root/sign-intermediate" { capabilities = ["update"] }`,
  );
  const policy = paths.join('\n');
  await letLogIn(vault, fixture.cluster, { component: 'authority', role: 'countersign', policy });
}

/** Writes what the kubelet would project for this audience. */
async function writeToken(audience: string): Promise<void> {
  writeFileSync(at('token'), `${await tokenFor(fixture.cluster, 'authority', audience)}\n`);
}

const signer = (): Promise<ClusterSigner> => getSigner(fixture.cluster, NAME);

async function change(body: object, as?: string): Promise<void> {
  const user = as === undefined ? [] : [`--as=${as}`];
  const patch = ['--type=merge', '-p', JSON.stringify(body), ...user];
  await fixture.cluster.kubectl(['patch', 'clustersigner', NAME, ...patch]);
}

/** A change of the managed CA. Absent members stay as they are. */
function managed(more: Readonly<Record<string, unknown>>): object {
  return { spec: { authority: { managed: more } } };
}

function upstream(
  more: Partial<VaultUpstream> = {},
  beside: Readonly<Record<string, unknown>> = {},
): object {
  return managed({
    ...beside,
    upstream: {
      vault: {
        server: vault.url,
        caBundle: vault.ca,
        mount: 'pki',
        auth: { role: 'countersign' },
        rootFingerprint: fingerprint(rootDer()),
        trustEverythingBelow: true,
        ...more,
      },
    },
  });
}

/** Requests a successor that signs at once. */
async function rotate(): Promise<void> {
  const now = formatTime(Date.now() + 1_000);
  await change({ metadata: { annotations: { [PREPARE_AT]: now, [ROTATE_AT]: now } } });
}

/** The message of AwaitingCertificate, once it has this reason. */
function awaits(reason: string): Promise<string> {
  return until(`AwaitingCertificate is ${reason}`, WAIT_MS, async () => {
    const { metadata, status } = await signer();
    const found = findCondition(status?.conditions, 'AwaitingCertificate');
    const isCurrent = status?.observedGeneration === metadata.generation;
    if (isCurrent && found?.reason === reason) return found.message ?? '';
    throw new Error(`${found?.reason ?? 'none'}: ${found?.message ?? ''}`);
  });
}

function active(except?: string): Promise<AuthorityStatus> {
  return until('another CA is Active', WAIT_MS, async () => {
    const { status } = await signer();
    const found = (status?.authorities ?? []).find(
      (each) => each.phase === 'Active' && each.fingerprint !== except,
    );
    if (found !== undefined) return found;
    throw new Error(JSON.stringify(status?.conditions));
  });
}

/** How many certificates Vault has signed. An empty list is not found. */
async function stored(mount = 'pki'): Promise<number> {
  const { keys } = await vault.call('LIST', `${mount}/certs`).catch(() => ({ keys: [] }));
  return (keys as readonly string[]).length;
}

/** Who rejects the leaf of a new pod from the root alone. */
async function rejecting(pod: string): Promise<readonly string[]> {
  const wanted = { namespace: 'team-a', name: pod, serviceAccount: 'web', node: 'node-1' };
  const signerName = 'example.com/workload';
  await createPod(fixture.cluster, { ...wanted, signerName, keyType: 'ECDSAP256' });
  const { credentials } = await filesOf(fixture.cluster, wanted);
  const text = await readFile(credentials, 'utf8');
  const chain = text.slice(text.indexOf('-----BEGIN CERTIFICATE'));
  writeFileSync(at('chain.crt'), chain);
  const anchors = ['-x509_strict', '-no-CApath', '-no-CAstore', '-CAfile', at('root.crt')];
  const args = ['verify', ...anchors, '-untrusted', at('chain.crt'), at('chain.crt')];
  const found = spawnSync('openssl', args, { encoding: 'utf8' });
  const [leaf, ...intermediates] = decodePemAll(chain, 'CERTIFICATE');
  assert.ok(leaf !== undefined);
  await using oracle = await openOracle();
  const parts = { leaf, intermediates, roots: [rootDer()], now: Date.now() };
  const byGo = await oracle.ask('v', chainOf(parts));
  return [
    ...(found.status === 0 ? [] : [`OpenSSL: ${found.stdout}${found.stderr}`]),
    ...(byGo.level === ACCEPTED ? [] : [`Go: ${byGo.reason}`]),
  ];
}

let current: AuthorityStatus;
test('a user without the verb use cannot name the secrets engine', async () => {
  const { cluster } = fixture;
  current = await active();
  const verbs = ['--verb=get,patch', '--resource=clustersigners.countersign.dev'];
  await cluster.kubectl(['create', 'clusterrole', 'writer', ...verbs]);
  await apply(cluster, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'signs' },
    rules: [
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['signers'],
        resourceNames: ['example.com/workload'],
        verbs: ['sign', 'attest'],
      },
      {
        apiGroups: ['countersign.dev'],
        resources: ['vaultengines'],
        resourceNames: [`${vault.url}/other`, `${vault.url}/team/other`],
        verbs: ['use'],
      },
    ],
  });
  for (const role of ['writer', 'signs']) {
    const binding = [`--clusterrole=${role}`, '--user=mallory'];
    await cluster.kubectl(['create', 'clusterrolebinding', role, ...binding]);
  }
  const refused = /may not use the secrets engine https:\/\/127\.0\.0\.1:\d+\/pki; /;
  await assert.rejects(change(upstream(), 'mallory'), refused);
  const dry = ['--type=merge', '--dry-run=server', '--as=mallory', '-p'];
  for (const more of [{ mount: 'other' }, { namespace: 'team', mount: 'other' }]) {
    const patch = JSON.stringify(upstream(more));
    await cluster.kubectl(['patch', 'clustersigner', NAME, ...dry, patch]);
  }
});

test('Vault refuses a token for another audience, and the CA signs on', async () => {
  await writeToken('https://kubernetes.default.svc.cluster.local');
  await change(upstream());
  assert.match(await awaits('RequestDenied'), /denied the login by auth\/kubernetes with role/);
  assert.equal((await active()).fingerprint, current.fingerprint);
  assert.equal(await stored(), 0);
});

test('Vault signs once, and Go and OpenSSL accept leaves from the root alone', async () => {
  await writeToken(vault.url);
  // A change of the spec ends the delay after a refusal.
  await change(managed({ maxRetiring: 9 }));
  const next = await active(current.fingerprint);
  assert.deepEqual(await rejecting('first'), []);
  assert.equal(await awaits('NotAwaited'), 'no certificate is awaited from the upstream CA');
  assert.equal(await stored(), 1);
  const [anchor] = decodePemAll(next.anchors ?? '', 'CERTIFICATE');
  assert.equal(anchor && fingerprint(anchor), fingerprint(rootDer()));
  current = next;
});

test('a rotation while Vault is sealed waits, and continues once it is unsealed', async () => {
  await vault.seal();
  await rotate();
  assert.match(await awaits('UpstreamUnavailable'), /answered 503: "Vault is sealed"/);
  assert.equal((await active()).fingerprint, current.fingerprint);
  assert.deepEqual(await rejecting('sealed'), []);
  await vault.unseal();
  current = await active(current.fingerprint);
  assert.deepEqual(await rejecting('unsealed'), []);
  assert.equal(await stored(), 2);
});

test('a rotation while Vault is away waits, and continues after its restart', async () => {
  await vault.stop();
  await rotate();
  assert.match(await awaits('UpstreamUnavailable'), /cannot be reached/);
  await vault.start();
  current = await active(current.fingerprint);
  assert.deepEqual(await rejecting('restarted'), []);
  assert.equal(await stored(), 3);
});

test('another root and a path length of 0 cost no certificate, and the CA signs on', async () => {
  await change(upstream({ rootFingerprint: `sha256:${'0'.repeat(64)}` }));
  await rotate();
  await awaits('RootMismatch');
  await change(upstream({ mount: 'leaf-only' }));
  await awaits('PathLengthExceeded');
  assert.deepEqual([await stored(), await stored('leaf-only')], [3, 0]);
  assert.equal((await active()).fingerprint, current.fingerprint);
});

test('the CA ends before its issuer, whatever its duration', async () => {
  await change(upstream({}, { duration: '175200h' }));
  const next = await active(current.fingerprint);
  const left = Date.parse(next.notAfter) - Date.now();
  assert.ok(left < 3_649 * DAY && left > 3_648 * DAY, next.notAfter);
  assert.deepEqual(await rejecting('long'), []);
  current = next;
});

test('the rotation plans by the shorter life that Vault grants', async () => {
  await vault.call('POST', 'sys/mounts/pki/tune', { max_lease_ttl: '240h' });
  await rotate();
  const next = await active(current.fingerprint);
  const left = Date.parse(next.notAfter) - Date.now();
  assert.ok(left < 10 * DAY + 60_000 && left > 9 * DAY, next.notAfter);
  const due = Date.parse((await signer()).status?.nextRotation ?? '');
  assert.ok(due < Date.parse(next.notAfter), `rotates at ${due}`);
  assert.deepEqual(await rejecting('short'), []);
});

test('no log line and no status has a token', async () => {
  const token = readFileSync(at('token'), 'utf8').trim();
  const [, , signature = ''] = token.split('.');
  const { components } = fixture.installation;
  const { stdout } = await fixture.cluster.kubectl([
    'get',
    'clustersigners,events',
    '-A',
    '-o',
    'json',
  ]);
  const shown = JSON.stringify(components.authority.log) + stdout;
  assert.ok(shown.includes('requested a CA certificate from Vault'));
  for (const secret of [token, signature, 'hvs.']) assert.ok(!shown.includes(secret), secret);
  assert.match(
    await components.authority.metrics(),
    /upstream_calls_total\{[^}]*outcome="signed"[^}]*\} \d/,
  );
});
