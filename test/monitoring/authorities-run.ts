// SPDX-License-Identifier: Apache-2.0
/**
 * The panels and the series of alerts of CAs that others hold: a key holder, an upstream CA whose
 * certificate is awaited, and an external CA.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ALERT_RULES } from '#install/monitoring/alert-rules.ts';
import { OPTIONAL_COMPONENTS } from '#install/monitoring/optional-panels.ts';
import { OVERVIEW } from '#install/monitoring/panels.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { selfSignedCa } from '../support/ca/ca-secret.ts';
import { apply } from '../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { MAIN } from '../support/cluster/countersign.ts';
import {
  applySigner,
  example,
  VERSION,
  waitForSignerCondition,
  waitForUsableCa,
} from '../support/cluster/fixture.ts';
import {
  admittedPod,
  applyHeldSigner,
  createHeldPod,
  HELD_KEY,
  HELD_SIGNER_NAME,
  installHeld,
} from '../support/cluster/held-workload.ts';
import {
  componentKubeconfig,
  KEYS_NAMESPACE,
  startComponents,
  type Installation,
} from '../support/cluster/installation.ts';
import { createPod, createTeam } from '../support/cluster/pods.ts';
import { waitForRequest } from '../support/cluster/requests/pod-certificate-request.ts';
import {
  CHEATED_TEAM,
  CORPORATE_SIGNER_NAME,
  startCorporateCa,
  type CorporateCa,
} from './corporate-ca.ts';
import { OF_AUTHORITIES, panelsOf, PATIENCE, testAlertSeries, testDashboard } from './panels.ts';
import { startPrometheus, type Prometheus } from './prometheus.ts';

const UPSTREAM_SIGNER_NAME = 'example.com/upstream';
/** A namespace whose SPIFFE IDs the rules of the signer allow, and those of its holder do not. */
const REFUSED_TEAM = 'team-7';

interface PodSpec {
  readonly initContainers?: readonly { readonly args: readonly string[] }[];
  readonly containers: readonly { readonly args: readonly string[] }[];
}

let cluster: Cluster;
let installation: Installation;
let external: ComponentProcess;
let corporate: CorporateCa;
let holder: ChildProcess;
let prometheus: Prometheus;
let began: number;
let folder = '';

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'authorities-'));
  corporate = await startCorporateCa();
  const ca = await selfSignedCa('Held CA');
  // As the Secret is mounted.
  mkdirSync(join(folder, 'keys/workload'), { recursive: true });
  mkdirSync(join(folder, 'key-holder'));
  writeFileSync(join(folder, 'keys/workload/ca.crt'), ca.certificate);
  writeFileSync(join(folder, 'keys/workload/ca.key'), ca.key, { mode: 0o440 });
  cluster = await startCluster({ version: VERSION });
  await installHeld(cluster, folder, valuesWith(corporate.url));
  const { initContainers = [], containers } = await admittedPod<PodSpec>(cluster);
  holder = await startHolder((initContainers[0]?.args ?? []).map(here));
  const socket = containers[0]?.args.filter((each) => each.startsWith('--key-holder=')) ?? [];
  installation = await startComponents(cluster, {
    args: ['--propagation=1s'],
    argsOf: { 'pcr-issuer': socket.map(here) },
  });
  external = await startExternal();
  prometheus = await startPrometheus({
    targets: [...Object.values(installation.components), external].map(
      ({ url }) => new URL(url).host,
    ),
    rules: ALERT_RULES,
  });
  began = Date.now();
  await work(ca.certificate);
});

