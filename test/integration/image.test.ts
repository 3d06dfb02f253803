// SPDX-License-Identifier: Apache-2.0
/**
 * What is shipped runs as it is to run. With buildah that is the image, built here; without it, or
 * without root's right to mount, the image's one bundle by itself.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { BUNDLE, NONROOT } from '../image/bundle.ts';
import { buildImage, MAX_MEGABYTES, type Image } from '../image/image.ts';
import { run } from '../image/run.ts';
import { giveToNonRoot } from '../image/secrets.ts';
import { CAN_RUN_IMAGES, shipBundle, shipImage, type Shipped } from '../image/ship.ts';
import { COMPONENTS, startComponent } from '../support/cluster/component-process.ts';
import { applySigner, example, VERSION, waitForUsableCa } from '../support/cluster/fixture.ts';
import { applyManifests, SYSTEM_NAMESPACE } from '../support/cluster/installation.ts';

const WHAT = CAN_RUN_IMAGES
  ? 'from the image, on its read-only root'
  : 'from the bundle alone, without node_modules';
const UID = process.getuid?.() === 0 ? NONROOT : (process.getuid?.() ?? NONROOT);

let cluster: Cluster | undefined;
let image: Image | undefined;
let shipped: Shipped | undefined;

/** The API server and etcd are enough for a component; they start while the image is built. */
async function startOwnCluster(): Promise<Cluster> {
  cluster = await startCluster({ version: VERSION, nodes: 0 });
  await applyManifests(cluster);
  return cluster;
}

async function ship(): Promise<void> {
  if (CAN_RUN_IMAGES) {
    image = await buildImage(2);
    shipped = await shipImage(image);
  } else shipped = shipBundle();
}

before(async () => {
  const outcomes = await Promise.allSettled([startOwnCluster(), ship()]);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
});
after(async () => {
  try {
    await shipped?.remove();
  } finally {
    await cluster?.stop();
  }
});

if (CAN_RUN_IMAGES) {
  test(`two builds of the same sources are one image, of at most ${MAX_MEGABYTES} MB`, () => {
    assert.match(image?.id ?? '', /^sha256:[0-9a-f]{64}$/);
    assert.ok((image?.megabytes ?? Infinity) <= MAX_MEGABYTES);
  });

  test('the image holds the very bundle that make builds', () => {
    const same = readFileSync(shipped?.bundle ?? '').equals(readFileSync(BUNDLE));
    assert.ok(same, 'another bundle; is dist/ of these sources? make dist/countersign.mjs');
  });
}

test(`${WHAT}: --help of every subcommand says how it is used, as user ${UID}`, async () => {
  const [program = '', ...args] = shipped?.program ?? [];
  const described = JSON.parse(await run(program, [...args, '__commands'])) as { path: string }[];
  const paths = ['', ...described.map(({ path }) => path)];
  for (const path of paths) {
    const words = path.split(' ').filter((word) => word !== '');
    const help = await run(program, [...args, ...words, '--help']);
    assert.match(help, new RegExp(`^Usage: ${['countersign', ...words].join(' ')} `, 'm'));
  }
  for (const name of [...COMPONENTS, 'request', 'policy test', 'rbac'])
    assert.ok(paths.includes(name), `${name} is not among ${paths.join(', ')}`);
});

test(`${WHAT}: authority makes a CA in the cluster as user ${UID} without capabilities`, async () => {
  assert.ok(cluster !== undefined && shipped !== undefined);
  const { program, secrets } = shipped;
  const own = await cluster.serviceAccountKubeconfig(SYSTEM_NAMESPACE, 'countersign-authority');
  const kubeconfig = giveToNonRoot(own, secrets);
  const authority = await startComponent({ name: 'authority', kubeconfig, program });
  try {
    await applySigner(cluster, example('workload'));
    await waitForUsableCa(cluster, 'workload');
    await authority.ready();
    const status = readFileSync(`/proc/${authority.pid}/status`, 'utf8');
    assert.match(status, new RegExp(`^Uid:(\t${UID}){4}$`, 'm'));
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'])
      assert.match(status, new RegExp(`^${set}:\t0+$`, 'm'));
    assert.match(status, /^NoNewPrivs:\t1$/m);
    if (CAN_RUN_IMAGES) assert.match(rootMountOptionsOf(authority.pid), /^ro\b/);
  } finally {
    assert.equal(await authority.stop(), 0);
  }
});

/**
 * Fields as in proc(5), /proc/pid/mountinfo: the fifth is the mount point, the sixth its options.
 */
function rootMountOptionsOf(pid: number): string {
  const lines = readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n');
  const mounts = lines.map((line) => line.split(' '));
  return mounts.findLast(([, , , , place]) => place === '/')?.[5] ?? '';
}
