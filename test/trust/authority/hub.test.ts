// SPDX-License-Identifier: Apache-2.0
/** What a member sends to its hub, and what it makes of the answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { CLUSTER_SIGNER_UID } from '#api/signer/grant.ts';
import { MAX_HUB_TOKEN_SECONDS, memberRequestNames } from '#api/signer/upstream-hub.ts';
import type { Secret } from '#api/object/object.ts';
import { createCaRequest } from '#ca/custody/managed.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import type { RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { createHub } from '#trust/authority/upstream/hub/index.ts';
import { readHubCredential, type HubCredential } from '#trust/authority/upstream/hub/credential.ts';
import { renewTokens } from '#trust/authority/upstream/hub/renew-token.ts';
import type { UpstreamAnswer } from '#trust/authority/upstream/answer.ts';
import { openHub } from '../../support/ca/hub.ts';
import { NOW } from '../../support/ca/issuing.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';
import { workload } from '../../support/signers/workload-profile.ts';
import {
  CLAIMS,
  GOOD,
  HOUR,
  HUB,
  ROOT,
  jwt,
  seconds,
  secretOf,
} from '../../support/trust/member-credential.ts';

const { key, request } = await createCaRequest({
  keyType: 'ECDSAP256',
  commonName: 'Example workload CA',
  crossSigned: false,
  cluster: 'prod',
  now: NOW,
});
const csr = {
  signerName: 'fleet.example.com/members',
  cluster: 'prod',
  bundle: 'root',
  rootFingerprint: fingerprint(HUB.authority.facts.certificate.raw),
  trustEverythingBelow: true,
};
const SIGNER: ClusterSigner = workload({ 'authority.managed.upstream': { csr } });
/** The CA Secret with a key that waits. */
const PENDING = secretOf(
  { 'tls.crt': '', 'tls.key': '', 'pending.key': key, 'pending.csr': request },
  { name: 'workload-ca', annotations: { [CLUSTER_SIGNER_UID]: SIGNER.metadata.uid } },
);

function stage(
  answer: (init: RequestInit) => unknown,
  credential: Readonly<Record<string, string>> = GOOD,
) {
  const component = recordedComponent({ name: 'authority' });
  component.client.answer(() => secretOf(credential));
  const remote = recordedClient();
  remote.answer(answer);
  const connected: HubCredential[] = [];
  const connect = (each: HubCredential): typeof remote => {
    connected.push(each);
    return remote;
  };
  const upstreams = createHub({ ...component, connect });
  return {
    component,
    remote,
    connected,
    connect,
    ask: (secret: Secret | undefined = PENDING) => upstreams.answerFor(SIGNER, secret),
  };
}

function stored(
  { body }: RequestInit,
  status: CertificateSigningRequest['status'] = {},
): CertificateSigningRequest {
  return { ...(body as CertificateSigningRequest), status };
}

const notFound = ({ method, path }: RequestInit): KubeError =>
  new KubeError({ status: 404, what: `${method} ${path}` });

/** A hub that answers the request of the member with this status. */
function hubWith(status: CertificateSigningRequest['status']): (init: RequestInit) => unknown {
  let found: CertificateSigningRequest | undefined;
  return (init) => {
    if (init.path.includes('clustertrustbundles')) return { spec: { trustBundle: ROOT } };
    if (init.method === 'POST') found = stored(init, status);
    if (found === undefined) throw notFound(init);
    return found;
  };
}

test('a member creates one request, under a name of its own, and sends no key', async () => {
  const { ask, remote } = stage(hubWith({}));
  assert.equal((await ask())?.kind, 'waiting');
  assert.deepEqual(
    remote.requests.map(({ method }) => method),
    ['GET', 'POST'],
  );
  const { metadata, spec } = remote.requests[1]?.body as CertificateSigningRequest;
  const account = { cluster: 'prod', namespace: 'countersign-fleet' };
  assert.ok(memberRequestNames(account).includes(metadata.name), metadata.name);
  assert.deepEqual(spec.usages, ['cert sign', 'crl sign']);
  assert.equal(spec.signerName, csr.signerName);
  assert.equal(Buffer.from(spec.request, 'base64').toString(), request);
  assert.ok(!JSON.stringify(remote.requests).includes('PRIVATE KEY'));
});

test('the hub is not called again before the next look', async () => {
  const { ask, remote } = stage(hubWith({}));
  await ask();
  await ask();
  assert.equal(remote.requests.length, 2);
});

test('a lost response does not create a second request for the key', async () => {
  let created = false;
  const { ask, remote } = stage((init) => {
    if (init.method === 'POST') {
      created = true;
      throw new KubeError({
        status: 409,
        what: 'POST',
        body: { reason: 'AlreadyExists' },
      });
    }
    if (!created) throw notFound(init);
    return stored({ ...init, body: remote.requests[1]?.body });
  });
  assert.equal((await ask())?.kind, 'waiting');
  assert.equal(remote.requests.filter(({ method }) => method === 'POST').length, 1);
});

