// SPDX-License-Identifier: Apache-2.0
/**
 * The states of the kubelet's podCertificate projections, and what each answer of a signer does to
 * new and to running containers (kubernetes pkg/kubelet/podcertificate/podcertificatemanager.go):
 * docs/explanation/kubelet-states.md. Refreshes take up to fifteen minutes: the API allows them ten
 * minutes after a notBefore that is five minutes old, and the kubelet adds a jitter of five, and
 * looks every one or two.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { apply } from '../support/cluster/apply.ts';
import { VERSION } from '../support/cluster/fixture.ts';
import { createPod, createTeam, filesOf } from '../support/cluster/pods.ts';
import { requestsOf } from '../support/cluster/requests/pod-certificate-request.ts';
import { answer, pending, type Answer } from './kubelet-states/signer.ts';

const NAMESPACE = 'kubelet-states';
const NO_QUOTA = 'kubelet-states-quota';
/** The test answers its requests. */
const SIGNER = 'kubelet-states.example/mine';
const WAIT_MS = 120_000;
/** Five minutes to the refresh, five of jitter, and two passes of two minutes. */
const REFRESH_MS = 900_000;
const LONG_MS = 2 * REFRESH_MS;

let cluster: Cluster;
before(async () => {
  cluster = await startCluster({ version: VERSION });
  for (const namespace of [NAMESPACE, NO_QUOTA]) await createTeam(cluster, namespace, ['web']);
});
after(() => cluster.stop());

async function makePod(name: string, namespace = NAMESPACE, node = 'node-1'): Promise<void> {
  const of = { namespace, name, node, serviceAccount: 'web', keyType: 'ECDSAP256' };
  await createPod(cluster, { ...of, signerName: SIGNER, trustBundle: false });
}

/** A running pod: how it was issued, and where its kubelet writes. */
async function makeRunning(
  name: string,
  node?: string,
): Promise<{ readonly chain: string; readonly file: string }> {
  await makePod(name, NAMESPACE, node);
  const chain = await answer(cluster, await pending(cluster, NAMESPACE, name), 'Issued');
  const { credentials } = await filesOf(cluster, { namespace: NAMESPACE, name });
  return { chain, file: credentials };
}

interface SeenEvent {
  readonly reason: string;
  readonly message: string;
  readonly metadata: { readonly resourceVersion: string };
}

async function eventsOf(name: string, namespace = NAMESPACE): Promise<readonly SeenEvent[]> {
  const selector = `involvedObject.name=${name}`;
  const args = ['get', 'events', '-n', namespace, '--field-selector', selector, '-o', 'json'];
  const { stdout } = await cluster.kubectl(args);
  return (JSON.parse(stdout) as { readonly items: readonly SeenEvent[] }).items;
}

/**
 * An Event that says so, of a later version than `than`: the kubelet counts repetitions in one
 * Event.
 */
function eventSays(
  name: string,
  says: RegExp,
  { namespace = NAMESPACE, than = 0, within = WAIT_MS } = {},
): Promise<SeenEvent> {
  return until(`an Event of ${name} says ${says.source}`, within, async () =>
    (await eventsOf(name, namespace)).find(
      ({ message, metadata }) => says.test(message) && Number(metadata.resourceVersion) > than,
    ),
  );
}

const versionOf = ({ metadata }: SeenEvent): number => Number(metadata.resourceVersion);

async function phaseOf(name: string, namespace = NAMESPACE): Promise<string> {
  const args = ['get', 'pod', name, '-n', namespace, '-o', 'jsonpath={.status.phase}'];
  return (await cluster.kubectl(args)).stdout;
}

/** A container that is added to a pod that runs: a new one, that needs the volume. */
async function addContainer(name: string): Promise<void> {
  const container = {
    name: 'added',
    image: 'registry.k8s.io/pause:3.10',
    volumeMounts: [{ name: 'identity', mountPath: '/run/identity' }],
  };
  const patch = JSON.stringify({ spec: { ephemeralContainers: [container] } });
  const args = ['patch', 'pod', name, '-n', NAMESPACE, '--subresource=ephemeralcontainers'];
  await cluster.kubectl([...args, '--type=strategic', '-p', patch]);
}

async function addedRuns(name: string): Promise<boolean> {
  const path = 'jsonpath={.status.ephemeralContainerStatuses[0].state}';
  const { stdout } = await cluster.kubectl(['get', 'pod', name, '-n', NAMESPACE, '-o', path]);
  return stdout.includes('running');
}

/** Only a new pod of the same name asks again. */
async function healedByNewPod(name: string): Promise<void> {
  await cluster.kubectl(['delete', 'pod', name, '-n', NAMESPACE, '--wait=true']);
  const { chain, file } = await makeRunning(name);
  assert.ok(readFileSync(file, 'utf8').includes(chain.trim()));
}

