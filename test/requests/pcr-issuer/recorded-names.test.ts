// SPDX-License-Identifier: Apache-2.0
/** Which leaves have names that are no longer theirs, as a process knows it that has just begun. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '#api/object/service.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { createRecordedNames } from '#requests/pcr-issuer/evidence/recorded-names.ts';
import {
  recordedComponent,
  type RecordedComponent,
} from '../../support/component/recorded-component.ts';
import { readsThrough } from '../../support/ledger/reader.ts';
import {
  issuedRecord,
  listed,
  NOW as LEDGER_NOW,
  type ListedObject,
} from '../../support/ledger/records.ts';
import { clusterSigner, changed, workloadSpec } from '../../support/signers/cluster-signer.ts';

const NAMESPACE = 'team-1';
const asking = changed(workloadSpec(), 'pods.services', {});
const signer = clusterSigner(changed(asking, 'profile.maxDuration', '24h')) as ClusterSigner;
const otherSigner: ClusterSigner = {
  ...signer,
  spec: { ...signer.spec, signerName: 'example.com/other' },
};
/** A second after the leaves of the ledger. */
const BEGUN = LEDGER_NOW + 1000;

function service(name: string, selector: Readonly<Record<string, string>>): Service {
  const metadata = { namespace: NAMESPACE, name, uid: name };
  return {
    apiVersion: 'v1',
    kind: 'Service',
    spec: { selector },
    metadata: { ...metadata, resourceVersion: '1', creationTimestamp: '' },
  };
}

/**
 * The leaf of pod `n`, with the names of Services that selected `app=web`; it lives for `n`
 * minutes.
 */
function fact(
  n: number,
  services: readonly string[],
  more: Partial<ListedObject> = {},
): ListedObject {
  const { requester, request } = issuedRecord(n);
  const record = issuedRecord(n, {
    signer: { name: signer.spec.signerName },
    request: { ...request, namespace: NAMESPACE },
    requester: { ...requester, pod: { namespace: NAMESPACE, name: `pod-${n}`, uid: `pod-${n}` } },
    decision: { rule: 'spec.pods.allow', services, labels: { app: 'web' } },
  });
  return { ...listed(record), ...more };
}

interface Stage {
  readonly component: RecordedComponent;
  readonly names: ReturnType<typeof createRecordedNames>;
  readonly asks: { signers: readonly ClusterSigner[]; areServicesListed: boolean };
  readonly said: readonly string[];
  readonly counted: readonly (readonly [string, number])[];
  /** Signer names that the ledger counted for, and no longer does. */
  readonly away: readonly string[];
  /** Until it waits for the next time to read. */
  readonly read: () => Promise<void>;
}

function stage(
  pages: (query: Readonly<Record<string, unknown>>) => object,
  services: readonly Service[] = [],
  owns = true,
): Stage {
  const said: string[] = [];
  const counted: (readonly [string, number])[] = [];
  const away: string[] = [];
  let waits = Promise.withResolvers<undefined>();
  let goesOn = Promise.withResolvers<undefined>();
  const component = recordedComponent({
    clock: () => BEGUN,
    shard: { owns: () => owns, onChange: () => undefined },
    delay: () => {
      waits.resolve(undefined);
      return goesOn.promise;
    },
  });
  component.client.answer(({ query }) => pages(query ?? {}));
  const asks = { signers: [signer] as readonly ClusterSigner[], areServicesListed: true };
  const names = createRecordedNames({
    component,
    ledger: readsThrough(component),
    signers: () => asks.signers,
    areServicesListed: () => asks.areServicesListed,
    serviceOf: (namespace, name) =>
      namespace === NAMESPACE ? services.find(({ metadata }) => metadata.name === name) : undefined,
    say: ({ spec }, { reason }) => said.push(`${spec.podName} ${reason}`),
    count: (name, leaves) => counted.push([name, leaves]),
    onAway: (name) => away.push(name),
  });
  let running: Promise<void> | undefined;
  const read = async (): Promise<void> => {
    waits = Promise.withResolvers<undefined>();
    const before = goesOn;
    goesOn = Promise.withResolvers<undefined>();
    running ??= names.run(new AbortController().signal);
    before.resolve(undefined);
    await waits.promise;
  };
  return { component, names, asks, said, counted, away, read };
}

const page = (...items: readonly ListedObject[]): object => ({
  items: items.map((each, at) => ({ ...each, metadata: { name: `1-${at}` } })),
  metadata: {},
});

test('leaves that lost a Service before or after a restart count', async () => {
  const services = [service('api', { app: 'web' }), service('db', { app: 'other' })];
  const facts = [fact(1, ['web']), fact(2, ['api']), fact(3, ['db', 'api']), fact(4, [])];
  const { names, said, counted, read } = stage(
    ({ after }) => page(...(after ? [] : facts)),
    services,
  );
  await read();
  assert.equal(names.isCurrent(signer.spec.signerName), true);
  assert.deepEqual(counted.at(-1), [signer.spec.signerName, 2]);
  names.changed(NAMESPACE, 'api', undefined);
  assert.deepEqual(counted.at(-1), [signer.spec.signerName, 3]);
  assert.deepEqual(
    said,
    ['pod-1', 'pod-3', 'pod-2', 'pod-3'].map((pod) => `${pod} PodNamesOutdated`),
  );
});

