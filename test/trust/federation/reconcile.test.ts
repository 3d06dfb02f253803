// SPDX-License-Identifier: Apache-2.0
/** What somebody does to a bundle, or to the clock, between two looks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { Federation } from '#trust/federation/federation.ts';
import type { FetchResult } from '#trust/federation/fetch.ts';
import { latestBundle } from '#trust/federation/known-anchors.ts';
import { reconcile } from '#trust/federation/reconcile.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { writeBundle } from '#trust/spiffe/write-bundle.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { pemOf, spiffeCa } from '../../support/trust/certificates.ts';

const DOMAIN = 'partner.example';
const NAME = `federated.${DOMAIN}`;
const START = Date.UTC(2026, 10, 23, 1);
const HOUR = 3_600_000;
const [A, B] = [spiffeCa('A'), spiffeCa('B')];

/** A federation whose endpoint, API server and clock are the test's. */
class Stage {
  now = START;
  bundle: ClusterTrustBundle | undefined;
  begun = 0;
  /** How far the clock is ahead of the API server’s, in milliseconds. */
  offset = 0;
  /** Whether a bundle that was deleted is still seen. */
  watchLags = false;
  /** Called with each write before it is answered. */
  onWrite: () => void = () => undefined;
  /** What the next look would verify a server of https_spiffe by. */
  latest: string | undefined;
  #answer: FetchResult | undefined;
  readonly component = recordedComponent({ clock: () => this.now });
  readonly federation: Federation;

  constructor() {
    const bundles = {
      synced: true,
      get: (name: string) => (name === NAME ? this.bundle : undefined),
      list: () => (this.bundle === undefined ? [] : [this.bundle]),
      applyWrite: (written: ClusterTrustBundle) => {
        this.bundle = written;
      },
    };
    const fetcher = {
      begin: () => {
        this.begun += 1;
        this.latest = latestBundle(this.federation, DOMAIN);
      },
      take: () => {
        const taken = this.#answer;
        this.#answer = undefined;
        return taken;
      },
      isUnderWay: () => false,
    };
    Object.assign(this.component.client, { clockOffset: () => this.offset });
    this.component.client.answer(({ body, method }) => {
      this.onWrite();
      if (method === 'DELETE' && !this.watchLags) this.bundle = undefined;
      if (method !== 'PATCH') return {};
      const { metadata, ...object } = body as ClusterTrustBundle;
      const known = { uid: 'b-1', resourceVersion: '1', creationTimestamp: '2026-11-23T00:00:00Z' };
      return { ...object, metadata: { ...known, ...metadata } };
    });
    const domain = {
      trustDomain: DOMAIN,
      profile: 'https_web',
      url: 'https://a.example/',
    } as const;
    this.federation = {
      component: this.component,
      init: {
        domains: [domain],
        endedDomains: [],
        ownDomains: [],
        directory: '',
        networks: [],
        shortestSeconds: 60,
        keepSeconds: 86_400,
      },
      resource: resource({
        group: 'certificates.k8s.io',
        version: 'v1',
        plural: 'clustertrustbundles',
      }),
      signers: { settled: true, known: () => [] },
      bundles,
      fetcher,
      fetchStates: new Map(),
    } as unknown as Federation;
  }

  /** One look with that answer. */
  async answers(links: readonly (typeof A)[], sequence: bigint): Promise<void> {
    const anchors = links.map(({ certificate }) => certificate);
    this.#answer = { text: writeBundle({ anchors, sequence, refreshSeconds: 300 }) };
    await this.comesBack();
  }

  /** One look after a fetch without a bundle. */
  async fails(): Promise<void> {
    this.#answer = { problem: 'no answer' };
    await this.comesBack();
  }

  comesBack(): ReturnType<typeof reconcile> {
    return reconcile(this.federation, DOMAIN);
  }

  /** What somebody else writes into the bundle. */
  annotate(key: string, value: string): void {
    assert.ok(this.bundle);
    const { metadata } = this.bundle;
    const annotations = { ...metadata.annotations, [`countersign.dev/${key}`]: value };
    this.bundle = { ...this.bundle, metadata: { ...metadata, annotations } };
  }

  get text(): string | undefined {
    return this.bundle?.spec.trustBundle;
  }

