// SPDX-License-Identifier: Apache-2.0
/**
 * The life of one installation of the real cert-manager, in pods that run. The tests follow each
 * other.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { whyNoRealPods } from '../cluster/real-pods/build.ts';
import { until } from '../cluster/until.ts';
import { disturb } from '../operator/drift.ts';
import { apply } from '../support/cluster/apply.ts';
import type { ComponentProcess } from '../support/cluster/component-process.ts';
import { ruleOf } from '#kube/apply/objects/kinds.ts';
import { titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { NEW, OLD, loadRelease, type Release } from './releases.ts';
import { WAIT_MS, packed, startStand, type Stand } from './stand.ts';

const skip: string | false = (await whyNoRealPods()) ?? false;

let stand: Stand;
let operator: ComponentProcess;
let old: Release;
let next: Release;
before(async () => {
  if (skip !== false) return;
  old = await loadRelease(OLD);
  next = await loadRelease(NEW);
  stand = await startStand({ realPods: true });
  operator = await stand.start();
});
after(async () => {
  if (skip === false) await stand.close();
});

/** One object of each kind. */
function sample(objects: readonly ManagedObject[]): readonly ManagedObject[] {
  return [...Map.groupBy(objects, ({ kind }) => kind).values()].flatMap((each) => each.slice(0, 1));
}

const webhooksOf = ({ objects }: Release): readonly ManagedObject[] =>
  objects.filter(({ kind }) => kind.endsWith('WebhookConfiguration'));

const certificate = (name: string, more: object = {}): object => ({
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  metadata: { namespace: 'team-a', name },
  spec: {
    secretName: name,
    issuerRef: { name: 'self' },
    dnsNames: [`${name}.team-a.svc`],
    ...more,
  },
});

/** Waits for the Certificate's Secret. @returns its leaf, and the UID of the Secret */
function issued(name: string): Promise<{ leaf: X509Certificate; uid: string }> {
  return until(`${name} is issued`, WAIT_MS, async () => {
    const args = ['get', 'secret', name, '-n', 'team-a', '-o', 'json'];
    const { stdout } = await stand.cluster.kubectl(args);
    const { data, metadata } = JSON.parse(stdout) as {
      readonly data: Readonly<Record<string, string>>;
      readonly metadata: { readonly uid: string };
    };
    return {
      leaf: new X509Certificate(Buffer.from(data['tls.crt'] ?? '', 'base64')),
      uid: metadata.uid,
    };
  });
}

test('one object installs cert-manager, its webhooks once its pods answer', { skip }, async (t) => {
  await stand.hand(OLD, packed(old.text));
  const began = performance.now();
  await stand.install({ version: OLD });
  await stand.condition('Progressing', 'False', 'RolledOut');
  await stand.condition('Available', 'True');
  await stand.condition('Degraded', 'False');
  t.diagnostic(`${old.objects.length} objects in ${Math.round(performance.now() - began)} ms`);
  assert.deepEqual(await stand.differences(old.objects), []);
  assert.equal((await stand.read())?.status?.version, OLD);
  const upgradeable = await stand.condition('Upgradeable', 'False', 'OldestVersion');
  assert.match(upgradeable, /raise spec.version/);
  await until('the webhooks are the last that was written', WAIT_MS, async () => {
    const writes = (await stand.writes()).filter((each) => !each.includes('/status'));
    const kinds = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'];
    const wanted = kinds.map((each) => `patch ${each} cert-manager-webhook`);
    return isDeepStrictEqual(writes.slice(-2).toSorted(), wanted);
  });
});

test(
  'its controllers issue a Certificate, and its webhook refuses a wrong one',
  { skip },
  async () => {
    await apply(stand.cluster, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'team-a' },
    });
    // The API server asks the webhook once the cainjector has put its CA in.
    const issuer = {
      apiVersion: 'cert-manager.io/v1',
      kind: 'Issuer',
      spec: { selfSigned: {} },
      metadata: { namespace: 'team-a', name: 'self' },
    };
    await until('the webhook answers', WAIT_MS, async () => {
      await apply(stand.cluster, issuer);
      return true;
    });
    await apply(stand.cluster, certificate('first'));
    const { leaf } = await issued('first');
    assert.equal(leaf.subjectAltName, 'DNS:first.team-a.svc');
    await assert.rejects(
      apply(stand.cluster, certificate('wrong', { dnsNames: [] })),
      /admission webhook "webhook.cert-manager.io" denied the request/,
    );
  },
);

