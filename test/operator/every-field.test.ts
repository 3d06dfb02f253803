// SPDX-License-Identifier: Apache-2.0
/**
 * A pass heals each field of each kind that the operator keeps, whatever another writer does to it:
 * a table of kind and change, made from the desired objects and the schemas of the API server, and
 * judged by what was there before.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { KubeError } from '#kube/client/kube-error.ts';
import { ruleOf } from '#kube/apply/objects/kinds.ts';
import { isRecord } from '#base/record.ts';
import { titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { isAdopted, type Owner } from '#kube/apply/objects/mark.ts';
import { isOthers } from '#kube/apply/objects/others.ts';
import { reconcileAll, type PassReport } from '#kube/apply/reconcile-all.ts';
import { createWriter, type ObjectWriter } from '#kube/apply/writer.ts';
import { until } from '../cluster/until.ts';
import { makePodsReady } from '../support/cluster/ready-pods.ts';
import { disturbancesOf, type Disturbance } from './disturbances.ts';
import { EXAMPLE, WAIT_MS, desiredOf, startStand, type Stand } from './stand.ts';

/** Of a kind with more changes than these, each run tries others: `SEED`. */
const MAX_CHANGES = 120;
const SEED = Number(process.env['SEED'] ?? 1);
const NAMES = ['ledger', 'notifier', 'acme', 'acme-responder', 'acme-solver'];
/** The sidecar has every part that the values can give it. */
const [SIGNER] = EXAMPLE.spec.signers ?? [];
const KEY_HOLDER = {
  pkcs11: {
    image: 'registry.example/hsm:1',
    module: '/p11.so',
    env: [{ name: 'VENDOR_CONF', value: '/vendor.conf' }],
    files: 'hsm-client',
  },
  keys: [
    {
      name: 'workload',
      secret: 'workload-hsm',
      pkcs11: { token: 'ca', label: 'ca' },
      signerNames: [SIGNER?.name ?? ''],
      leaf: { maxDuration: '1h' },
    },
  ],
};
const SPEC = {
  ...EXAMPLE.spec,
  components: {
    ...Object.fromEntries(NAMES.map((each) => [each, { enabled: true }])),
    'pcr-issuer': { keyHolder: KEY_HOLDER },
  },
};
const ALL = desiredOf(SPEC);

/** The smallest object of each kind that is merged. */
const SAMPLES = [...Map.groupBy(ALL, ({ kind }) => kind).values()].flatMap((objects) => {
  const [smallest] = objects.toSorted((a, b) => sizeOf(a) - sizeOf(b));
  return smallest !== undefined && ruleOf(smallest).care === 'merged' ? [smallest] : [];
});

/** The Deployment with a key holder, whose sidecar and volumes no other sample has. */
const HELD = ALL.filter(
  ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'countersign-pcr-issuer',
);

let stand: Stand;
let writer: ObjectWriter;
let owner: Owner;
before(async () => {
  stand = await startStand();
  writer = createWriter(stand.client, 'countersign-operator');
  await stand.install(SPEC);
  const { apiVersion, kind, metadata } = (await stand.countersign()) ?? EXAMPLE;
  owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid, label: 'countersign' };
  await until('everything is installed', WAIT_MS, async () => {
    // What leads to pods is made once they answer.
    await makePodsReady(stand.client);
    const { problems, waiting, failed } = await pass(ALL);
    if (failed || waiting.length > 0) throw new Error([...problems, ...waiting].join('\n'));
    return true;
  });
});
after(() => stand.close());

function sizeOf(object: ManagedObject): number {
  return JSON.stringify(object).length;
}

/** One pass of the operator, which remembers nothing of the one before. */
function pass(objects: readonly ManagedObject[]): Promise<PassReport> {
  return reconcileAll({
    objects,
    removable: new Set(),
    owner,
    writer,
    accepted: new Set(),
    installing: false,
    watches: { get: () => undefined, written: () => undefined, all: () => [] },
    heldUntil: () => undefined,
    signal: new AbortController().signal,
  });
}

/**
 * The same again while others write: a status changes the resourceVersion, and a patch holds for
 * one.
 */
async function heal(object: ManagedObject): Promise<readonly string[]> {
  const { problems } = await until('no write conflicts', WAIT_MS, async () => {
    const report = await pass([object]);
    return report.failed && report.problems.length === 0 ? undefined : report;
  });
  return problems;
}

function fieldsOf(object: ManagedObject): readonly string[] {
  return ruleOf(object).exact.map(([field = '']) => field);
}