after(async () => {
  await prometheus.stop();
  await external.stop();
  await installation.stop();
  await cluster.stop();
  await corporate.stop();
  holder.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** The text with the paths of a container at places in the folder. */
function here(text: string): string {
  return text.replaceAll('/run/countersign', folder);
}

function valuesWith(vault: string): object {
  const keys = [{ name: 'workload', secret: 'workload-key', ...HELD_KEY }];
  return {
    signers: [
      { name: HELD_SIGNER_NAME, keyHolder: true, serves: ['pods'] },
      { name: UPSTREAM_SIGNER_NAME, serves: ['pods'] },
    ],
    external: { signers: [CORPORATE_SIGNER_NAME], vaults: [vault] },
    components: {
      'pcr-issuer': { keyHolder: { keys } },
      'external-signer': { enabled: true },
    },
  };
}

async function startHolder(args: readonly string[]): Promise<ChildProcess> {
  const started = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  started.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const exited = once(started, 'exit').then(() => Promise.reject(new Error(`it ended: ${log}`)));
  exited.catch(() => undefined);
  await Promise.race([
    exited,
    until('the holder listens', 60_000, () => log.includes('listening')),
  ]);
  return started;
}

async function startExternal(): Promise<ComponentProcess> {
  const token = join(folder, 'token');
  writeFileSync(token, 'a.service.account');
  return startComponent({
    name: 'external-signer',
    kubeconfig: await componentKubeconfig(cluster, 'external-signer'),
    args: [`--vault=${corporate.url}=${token}`],
  });
}

/** Pods that get a certificate of each CA, those that are refused, and a CA that awaits its own. */
async function work(heldChain: string): Promise<void> {
  await apply(cluster, corporate.signer);
  await applyHeldSigner(cluster, heldChain);
  await createTeam(cluster, REFUSED_TEAM, ['web']);
  await createTeam(cluster, CHEATED_TEAM, ['web']);
  await createHeldPod(cluster, 'held');
  const of = { serviceAccount: 'web', node: 'node-1', keyType: 'ECDSAP256', trustBundle: false };
  const held = { ...of, signerName: HELD_SIGNER_NAME };
  const bought = { ...of, signerName: CORPORATE_SIGNER_NAME };
  await createPod(cluster, { ...held, namespace: REFUSED_TEAM, name: 'refused' });
  await createPod(cluster, { ...bought, namespace: 'team-a', name: 'bought' });
  await createPod(cluster, { ...bought, namespace: CHEATED_TEAM, name: 'cheated' });
  await waitForRequest(cluster, 'team-a', 'bought', 'Issued');
  await awaitCertificate();
}

/** A CA that signs gets an upstream: by the end of its own, a certificate must be installed. */
async function awaitCertificate(): Promise<void> {
  const { requests: _requests, certificateRequests: _cert, ...spec } = example('workload').spec;
  const managed = {
    ...spec.authority.managed,
    secret: { namespace: KEYS_NAMESPACE, name: 'upstream-ca' },
  };
  const signer = (authority: object): object => ({
    ...example('workload'),
    metadata: { name: 'upstream' },
    spec: { ...spec, signerName: UPSTREAM_SIGNER_NAME, authority: { managed: authority } },
  });
  await applySigner(cluster, signer(managed));
  await waitForUsableCa(cluster, 'upstream');
  await applySigner(cluster, signer({ ...managed, upstream: { manual: {} } }));
  const awaited = { type: 'AwaitingCertificate', reason: 'CertificateRequested' };
  await waitForSignerCondition(cluster, 'upstream', awaited);
}

const dashboards = [OVERVIEW, OPTIONAL_COMPONENTS].map((each) => panelsOf(each, 'of authorities'));
testDashboard(
  {
    name: 'authorities',
    title: 'Countersign: CAs that others hold',
    rows: dashboards.flatMap(({ rows }) => rows),
  },
  new Set(),
  () => ({ prometheus, began }),
);

testAlertSeries(
  (series) => OF_AUTHORITIES.test(series),
  () => ({ prometheus }),
);

test('a leaf that the key holder refused fires its alert', async () => {
  await until('the alert fires', PATIENCE, async () =>
    (await prometheus.alerts()).includes('CountersignKeyHolderRefuses'),
  );
});