test('a renewed, an expired and an undelivered leaf do not count', async () => {
  const renewed = fact(5, ['gone']);
  const again = fact(5, ['api']);
  const expired = fact(0, ['gone']);
  const abandoned = fact(6, ['gone'], { results: [{ outcome: 'abandoned' }] });
  const { counted, names, read } = stage(
    () => page(renewed, again, expired, abandoned),
    [service('api', { app: 'web' })],
  );
  await read();
  assert.equal(names.isCurrent(signer.spec.signerName), true);
  assert.deepEqual(new Set(counted.flat()), new Set([signer.spec.signerName, 0]));
});

test('it reads one signer’s pages, no older than a leaf, and then only new records', async () => {
  const { component, read } = stage(({ after, continue: from }) => {
    if (after !== undefined) return page();
    return from === undefined
      ? { items: [fact(1, ['web'], { metadata: { name: '1-1' } })], metadata: { continue: 'more' } }
      : { items: [fact(2, ['web'], { metadata: { name: '1-2' } })], metadata: {} };
  });
  await read();
  await read();
  const asked = component.client.requests.map(({ query }) => query ?? {});
  assert.deepEqual(
    asked.map(({ continue: from, after }) => [from, after]),
    [
      [undefined, undefined],
      ['more', undefined],
      [undefined, '1-2'],
    ],
  );
  const since = new Date(BEGUN - 24 * 3_600_000).toISOString().slice(0, 19);
  const selector = String(asked[0]?.['fieldSelector']);
  assert.ok(
    selector.startsWith(`kind=issued,signer=${signer.spec.signerName},since=${since}`),
    selector,
  );
});

test('while the ledger is away it counts nothing and says so; when it is back it does', async () => {
  let isAway = true;
  const { component, names, counted, read } = stage(() => {
    if (isAway) throw new Error('the server is currently unable to handle the request');
    return page(fact(1, ['web']));
  });
  await read();
  assert.deepEqual([names.isCurrent(signer.spec.signerName), counted.length], [false, 0]);
  assert.match(
    names.warnings().join(),
    /cannot be read, so facts are those since the start: the server/,
  );
  await read();
  assert.equal(component.log.lines.length, 1, 'and says it once');
  isAway = false;
  await read();
  assert.deepEqual([names.isCurrent(signer.spec.signerName), names.warnings()], [true, []]);
  assert.deepEqual(counted.at(-1), [signer.spec.signerName, 1]);
});

test('a ledger that goes away stops counting, and its counts are taken back', async () => {
  let isAway = false;
  const { names, counted, away, read } = stage(({ after }) => {
    if (isAway) throw new Error('the server is currently unable to handle the request');
    return page(...(after ? [] : [fact(1, ['web'])]));
  });
  await read();
  assert.deepEqual([counted.at(-1), away], [[signer.spec.signerName, 1], []]);
  isAway = true;
  await read();
  await read();
  assert.deepEqual(
    [names.isCurrent(signer.spec.signerName), away],
    [false, [signer.spec.signerName]],
  );
  const before = counted.length;
  names.changed(NAMESPACE, 'web', undefined);
  assert.equal(counted.length, before);
});

test('of several replicas one reads', async () => {
  const { component, names, read } = stage(() => page(fact(1, ['web'])), [], false);
  await read();
  assert.equal(names.isCurrent(signer.spec.signerName), false);
  assert.deepEqual(component.client.requests, []);
});

test('a signer that stops using Services does not count, even beside another that does', async () => {
  for (const rest of [[], [otherSigner]]) {
    const { asks, counted, away, names, read } = stage(({ after, fieldSelector }) =>
      page(...(after || String(fieldSelector).includes('other') ? [] : [fact(1, ['web'])])),
    );
    await read();
    assert.deepEqual(counted.at(-1), [signer.spec.signerName, 1]);
    asks.signers = rest;
    await read();
    assert.deepEqual(away, [signer.spec.signerName]);
    const before = counted.length;
    names.changed(NAMESPACE, 'web', service('web', { app: 'web' }));
    assert.equal(counted.slice(before).length, 0);
  }
});

test('until the ledger is read, a signer new to Services counts what was seen', async () => {
  const { asks, names, read } = stage(() => page());
  await read();
  asks.signers = [signer, otherSigner];
  assert.deepEqual(
    [signer, otherSigner].map(({ spec }) => names.isCurrent(spec.signerName)),
    [true, false],
  );
  await read();
  assert.equal(names.isCurrent(otherSigner.spec.signerName), true);
});

test('Services whose watch ends during the read are not taken for gone', async () => {
  const { asks, said, names, read } = stage(({ continue: from }) => {
    if (from === undefined)
      return {
        items: [fact(1, [], { metadata: { name: '1-1' } })],
        metadata: { continue: 'more' },
      };
    asks.areServicesListed = false;
    return { items: [fact(2, ['web'], { metadata: { name: '1-2' } })], metadata: {} };
  });
  await read();
  assert.deepEqual([said, names.isCurrent(signer.spec.signerName)], [[], false]);
});

test('a record of another signer than was asked for is no fact', async () => {
  const { metadata, record } = fact(1, ['web']);
  const foreign = { ...(record as object), signer: { name: 'example.com/made-up' } };
  const { counted, said, read } = stage(() => page({ metadata, record: foreign }));
  await read();
  assert.deepEqual(said, []);
  assert.deepEqual(new Set(counted.map(([name]) => name)), new Set([signer.spec.signerName]));
  assert.ok(counted.every(([, leaves]) => leaves === 0));
});
