// SPDX-License-Identifier: Apache-2.0
/**
 * Two replicas of each component: they share the work, and one takes over what the other leaves.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../cluster/until.ts';
import { componentCalls } from '../support/cluster/audit.ts';
import {
  startComponent,
  type ComponentName,
  type ComponentProcess,
} from '../support/cluster/component-process.ts';
import { allowRequesters, createCsr, waitForCertificate } from '../support/cluster/requests/csr.ts';
import { applySigner, example, startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { SYSTEM_NAMESPACE, componentKubeconfig } from '../support/cluster/installation.ts';

const WAIT_MS = 120_000;
/** As short as may be: two cores that others use as well are slow. */
const LEASE_SECONDS = 6;

let fixture: Fixture;
before(async () => {
  fixture = await startFixture({ args: ['--lease-duration', `${LEASE_SECONDS}s`] });
  await allowRequesters(fixture.cluster);
});
after(() => fixture.stop());

async function second(name: ComponentName): Promise<ComponentProcess> {
  const kubeconfig = await componentKubeconfig(fixture.cluster, name);
  const args = ['--lease-duration', `${LEASE_SECONDS}s`];
  const started = await startComponent({ name, kubeconfig, args });
  await started.ready(WAIT_MS);
  return started;
}

interface Lease {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly spec: { readonly holderIdentity?: string; readonly renewTime: string };
}

async function leases(component: ComponentName): Promise<readonly Lease[]> {
  const { stdout } = await fixture.cluster.kubectl([
    'get',
    'leases',
    '-n',
    SYSTEM_NAMESPACE,
    '-o',
    'json',
    '-l',
    `app.kubernetes.io/component=${component}`,
  ]);
  return (JSON.parse(stdout) as { items: Lease[] }).items;
}

async function gauge(component: ComponentProcess, name: string): Promise<number> {
  const line = (await component.metrics()).split('\n').find((each) => each.startsWith(`${name}{`));
  return Number(line?.split(' ').at(-1));
}

async function agree(count: number, ...all: readonly ComponentProcess[]): Promise<void> {
  await until(`${count} share the work`, WAIT_MS, async () => {
    const seen = await Promise.all(all.map((each) => gauge(each, 'countersign_shard_members')));
    return seen.every((each) => each === count);
  });
}

/** Names of CSRs that a process says it has given their certificate. */
function issuedBy({ log }: ComponentProcess): readonly string[] {
  return log.flatMap(({ outcome, name }) => (outcome === 'issued' ? [String(name)] : []));
}

async function create(prefix: string, count: number): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_value, index) => `${prefix}-${index}`);
  await Promise.all(names.map((name) => createCsr(fixture.cluster, { name })));
  return names;
}

/** CSRs → how many writes to their status, or approval, were stored. */
async function writes(subresource: 'status' | 'approval'): Promise<ReadonlyMap<string, number>> {
  const calls = await componentCalls(fixture.cluster);
  const stored = calls.filter(
    ({ objectRef, responseStatus }) =>
      objectRef?.resource === 'certificatesigningrequests' &&
      objectRef.subresource === subresource &&
      responseStatus?.code === 200,
  );
  const byName = Map.groupBy(stored, ({ objectRef }) => objectRef?.name ?? '');
  return new Map([...byName].map(([name, found]) => [name, found.length]));
}

test('two replicas of signer both issue, and each request is written once', async () => {
  const { signer, approver } = fixture.installation.components;
  const others = [await second('signer'), await second('approver')] as const;
  try {
    await agree(2, signer, others[0]);
    await agree(2, approver, others[1]);
    const names = await create('shared', 24);
    await Promise.all(names.map((name) => waitForCertificate(fixture.cluster, name)));
    const [one, two] = [issuedBy(signer), issuedBy(others[0])];
    assert.ok(one.length > 0 && two.length > 0, `${one.length} and ${two.length}`);
    assert.deepEqual(
      [...one, ...two].filter((name) => names.includes(name)).sort(),
      [...names].sort(),
    );
    for (const subresource of ['status', 'approval'] as const) {
      const counts = await until('the audit log has them', WAIT_MS, async () => {
        const found = await writes(subresource);
        return names.every((name) => found.has(name)) ? found : undefined;
      });
      assert.deepEqual(
        names.filter((name) => counts.get(name) !== 1),
        [],
      );
    }
  } finally {
    await Promise.all(others.map((each) => each.stop()));
  }
  // Who ends says so: nobody waits for its Lease to run out.
  assert.equal((await leases('signer')).length, 1);
});

