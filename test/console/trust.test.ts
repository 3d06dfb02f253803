// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderToString } from 'preact-render-to-string';
import type { Pod } from '#api/object/pod.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { PodFacts } from '#diagnose/check/facts.ts';
import type { SignerState } from '#operations/signer-state.ts';
import { encodePem } from '#pki/der/pem.ts';
import {
  TRUST_A_PAGE,
  trustList,
  trustOfSigner,
  type CaLossModel,
  type SignerFactsOfPage,
  type SignerTrustModel,
  type TrustChoice,
  type TrustPodsModel,
} from '#console/pages/trust.ts';
import type { TrustTarget } from '#console/pages/trust-anchors.ts';
import { trustTitle, trustView } from '#console/views/trust.ts';
import { ca, link, usage } from '../support/pki/chain.ts';
import { namedInUtf8 } from '../support/pki/certificate-der.ts';
import { HOUR, LINKS, MINUTE, NOW, at, pem, print, state } from '../operations/signer-states.ts';

const SIGNER = 'example.com/workload';
const VIEW = { prefix: 'p', now: NOW };

function pod(name: string, age: number, source: object, owner = 'web-5f'): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'team-a',
      name,
      uid: name,
      resourceVersion: '1',
      creationTimestamp: at(-age),
      labels: { 'pod-template-hash': '5f' },
      ownerReferences: [{ kind: 'ReplicaSet', name: owner, controller: true }],
    },
    spec: { volumes: [{ projected: { sources: [source] } }] },
    status: { phase: 'Running', startTime: at(-age) },
  };
}

const CERTIFICATE = { podCertificate: { signerName: SIGNER } };
const BUNDLE = { clusterTrustBundle: { signerName: SIGNER, labelSelector: {} } };

function issued(uid: string, by: keyof typeof LINKS): PodCertificateRequest {
  const chain = encodePem('CERTIFICATE', link('leaf', { by: LINKS[by] }).certificate.raw);
  // The parts that evidence is read from.
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'PodCertificateRequest',
    metadata: { namespace: 'team-a', name: uid, uid, creationTimestamp: at(-MINUTE) },
    spec: { signerName: SIGNER, podName: uid, podUID: uid },
    status: { certificateChain: chain },
  } as unknown as PodCertificateRequest;
}

/** CA a retires, CA b signs, and a client has put CA c into the bundle. */
const STATE = state({
  authorities: { a: 'Retiring', b: 'Active' },
  served: { a: 60, b: 60, c: 1 },
});
const PODS: PodFacts = {
  mounting: [
    pod('old', 13 * HOUR, CERTIFICATE),
    pod('renewed', 13 * HOUR, CERTIFICATE),
    pod('new', HOUR, CERTIFICATE),
  ],
  trusting: [pod('client', HOUR, BUNDLE, 'client-5f')],
  requests: [issued('renewed', 'b')],
  revocations: [],
  services: { value: [] },
  quotas: [],
  warnings: new Map(),
};

const facts = (more: Partial<SignerFactsOfPage> = {}): SignerFactsOfPage => {
  const base = {
    state: STATE,
    states: [more.state ?? STATE],
    pods: { value: PODS },
    targets: [],
    lacksTargets: [],
  };
  return { ...base, hasCertManager: false, ...more };
};

async function shown(choice: Partial<TrustChoice>, more: Partial<SignerFactsOfPage> = {}) {
  const model = await trustOfSigner(facts(more), { signer: 'workload', from: 0, ...choice });
  assert.ok(model !== undefined);
  return model;
}

async function signerPage(more: Partial<SignerFactsOfPage> = {}): Promise<SignerTrustModel> {
  const model = await shown({}, more);
  assert.ok(model.kind === 'signer');
  return model;
}

async function lossPage(of: 'a' | 'b', more = {}): Promise<CaLossModel> {
  const model = await shown({ ca: print(of) }, more);
  assert.ok(model.kind === 'ca');
  return model;
}

async function podsPage(choice: Partial<TrustChoice>): Promise<readonly string[]> {
  const model: TrustPodsModel = (await shown(choice)) as TrustPodsModel;
  assert.ok('value' in model.pods);
  return model.pods.value.map(({ name }) => name);
}

test('the list counts foreign anchors, pods, and pods on an old CA', () => {
  const { rows } = trustList([STATE], { value: PODS }, { show: undefined, from: 0 });
  const [row] = rows;
  assert.equal(row?.foreign, 1);
  assert.deepEqual(row.pods, { mounting: 3, trusting: 1, old: 1 });
  assert.deepEqual(row.phases, ['Retiring', 'Active']);
});

