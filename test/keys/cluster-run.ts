// SPDX-License-Identifier: Apache-2.0
/**
 * Pods get leaves of a CA whose key is in SoftHSM2, by the manifests of the values, while the token
 * is pulled, its process killed, and its holder restarted. The holder runs as its container would:
 * with the arguments and the environment of the pod, whose paths lead to a folder of the test.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import { until } from '../cluster/until.ts';
import { selfSignedCa } from '../support/ca/ca-secret.ts';
import { countersign, MAIN } from '../support/cluster/countersign.ts';
import { applySigner, example, VERSION, waitForReady } from '../support/cluster/fixture.ts';
import {
  KEYS_NAMESPACE,
  startComponents,
  SYSTEM_NAMESPACE,
  type Installation,
} from '../support/cluster/installation.ts';
import { createPod, createTeam, filesOf } from '../support/cluster/pods.ts';
import { createSoftToken, softHsm, USER_PIN, type SoftToken } from '../support/pkcs11/soft-hsm.ts';

const SIGNER_NAME = 'example.com/workload';
const ROUNDS = 4;
const PODS = 10;

const parts = softHsm();
const options = typeof parts === 'string' ? { skip: parts } : {};

interface PodSpec {
  readonly initContainers?: readonly {
    readonly args: readonly string[];
    readonly env?: readonly { readonly name: string; readonly value: string }[];
  }[];
  readonly containers: readonly { readonly args: readonly string[] }[];
}

let cluster: Cluster;
let installation: Installation;
let folder = '';
let token: SoftToken;
let pod: PodSpec;
let holder: ChildProcess;
let log = '';

const here = (text: string): string => text.replaceAll('/run/countersign', folder);

function values(module: string): object {
  return {
    signers: [{ name: SIGNER_NAME, keyHolder: true, serves: ['pods'] }],
    components: {
      'pcr-issuer': {
        keyHolder: {
          pkcs11: {
            image: 'registry.example/countersign-softhsm:1',
            module,
            env: [{ name: 'SOFTHSM2_CONF', value: '/run/countersign/module/softhsm2.conf' }],
          },
          keys: [
            {
              name: 'workload',
              secret: 'workload-hsm',
              pkcs11: { token: 'ca', label: 'workload' },
              signerNames: [SIGNER_NAME],
              leaf: {
                maxDuration: '24h',
                names: { uris: ['spiffe://cluster[.]local/ns/team-[a-z]+/sa/[a-z-]+'] },
              },
            },
          ],
        },
      },
    },
  };
}

async function startHolder(): Promise<void> {
  assert.ok(typeof parts !== 'string');
  const { args = [], env = [] } = pod.initContainers?.[0] ?? {};
  const given = Object.fromEntries(env.map(({ name, value }) => [name, here(value)]));
  const program = process.env['COUNTERSIGN_PROGRAM'] ?? MAIN;
  const started = spawn(
    process.execPath,
    [program, ...args.map(here), '--pkcs11-addon', parts.addon],
    { env: { ...token.env, ...given } },
  );
  holder = started;
  let isListening = false;
  started.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
    isListening ||= text.includes('listening');
  });
  await until('the holder listens', 30_000, () => isListening);
}

async function killHolder(): Promise<void> {
  holder.kill('SIGKILL');
  await once(holder, 'exit');
}

/** Ends the process of the token. */
function killToken(): void {
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8');
      if (status.includes(`\nPPid:\t${holder.pid ?? 0}\n`)) process.kill(Number(name), 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}

async function install(module: string): Promise<void> {
  const file = join(folder, 'values.json');
  writeFileSync(file, JSON.stringify(values(module)));
  const { stdout, code } = await countersign(['manifests', '--values', file]);
  assert.equal(code, 0);
  writeFileSync(join(folder, 'all.yaml'), stdout);
  await until('the manifests are applied', 60_000, () =>
    cluster.kubectl(['apply', '--server-side', '-f', join(folder, 'all.yaml')]),
  );
  await established(cluster, 'crd/clustersigners.countersign.dev');
  pod = await until('pcr-issuer has its pod', 60_000, async () => {
    const label = 'app.kubernetes.io/component=pcr-issuer';
    const args = ['get', 'pods', '-n', SYSTEM_NAMESPACE, '-l', label, '-o', 'json'];
    const { stdout: pods } = await cluster.kubectl(args);
    return (JSON.parse(pods) as { items: { spec: PodSpec }[] }).items[0]?.spec;
  });
}

before(async () => {
  if (typeof parts === 'string') return;
  folder = mkdtempSync(join(tmpdir(), 'keys-cluster-'));
  const ca = await selfSignedCa('Token CA');
  token = createSoftToken(parts);
  token.importKey(ca.key, 'workload', '01');
  // As the Secrets are mounted.
  mkdirSync(join(folder, 'keys/workload'), { recursive: true });
  mkdirSync(join(folder, 'key-holder'));
  mkdirSync(join(folder, 'module'));
  writeFileSync(join(folder, 'keys/workload/ca.crt'), ca.certificate);
  writeFileSync(join(folder, 'keys/workload/pin'), USER_PIN, { mode: 0o440 });
  const configuration = readFileSync(join(token.folder, 'softhsm2.conf'));
  writeFileSync(join(folder, 'module/softhsm2.conf'), configuration);
  cluster = await startCluster({ version: VERSION });
  await install(parts.module);
  await startHolder();
  const args = pod.containers[0]?.args ?? [];
  installation = await startComponents(cluster, {
    args: ['--propagation=1s'],
    argsOf: { 'pcr-issuer': args.filter((each) => each.startsWith('--key-holder=')).map(here) },
  });
  const { requests: _requests, certificateRequests: _cert, ...spec } = example('workload').spec;
  const keyHolder = { namespace: KEYS_NAMESPACE, key: 'workload', chain: ca.certificate };
  await applySigner(cluster, {
    ...example('workload'),
    spec: { ...spec, authority: { keyHolder } },
  });
  await waitForReady(cluster, 'workload', 'Checked');
  await createTeam(cluster, 'team-a', ['web']);
});

after(async () => {
  if (typeof parts === 'string') return;
  await installation.stop();
  await cluster.stop();
  holder.kill('SIGKILL');
  token.remove();
  rmSync(folder, { recursive: true });
});

const create = (name: string): Promise<void> =>
  createPod(cluster, {
    name,
    namespace: 'team-a',
    serviceAccount: 'web',
    node: 'node-1',
    signerName: SIGNER_NAME,
    keyType: 'ECDSAP256',
  });

/** The serial number of a pod's leaf, once OpenSSL has verified it from the root alone. */
async function verifiedSerial(name: string): Promise<string> {
  const { credentials } = await filesOf(cluster, { namespace: 'team-a', name });
  const leaf = new X509Certificate(readFileSync(credentials));
  const file = join(folder, `${name}.pem`);
  writeFileSync(file, leaf.toString());
  const root = join(folder, 'keys/workload/ca.crt');
  const output = execFileSync('openssl', ['verify', '-x509_strict', '-CAfile', root, file]);
  assert.match(output.toString(), /: OK/);
  return leaf.serialNumber.toLowerCase();
}

function servedBecause(reason: string): Promise<unknown> {
  return until(`Served has the reason ${reason}`, 120_000, async () => {
    const path = 'jsonpath={.status.conditions[?(@.type=="Served")].reason}';
    const { stdout } = await cluster.kubectl(['get', 'clustersigner', 'workload', '-o', path]);
    return stdout === reason ? true : undefined;
  });
}

test(
  'pods wait for a token that is pulled, with its reason, and none is lost',
  options,
  async () => {
    await create('first');
    await verifiedSerial('first');
    token.pull();
    killToken();
    const names = Array.from({ length: PODS }, (_, index) => `pulled-${index}`);
    await Promise.all(names.map(create));
    await servedBecause('KeyHolderTokenUnavailable');
    const kubeconfig = ['--kubeconfig', cluster.kubeconfig];
    const checked = await countersign(['check', ...kubeconfig]);
    assert.match(checked.stdout, /signers-ready: clustersigner\/workload: NotServed: pcr-issuer: /);
    assert.match(checked.stdout, /token ca: the module has no token/);
    const explained = await until('explain has the reason', 60_000, async () => {
      const args = ['explain', 'pod/pulled-0', '-n', 'team-a', ...kubeconfig];
      const { stdout } = await countersign(args);
      return /token ca: the module has no token/.test(stdout) ? stdout : undefined;
    });
    assert.doesNotMatch(explained, new RegExp(USER_PIN));
    token.plug();
    const serials = await Promise.all(names.map(verifiedSerial));
    assert.equal(new Set(serials).size, PODS);
    await servedBecause('Served');
  },
);

test(
  'no pod is lost, and none gets two leaves, while token and holder are killed',
  options,
  async () => {
    const names: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const some = Array.from({ length: PODS }, (_, index) => `killed-${round}-${index}`);
      names.push(...some);
      const created = Promise.all(some.map(create));
      killToken();
      if (round % 2 === 1) {
        await killHolder();
        await startHolder();
      }
      await created;
    }
    const serials = await Promise.all(names.map(verifiedSerial));
    assert.equal(new Set(serials).size, names.length);
    const signed = new Set(
      [...log.matchAll(/"serial":"([0-9a-f]+)"/g)].map(([, serial]) => serial),
    );
    for (const serial of serials) assert.ok(signed.has(serial), serial);
    assert.doesNotMatch(log, new RegExp(USER_PIN));
  },
);
