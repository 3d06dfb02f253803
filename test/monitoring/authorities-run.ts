// SPDX-License-Identifier: Apache-2.0
/**
 * The panels and the series of alerts of CAs that others hold: a key holder, an upstream CA whose
 * certificate is awaited, and an external CA.
 */
import { rmSync, writeFileSync } from 'node:fs';
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
  createHeldFolder,
  createHeldPod,
  HELD_KEY,
  HELD_SIGNER_NAME,
  installHeld,
  keyHolderOf,
  socketArgs,
  type KeyHolderProcess,
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

let cluster: Cluster;
let installation: Installation;
let external: ComponentProcess;
let corporate: CorporateCa;
let holder: KeyHolderProcess;
let prometheus: Prometheus;
let began: number;
let folder = '';

before(async () => {
  corporate = await startCorporateCa();
  const ca = await selfSignedCa('Held CA');
  folder = createHeldFolder({ 'ca.crt': ca.certificate, 'ca.key': ca.key });
  cluster = await startCluster({ version: VERSION });
  await installHeld(cluster, folder, valuesWith(corporate.url));
  const pod = await admittedPod(cluster);
  holder = keyHolderOf(pod, folder);
  await holder.start();
  installation = await startComponents(cluster, {
    args: ['--propagation=1s'],
    argsOf: { 'pcr-issuer': socketArgs(pod, folder) },
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
  await holder.kill();
  rmSync(folder, { recursive: true });
});

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
