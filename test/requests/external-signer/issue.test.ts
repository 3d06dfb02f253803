// SPDX-License-Identifier: Apache-2.0
/** A foreign CA issues what our rules decided, and nothing else is delivered. */
import assert from 'node:assert/strict';
import { X509Certificate, generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import type { HttpAnswer } from '#base/egress/exchange.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import type { LeafTbsInput } from '#ca/issuance/leaf.ts';
import { encodePem } from '#pki/der/pem.ts';
import { decodePublicKey } from '#pki/keys/public-key.ts';
import { ROOT } from '../../support/ca/intermediate.ts';
import { createCompanyRoot } from '../../support/ca/company-root.ts';
import { NOW } from '../../support/pki/chain.ts';
import {
  CLIENT_TOKEN,
  CSR,
  LOST,
  POD,
  TOKEN,
  csrObject,
  json,
  leafOf,
  podObject,
  startReady,
  type World,
} from './world.ts';

let it: World;
beforeEach(async () => {
  it = await startReady();
});
afterEach(() => it.stop());

function chainOf(path: string): string {
  const status = it.api.get(path)?.status as {
    readonly certificateChain?: string;
    readonly certificate?: string;
  };
  return status.certificateChain ?? Buffer.from(status.certificate ?? '', 'base64').toString();
}

const notes = (): readonly { readonly reason: string; readonly note: string }[] =>
  it.component.notes.filter(({ reason }) => reason === 'RefusedByExternalCA');

/** Creates the pod's request, and waits for its certificate or its Event. */
async function create(spec: object = {}): Promise<void> {
  it.api.put(POD, podObject(spec));
  await it.until(() => it.outcome().length > 0 || notes().length > 0);
}

test('a pod gets a certificate with the names of the rules, for one order', async () => {
  await create();
  assert.deepEqual(it.outcome(), ['Issued'], it.ready()?.message);
  const leaf = new X509Certificate(chainOf(POD));
  assert.match(leaf.subjectAltName ?? '', /URI:spiffe:\/\/cluster\.local\/ns\/team-a\/sa\/web/);
  assert.match(leaf.subjectAltName ?? '', /DNS:web-0\.team-a\.svc/);
  assert.equal(it.vault.orders.length, 1);
});

test('the life with the backdate of the role is exactly what one hour allows', async () => {
  await create({ maxExpirationSeconds: 3600 });
  const { validFrom, validTo } = new X509Certificate(chainOf(POD));
  assert.equal(Date.parse(validTo) - Date.parse(validFrom), 3_600_000);
  const [order] = it.vault.orders;
  assert.equal((JSON.parse(order?.body ?? '') as { ttl: string }).ttl, '3570s');
});

test('Vault gets the token of Vault, and never that of the ServiceAccount', async () => {
  await create();
  const [order] = it.vault.orders;
  assert.equal(order?.headers?.['x-vault-token'], CLIENT_TOKEN);
  const others = it.vault.calls.filter(({ url }) => !url.endsWith('/login'));
  assert.ok(!JSON.stringify(others).includes(TOKEN));
});

test('an approved CertificateSigningRequest is answered by the same rules', async () => {
  it.api.put(CSR, csrObject({ usages: ['digital signature', 'client auth', 'server auth'] }));
  await it.until(() => it.api.writes.some(({ path }) => path.startsWith(CSR)));
  assert.equal(new X509Certificate(chainOf(CSR)).subject, 'CN=jane');
});

const stranger = await createCompanyRoot();
const otherKey = (): LeafTbsInput['publicKey'] =>
  decodePublicKey(generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }));
const names = {
  commonName: '',
  organizations: [],
  organizationalUnits: [],
  dnsNames: ['web-0.team-a.svc'],
  ipAddresses: [],
  uris: ['spiffe://cluster.local/ns/team-a/sa/web'],
  emails: [],
};
const HOUR = 3_600_000;