  get fetchedAt(): string | undefined {
    return this.bundle?.metadata.annotations?.['countersign.dev/fetched-at'];
  }

  get sequence(): string | undefined {
    return this.bundle?.metadata.annotations?.['countersign.dev/spiffe-sequence'];
  }
}

test('another client’s sequence in the bundle does not lock the other side out', async () => {
  const stage = new Stage();
  await stage.answers([A], 5n);
  stage.annotate('spiffe-sequence', '9'.repeat(40));
  await stage.answers([A, B], 6n);
  assert.equal(stage.sequence, '6');
  assert.ok(stage.text?.includes(pemOf(B)));
});

test('after a restart the sequence in the bundle is what is known', async () => {
  const stage = new Stage();
  await stage.answers([A], 5n);
  stage.federation.fetchStates.clear();
  await stage.answers([B], 4n);
  assert.equal(stage.sequence, '5');
  assert.equal(stage.text, pemOf(A));
});

test('after a clock step back, the next fetch is at once', async () => {
  const stage = new Stage();
  await stage.answers([A], 5n);
  assert.equal(stage.begun, 0);
  stage.now -= 12 * HOUR;
  await stage.comesBack();
  assert.equal(stage.begun, 1);
});

test('after a clock step forward, an expired bundle is dropped until a good answer', async () => {
  const stage = new Stage();
  await stage.answers([A], 5n);
  stage.now += 25 * HOUR;
  await stage.comesBack();
  assert.equal(stage.text, undefined);
  assert.equal(stage.begun, 1);
  await stage.answers([A], 5n);
  assert.equal(stage.text, pemOf(A));
});

test('no bundle ends by a clock that the API server contradicts', async () => {
  const stage = new Stage();
  await stage.answers([A], 5n);
  for (const hours of [25, -25]) {
    stage.now = START + hours * HOUR;
    stage.offset = hours * HOUR;
    await stage.comesBack();
    assert.equal(stage.text, pemOf(A));
  }
  stage.now = START + 25 * HOUR;
  stage.offset = HOUR;
  await stage.comesBack();
  assert.equal(stage.text, pemOf(A));
  stage.offset = 0;
  await stage.comesBack();
  assert.equal(stage.text, undefined);
});

test('the time of a good answer is the API server’s', async () => {
  const stage = new Stage();
  stage.now = START + 25 * HOUR;
  stage.offset = 25 * HOUR;
  await stage.answers([A], 5n);
  stage.now = START;
  stage.offset = 0;
  await stage.comesBack();
  assert.equal(stage.text, pemOf(A));
});

for (const years of [1, -1])
  test(`a correction of the API server’s clock by ${years} years drops no bundle`, async () => {
    const stage = new Stage();
    await stage.answers([A], 5n);
    stage.offset = years * 8760 * HOUR;
    stage.now += HOUR;
    await stage.answers([A, B], 6n);
    assert.ok(stage.text?.includes(pemOf(B)));
    stage.now += 48 * HOUR;
    await stage.answers([A, B], 6n);
    stage.offset = 0;
    await stage.comesBack();
    assert.ok(stage.text?.includes(pemOf(B)));
    stage.now += 24 * HOUR;
    await stage.comesBack();
    assert.equal(stage.text, undefined, 'the endpoint gave no answer since the correction');
  });

test('after a correction of its clock, the next good answer has the right time', async () => {
  const stage = new Stage();
  stage.offset = -8760 * HOUR;
  await stage.answers([A], 5n);
  stage.offset = 0;
  await stage.answers([A], 5n);
  assert.equal(stage.fetchedAt, '2026-11-23T01:00:00Z');
  stage.federation.fetchStates.clear();
  await stage.comesBack();
  assert.equal(stage.text, pemOf(A));
});

test('while the clocks are apart, a good answer does not change the time of a bundle', async () => {
  const stage = new Stage();
  await stage.answers([A], 5n);
  stage.offset = -8760 * HOUR;
  for (const links of [[A], [A, B]]) {
    await stage.answers(links, 6n);
    assert.equal(stage.fetchedAt, '2026-11-23T01:00:00Z');
    assert.equal(stage.text?.includes(pemOf(B)), links.length > 1);
  }
});