test('a signer with foreign anchors comes before one that only has a shorter name', () => {
  const { signer } = state();
  const other = { ...state(), signer: { ...signer, metadata: { ...signer.metadata, name: 'a' } } };
  const names = (show?: string): readonly string[] =>
    trustList([other, STATE], { value: PODS }, { show, from: 0 }).rows.map(({ name }) => name);
  assert.deepEqual(names(), ['workload', 'a']);
  assert.deepEqual(names('foreign'), ['workload']);
  assert.deepEqual(names('old'), ['workload']);
});

test('an anchor of an earlier ClusterSigner is not foreign', async () => {
  const kept = state({ served: { a: 60, c: 60 }, retained: { c: at(HOUR) } });
  const { strange } = await signerPage({ state: kept });
  assert.deepEqual(
    strange.map(({ fingerprint, retainedUntil }) => [fingerprint, retainedUntil]),
    [[print('c'), at(HOUR)]],
  );
  const { rows } = trustList([kept], { value: PODS }, { show: undefined, from: 0 });
  assert.equal(rows[0]?.foreign, 0);
});

test('a distrusted CA counts as foreign while the bundle or a copy has its anchor', async () => {
  const authorities = { a: 'Active', b: 'Distrusted' } as const;
  const copy = { kind: 'ConfigMap', namespace: 'team-a', name: 'copy', text: pem('a') + pem('b') };
  const strangeOf = async (served: SignerState): Promise<readonly string[]> => {
    const { strange, targets, graph } = await signerPage({ state: served, targets: [copy] });
    assert.deepEqual(
      targets.map(({ foreign }) => foreign),
      [1],
    );
    assert.equal(graph.nodes.filter(({ title }) => print('b').startsWith(title)).length, 1);
    assert.ok(strange.every((each) => each.isDistrusted && each.fingerprint === print('b')));
    return strange.map(({ object }) => object);
  };
  const revoked = state({ authorities, served: { a: 60, b: 60 } });
  assert.deepEqual(await strangeOf(revoked), [
    'ClusterTrustBundle workload',
    'ConfigMap team-a/copy',
  ]);
  assert.deepEqual(await strangeOf(state({ authorities, served: { a: 60 } })), [
    'ConfigMap team-a/copy',
  ]);
  const { rows } = trustList([revoked], { value: PODS }, { show: 'foreign', from: 0 });
  assert.equal(rows[0]?.foreign, 1);
});

test('workloads show the trust in leaves, and those on an old CA come first', async () => {
  const { workloads } = await signerPage();
  assert.deepEqual(workloads, {
    value: [
      {
        namespace: 'team-a',
        workload: 'deployment/web',
        pods: 3,
        mountsCertificate: true,
        mountsBundle: false,
        leaves: { unknown: 2, trusted: 1 },
        old: 1,
      },
      {
        namespace: 'team-a',
        workload: 'deployment/client',
        pods: 1,
        mountsCertificate: false,
        mountsBundle: true,
        leaves: { none: 1 },
        old: 0,
      },
    ],
  });
});

test('each number leads to the pods that it counts', async () => {
  assert.deepEqual(await podsPage({ show: 'certificate' }), ['new', 'old', 'renewed']);
  assert.deepEqual(await podsPage({ show: 'bundle' }), ['client']);
  assert.deepEqual(await podsPage({ show: 'old' }), ['old']);
  assert.deepEqual(await podsPage({ show: 'trusted' }), ['renewed']);
  assert.deepEqual(await podsPage({ workload: 'deployment/client', in: 'team-a' }), ['client']);
  assert.deepEqual(await podsPage({ workload: 'deployment/web', in: 'team-b' }), []);
});

test('the loss of a retiring CA is what the command refuses, with its pods', async () => {
  const { generation, pods } = await lossPage('a');
  const { revoke, taint } = generation.loss;
  assert.equal(revoke.outcome, 'refused');
  assert.match(revoke.refusals.join(), /1 running pods and requesters .*may hold leaves/);
  assert.equal(taint.outcome, 'unchanged');
  assert.ok('value' in pods);
  assert.deepEqual(
    pods.value.map(({ name }) => name),
    ['old'],
  );
});

test('the loss of the active CA breaks all its leaves', async () => {
  const { generation } = await lossPage('b');
  assert.match(generation.loss.revoke.refusals.join(), /verifiers reject all its leaves/);
  assert.equal(generation.loss.taint.outcome, 'changed');
});