type Body = Parameters<World['vault']['signed']>[0];
const attacks: [what: string, answer: (body: Body) => ReturnType<typeof json>, says: RegExp][] = [
  [
    'the key of somebody else',
    (b) => it.vault.signed(b, { publicKey: otherKey() }),
    /another publ/,
  ],
  [
    'one more name',
    (b) =>
      it.vault.signed(b, { subject: { ...names, dnsNames: [...names.dnsNames, 'bank.example'] } }),
    /dnsNames is .*bank\.example/,
  ],
  [
    'the identity of another ServiceAccount',
    (b) =>
      it.vault.signed(b, {
        subject: { ...names, uris: ['spiffe://cluster.local/ns/kube-system/sa/admin'] },
      }),
    /uris is .*kube-system/,
  ],
  [
    'an organization',
    (b) => it.vault.signed(b, { subject: { ...names, organizations: ['system:masters'] } }),
    /organizations is .*system:masters/,
  ],
  [
    'a longer life',
    (b) => it.vault.signed(b, { validity: { notBefore: NOW, notAfter: NOW + 2 * HOUR } }),
    /valid for 7200 s; at most 3600 s/,
  ],
  [
    'a shorter life than the API server accepts',
    (b) => it.vault.signed(b, { validity: { notBefore: NOW, notAfter: NOW + HOUR / 2 } }),
    /valid for 1800 s; at least 3600 s/,
  ],
  [
    'a start in the past',
    (b) =>
      it.vault.signed(b, { validity: { notBefore: NOW - HOUR / 2, notAfter: NOW + HOUR / 2 } }),
    /notBefore is -1800 s/,
  ],
  [
    'more usages',
    (b) => it.vault.signed(b, { usages: ['digital signature', 'code signing'] }),
    /code signing.*not allowed/,
  ],
  [
    'a CA certificate',
    (b) => {
      const certificate = stranger.sign(String(b['csr']), 1, NOW);
      return json(200, { data: { certificate, ca_chain: [ROOT.toString()] } });
    },
    /a CA certificate/,
  ],
  [
    'a chain of another CA',
    (b) => {
      const pem = encodePem('CERTIFICATE', stranger.certificate.raw);
      return json(200, { data: { certificate: leafOf(b, NOW), ca_chain: [pem] } });
    },
    /no path|issuer|anchor/i,
  ],
  [
    'a certificate that is none',
    () =>
      json(200, {
        data: {
          certificate: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
          ca_chain: [],
        },
      }),
    /cannot be read/,
  ],
];

for (const [what, answer, says] of attacks) {
  test(`refuses ${what}, delivers nothing, and orders no more at once`, async () => {
    it.vault.sign = answer;
    await create();
    assert.deepEqual(it.outcome(), []);
    assert.match(notes()[0]?.note ?? '', says);
    assert.equal(it.vault.orders.length, 1);
  });
}

const wrongKey = (body: Body): ReturnType<typeof json> =>
  it.vault.signed(body, { publicKey: otherKey() });

/** The request of another pod. */
function another(index: number, namespace = 'team-a'): string {
  const pod = podObject({ podName: `web-${index}`, podUID: `pod-${index}` });
  const names = { namespace, name: `req-${index}`, uid: `request-${index}` };
  const path = POD.replace('team-a', namespace).replace('req-web-0', names.name);
  it.api.put(path, { ...pod, metadata: { ...pod.metadata, ...names } });
  return path;
}

test('a refused answer of one namespace does not stop the others', async () => {
  const { sign } = it.vault;
  it.vault.sign = wrongKey;
  await create();
  it.vault.sign = sign;
  const path = another(1, 'team-b');
  await it.until(() => it.conditionsOf(path).length > 0);
  const types = it.conditionsOf(path).map(({ type }) => type);
  assert.deepEqual([types, it.ready()?.reason], [['Issued'], 'Checked']);
});

test('refused answers of two namespaces hold the signer, and its condition says why', async () => {
  it.vault.sign = wrongKey;
  await create();
  another(1, 'team-b');
  await it.until(() => it.ready()?.status === 'False');
  assert.equal(it.ready()?.reason, 'AnswerRefused');
  assert.match(
    it.ready()?.message ?? '',
    /refused 1 certificate of the CA in a row, .* another public key/,
  );
});

