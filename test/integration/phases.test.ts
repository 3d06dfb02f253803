// SPDX-License-Identifier: Apache-2.0
/**
 * What people see of a CA's life on a real cluster: an Event at each phase, also where an authority
 * died on the way; and what verifiers see that have one root alone (ADR 0021, 0022).
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { AuthorityStatus, ClusterSigner } from '#api/signer/cluster-signer.ts';
import { ROTATE_AT } from '#api/signer/rotation-annotations.ts';
import { formatTime } from '#api/object/time.ts';
import { createCrossSign } from '#ca/custody/cross-sign.ts';
import { createCaRequest, createManagedAuthorities } from '#ca/custody/managed.ts';
import { createActor } from '#trust/authority/apply/actor.ts';
import type { Client } from '#kube/client/client.ts';
import { createEventRecorder } from '#kube/events/recorder.ts';
import { decodePemAll } from '#pki/der/pem.ts';
import { until } from '../cluster/until.ts';
import { Openssl } from '../oracle/openssl.ts';
import { connect } from '../ca/rotation/cluster/stand.ts';
import { getSigner, startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { random } from '../support/ca/issuing.ts';
import { createPod, createTeam, filesOf } from '../support/cluster/pods.ts';
import { recordedComponent } from '../support/component/recorded-component.ts';
import { recordedLog } from '../support/component/recorded-log.ts';

/** Kubelets read a bundle within a second or so here; ten minutes are for real ones. */
const PROPAGATION = '3s';
const WAIT_MS = 120_000;
const NAME = 'workload';

let fixture: Fixture;
let admin: Client;
before(async () => {
  fixture = await startFixture({ args: ['--propagation', PROPAGATION] });
  admin = await connect(fixture.cluster);
  await createTeam(fixture.cluster, 'team-a', ['web']);
});
after(async () => {
  await admin.close();
  await fixture.stop();
});

interface Told {
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly name: string };
}

async function events(): Promise<readonly Told[]> {
  const path = '/apis/events.k8s.io/v1/namespaces/default/events';
  const { items } = await admin.request<{ items: Told[] }>({ method: 'GET', path });
  return items.filter(({ regarding }) => regarding.name === NAME);
}

/** The one Event of that reason about that CA. */
async function isTold(reason: string, about: string): Promise<void> {
  const found = await until(`${reason} ${about}`, WAIT_MS, async () => {
    const all = (await events()).filter((each) => each.reason === reason);
    const ofIt = all.filter(({ note }) => note.includes(about));
    return ofIt.length === 0 ? undefined : ofIt;
  });
  assert.equal(found.length, 1, `${reason} is told ${found.length} times`);
}

const signer = (): Promise<ClusterSigner> => getSigner(fixture.cluster, NAME);

async function inPhase(
  phase: AuthorityStatus['phase'],
  except?: AuthorityStatus,
): Promise<AuthorityStatus> {
  return until(`a CA is ${phase}`, WAIT_MS, async () => {
    const all = (await signer()).status?.authorities ?? [];
    return all.find((each) => each.phase === phase && each.fingerprint !== except?.fingerprint);
  });
}

async function change(body: object, subresource?: 'status'): Promise<void> {
  await fixture.cluster.kubectl([
    'patch',
    'clustersigner',
    NAME,
    '--type=merge',
    '-p',
    JSON.stringify(body),
    ...(subresource === undefined ? [] : [`--subresource=${subresource}`]),
  ]);
}

const managed = (fields: object): Promise<void> =>
  change({ spec: { authority: { managed: fields } } });

/** Replaces the CA that signs, and waits until its successor does. */
async function rotate(): Promise<readonly [old: AuthorityStatus, next: AuthorityStatus]> {
  const old = await inPhase('Active');
  await change({ metadata: { annotations: { [ROTATE_AT]: formatTime(Date.now() + 2_000) } } });
  return [old, await inPhase('Active', old)];
}

/** What a new pod is given, leaf first. */
async function chainOf(pod: string): Promise<readonly Uint8Array[]> {
  const wanted = { namespace: 'team-a', name: pod, serviceAccount: 'web', node: 'node-1' };
  const signerName = 'example.com/workload';
  await createPod(fixture.cluster, { ...wanted, signerName, keyType: 'ECDSAP256' });
  const { credentials } = await filesOf(fixture.cluster, wanted);
  const text = await readFile(credentials, 'utf8');
  return decodePemAll(text.slice(text.indexOf('-----BEGIN CERTIFICATE')), 'CERTIFICATE');
}