test('a person who may not list pods gets the plan of the command, and the permission', async () => {
  const lacks = { lacks: 'list pods' };
  const model = await lossPage('a', { pods: lacks });
  assert.match(model.generation.loss.revoke.refusals.join(), /pods that you may not list/);
  assert.deepEqual(model.pods, lacks);
  const html = renderToString(trustView(VIEW, model));
  assert.match(html, /you may not <code>list pods<\/code>/);
});

const target = (text: string): TrustTarget => {
  return { kind: 'ConfigMap', namespace: 'team-a', name: 'example.com.workload.primary', text };
};

test('a target shows the anchors that it lacks, and foreign ones', async () => {
  const page = await signerPage({ targets: [target(`${pem('b')}${pem('d')}`)] });
  const [found] = page.targets;
  assert.deepEqual([found?.anchors, found?.missing, found?.foreign], [2, 2, 1]);
  assert.deepEqual(
    page.strange.map(({ fingerprint }) => fingerprint),
    [print('c'), print('d')],
  );
  assert.equal(page.graph.nodes.filter(({ kind }) => kind === 'foreign').length, 2);
});

test('the graph leads from signer to CAs, bundle and readers', async () => {
  const { graph } = await signerPage();
  const text = (index: number): string => graph.nodes[index]?.title ?? '';
  const arrows = graph.edges.map(({ from, to }) => `${text(from)} > ${text(to)}`);
  const [a, b, c] = (['a', 'b', 'c'] as const).map((name) => print(name).slice(0, 19));
  assert.deepEqual(arrows, [
    `workload > ${a}`,
    `${a} > workload`,
    `workload > ${b}`,
    `${b} > workload`,
    `${c} > workload`,
    'workload > team-a/client',
  ]);
});

test('a graph of hundreds of workloads stays small, and the tables have pages', async () => {
  const trusting = Array.from({ length: 300 }, (_, index) =>
    pod(`p${index}`, HOUR, BUNDLE, `w${String(index).padStart(3, '0')}-5f`),
  );
  const page = await signerPage({ pods: { value: { ...PODS, trusting } } });
  assert.ok(page.graph.rows <= 10);
  assert.equal(page.total, 301);
  assert.ok('value' in page.workloads && page.workloads.value.length === TRUST_A_PAGE);
  const html = renderToString(trustView(VIEW, page));
  assert.match(html, /1 to 100 of 301/);
  assert.ok(html.split('<tr').length <= 200);
});

test('a foreign anchor is red, and the text names it as well', async () => {
  const html = renderToString(trustView(VIEW, await signerPage()));
  assert.match(html, /<strong class="foreign">foreign: no CA of this signer/);
  assert.match(html, /class="node foreign"/);
  assert.match(html, />foreign anchor</);
});

/** Markup, and a mark that reverses text. */
const HOSTILE = '<img src=x onerror=alert(1)>\u202egnp.exe';

test('texts of strangers stay text in every page of trust', async () => {
  const hostile = pod(HOSTILE, HOUR, CERTIFICATE, HOSTILE);
  const named = { ...hostile, metadata: { ...hostile.metadata, namespace: HOSTILE } };
  const anchor = encodePem(
    'CERTIFICATE',
    link('x', { subject: namedInUtf8(HOSTILE), extensions: [ca(0), usage()] }).certificate.raw,
  );
  const targets = [{ kind: HOSTILE, name: HOSTILE, text: anchor }];
  const mounting = { ...PODS, mounting: [named], trusting: [named] };
  const own = { pods: { value: mounting }, targets };
  const choices = [{}, { ca: print('b') }, { show: 'certificate' }, { workload: HOSTILE, in: 'x' }];
  for (const choice of choices) {
    const model = await shown(choice, own);
    const html = trustTitle(model) + renderToString(trustView(VIEW, model));
    assert.doesNotMatch(html, /<img|\u202e/);
  }
  const { strange } = await signerPage(own);
  assert.match(JSON.stringify(strange), /onerror/);
});

test('a signer that publishes no bundle has a page', async () => {
  const { trustBundle: _left, ...spec } = STATE.signer.spec;
  const bare: SignerState = { ...STATE, signer: { ...STATE.signer, spec }, bundle: undefined };
  const page = await signerPage({ state: bare });
  assert.equal(page.graph.nodes.filter(({ kind }) => kind === 'bundle').length, 0);
  assert.match(renderToString(trustView(VIEW, page)), /not published/);
});