test('an issued chain gets the pinned root, which the hub publishes', async () => {
  const certificate = Buffer.from('CHAIN\n').toString('base64');
  const answer = await stage(hubWith({ certificate })).ask();
  assert.ok(answer?.kind === 'chain');
  assert.ok(answer.chain.startsWith('CHAIN\n-----BEGIN CERTIFICATE-----'));
});

test('a chain waits while the hub does not publish the pinned root', async () => {
  const other = await openHub();
  const answerOf = hubWith({ certificate: 'eA==' });
  const { ask } = stage((init) =>
    init.path.includes('clustertrustbundles')
      ? { spec: { trustBundle: other.material.certificate } }
      : answerOf(init),
  );
  const answer = await ask();
  assert.ok(answer?.kind === 'unavailable');
  assert.match(answer.refusal.message, /does not have the root sha256:/);
});

for (const [type, reason] of [
  ['Denied', 'RequestDenied'],
  ['Failed', 'RequestFailed'],
] as const) {
  test(`a request that is ${type} is refused with its message`, async () => {
    const condition = { type, status: 'True', message: 'not by this rule' } as const;
    const answer = await stage(hubWith({ conditions: [condition] })).ask();
    assert.ok(answer?.kind === 'refused');
    assert.equal(answer.refusal.reason, reason);
    assert.match(answer.refusal.message, /not by this rule/);
  });
}

test('a request of another key under this name is foreign', async () => {
  const { ask, remote } = stage((init) => {
    const spec = { request: 'x', signerName: csr.signerName };
    return { metadata: {}, spec, status: { certificate: init.path } };
  });
  const answer = await ask();
  assert.ok(answer?.kind === 'refused');
  assert.equal(answer.refusal.reason, 'RequestForeign');
  assert.match(answer.refusal.message, /^CertificateSigningRequest \S+ on the hub exists with/);
  assert.ok(!answer.refusal.message.includes('CertificateRequests'));
  assert.equal(remote.requests.length, 1);
});

test('a hub that is not reached is an answer, and the same request is retried later', async () => {
  const { ask } = stage(() => {
    throw new KubeError({ status: 0, what: 'GET /', cause: new Error('ECONNREFUSED') });
  });
  const answer: UpstreamAnswer | undefined = await ask();
  assert.ok(answer?.kind === 'unavailable');
  assert.match(answer.refusal.message, /^hub https:\/\/hub\.example\.com:6443: /);
  assert.ok(answer.lookAt > NOW);
});

/** Answers that no API server gives, for the stored request of the member. */
const MALFORMED: Readonly<Record<string, (request: CertificateSigningRequest) => unknown>> = {
  null: () => null,
  'an empty object': () => ({}),
  'conditions that are no list': (found) => ({ ...found, status: { conditions: {} } }),
  'a message that is a number': (found) => ({
    ...found,
    status: { conditions: [{ type: 'Denied', status: 'True', message: 5 }] },
  }),
  'a certificate that is a number': (found) => ({ ...found, status: { certificate: 1 } }),
};

for (const [name, answerOf] of Object.entries(MALFORMED)) {
  test(`a hub that answers with ${name} is unavailable, and stops no reconciliation`, async () => {
    const { ask } = stage((init) => {
      if (init.method === 'GET') throw notFound(init);
      return answerOf(stored(init));
    });
    const answer = await ask();
    assert.ok(answer?.kind === 'unavailable');
    assert.match(answer.refusal.message, /6443: the answer is malformed/);
  });
}

test('a hub that repeats the token in a long text is quoted, cut and without it', async () => {
  const { ask } = stage((init) => {
    const cause = new Error(`${GOOD.token} ${'x'.repeat(100_000)}`);
    throw new KubeError({ status: 0, what: `${init.method} ${init.path}`, cause });
  });
  const answer = await ask();
  assert.ok(answer?.kind === 'unavailable');
  assert.match(answer.refusal.message, /\[token\]/);
  assert.ok(answer.refusal.message.length < 600, String(answer.refusal.message.length));
});

test('without a key that waits, or for another cluster, the hub is not called', async () => {
  const { ask, remote, component } = stage(hubWith({}));
  assert.equal(await ask(secretOf({ 'tls.crt': '', 'tls.key': '' })), undefined);
  assert.deepEqual([remote.requests, component.client.requests], [[], []]);
});

