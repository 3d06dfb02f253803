// SPDX-License-Identifier: Apache-2.0
/** A managed CA that Vault signs, on an API in memory and a Vault that answers as the test says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '#api/object/time.ts';
import { fingerprint, readCertificates } from '#pki/x509/certificate.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import { decodePem } from '#pki/der/pem.ts';
import {
  CLIENT_TOKEN,
  COMPANY,
  LOST,
  OTHERS,
  ROOT,
  SERVER,
  Stage,
  TOKEN,
  UPSTREAM,
  json,
  otherRequest,
} from '../../support/trust/vault-stage.ts';

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

test('Vault signs the key once, and its root becomes the anchor', async () => {
  const stage = new Stage();
  assert.deepEqual(await stage.settle(), ['request', 'install']);
  for (let turn = 0; turn < 20; turn += 1) {
    stage.now += HOUR;
    await stage.settle();
  }
  assert.deepEqual(
    stage.calls.map(({ method, url }) => `${method} ${url}`),
    [
      `GET ${SERVER}/v1/pki/issuer/default/json`,
      `POST ${SERVER}/v1/auth/kubernetes/login`,
      `POST ${SERVER}/v1/pki/root/sign-intermediate`,
      `POST ${SERVER}/v1/auth/token/revoke-self`,
    ],
  );
  const [active] = stage.signer.status?.authorities ?? [];
  assert.deepEqual(readCertificates(active?.anchors ?? '')[0]?.raw, ROOT.raw);
  assert.deepEqual([stage.awaiting()[0], stage.outcomes], ['NotAwaited', ['signed']]);
});

test('requests no more than a CA of its key, name, path length and life', async () => {
  const stage = new Stage();
  await stage.settle();
  const [call] = stage.to('/sign-intermediate');
  const { csr = '', ...body } = JSON.parse(call?.body ?? '{}') as Readonly<Record<string, string>>;
  const { subject } = decodeRequest(decodePem(csr, 'CERTIFICATE REQUEST'));
  assert.deepEqual(body, {
    use_csr_values: false,
    common_name: body['common_name'],
    exclude_cn_from_sans: true,
    max_path_length: 0,
    ttl: '31536000s',
    format: 'pem',
  });
  assert.ok(subject.raw.length > 0 && /^\S+.* \d+$/.test(body['common_name'] ?? ''));
});

test('only the login has the token of the ServiceAccount', async () => {
  const stage = new Stage();
  await stage.settle();
  const having = stage.calls.filter((each) => JSON.stringify(each).includes('signature'));
  assert.deepEqual(having, stage.to('/login'));
  const withClient = stage.calls.filter(
    ({ headers }) => headers?.['x-vault-token'] === CLIENT_TOKEN,
  );
  assert.deepEqual(withClient, [...stage.to('/sign-intermediate'), ...stage.to('/revoke-self')]);
});

test('calls the issuer, the auth method and the namespace that the spec names', async () => {
  const stage = new Stage({
    namespace: 'team/a',
    mount: 'pki/int',
    issuer: 'blue',
    auth: { mount: 'jwt/k8s', role: 'r' },
  });
  await stage.settle();
  assert.deepEqual(
    stage.calls.slice(0, 3).map(({ url }) => url.slice(SERVER.length)),
    [
      '/v1/pki/int/issuer/blue/json',
      '/v1/auth/jwt/k8s/login',
      '/v1/pki/int/issuer/blue/sign-intermediate',
    ],
  );
  assert.ok(stage.calls.every(({ headers }) => headers?.['x-vault-namespace'] === 'team/a'));
});

test('calls no server that the installation does not list', async () => {
  const stage = new Stage({ server: 'https://other.example.com' });
  await stage.settle();
  assert.deepEqual([stage.calls, stage.awaiting()[0]], [[], 'UpstreamUnavailable']);
  assert.match(stage.awaiting()[1], /is not listed in this installation; .*upstreamVaults/);
});

test('a token that cannot be read is named, and nothing is called', async () => {
  const stage = new Stage();
  stage.token = () => Promise.reject(new Error('cannot open /tokens/0'));
  await stage.settle();
  assert.deepEqual([stage.calls, stage.awaiting()[0]], [[], 'UpstreamUnavailable']);
  assert.match(stage.awaiting()[1], /cannot open \/tokens\/0/);
});

test('the CA ends before its issuer, and earlier than its duration', async () => {
  const stage = new Stage({}, { 'authority.managed.duration': '175200h' });
  await stage.settle();
  assert.equal(stage.awaiting()[0], 'NotAwaited', stage.awaiting()[1]);
  const [active] = stage.signer.status?.authorities ?? [];
  const left = ROOT.notAfter - Date.parse(active?.notAfter ?? '');
  assert.ok(left >= 0 && left <= HOUR, `${left}`);
});

for (const [what, more, reason] of [
  ['another root', { rootFingerprint: fingerprint(Uint8Array.of(1)) }, 'RootMismatch'],
  ['no consent', { trustEverythingBelow: false }, 'ConsentMissing'],
] as const) {
  test(`has nothing signed with ${what}, and the same key after a correction`, async () => {
    const stage = new Stage(more);
    assert.deepEqual(await stage.settle(), ['request']);
    stage.now += DAY;
    assert.deepEqual(await stage.settle(), []);
    assert.deepEqual([stage.awaiting()[0], stage.signatures], [reason, 0]);
    stage.change(UPSTREAM);
    assert.deepEqual(await stage.settle(), ['install']);
    assert.equal(stage.signatures, 1);
  });
}

test('an issuer that allows no CA below itself signs nothing', async () => {
  const below = COMPANY.sign(await otherRequest(), 3000);
  const stage = new Stage();
  stage.issuer = () =>
    json(200, { data: { certificate: below, ca_chain: [below, COMPANY.material.certificate] } });
  await stage.settle();
  assert.deepEqual([stage.awaiting()[0], stage.signatures], ['PathLengthExceeded', 0]);
});

test('an issuer that ends soon signs nothing', async () => {
  const stage = new Stage();
  stage.now = ROOT.notAfter - HOUR;
  await stage.settle();
  assert.deepEqual([stage.awaiting()[0], stage.signatures], ['LifetimeTooShort', 0]);
});

test('a Vault that hides its issuer signs, and the chain is checked', async () => {
  const stage = new Stage();
  stage.issuer = () => json(403, { errors: ['permission denied'] });
  assert.deepEqual(await stage.settle(), ['request', 'install']);
});

test('a Vault that is sealed is called again later, with the same key', async () => {
  const stage = new Stage();
  stage.issuer = () => json(503, { errors: ['Vault is sealed'] });
  await stage.settle();
  const { request } = stage.signer.status?.upstream ?? {};
  assert.deepEqual(stage.awaiting()[0], 'UpstreamUnavailable');
  assert.match(stage.awaiting()[1], /answered 503: "Vault is sealed"/);
  for (const end = stage.now + HOUR; stage.now < end; stage.now += 1_000) await stage.settle();
  assert.ok(stage.calls.length < 20, `${stage.calls.length} calls in an hour`);
  assert.equal(stage.signer.status?.upstream?.request, request);
  stage.issuer = () => json(200, { data: { certificate: COMPANY.material.certificate } });
  stage.now += 16 * MINUTE;
  assert.deepEqual(await stage.settle(), ['install']);
});

test('a Vault that was called by a clock ahead is called again by the right one', async () => {
  const stage = new Stage();
  stage.issuer = () => json(503, { errors: ['Vault is sealed'] });
  await stage.settle();
  const start = stage.now;
  stage.now += DAY;
  await stage.settle();
  // The estimate of the API server's time falls back by less than a second.
  stage.now -= 900;
  await stage.settle();
  assert.equal(stage.calls.length, 2);
  stage.issuer = () => json(200, { data: { certificate: COMPANY.material.certificate } });
  stage.now = start + MINUTE;
  assert.deepEqual(await stage.settle(), ['install']);
});

test('waits as long as Vault requests', async () => {
  const stage = new Stage();
  stage.issuer = () => json(429, { errors: ['slow'] }, { 'retry-after': '7200' });
  await stage.settle();
  stage.now += 7_100_000;
  await stage.settle();
  assert.equal(stage.calls.length, 1);
  stage.now += 200_000;
  await stage.settle();
  assert.equal(stage.calls.length, 2);
});

for (const [what, by, reason, text] of [
  ['login', 'login', 'RequestDenied', /denied the login by auth\/kubernetes with role countersign/],
  ['signature', 'sign', 'RequestDenied', /denied pki\/root\/sign-intermediate/],
] as const) {
  test(`a denied ${what} names its remedy and no token`, async () => {
    const stage = new Stage();
    stage[by] = () => json(403, { errors: [`no ${TOKEN} ${TOKEN.slice(-30)} ${CLIENT_TOKEN}`] });
    await stage.settle();
    assert.equal(stage.awaiting()[0], reason);
    assert.match(stage.awaiting()[1], text);
    const shown = JSON.stringify([stage.signer.status, stage.log.lines]);
    assert.ok(!/signature|payload/.test(shown), shown);
    if (by === 'sign') assert.ok(!shown.includes('AbCdEf123456'), shown);
  });
}

test('a refused path length is shown with the text of Vault', async () => {
  const stage = new Stage();
  stage.sign = () => json(400, { errors: ['has a max path length of zero'] });
  await stage.settle();
  assert.equal(stage.awaiting()[0], 'RequestFailed');
  assert.match(stage.awaiting()[1], /has a max path length of zero/);
});

test('a lost answer costs one more certificate of the same key', async () => {
  const stage = new Stage();
  stage.sign = () => LOST;
  await stage.settle();
  assert.match(stage.awaiting()[1], /was lost, and it may have signed a certificate/);
  const { request } = stage.signer.status?.upstream ?? {};
  stage.sign = (body) => stage.signed(body);
  stage.now += 2 * MINUTE;
  assert.deepEqual(await stage.settle(), ['install']);
  assert.equal(stage.signatures, 2);
  const csrs = stage.to('/sign-intermediate').map(({ body = '' }) => body.includes('CERTIFICATE'));
  assert.deepEqual([csrs, typeof request], [[true, true], 'string']);
  assert.deepEqual(stage.outcomes, ['lost', 'signed']);
});

test('an oversized or foreign answer counts as a lost one', async () => {
  for (const answer of [
    json(200, { data: {} }),
    json(200, 'x'),
    json(200, { data: { certificate: 'x' } }),
  ]) {
    const stage = new Stage();
    stage.sign = () => answer;
    await stage.settle();
    assert.deepEqual([stage.awaiting()[0], stage.outcomes], ['UpstreamUnavailable', ['lost']]);
  }
});

test('a chain of another CA is refused, and replaced by a new key later each time', async () => {
  const stage = new Stage();
  stage.sign = (body) => stage.signed(body, OTHERS);
  assert.deepEqual(await stage.settle(), ['request']);
  let wait = 10 * MINUTE;
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    assert.ok(stage.awaiting()[0] !== 'NotAwaited' && stage.signatures === attempt);
    const retryAt = Date.parse(stage.signer.status?.upstream?.retryAt ?? '');
    assert.equal(retryAt - Date.parse(stage.signer.status?.upstream?.requestedAt ?? ''), wait);
    stage.now = retryAt - 1_000;
    assert.deepEqual(await stage.settle(), []);
    stage.now = retryAt;
    assert.deepEqual(await stage.settle(), ['request']);
    wait *= 2;
  }
  assert.equal(stage.signatures, 4);
});

test('a refused key of a clock that was ahead is replaced at once, and again later', async () => {
  const stage = new Stage();
  const start = stage.now;
  stage.sign = (body) => stage.signed(body, OTHERS);
  stage.now += DAY;
  assert.deepEqual(await stage.settle(), ['request']);
  stage.now = start;
  stage.restart();
  assert.deepEqual(await stage.settle(), ['request']);
  assert.equal(stage.signer.status?.upstream?.retryAt, formatTime(start + 20 * MINUTE));
  assert.equal(stage.signatures, 2);
});

test('a certificate for another key is refused', async () => {
  const stage = new Stage();
  const csr = await otherRequest();
  stage.sign = ({ ttl = '' }) => stage.signed({ csr, ttl });
  await stage.settle();
  assert.equal(stage.awaiting()[0], 'KeyMismatch');
});

test('a restart has no refused key signed again', async () => {
  const stage = new Stage();
  const csr = await otherRequest();
  stage.sign = ({ ttl = '' }) => stage.signed({ csr, ttl });
  await stage.settle();
  const retryAt = stage.signer.status?.upstream?.retryAt;
  for (let restarts = 0; restarts < 5; restarts += 1) {
    stage.restart();
    stage.now += MINUTE;
    assert.deepEqual(await stage.settle(), []);
  }
  assert.deepEqual([stage.signatures, stage.awaiting()[0]], [1, 'KeyMismatch']);
  assert.equal(stage.signer.status?.upstream?.retryAt, retryAt);
  stage.now = Date.parse(retryAt ?? '');
  assert.deepEqual(await stage.settle(), ['request']);
  assert.equal(stage.signatures, 2);
});

test('a slow Vault delays no reconcile, and is called once', async () => {
  const stage = new Stage();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  stage.hold = promise;
  await stage.settle();
  for (let turn = 0; turn < 10; turn += 1) {
    stage.now += MINUTE;
    await stage.settle();
  }
  assert.deepEqual([stage.calls.length, stage.awaiting()[0]], [1, 'CertificateRequested']);
  resolve(true);
  stage.hold = undefined;
  await new Promise(setImmediate);
  assert.deepEqual(await stage.settle(), ['install']);
});

test('a refusal stays in the condition while Vault is called again', async () => {
  const stage = new Stage();
  stage.issuer = () => json(503, { errors: ['Vault is sealed'] });
  await stage.settle();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  stage.hold = promise;
  stage.now += HOUR;
  await stage.settle();
  assert.deepEqual([stage.calls.length, stage.awaiting()[0]], [2, 'UpstreamUnavailable']);
  resolve(true);
});