test('when a signer is killed the other replica does the rest after its Lease expires', async () => {
  const { signer } = fixture.installation.components;
  const killed = await second('signer');
  await agree(2, signer, killed);
  const [left] = (await leases('signer')).filter(({ spec }) => spec.holderIdentity !== undefined);
  assert.ok(left !== undefined);
  await killed.kill();
  const names = await create('left', 16);
  await Promise.all(names.map((name) => waitForCertificate(fixture.cluster, name)));
  assert.equal(issuedBy(signer).filter((name) => names.includes(name)).length, names.length);
  assert.equal(await gauge(signer, 'countersign_shard_members'), 1);
  assert.equal(await gauge(signer, 'countersign_shard_ratio'), 1);
});

test('another leads when a leader is paused past its Lease; it then writes nothing', async () => {
  const { attester } = fixture.installation.components;
  const other = await second('attester');
  try {
    assert.deepEqual(
      await Promise.all([attester, other].map((each) => gauge(each, 'countersign_leader'))),
      [1, 0],
    );
    attester.signal('SIGSTOP');
    await until(
      'the other leads',
      WAIT_MS,
      async () => (await gauge(other, 'countersign_leader')) === 1,
    );
    const [held] = await leases('attester');
    // The bundle changes under the new leader: what the old one last knew of it is not so any more.
    const signer = example('workload');
    await applySigner(fixture.cluster, {
      ...signer,
      spec: {
        ...signer.spec,
        trustBundle: { name: 'primary', labels: { 'example.com/by': 'other' } },
      },
    });
    await until('the other has written', WAIT_MS, async () => {
      return (await labelOf('example.com:workload:primary')) === 'other';
    });
    const before = await bundleWrites();
    attester.signal('SIGCONT');
    await until('it has stepped down', WAIT_MS, () =>
      Promise.resolve(attester.log.some(({ msg }) => String(msg).includes('lease lost'))),
    );
    await attester.ready(WAIT_MS);
    assert.equal(await gauge(attester, 'countersign_leader'), 0);
    assert.equal(await gauge(other, 'countersign_leader'), 1);
    assert.equal((await leases('attester'))[0]?.spec.holderIdentity, held?.spec.holderIdentity);
    assert.deepEqual(await bundleWrites(), before);
    assert.equal(await labelOf('example.com:workload:primary'), 'other');
  } finally {
    attester.signal('SIGCONT');
    await other.stop();
  }
  // Given back, the Lease is taken at once.
  await until(
    'the first leads again',
    WAIT_MS,
    async () => (await gauge(attester, 'countersign_leader')) === 1,
  );
});

test('a PUT of a Lease that was deleted does not bring it back', async () => {
  const { cluster } = fixture;
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'gone', namespace: 'default' },
    spec: { holderIdentity: 'x', leaseDurationSeconds: 15 },
  };
  const { stdout } = await cluster.kubectl(['create', '-o', 'json', '-f', '-'], {
    input: JSON.stringify(lease),
  });
  await cluster.kubectl(['delete', 'lease', 'gone', '-n', 'default']);
  const again = await cluster.kubectl(['replace', '-f', '-'], {
    input: stdout,
    allowFailure: true,
  });
  assert.notEqual(again.code, 0);
  const found = await cluster.kubectl(['get', 'lease', 'gone', '-n', 'default'], {
    allowFailure: true,
  });
  assert.notEqual(found.code, 0);
});

async function labelOf(bundle: string): Promise<string> {
  const path = 'jsonpath={.metadata.labels.example\\.com/by}';
  const { stdout } = await fixture.cluster.kubectl([
    'get',
    'clustertrustbundle',
    bundle,
    '-o',
    path,
  ]);
  return stdout;
}

async function bundleWrites(): Promise<readonly string[]> {
  const calls = await componentCalls(fixture.cluster);
  return calls
    .filter(
      ({ objectRef, verb, responseStatus }) =>
        objectRef?.resource === 'clustertrustbundles' &&
        ['create', 'update', 'delete'].includes(verb) &&
        (responseStatus?.code ?? 500) < 300,
    )
    .map(({ verb, objectRef }) => `${verb} ${objectRef?.name ?? ''}`);
}
