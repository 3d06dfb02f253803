// SPDX-License-Identifier: Apache-2.0
/** The shipped Deployments as they are: what a kubelet makes of them, and what runs then. */
import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import type { Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { EVERY_COMPONENT } from '../support/cluster/component-process.ts';
import { SYSTEM_NAMESPACE } from '../support/cluster/installation.ts';
import { textBetweenAnchors } from './bundle-text.ts';
import { injected } from './injected.ts';
import { mutualTls } from './mutual-tls.ts';
import { newAccount } from './new-account.ts';
import {
  IN_SYSTEM,
  componentOf,
  createSigners,
  installShipped,
  podsOf,
  rolledOut,
  type ShippedPod,
} from './shipped.ts';
import { SKIP, openStand, type Stand } from './stand.ts';

/** What a container's first process is, as the kernel has it. */
const SELF = `
  const { readFileSync, readdirSync } = require('node:fs');
  const status = readFileSync('/proc/1/status', 'utf8');
  const field = (name) => new RegExp('^' + name + ':\\\\s*(.*)$', 'm').exec(status)[1];
  const root = readFileSync('/proc/1/mountinfo', 'utf8').split('\\n').find((line) => line.split(' ')[4] === '/');
  console.log(JSON.stringify({ uid: field('Uid').split('\\t')[0], effective: field('CapEff'), bounding: field('CapBnd'),
    noNewPrivs: field('NoNewPrivs'), root: root.split(' ')[5].split(',')[0],
    token: readdirSync('/var/run/secrets/kubernetes.io/serviceaccount').includes('token') }));`;

const UNITS: Readonly<Record<string, number>> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };

function bytesOf(quantity: string): number {
  const [, digits, unit = ''] = /^(\d+)(Ki|Mi|Gi)$/.exec(quantity) ?? [];
  assert.ok(digits !== undefined, quantity);
  return Number(digits) * (UNITS[unit] ?? NaN);
}

const secondsBetween = (from: string, to: string): number =>
  (Date.parse(to) - Date.parse(from)) / 1000;

describe('the shipped Deployments', { skip: SKIP }, () => {
  let stand: Stand;
  let cluster: Cluster;
  before(async () => {
    stand = await openStand();
    cluster = stand.cluster;
    await installShipped(cluster);
    await createSigners(cluster);
  });
  after(() => stand.remove());

  async function eachPod(check: (pod: ShippedPod) => Promise<void> | void): Promise<void> {
    const pods = await podsOf(cluster);
    assert.deepEqual([...new Set(pods.map(componentOf))].sort(), [...EVERY_COMPONENT].sort());
    for (const pod of pods) await check(pod);
  }

  test('every component is Ready by its own probes, at the first start', (t: TestContext) =>
    eachPod((pod) => {
      const at = (type: string): string =>
        pod.status.conditions?.find((each) => each.type === type)?.lastTransitionTime ?? '';
      t.diagnostic(
        `${pod.metadata.name} Ready ${secondsBetween(at('PodScheduled'), at('Ready'))} s after it was scheduled`,
      );
      assert.deepEqual(
        pod.status.containerStatuses?.map(({ restartCount }) => restartCount),
        [0],
      );
    }));

  test('processes run as user nobody, without capabilities, on a read-only root', () =>
    eachPod(async (pod) => {
      const run = ['exec', ...IN_SYSTEM, pod.metadata.name, '--', '/nodejs/bin/node', '-e', SELF];
      const none = '0000000000000000';
      assert.deepEqual(JSON.parse((await cluster.kubectl(run)).stdout), {
        uid: '65532',
        effective: none,
        bounding: none,
        noNewPrivs: '1',
        root: 'ro',
        token: true,
      });
      assert.equal(pod.spec.securityContext.seccompProfile?.type, 'RuntimeDefault');
      for (const { volumeMounts } of pod.spec.containers)
        assert.ok(volumeMounts.every(({ readOnly }) => readOnly === true));
    }));

  test('the HTTPS port serves the certificate of the Secret that authority fills', async () => {
    for (const pod of await podsOf(cluster)) {
      const component = componentOf(pod);
      const ask = `const socket = require('node:tls').connect({ host: '127.0.0.1', port: 8443, rejectUnauthorized: false },
        () => { console.log(socket.getPeerX509Certificate().subjectAltName); socket.end() })`;
      const run = ['exec', ...IN_SYSTEM, pod.metadata.name, '--', '/nodejs/bin/node', '-e', ask];
      const names = await until(`${pod.metadata.name} serves HTTPS`, 120_000, async () => {
        const { code, stdout } = await cluster.kubectl(run, { allowFailure: true });
        return code === 0 && stdout;
      });
      assert.match(names, new RegExp(`DNS:countersign-${component}\\.${SYSTEM_NAMESPACE}\\.svc`));
    }
  });

  test('pods read credentials at their own paths and speak mutual TLS to each other', (t) =>
    mutualTls(cluster, (line) => {
      t.diagnostic(line);
    }));

  test('every container of an opted-in Deployment has a renewed identity; others do not', (t) =>
    injected(cluster, (line) => {
      t.diagnostic(line);
    }));

  test('attester removes an anchor hidden in the text between anchors of a bundle', () =>
    textBetweenAnchors(cluster));

  test('a process stays below the memory that is its limit', async (t: TestContext) => {
    const used = await cluster.podHost.memory();
    await eachPod((pod) => {
      const [container] = pod.spec.containers;
      const limit = container?.resources.limits?.memory ?? '';
      const found = used.find((each) => each.pod === pod.metadata.name);
      const mebibytes = (bytes = NaN): string => `${Math.round(bytes / 2 ** 20)} MiB`;
      t.diagnostic(
        `${pod.metadata.name}: ${mebibytes(found?.residentBytes)} resident (${mebibytes(found?.anonymousBytes)} of no file), at most ${mebibytes(found?.peakBytes)} of ${limit}`,
      );
      assert.ok(found !== undefined && found.peakBytes < bytesOf(limit), limit);
    });
  });

  test('a component exits 0 on SIGTERM within its grace period', async (t) => {
    for (const component of EVERY_COMPONENT) {
      const [pod] = await podsOf(cluster, component);
      assert.ok(pod);
      // Kept when its containers have ended, so that their exit codes can be read.
      await setFinalizers(pod, ['countersign.dev/test']);
      const started = Date.now();
      await cluster.kubectl(['delete', 'pod', ...IN_SYSTEM, pod.metadata.name, '--wait=false']);
      const code = await until(`${pod.metadata.name} has ended`, 60_000, async () => {
        const now = (await podsOf(cluster, component)).find(
          ({ metadata }) => metadata.name === pod.metadata.name,
        );
        return now?.status.containerStatuses?.[0]?.state.terminated?.exitCode;
      });
      t.diagnostic(`${component} was gone ${(Date.now() - started) / 1000} s after it was deleted`);
      await setFinalizers(pod, []);
      assert.equal(code, 0);
    }
    await rolledOut(cluster);
  });

  test('pods of a ServiceAccount made again hold no Lease until they are restarted', (t) =>
    newAccount(cluster, (line) => {
      t.diagnostic(line);
    }));

  async function setFinalizers(pod: ShippedPod, finalizers: readonly string[]): Promise<void> {
    const patch = JSON.stringify({ metadata: { finalizers } });
    await cluster.kubectl([
      'patch',
      'pod',
      ...IN_SYSTEM,
      pod.metadata.name,
      '--type=merge',
      '-p',
      patch,
    ]);
  }
});