const unusable: Readonly<Record<string, readonly [Readonly<Record<string, string>>, RegExp]>> = {
  'a kubeconfig besides': [{ ...GOOD, kubeconfig: 'x' }, /"kubeconfig"; only server/],
  'plain HTTP': [{ ...GOOD, server: 'http://hub.example.com' }, /server is not https/],
  'a user in the address': [{ ...GOOD, server: 'https://a:b@hub.example.com' }, /server is not/],
  'a path in the address': [{ ...GOOD, server: 'https://hub.example.com/x' }, /server is not/],
  'a file in place of the address': [{ ...GOOD, server: 'file:///etc/passwd' }, /server is not/],
  'no CA': [{ ...GOOD, 'ca.crt': '' }, /ca\.crt has no CA/],
  'no token': [{ ...GOOD, token: '' }, /not that of a ServiceAccount/],
  'a token with a line break': [{ ...GOOD, token: `a\r\nb: c` }, /not that of a ServiceAccount/],
  'a token of a user': [{ ...GOOD, token: jwt({ ...CLAIMS, sub: 'jane' }) }, /ServiceAccount/],
  'a token without an end': [{ ...GOOD, token: jwt({ sub: CLAIMS.sub, iat: 1 }) }, /has no end/],
  'a token for too long': [
    { ...GOOD, token: jwt({ ...CLAIMS, exp: CLAIMS.iat + MAX_HUB_TOKEN_SECONDS + 1 }) },
    /valid for more than 7776000 s/,
  ],
  'the token of another member': [
    { ...GOOD, token: jwt({ ...CLAIMS, sub: 'system:serviceaccount:countersign-fleet:other' }) },
    /ServiceAccount other, but upstream\.csr\.cluster is prod/,
  ],
  'a token that expired': [{ ...GOOD, token: jwt({ ...CLAIMS, exp: seconds }) }, /expired at/],
};

for (const [name, [credential, message]] of Object.entries(unusable)) {
  test(`a credential with ${name} is not used`, async () => {
    const { ask, connected } = stage(hubWith({}), credential);
    const answer = await ask();
    assert.ok(answer?.kind === 'unavailable');
    assert.match(answer.refusal.message, message);
    assert.doesNotMatch(answer.refusal.message, /c2ln/, 'it quotes the token');
    assert.deepEqual(connected, []);
  });
}

test('a credential without the consent of its owner is not used', () => {
  const secret = secretOf(GOOD, { annotations: {} });
  const found = readHubCredential(secret, 'example.com/workload');
  assert.ok(typeof found === 'string');
  assert.match(found, /the consent of its owner/);
});

/** @param answer - a token, or the whole answer */
function renewal(claims: typeof CLAIMS, answer: unknown) {
  const body = typeof answer === 'string' ? { status: { token: answer } } : answer;
  const at = stage(() => body, { ...GOOD, token: jwt(claims) });
  const { component, connect } = at;
  const stopped = new AbortController();
  const delay = (): Promise<void> => {
    stopped.abort();
    return Promise.resolve();
  };
  const init = { ...component, connect, delay, signers: () => [SIGNER] };
  return { ...at, run: () => renewTokens(init, stopped.signal) };
}

const OLD = { ...CLAIMS, iat: seconds - 13 * HOUR, exp: seconds + 11 * HOUR };

test('a token is renewed after half of its life, for the same life', async () => {
  const fresh = jwt({ ...CLAIMS, iat: seconds });
  const { run, remote, component } = renewal(OLD, fresh);
  await run();
  const [post] = remote.requests;
  assert.match(post?.path ?? '', /serviceaccounts\/prod\/token$/);
  assert.deepEqual((post?.body as { spec: unknown }).spec, { expirationSeconds: 24 * HOUR });
  const patch = component.client.requests.find(({ method }) => method === 'PATCH');
  assert.deepEqual(patch?.body, [
    { op: 'replace', path: '/metadata/resourceVersion', value: '7' },
    { op: 'replace', path: '/data/token', value: Buffer.from(fresh).toString('base64') },
  ]);
  assert.ok(!JSON.stringify(component.log.lines).includes('c2ln'), 'a token is in the log');
});

test('a token in the first half of its life is left alone', async () => {
  const { run, remote } = renewal(CLAIMS, 'x');
  await run();
  assert.deepEqual(remote.requests, []);
});

test('a token of another account, without a valid life, or no token, is not stored', async () => {
  const tokens = [
    '',
    jwt({ ...CLAIMS, sub: 'system:serviceaccount:x:other' }),
    jwt({ ...CLAIMS, sub: 'system:serviceaccount:countersign-fleet:\ud800' }),
    jwt({ ...CLAIMS, iat: -1e13, exp: -1e13 }),
    jwt({ ...CLAIMS, iat: 1e300, exp: 1e300 }),
  ];
  for (const token of tokens) {
    const { run, component } = renewal(OLD, token);
    await run();
    assert.ok(component.client.requests.every(({ method }) => method === 'GET'));
  }
});

test('a hub that answers a renewal with anything else does not end the component', async () => {
  for (const body of [null, { status: { token: 5 } }, { status: 'x' }]) {
    const { run, component } = renewal(OLD, body);
    await run();
    assert.match(JSON.stringify(component.log.lines), /cannot renew the token for the hub/);
    assert.ok(component.client.requests.every(({ method }) => method === 'GET'));
  }
});