test('two ServiceAccounts of a namespace do not stop the other namespaces', async () => {
  const { sign } = it.vault;
  it.vault.sign = wrongKey;
  const usages = ['digital signature', 'client auth', 'server auth'] as const;
  for (const name of ['a', 'b']) {
    const object = csrObject({ usages, username: `system:serviceaccount:team-x:${name}` });
    const metadata = { ...object.metadata, name, uid: `${name}-uid` };
    it.api.put(CSR.replace(/a$/, name), { ...object, metadata });
    await it.settle();
  }
  it.vault.sign = sign;
  await create();
  assert.deepEqual([it.outcome(), it.vault.orders.length], [['Issued'], 2]);
});

test('a request without a usage that the role adds costs no order, and fails', async () => {
  it.api.put(CSR, csrObject({ usages: ['digital signature', 'client auth'] }));
  await it.settle();
  const [, failed] = it.conditionsOf(CSR);
  assert.match(failed?.message ?? '', /adds the usage "server auth"/);
  assert.equal(it.vault.orders.length, 0);
});

test('a leaf that is a second short is ordered again at once', async () => {
  const { sign } = it.vault;
  it.vault.sign = (body) => {
    it.vault.sign = sign;
    const validity = { notBefore: NOW - 30_000, notAfter: NOW + 3_569_000 };
    return it.vault.signed(body, { validity });
  };
  it.api.put(POD, podObject());
  await it.until(() => it.vault.orders.length === 1);
  await it.settle();
  await it.time.advance(1_000);
  await it.until(() => it.outcome().length > 0);
  assert.deepEqual(it.outcome(), ['Issued']);
  assert.equal(it.vault.orders.length, 2);
});

test('refused answers cost fewer orders an hour, however many requests wait', async () => {
  it.vault.sign = wrongKey;
  for (let index = 0; index < 50; index += 1) another(index);
  await it.settle();
  for (let minutes = 0; minutes < 60; minutes += 1) await it.advance(60_000);
  assert.ok(it.vault.orders.length <= 12, `${it.vault.orders.length} orders`);
});

test('a restart orders nothing again for a key whose certificate was refused', async () => {
  it.vault.sign = wrongKey;
  await create();
  await it.end();
  await it.start();
  await it.advance(60_000);
  assert.equal(it.vault.orders.length, 1);
});

test('a restart keeps the signer held until the time in its status', async () => {
  it.vault.sign = wrongKey;
  await create();
  another(1, 'team-b');
  await it.until(() => it.ready()?.status === 'False');
  await it.end();
  another(2, 'team-c');
  await it.start();
  assert.equal(it.ready()?.reason, 'AnswerRefused');
  assert.equal(it.vault.orders.length, 2);
});

const oversized = (): ReturnType<typeof json> =>
  json(200, {
    data: {
      certificate: `-----BEGIN CERTIFICATE-----\n${'A'.repeat(70_000)}\n-----END CERTIFICATE-----`,
      ca_chain: [],
    },
  });
const tooLong: NoAnswer = { ...LOST, cause: 'too-long', answeredStatus: 200 };
const unusable: [what: string, answer: () => HttpAnswer | NoAnswer][] = [
  ['too long', oversized],
  ['too long to be read', () => tooLong],
  ['no certificate', () => json(200, { data: {} })],
  ['none of Vault', () => json(202, 'accepted')],
];

for (const [what, answer] of unusable) {
  test(`a request whose answer is always ${what} costs one order in ten minutes`, async () => {
    it.vault.sign = answer;
    it.api.put(POD, podObject());
    await it.until(() => notes().length > 0);
    for (let minutes = 0; minutes < 9; minutes += 1) await it.advance(60_000);
    assert.deepEqual([it.outcome(), it.vault.orders.length], [[], 1]);
    await it.end();
    await it.start();
    assert.equal(it.vault.orders.length, 1);
  });
}

test('an answer that is too long stops only its namespace', async () => {
  const { sign } = it.vault;
  it.vault.sign = oversized;
  await create();
  it.vault.sign = sign;
  const path = another(1, 'team-b');
  await it.until(() => it.conditionsOf(path).length > 0);
  const types = it.conditionsOf(path).map(({ type }) => type);
  assert.deepEqual([types, it.ready()?.reason], [['Issued'], 'Checked']);
});
