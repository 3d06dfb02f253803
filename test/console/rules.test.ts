// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderToString } from 'preact-render-to-string';
import { EvaluationDeferred } from '#component/signers/evaluation-errors.ts';
import type { ReadRules, RulesEngine } from '#console/rules-engine.ts';
import { judgeRules } from '#console/rules-page.ts';
import { rulesView } from '#console/views/rules.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { createRulesEngine } from '../../src/cli/commands/console/rules-engine.ts';
import { encodePem } from '#pki/der/pem.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { encodeRequest } from '#pki/x509/encode-request.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { factsOfCsr } from '#requests/recording/request-record.ts';
import { recordedClient } from '../support/kube/recorded-client.ts';
import { example } from '../support/cluster/fixture.ts';
import { readClusterSigner } from '#api/signer/read-signer.ts';

const UNSET = { uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
const SIGNER = readClusterSigner({
  apiVersion: 'countersign.dev/v1alpha1',
  kind: 'ClusterSigner',
  ...example('people'),
  metadata: { ...UNSET, name: 'people', generation: 1 },
});
const HOSTILE = '<img src=x>\u202egnp';

/** A request as the API server lists it: objects in a list have no kind. */
async function csr(name: string, commonName: string): Promise<object> {
  const { key } = await generatePrivateKey('ECDSAP256');
  const sans = { dnsNames: [], ipAddresses: [], uris: [], emails: [] };
  const subject = { commonName, organizations: [], organizationalUnits: [] };
  const pem = encodePem('CERTIFICATE REQUEST', encodeRequest({ subject, sans, key }));
  const request = Buffer.from(pem).toString('base64');
  const usages = ['digital signature', 'client auth'];
  return {
    metadata: { ...UNSET, name, uid: name },
    spec: { request, signerName: SIGNER.spec.signerName, usages, username: 'alice', groups: [] },
  };
}

async function stand(budget: string) {
  const client = recordedClient();
  const items = [await csr('own', 'alice'), await csr(HOSTILE, 'bob')];
  client.answer(({ path }) => {
    if (path.endsWith('/certificatesigningrequests')) return { items, metadata: {} };
    if (path.endsWith('/records')) throw new KubeError({ status: 403, what: 'no ledger for you' });
    return { kind: 'List', apiVersion: 'v1', metadata: {}, items: [], groups: [], resources: [] };
  });
  const delay = (): Promise<void> => Promise.resolve();
  const rules = createRulesEngine({ client, delay, budget });
  return { client, delay, rules };
}

test('the samples of other kinds are judged without API discovery, and a note has why', async () => {
  const { client, ...rest } = await stand('rules/undiscovered');
  const undiscovered = recordedClient();
  undiscovered.answer((request) => {
    const { path } = request;
    if (path.startsWith('/apis/certificates.k8s.io/') && !path.endsWith('requests'))
      throw new KubeError({ status: 403, what: `GET ${path}` });
    return client.request(request);
  });
  const yaml = rest.rules.yamlOf(SIGNER);
  const init = { ...rest, client: undiscovered };
  const { samples, notes } = await judgeRules(init, SIGNER, { yaml, replays: false });
  assert.equal(samples.length, 2);
  assert.match(notes.join(), /^podcertificaterequests: .* may not read the API discovery/);
});

test('a CertificateRequest without a spec is no sample, and hides none', async () => {
  const { client, ...rest } = await stand('rules/spec-less');
  const certificateRequests = { rules: [{ name: 'any', when: 'true', allow: {} }] };
  const serving = { ...SIGNER.spec, certificateRequests };
  const signer = { ...SIGNER, spec: serving } as typeof SIGNER;
  const own = { group: 'countersign.dev', kind: 'ClusterSigner', name: SIGNER.metadata.name };
  const spec = { request: '', issuerRef: own };
  const items = [
    { metadata: { ...UNSET, name: 'empty' } },
    { metadata: { ...UNSET, name: 'own' }, spec },
    { metadata: { ...UNSET, name: 'other' }, spec: { ...spec, issuerRef: { ...own, group: 'x' } } },
  ];
  const listing = recordedClient();
  listing.answer((request) =>
    request.path.endsWith('/certificaterequests')
      ? { items, metadata: {} }
      : client.request(request),
  );
  const yaml = rest.rules.yamlOf(SIGNER);
  const { samples } = await judgeRules({ ...rest, client: listing }, signer, {
    yaml,
    replays: false,
  });
  const subjects = samples.map(({ subject }) => subject);
  assert.deepEqual(
    subjects.filter((each) => each.startsWith('certificaterequest')),
    ['certificaterequest/own'],
  );
});

test('a note has the kinds of which newer requests may be missing', async () => {
  const { client, ...rest } = await stand('rules/cut');
  const listing = recordedClient();
  listing.answer((request) =>
    request.path.endsWith('/certificatesigningrequests')
      ? { items: [], metadata: { continue: 'next' } }
      : client.request(request),
  );
  const yaml = rest.rules.yamlOf(SIGNER);
  const init = { ...rest, client: listing };
  const { notes } = await judgeRules(init, SIGNER, { yaml, replays: false });
  assert.match(notes.join(), /^certificatesigningrequests: .* newer ones may be missing$/);
});

test('the text of the cluster decides as the cluster, and an edited rule otherwise', async () => {
  const init = await stand('rules/a');
  const yaml = init.rules.yamlOf(SIGNER);
  const same = await judgeRules(init, SIGNER, { yaml, replays: false });
  assert.deepEqual(
    same.samples.map(({ current, typed }) => [current.word, typed.word]),
    [
      ['APPROVE', 'APPROVE'],
      ['NO OPINION', 'NO OPINION'],
    ],
  );
  const edited = yaml.replace(
    "request.username.startsWith('robot:')",
    "csr.subject.commonName == 'bob'",
  );
  assert.notEqual(edited, yaml);
  const other = await judgeRules(init, SIGNER, { yaml: edited, replays: false });
  assert.deepEqual(
    other.samples.map(({ current, typed }) => [current.word, typed.word]),
    [
      ['APPROVE', 'APPROVE'],
      ['NO OPINION', 'DENY'],
    ],
  );
});

test('nothing is written, whatever the text', async () => {
  const init = await stand('rules/b');
  await judgeRules(init, SIGNER, { yaml: init.rules.yamlOf(SIGNER), replays: true });
  assert.ok(init.client.requests.every(({ method }) => method === 'GET'));
});

const WRONG: readonly [what: string, change: (yaml: string) => string, says: RegExp][] = [
  ['no YAML', () => '{', /text/],
  ['another kind', (yaml) => yaml.replace('kind: ClusterSigner', 'kind: Pod'), /ClusterSigner/],
  [
    'an expression that is wrong',
    (yaml) => yaml.replace('request.username ==', 'request.user =='),
    /user/,
  ],
  [
    'another signer name',
    (yaml) => yaml.replace('example.com/people', 'example.com/x'),
    /example\.com\/x/,
  ],
];
for (const [what, change, says] of WRONG)
  test(`${what}: the page names the fault, and judges nothing`, async () => {
    const init = await stand('rules/c');
    const yaml = change(init.rules.yamlOf(SIGNER));
    const { fault, samples } = await judgeRules(init, SIGNER, { yaml, replays: false });
    assert.match(fault ?? '', says);
    assert.deepEqual(samples, []);
  });

test('without the ledger, the replay says what is missing', async () => {
  const init = await stand('rules/d');
  const yaml = init.rules.yamlOf(SIGNER);
  const { replay } = await judgeRules(init, SIGNER, { yaml, replays: true });
  assert.match(typeof replay === 'string' ? replay : '', /lack a permission|ledger/);
});

test('the replay names the recorded requests that the text decides otherwise', async () => {
  const init = await stand('rules/i');
  // The API server sends objects of this shape.
  const facts = factsOfCsr(
    {
      ...(await csr('own', 'alice')),
      kind: 'CertificateSigningRequest',
    } as CertificateSigningRequest,
    SIGNER,
  );
  const record = { ...facts, kind: 'denied', reason: 'no-robots', at: UNSET.creationTimestamp };
  const appended = { at: UNSET.creationTimestamp };
  const items = [{ metadata: { name: '1-1' }, appended, record }];
  init.client.answer(({ path }) =>
    path.endsWith('/records')
      ? { items, metadata: {} }
      : { items: [], metadata: {}, groups: [], resources: [] },
  );
  const rules = await init.rules.read(init.rules.yamlOf(SIGNER));
  const { requests, same, different, unknown, cut } = await rules.replay();
  assert.deepEqual([requests, same, unknown, cut], [1, 0, 0, undefined]);
  assert.deepEqual(
    different.map(({ before, now }) => [before, now]),
    [['DENY', 'APPROVE']],
  );
});

test('one session cannot take more than its budget of CPU time', async () => {
  const { rules } = await stand('rules/e');
  const read = await rules.read(rules.yamlOf(SIGNER));
  // The API server sends objects of this shape.
  const object = {
    ...(await csr('own', 'alice')),
    kind: 'CertificateSigningRequest',
  } as CertificateSigningRequest;
  await assert.rejects(async () => {
    for (let count = 0; count < 100_000; count += 1) await read.judge({ kind: 'csr', object });
  }, EvaluationDeferred);
});

test('a spent budget is waited for, and named if it lasts', async () => {
  const spent = new EvaluationDeferred({
    reason: 'CelBudgetSpent',
    message: 'the Signers of namespace x',
    waitMs: 900,
    topSpender: undefined,
  });
  let left = 2;
  const rules: ReadRules = {
    signerName: SIGNER.spec.signerName,
    judge: () => {
      left -= 1;
      return left >= 0 ? Promise.reject(spent) : Promise.resolve({ word: 'DENY', message: '' });
    },
    replay: () => Promise.reject(spent),
  };
  const engine: RulesEngine = { yamlOf: () => '', read: () => Promise.resolve(rules) };
  const init = { ...(await stand('rules/f')), rules: engine };
  const calm = await judgeRules(init, SIGNER, { yaml: '', replays: false });
  assert.equal(calm.samples[0]?.current.word, 'DENY');
  left = 1_000;
  const busy = await judgeRules(init, SIGNER, { yaml: '', replays: true });
  assert.match(busy.samples[0]?.current.message ?? '', /CPU time of this session/);
  assert.match(typeof busy.replay === 'string' ? busy.replay : '', /CPU time of this session/);
});

test('a missing permission is shown beside the other samples', async () => {
  const init = await stand('rules/g');
  init.client.answer(({ path }) => {
    if (path.endsWith('/certificatesigningrequests'))
      throw new KubeError({ status: 403, what: 'GET', body: { message: 'you may not list' } });
    return { kind: 'List', apiVersion: 'v1', metadata: {}, items: [], groups: [], resources: [] };
  });
  const yaml = init.rules.yamlOf(SIGNER);
  const { fault, notes } = await judgeRules(init, SIGNER, { yaml, replays: false });
  assert.equal(fault, undefined);
  assert.match(notes.join(), /you may not list/);
});

test('texts of requesters and of the signer stay text', async () => {
  const init = await stand('rules/h');
  const yaml = `${init.rules.yamlOf(SIGNER)}# </textarea><img src=y>\u202e\n`;
  const results = await judgeRules(init, SIGNER, { yaml, replays: false });
  const model = { signers: ['people', HOSTILE], signer: 'people', yaml, results };
  const html = renderToString(rulesView({ prefix: 'p', now: 0 }, model));
  assert.doesNotMatch(html, /<img|\u202e/);
  assert.match(html, /&lt;\/textarea>/);
  assert.match(html, /<textarea[^>]*>apiVersion: countersign\.dev\/v1alpha1\nkind/);
});