test('Initial: a pod whose request is rejected waits until a right or quota allows it', async () => {
  const plural = 'count/podcertificaterequests.certificates.k8s.io';
  const quota = (hard: string): object => ({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { namespace: NO_QUOTA, name: 'none' },
    spec: { hard: { [plural]: hard } },
  });
  await apply(cluster, quota('0'));
  await until('the quota holds', WAIT_MS, async () => {
    const args = ['get', 'resourcequota', 'none', '-n', NO_QUOTA, '-o', 'jsonpath={.status.hard}'];
    return (await cluster.kubectl(args)).stdout.includes(plural);
  });
  await makePod('initial', NO_QUOTA);
  const of = { namespace: NO_QUOTA };
  await eventSays('initial', /credential bundle is not issued yet/, of);
  assert.deepEqual(await requestsOf(cluster, NO_QUOTA, 'initial'), []);
  assert.equal(await phaseOf('initial', NO_QUOTA), 'Pending');
  await apply(cluster, quota('9'));
  await pending(cluster, NO_QUOTA, 'initial', REFRESH_MS);
});

test('Wait: a pod waits for its answer and starts with Issued, which makes it Fresh', async () => {
  await makePod('waits');
  const request = await pending(cluster, NAMESPACE, 'waits');
  await eventSays('waits', /credential bundle is not issued yet/);
  assert.equal(await phaseOf('waits'), 'Pending');
  const chain = await answer(cluster, request, 'Issued');
  const { credentials } = await filesOf(cluster, { namespace: NAMESPACE, name: 'waits' });
  assert.ok(readFileSync(credentials, 'utf8').includes(chain.trim()));
});

for (const [as, says] of [
  ['Denied', /permanently denied: reason="NotAllowed" message="not for you"/],
  ['Failed', /permanently failed: reason="Broken" message="it broke"/],
] as const) {
  test(`${as}: a new pod never starts or requests again; its replacement works`, async () => {
    const name = `new-${as.toLowerCase()}`;
    await makePod(name);
    const request = await pending(cluster, NAMESPACE, name);
    await answer(cluster, request, as);
    const said = await eventSays(name, says);
    const args = ['delete', 'podcertificaterequest', request.metadata.name, '-n', NAMESPACE];
    await cluster.kubectl(args);
    await eventSays(name, says, { than: versionOf(said), within: REFRESH_MS });
    assert.deepEqual(await requestsOf(cluster, NAMESPACE, name), []);
    assert.equal(await phaseOf(name), 'Pending');
    await healedByNewPod(name);
  });
}

describe('at refresh', { concurrency: true, timeout: LONG_MS }, () => {
  test(
    'WaitRefresh: all containers use the old credential; Issued writes the new one',
    { timeout: LONG_MS },
    async () => {
      const { chain, file } = await makeRunning('refreshed');
      const request = await pending(cluster, NAMESPACE, 'refreshed', REFRESH_MS);
      await addContainer('refreshed');
      await until('a new container starts', WAIT_MS, () => addedRuns('refreshed'));
      assert.ok(readFileSync(file, 'utf8').includes(chain.trim()));
      const next = await answer(cluster, request, 'Issued');
      await until('the new credential is written', WAIT_MS, () =>
        readFileSync(file, 'utf8').includes(next.trim()),
      );
      assert.equal(await phaseOf('refreshed'), 'Running');
    },
  );

  for (const [as, says] of [
    ['Denied', /permanently denied/],
    ['Failed', /permanently failed/],
  ] as const satisfies readonly (readonly [Answer, RegExp])[]) {
    test(
      `${as}: containers keep the old credential, mounts fail, and a new pod fixes it`,
      { timeout: LONG_MS },
      async () => {
        const name = `refresh-${as.toLowerCase()}`;
        const { chain, file } = await makeRunning(name);
        await answer(cluster, await pending(cluster, NAMESPACE, name, REFRESH_MS), as);
        const said = await eventSays(name, says);
        await addContainer(name);
        await eventSays(name, says, { than: versionOf(said), within: REFRESH_MS });
        console.log(name, await addedRuns(name), await eventsOf(name));
        assert.ok(readFileSync(file, 'utf8').includes(chain.trim()));
        assert.equal(await phaseOf(name), 'Running');
        assert.equal((await requestsOf(cluster, NAMESPACE, name)).length, 2);
        await healedByNewPod(name);
      },
    );
  }
});

test('a kubelet that restarts asks for each of its pods again, whatever the answer was', async () => {
  await makePod('restarted', NAMESPACE, 'node-2');
  await answer(cluster, await pending(cluster, NAMESPACE, 'restarted'), 'Denied');
  await eventSays('restarted', /permanently denied/);
  await cluster.nodes.find((each) => each.name === 'node-2')?.restart();
  const request = await pending(cluster, NAMESPACE, 'restarted');
  await answer(cluster, request, 'Issued');
  await filesOf(cluster, { namespace: NAMESPACE, name: 'restarted' });
});