async function read(object: ManagedObject): Promise<ManagedObject> {
  const live = await writer.read(object);
  assert.ok(live, titleOf(object));
  return live;
}

function shown(live: ManagedObject, fields: readonly string[]): string {
  return JSON.stringify(fields.map((field) => live[field]));
}

/** Without empty structures. */
function bare(json: string): string {
  return JSON.stringify(JSON.parse(json), (_, value: unknown) =>
    isRecord(value)
      ? Object.fromEntries(
          Object.entries(value).filter(([, each]) => JSON.stringify(each) !== '{}'),
        )
      : value,
  );
}

/** Whether the API server took it, and something differs now. */
async function disturb(
  object: ManagedObject,
  before_: string,
  { op, path, value }: Disturbance,
): Promise<boolean> {
  const operation = op === 'remove' ? { op, path } : { op, path, value };
  try {
    await stand.client.request({
      method: 'PATCH',
      path: ruleOf(object).resource.object(object.metadata),
      contentType: 'application/json-patch+json',
      body: [operation],
      query: { fieldManager: 'another-writer' },
    });
  } catch (error) {
    // 0: this API server panics at some values, and closes the connection.
    const refused = [0, 400, 403, 409, 422, 500];
    if (!(error instanceof KubeError) || !refused.includes(error.status)) throw error;
  }
  return shown(await read(object), fieldsOf(object)) !== before_;
}

/** A part of them, by the seed. */
function part<T>(items: readonly T[]): readonly T[] {
  if (items.length <= MAX_CHANGES) return items;
  const step = items.length / MAX_CHANGES;
  return Array.from({ length: MAX_CHANGES }, (_, index) => {
    const at = Math.floor(index * step + ((SEED * 7919) % Math.ceil(step)));
    return items[at % items.length] as T;
  });
}

for (const object of [...SAMPLES, ...HELD]) {
  const name = HELD.includes(object) ? 'Deployment with a key holder' : object.kind;
  test(`every change of a ${name} is healed by one pass`, async (t) => {
    const { others } = ruleOf(object);
    const fields = fieldsOf(object);
    const live = await read(object);
    const golden = shown(live, fields);
    const every = (
      await Promise.all(fields.map((field) => disturbancesOf(stand.client, live, field)))
    ).flat();
    const changes = part(every.filter(({ path }) => !others.some((each) => isOthers(each, path))));
    let taken = 0;
    const left: string[] = [];
    for (const change of changes) {
      if (!(await disturb(object, golden, change))) continue;
      taken += 1;
      const problems = await heal(object);
      const healed = shown(await read(object), fields);
      if (healed === golden && problems.length === 0) continue;
      // An empty structure beside what is desired says nothing.
      const isEmpty = change.what === 'added' && bare(healed) === bare(golden);
      if (!isEmpty)
        left.push(
          `${change.what} ${change.path} ${JSON.stringify(change.value)}: ${problems.join()}`,
        );
      await restore(object, live);
    }
    t.diagnostic(`${taken} changes healed, of ${changes.length} tried and ${every.length}`);
    assert.ok(taken > 0);
    assert.deepEqual(left, []);
  });

  test(`the labels and owner of a ${name} are restored, even if a merge conflicts`, async () => {
    const golden = shown(await read(object), fieldsOf(object));
    await stand.client.request({
      method: 'PATCH',
      path: ruleOf(object).resource.object(object.metadata),
      contentType: 'application/merge-patch+json',
      body: { metadata: { labels: null, annotations: null, ownerReferences: null } },
      query: { fieldManager: 'another-writer' },
    });
    const problems = await heal(object);
    const live = await read(object);
    assert.deepEqual(problems, []);
    assert.ok(isAdopted(live, owner));
    for (const [label, value] of Object.entries(object.metadata.labels ?? {}))
      assert.equal(live.metadata.labels?.[label], value);
    const isOwned = live.metadata.ownerReferences?.some(({ uid }) => uid === owner.uid) === true;
    assert.equal(isOwned, ruleOf(object).owned);
    assert.equal(shown(live, fieldsOf(object)), golden);
  });
}

/** For the next change. */
function restore(object: ManagedObject, { metadata, ...live }: ManagedObject): Promise<unknown> {
  return until('it is as before', WAIT_MS, async () => {
    const { uid, resourceVersion } = (await read(object)).metadata;
    return stand.client.request<object>({
      method: 'PUT',
      path: ruleOf(object).resource.object(object.metadata),
      body: { ...live, metadata: { ...metadata, uid, resourceVersion } },
    });
  });
}