/** Whether OpenSSL believes a chain that has nothing but that CA's root. */
async function isBelieved(
  [leaf, ...intermediates]: readonly Uint8Array[],
  { anchors }: AuthorityStatus,
): Promise<boolean> {
  assert.ok(leaf !== undefined);
  using openssl = new Openssl();
  const roots = decodePemAll(anchors ?? '', 'CERTIFICATE');
  return await openssl.acceptsChain({ leaf, intermediates, roots, now: Date.now() });
}

test('each phase of a rotation, Prepared, Active and Retiring, is one Event', async () => {
  const first = await inPhase('Active');
  await isTold('AuthorityActive', first.fingerprint);
  await managed({ crossSigned: true });
  const [old, next] = await rotate();
  for (const phase of ['Prepared', 'Active']) await isTold(`Authority${phase}`, next.fingerprint);
  await isTold('AuthorityRetiring', old.fingerprint);
  // It was made before the option, with path length 0.
  const told = (await events()).map(({ reason }) => reason);
  assert.ok(told.includes('AuthorityNotCrossSigned'), told.join());
});

let pinned: AuthorityStatus;
test('after two rotations a verifier with only the old root accepts a pod’s chain', async () => {
  const [old, next] = await rotate();
  pinned = old;
  await until('it is told', WAIT_MS, async () =>
    (await events()).some(({ reason }) => reason === 'AuthorityCrossSigned'),
  );
  const chain = await chainOf('pinned');
  assert.equal(chain.length, 2);
  assert.equal(await isBelieved(chain, old), true);
  assert.equal(await isBelieved(chain, next), true);
});

test('distrust of a CA stops cross-certificates and clears its Secret, with Events', async () => {
  await managed({ distrusted: [pinned.fingerprint] });
  await isTold('AuthorityDistrusted', pinned.fingerprint);
  await until('cross.crt is gone', WAIT_MS, async () => {
    const { stdout } = await fixture.cluster.kubectl([
      'get',
      'secret',
      'workload-ca',
      '-n',
      'countersign-keys',
      '-o',
      'jsonpath={.data}',
    ]);
    return !stdout.includes('cross.crt');
  });
  const chain = await chainOf('after');
  assert.equal(chain.length, 1);
  assert.equal(await isBelieved(chain, pinned), false);
  assert.equal(await isBelieved(chain, await inPhase('Active')), true);
});

test('a CA is removed with an Event once its last leaf has expired', async () => {
  const { status } = await signer();
  const retiring = status?.authorities?.find(({ phase }) => phase === 'Retiring');
  assert.ok(retiring !== undefined);
  // As if a day had passed.
  const leavesExpireBy = formatTime(Date.now() - 86_400_000);
  const authorities = status?.authorities?.map((each) =>
    each === retiring ? { ...each, leavesExpireBy } : each,
  );
  await change({ status: { authorities } }, 'status');
  await isTold('AuthorityGone', retiring.fingerprint);
});

test('an authority killed between its Events and the status write repeats no Event', async () => {
  const now = await signer();
  const [active] = now.status?.authorities ?? [];
  assert.ok(active !== undefined);
  const fingerprint = `sha256:${'d'.repeat(64)}`;
  const status = {
    ...now.status,
    authorities: [
      ...(now.status?.authorities ?? []),
      { ...active, fingerprint, phase: 'Retiring' },
    ],
  } as NonNullable<ClusterSigner['status']>;
  for (const instance of ['authority-0', 'authority-1']) {
    const dying: Client = {
      ...admin,
      request: (request) =>
        request.method === 'PUT' ? Promise.reject(new Error('killed')) : admin.request(request),
    };
    const component = {
      ...recordedComponent({ name: 'authority', clock: Date.now }),
      client: dying,
      events: createEventRecorder({
        client: admin,
        clock: Date.now,
        random,
        log: recordedLog(),
        instance,
        delay: (milliseconds) =>
          new Promise((resolve) => setTimeout(resolve, milliseconds).unref()),
        onDropped: () => undefined,
        controller: 'countersign.dev/authority',
      }),
    };
    const actor = createActor({
      component,
      version: 'test',
      observe: () => undefined,
      create: createManagedAuthorities(random),
      createRequest: createCaRequest,
      crossSign: createCrossSign(random),
    });
    await assert.rejects(actor.writeStatus(now, status), /killed/);
    await isTold('AuthorityRetiring', fingerprint);
  }
});