test(
  'a second pass, by a process that knows nothing of the first, writes nothing',
  { skip },
  async () => {
    await operator.stop();
    const before_ = (await stand.writes()).length;
    operator = await stand.start();
    // One object is missing: once it is back, all before it and the ones behind it were compared.
    const gone = old.objects.find(({ kind }) => kind === 'Service');
    assert.ok(gone);
    const live = await stand.admin.read(gone);
    assert.ok(live);
    await stand.admin.remove(live);
    await stand.healed(old.objects);
    await operator.ready();
    assert.deepEqual((await stand.writes()).slice(before_), [
      `patch services cert-manager/${gone.metadata.name}`,
    ]);
  },
);

test(
  'an object of each kind, changed, is healed; what others may add stays',
  { skip },
  async () => {
    for (const object of sample(old.objects.filter((each) => ruleOf(each).care === 'merged'))) {
      await disturb(stand.client, object, 'kept');
      await stand.healed([object]);
      const live = await stand.admin.read(object);
      assert.equal(live?.metadata.annotations?.['example.com/kept'], 'kept', titleOf(object));
    }
  },
);

test('an object of each kind, deleted, is made again', { skip }, async () => {
  // A definition takes the Certificates with it, and a namespace everything.
  const kept = ['CustomResourceDefinition', 'Namespace'];
  for (const object of sample(old.objects.filter(({ kind }) => !kept.includes(kind)))) {
    const live = await stand.admin.read(object);
    assert.ok(live, titleOf(object));
    await stand.admin.remove(live);
    await until(`${titleOf(object)} is back`, WAIT_MS, async () => {
      const now = await stand.admin.read(object);
      return now !== undefined && now.metadata.uid !== live.metadata.uid;
    });
  }
  await stand.healed(old.objects);
});

test('it is upgraded to the next minor version, and continues to issue', { skip }, async () => {
  const before_ = await issued('first');
  await stand.hand(NEW, packed(next.text));
  await stand.install({ version: NEW, components: { controller: { extraArgs: ['--v=3'] } } });
  await until('the status names the version', WAIT_MS, async () => {
    await stand.condition('Progressing', 'False', 'RolledOut');
    await stand.condition('Degraded', 'False');
    return (await stand.read())?.status?.version === NEW;
  });
  await stand.condition('Upgradeable', 'True');
  const gone = old.objects.filter(
    (each) => !next.objects.some((other) => titleOf(other) === titleOf(each)),
  );
  assert.deepEqual(
    gone.map(titleOf),
    ['Role', 'RoleBinding'].map((kind) => `${kind} cert-manager/cert-manager-tokenrequest`),
  );
  for (const each of gone) assert.equal(await stand.admin.read(each), undefined, titleOf(each));
  const path = 'jsonpath={.spec.template.spec.containers[0].args}';
  const args = ['get', 'deployment', 'cert-manager', '-n', 'cert-manager', '-o', path];
  const { stdout } = await stand.cluster.kubectl(args);
  assert.deepEqual(
    (JSON.parse(stdout) as string[]).filter((each) => each.startsWith('--v=')),
    ['--v=3'],
  );
  assert.equal((await issued('first')).uid, before_.uid);
  await until('the webhook answers', WAIT_MS, async () => {
    await apply(stand.cluster, certificate('second'));
    return true;
  });
  await issued('second');
});

test(
  'deleting the object removes cert-manager, not CRDs, Certificates or Secrets',
  { skip },
  async () => {
    const before_ = await issued('first');
    const uid = async (): Promise<string> => {
      const args = [
        'get',
        'certificate',
        'first',
        '-n',
        'team-a',
        '-o',
        'jsonpath={.metadata.uid}',
      ];
      return (await stand.cluster.kubectl(args)).stdout;
    };
    const certificateUid = await uid();
    await stand.cluster.kubectl(['delete', 'certmanagerdeployments', 'cluster']);
    const owned = next.objects.filter((each) => ruleOf(each).owned);
    await until('the installation is gone', WAIT_MS, async () => {
      const left = await Promise.all(owned.map((each) => stand.admin.read(each)));
      return left.every((each) => each === undefined);
    });
    for (const each of next.objects.filter((object) => !ruleOf(object).owned))
      assert.ok(await stand.admin.read(each), titleOf(each));
    assert.equal((await issued('first')).uid, before_.uid);
    assert.equal(await uid(), certificateUid);
    // Nobody is asked about them any more.
    assert.equal(webhooksOf(next).length, 2);
    await apply(stand.cluster, certificate('third'));
  },
);