test('what was dropped verifies no endpoint, not even while a watch still shows it', async () => {
  const stage = new Stage();
  await stage.answers([A], 5n);
  stage.watchLags = true;
  stage.now += HOUR;
  await stage.comesBack();
  assert.equal(stage.latest, pemOf(A));
  stage.now += 24 * HOUR;
  await stage.comesBack();
  assert.equal(stage.begun, 2);
  assert.equal(stage.text, pemOf(A));
  assert.equal(stage.latest, undefined);
});

test('a new process verifies an endpoint by the bundle of the one before it', async () => {
  const stage = new Stage();
  await stage.answers([A], 5n);
  stage.federation.fetchStates.clear();
  await stage.comesBack();
  assert.equal(stage.latest, pemOf(A));
});

/** A bundle that was confirmed while the clocks were apart; the next process has a right clock. */
async function confirmedWhileApart(): Promise<Stage> {
  const stage = new Stage();
  await stage.answers([A], 5n);
  stage.offset = HOUR;
  stage.now += HOUR;
  for (let hours = 0; hours < 30; hours += 1) {
    stage.now += HOUR;
    await stage.answers([A], 5n);
  }
  stage.federation.fetchStates.clear();
  stage.now -= HOUR;
  stage.offset = 0;
  await stage.comesBack();
  assert.ok(stage.text !== undefined, 'kept until its first answer');
  return stage;
}

test('a bundle that was confirmed while the clocks were apart survives a new process', async () => {
  const stage = await confirmedWhileApart();
  await stage.answers([A], 5n);
  assert.equal(Date.parse(stage.fetchedAt ?? ''), stage.now);
  stage.now += HOUR;
  await stage.comesBack();
  assert.equal(stage.latest, pemOf(A));
});

test('a bundle survives a first answer that is good and cannot be written', async () => {
  const stage = await confirmedWhileApart();
  stage.onWrite = () => {
    throw new KubeError({ status: 503, what: 'PATCH' });
  };
  await assert.rejects(stage.answers([A], 5n), { status: 503 });
  stage.onWrite = () => undefined;
  await stage.comesBack();
  assert.ok(stage.text !== undefined);
  await stage.answers([A], 5n);
  assert.equal(Date.parse(stage.fetchedAt ?? ''), stage.now);
});

test('a bundle survives a first answer while whose write the clocks come together', async () => {
  const stage = new Stage();
  await stage.answers([A], 5n);
  stage.federation.fetchStates.clear();
  stage.now += 31 * HOUR;
  stage.offset = HOUR;
  await stage.comesBack();
  stage.onWrite = () => {
    if (stage.offset !== 0) stage.now -= HOUR;
    stage.offset = 0;
  };
  await stage.answers([A, B], 6n);
  assert.ok(stage.text !== undefined);
});

test('a stale bundle verifies no endpoint before the first answer of a new process', async () => {
  const stage = new Stage();
  await stage.answers([A], 5n);
  stage.federation.fetchStates.clear();
  stage.now += 30 * HOUR;
  await stage.comesBack();
  assert.deepEqual([stage.begun > 0, stage.latest], [true, undefined]);
  assert.ok(stage.text !== undefined);
});

test('a distrusted CA leaves a stale bundle at the first look of a new process', async () => {
  for (const links of [[A], [A, B]]) {
    const stage = new Stage();
    await stage.answers(links, 5n);
    stage.federation.fetchStates.clear();
    stage.now += 30 * HOUR;
    const distrusted = [fingerprint(A.certificate.raw)];
    const signer = {
      metadata: { name: 'x', uid: 'u' },
      spec: { signerName: 'x.example/y', authority: { managed: { distrusted } } },
      status: {},
    };
    Object.assign(stage.federation, { signers: { settled: true, known: () => [signer] } });
    await stage.comesBack();
    assert.equal(stage.text, links.length === 1 ? undefined : pemOf(B));
    assert.equal(stage.latest, undefined);
  }
});

test('a new process drops a stale bundle after its first fetch fails', async () => {
  const stage = new Stage();
  await stage.answers([A], 5n);
  stage.federation.fetchStates.clear();
  stage.now += 30 * HOUR;
  await stage.comesBack();
  assert.ok(stage.text !== undefined);
  await stage.fails();
  assert.equal(stage.text, undefined);
});
