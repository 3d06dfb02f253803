// SPDX-License-Identifier: Apache-2.0
/** Certificates that the ledger does not know: which are explained, and which are an alarm. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { issueLeaf } from '#trust/authority/own-tls/issue.ts';
import {
  UnrecordedCertificates,
  type UnrecordedCertificate,
} from '#ledger/ledger/monitor/unrecorded.ts';
import {
  candidateOf,
  explanationOf,
  signerOf,
  type LedgerGap,
  type MonitoredCa,
} from '#ledger/ledger/monitor/judge.ts';
import { certificatesOf, placeOf, reduced } from '#ledger/ledger/monitor/seen.ts';
import { decodePemAll } from '#pki/der/pem.ts';
import { random } from '../../support/ca/issuing.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { certificateDer } from '../../support/pki/certificate-der.ts';
import { NOW } from '../../support/pki/chain.ts';
import { generalizedTime, seq, utcTime } from '../../support/pki/der.ts';

const HOUR = 3_600_000;
const create = createManagedAuthorities(random);
const made = async (): Promise<ReturnType<typeof openLocalAuthority>> =>
  openLocalAuthority(
    await create({
      keyType: 'ECDSAP256',
      commonName: 'Example CA',
      durationSeconds: 8_760 * 3_600,
      crossSigned: true,
      now: NOW - 24 * HOUR,
    }),
    NOW,
  );
const [ours, sameName] = [await made(), await made()];

async function leafOf(ca: typeof ours, hours = 1, now = NOW): Promise<string> {
  const desired = {
    keyType: 'ECDSAP256' as const,
    dnsNames: ['web.example.com'],
    durationSeconds: hours * 3_600,
    backdateSeconds: 60,
  };
  return (await issueLeaf(ca, desired, { random, now })).certificate;
}

function monitored({ facts }: typeof ours): MonitoredCa {
  const certificate = new X509Certificate(facts.certificate.raw);
  const { fingerprint } = facts;
  return { certificate, fingerprint, signer: 'workload', longestLeafSeconds: 3_600 };
}

const der = (pem: string): Uint8Array => decodePemAll(pem, 'CERTIFICATE')[0] ?? new Uint8Array();
const base64Of = (pem: string): string => Buffer.from(der(pem)).toString('base64');
const x509 = async (...of: Parameters<typeof leafOf>): Promise<X509Certificate> =>
  new X509Certificate(await leafOf(...of));

test('a certificate is of our CA by its key’s signature, and not by its name', async () => {
  const candidate = candidateOf(der(await leafOf(ours)), [monitored(sameName), monitored(ours)]);
  assert.ok(candidate !== undefined);
  assert.equal(signerOf(candidate)?.fingerprint, ours.facts.fingerprint);
  const foreign = candidateOf(der(await leafOf(sameName)), [monitored(ours)]);
  assert.equal(foreign && signerOf(foreign), undefined);
  assert.equal(candidateOf(ours.facts.certificate.raw, [monitored(ours)]), undefined);
  assert.equal(candidateOf(Buffer.from('no certificate'), [monitored(ours)]), undefined);
});

const gap = (lost: number): LedgerGap => ({
  key: 'signer/gap/1',
  lost,
  from: NOW - HOUR,
  to: NOW + HOUR,
});
const OLD = NOW - 5 * HOUR;

const cases: [law: string, hours: number, beginning: number, gaps: LedgerGap[], want?: string][] = [
  ['older than the ledger', 1, NOW + HOUR, [], 'BeforeLedger'],
  ['older than the ledger, and lives longer than leaves do', 3, NOW + HOUR, []],
  ['as the first components began to record', 1, NOW - 60_000, [], 'BeforeLedger'],
  ['younger than the ledger', 1, OLD, []],
  ['in a counted gap', 1, OLD, [gap(1)], 'CountedGap'],
  ['in a counted gap, and lives longer than leaves do', 3, OLD, [gap(1)]],
];

for (const [law, hours, beginning, gaps, want] of cases) {
  test(`${want === undefined ? 'an alarm' : 'explained'}: ${law}`, async () => {
    const certificate = await x509(ours, hours);
    const found = explanationOf(certificate, monitored(ours), { beginning, gaps }, new Map());
    assert.equal(found, want);
  });
}

test('a gap explains no more certificates than it has lost', async () => {
  const explained = new Map<string, number>();
  const limits = { beginning: OLD, gaps: [gap(2)] };
  const found = [];
  for (let n = 0; n < 3; n += 1) {
    found.push(explanationOf(await x509(ours), monitored(ours), limits, explained));
  }
  assert.deepEqual(found, ['CountedGap', 'CountedGap', undefined]);
});

test('a CA certificate is never explained', () => {
  const certificate = new X509Certificate(ours.facts.certificate.raw);
  const ca = { longestLeafSeconds: 10 ** 9 };
  assert.equal(
    explanationOf(certificate, ca, { beginning: NOW + HOUR, gaps: [] }, new Map()),
    undefined,
  );
});

test('a certificate with a malformed time is never explained', () => {
  const times = [utcTime('260101000000Z'), generalizedTime('20601301000000Z')];
  for (const [from = [], to = []] of [times, times.toReversed()]) {
    const certificate = new X509Certificate(certificateDer({ validity: seq(from, to) }));
    const limits = { beginning: NOW + HOUR, gaps: [gap(1)] };
    assert.equal(explanationOf(certificate, monitored(ours), limits, new Map()), undefined);
  }
});

test('finds certificates in each kind of object, wherever they are, and keeps no key', async () => {
  const pem = await leafOf(ours);
  const text = `somebody's words\n${pem}more words\n${pem}`;
  const base64 = Buffer.from(text).toString('base64');
  const object = (more: object): never =>
    ({
      apiVersion: 'v1',
      kind: '',
      metadata: { name: 'x', namespace: 'team-a' },
      ...more,
    }) as never;
  const objects = [
    reduced('CertificateSigningRequest', object({ status: { certificate: base64 } })),
    reduced('CertificateRequest', object({ status: { certificate: base64 } })),
    reduced('PodCertificateRequest', object({ status: { certificateChain: text } })),
    reduced('Secret', object({ data: { 'tls.crt': base64, 'tls.key': base64 } })),
    reduced('ConfigMap', object({ data: { 'from-the-proxy.pem': text } })),
  ];
  for (const each of objects) {
    const found = certificatesOf(each).map((bytes) => Buffer.from(bytes).toString('base64'));
    assert.deepEqual(found, [base64Of(pem), base64Of(pem)]);
    assert.equal(placeOf(each), `${each.kind} team-a/x`);
    assert.deepEqual(reduced('Secret', each), each);
  }
});

function finding(n: number, explanation?: string, signer = 'workload'): UnrecordedCertificate {
  const fingerprint = `sha256:${n.toString(16).padStart(64, '0').split('').reverse().join('')}`;
  const seen = { seenIn: 'Secret team-a/x', seenAt: '', notBefore: '', notAfter: '' };
  const more = explanation === undefined ? {} : { explanation };
  return { fingerprint, serial: String(n), ca: '', signer, ...seen, ...more };
}

/** RFC 7386: null removes. */
function merged(data: Record<string, string>, body: unknown): Record<string, string> {
  const patch = (body as { readonly data: Record<string, string | null> }).data;
  const entries = Object.entries({ ...data, ...patch });
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );
}

test('a full list of one team displaces no other finding, and every finding counts', async () => {
  let data: Record<string, string> = {};
  const { client } = recordedComponent();
  client.answer(({ method, body }) => {
    if (method === 'PATCH') data = merged(data, body);
    return { data };
  });
  const findings = new UnrecordedCertificates({ client }, 'countersign-system');
  await findings.read();
  for (let n = 1; n <= 400; n += 1) await findings.add(finding(n, undefined, `greedy/s${n % 7}`));
  for (let n = 401; n <= 405; n += 1) await findings.add(finding(n, undefined, 'honest/web'));
  for (let n = 501; n <= 502; n += 1) await findings.add(finding(n, undefined, 'workload'));
  const listed = Map.groupBy(
    Object.values(data).map((text) => (JSON.parse(text) as UnrecordedCertificate).signer),
    (signer) => signer.split('/')[0],
  );
  assert.equal(Object.keys(data).length, 300);
  assert.deepEqual([listed.get('honest')?.length, listed.get('workload')?.length], [5, 2]);
  assert.equal(findings.counts().open, 407);
  const open = new Set(findings.open().map(({ signer }) => signer));
  assert.ok(open.has('workload') && open.has('honest/web') && open.has('greedy/s3'));
  // ClusterSigners go before all teams, and are shared among themselves.
  for (let n = 601; n <= 950; n += 1) await findings.add(finding(n, undefined, 'stolen'));
  await findings.add(finding(999, undefined, 'another'));
  const signers = Object.values(data).map(
    (text) => (JSON.parse(text) as UnrecordedCertificate).signer,
  );
  assert.deepEqual([signers.length, signers.filter((each) => each.includes('/')).length], [300, 0]);
  assert.ok(signers.includes('another') && signers.includes('workload'));
});

test('findings stay until acknowledged: listed up to a limit, counted beyond it', async () => {
  let data: Record<string, string> = {};
  const { client } = recordedComponent();
  client.answer(({ method, body }) => {
    if (method === 'PATCH') data = merged(data, body);
    return { data };
  });
  const findings = new UnrecordedCertificates({ client }, 'countersign-system');
  await findings.read();
  for (let n = 1; n <= 302; n += 1) await findings.add(finding(n, 'BeforeLedger'));
  await findings.add(finding(1));
  await findings.add(finding(1));
  assert.deepEqual(findings.counts(), { open: 1, explained: 302 });
  assert.equal(Object.keys(data).length, 301);
  const next = new UnrecordedCertificates({ client }, 'countersign-system');
  await next.read();
  assert.deepEqual(
    next.open().map(({ serial }) => serial),
    ['1'],
  );
  const [name = ''] = Object.keys(data).filter((each) => each.startsWith('unrecorded-'));
  data[name.replace('unrecorded', 'acknowledged')] = 'a drill';
  data['unrecorded-x'] = 'no finding';
  await next.read();
  assert.deepEqual(next.open(), []);
});
