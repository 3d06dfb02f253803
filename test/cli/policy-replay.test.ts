// SPDX-License-Identifier: Apache-2.0
/**
 * `countersign policy replay`: whom other rules would decide differently; what a record does not
 * say is not guessed.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { stringify } from 'yaml';
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import { replayJudge, type AskedRecord } from '#cli/commands/policy/replay-judge.ts';
import { Replay, type ReplayReport } from '#cli/commands/policy/replay-report.ts';
import { parseSignerFile } from '#cli/commands/policy/signer-file.ts';
import type { RecordObject } from '#ledger/ledger/api/object.ts';
import {
  factsOfCertificateRequest,
  factsOfCsr,
  factsOfPodRequest,
  type RequestFacts,
} from '#requests/recording/request-record.ts';
import { CN, made } from '../ca/policy/request.ts';
import { countersign } from '../support/cluster/countersign.ts';
import { podCertificate } from '../support/ledger/records.ts';
import { certificateRequest } from '../support/requests/certificate-request.ts';
import { podRequest } from '../support/requests/pod-certificate-request.ts';
import { changed, clusterSigner, workloadSpec } from '../support/signers/cluster-signer.ts';

const directory = mkdtempSync(join(tmpdir(), 'policy-replay-'));
after(() => rmSync(directory, { recursive: true }));

type Spec = Record<string, unknown>;
const signerOf = (spec: Spec): SignerObject =>
  parseSignerFile(stringify(clusterSigner(spec)), 'signer.yaml');
const OLD = signerOf(workloadSpec());

let count = 0;
/** A record of the ledger, as its API shows it. */
function kept(asked: RequestFacts, outcome: Partial<AskedRecord> & { kind: string }): RecordObject {
  count += 1;
  const at = '2026-11-22T13:30:00.000Z';
  const component = { name: 'approver', version: '0.1.0', replica: 'a' };
  return {
    apiVersion: 'ledger.countersign.dev/v1alpha1',
    kind: 'Record',
    metadata: { name: `1-${count}`, creationTimestamp: at },
    appended: { at, by: 'x' },
    record: { ...asked, key: `approver/${count}`, at, component, ...outcome } as AskedRecord,
    salt: '',
  };
}

const csrOf = (uid: string, username: string): RequestFacts => {
  const { csr } = made({ subject: [[CN, 'jane']], usages: ['client auth'] });
  const asked = { ...csr, metadata: { ...csr.metadata, name: uid, uid } };
  return factsOfCsr({ ...asked, spec: { ...asked.spec, username } }, OLD);
};
const podOf = (uid: string): RequestFacts => {
  const request = podRequest();
  return factsOfPodRequest({ ...request, metadata: { ...request.metadata, uid } }, OLD);
};

function replayed(spec: Spec, ...records: readonly RecordObject[]): ReplayReport {
  const replay = new Replay(replayJudge(signerOf(spec), []));
  for (const record of records) replay.add(record);
  return replay.report();
}

const words = ({ different }: ReplayReport): readonly string[] =>
  different.map(({ before, now, request }) => `${request.uid}: ${before.word} → ${now.word}`);

const approved = kept(csrOf('a', 'jane'), { kind: 'approved', decision: { rule: 'own-name' } });
const issued = kept(csrOf('a', 'jane'), { kind: 'issued' });

test('the rules that decided decide the same', () => {
  const report = replayed(workloadSpec(), approved, issued);
  assert.deepEqual(report, { requests: 1, same: 1, different: [], unknown: [] });
});

test('a rule that is taken away, and a deny that is added, are found with the reason', () => {
  const narrower = changed(workloadSpec(), 'requests.rules.0.when', 'false');
  const [waits] = replayed(narrower, approved, issued).different;
  assert.equal(
    `${waits?.before.word} ${waits?.before.rule} ${waits?.now.word}`,
    'APPROVE own-name NO OPINION',
  );
  const deny = [{ name: 'no-jane', when: 'request.username == "jane"', message: 'not jane' }];
  const report = replayed(changed(workloadSpec(), 'requests.deny', deny), approved, issued);
  assert.deepEqual(words(report), ['a: APPROVE → DENY']);
  assert.match(report.different[0]?.now.message ?? '', /no-jane: not jane/);
});

test('what was denied and would be approved is found, too; what no rule changes is not', () => {
  const denied = kept(csrOf('b', 'robot:jane'), {
    kind: 'denied',
    reason: 'DeniedByRule',
    message: '',
  });
  const malformed = kept(csrOf('c', 'jane'), {
    kind: 'failed',
    reason: 'MalformedRequest',
    message: '',
  });
  const open = changed(changed(workloadSpec(), 'requests.deny', []), 'requests.rules.0', {
    name: 'all',
    when: 'true',
    allow: { commonName: 'true', organizations: 'true', usages: ['client auth'] },
  });
  assert.deepEqual(words(replayed(open, denied, malformed)), ['b: DENY → APPROVE']);
});

test('whom a person approved is decided differently only if the rules now deny them', () => {
  const byPerson = kept(csrOf('d', 'someone-else'), { kind: 'issued' });
  assert.equal(replayed(workloadSpec(), byPerson).same, 1);
  const deny = [{ name: 'none', when: 'true', message: 'no' }];
  const report = replayed(changed(workloadSpec(), 'requests.deny', deny), byPerson);
  assert.deepEqual(words(report), ['d: PERSON → DENY']);
});

test('a pod that asks without annotations is judged by rules that read them', () => {
  const pod = kept(podOf('h'), { kind: 'denied', reason: 'NotAllowed', message: '' });
  const report = replayed(workloadSpec(), pod);
  assert.deepEqual(report.unknown, []);
  assert.deepEqual(words(report), ['h: DENY → APPROVE']);
});

test('a pod that may no more, and one whose leaf would name others, are found', () => {
  const certificate = Buffer.from(podCertificate(3)).toString('base64');
  const pod = kept(podOf('e'), { kind: 'issued', certificate });
  const plain = changed(workloadSpec(), 'pods.annotations', undefined);
  const [other] = replayed(plain, pod).different;
  assert.deepEqual([other?.before.word, other?.now.word], ['APPROVE', 'APPROVE']);
  assert.deepEqual(other?.now.names, ['spiffe://cluster.local/ns/team-a/sa/web']);
  const report = replayed(changed(plain, 'pods.allow', "pod.namespace == 'other'"), pod);
  assert.deepEqual(words(report), ['e: APPROVE → DENY']);
});

test('a CertificateRequest is judged by the rules for cert-manager', () => {
  const asked = factsOfCertificateRequest(certificateRequest(), OLD);
  const record = kept(asked, { kind: 'issued' });
  const rule = {
    name: 'services',
    when: 'request.namespace == "team-a"',
    allow: { dnsNames: 'true', usages: ['digital signature', 'server auth'] },
  };
  const open = { ...workloadSpec(), certificateRequests: { rules: [rule] } };
  assert.equal(replayed(open, record).same, 1);
  const closed = { ...open, certificateRequests: { rules: [{ ...rule, when: 'false' }] } };
  assert.deepEqual(
    replayed(closed, record).different.map(({ now }) => now.word),
    ['NO OPINION'],
  );
  const longest = { ...rule, when: 'request.expirationSeconds < 10' };
  const [lacks] = replayed({ ...open, certificateRequests: { rules: [longest] } }, record).unknown;
  assert.match(lacks?.now.message ?? '', /expirationSeconds, which records .* do not keep/);
});

const LACKING: [what: string, spec: Spec, record: RecordObject, says: RegExp][] = [
  [
    'extra of the requester',
    changed(workloadSpec(), 'requests.rules.0.when', '"x" in request.extra'),
    approved,
    /request\.extra/,
  ],
  [
    'who asked, left out',
    workloadSpec(),
    lacking(approved, 'requester', {}),
    /does not name the requester/,
  ],
  [
    'the request, left out',
    workloadSpec(),
    lacking(approved, 'request', withoutBytes()),
    /no PKCS#10/,
  ],
  [
    'groups, left out',
    changed(workloadSpec(), 'requests.rules.0.when', '"admins" in request.groups'),
    lacking(approved, 'requester', { user: { username: 'jane' } }),
    /request\.groups/,
  ],
  [
    'annotations of a pod, left out',
    workloadSpec(),
    lacking(kept(podOf('f'), { kind: 'issued' }), 'request', { kind: 'PodCertificateRequest' }),
    /annotations/,
  ],
  [
    'the pod itself',
    { ...workloadSpec(), pods: { allow: 'true', services: {} } },
    kept(podOf('g'), { kind: 'issued' }),
    /reads the pod/,
  ],
];

function withoutBytes(): Partial<AskedRecord['request']> {
  return { kind: 'CertificateSigningRequest', name: 'a', uid: 'a' };
}

function lacking(
  object: RecordObject,
  member: 'request' | 'requester',
  value: object,
): RecordObject {
  return { ...object, record: { ...object.record, [member]: value } };
}

for (const [what, spec, record, says] of LACKING) {
  test(`not guessed: ${what}`, () => {
    const report = replayed(spec, record);
    assert.deepEqual([report.unknown.length, report.different.length], [1, 0]);
    assert.match(report.unknown[0]?.now.message ?? '', says);
  });
}

test('an export is replayed without a cluster; the exit code says what was found', async () => {
  const records = join(directory, 'records.jsonl');
  writeFileSync(records, [approved, issued].map((each) => `${JSON.stringify(each)}\n`).join(''));
  const run = async (spec: Spec, ...more: readonly string[]): ReturnType<typeof countersign> => {
    const file = join(directory, 'signer.yaml');
    writeFileSync(file, stringify(clusterSigner(spec)));
    return countersign(['policy', 'replay', '--signer-file', file, '--records', records, ...more]);
  };
  const same = await run(workloadSpec());
  assert.equal(same.code, 0, same.stderr);
  assert.match(same.stdout, /^1 requests to example\.com\/workload .*: 1 as before, 0 differently/);
  const narrower = await run(
    changed(workloadSpec(), 'requests.rules.0.when', 'false'),
    '-o',
    'json',
  );
  assert.equal(narrower.code, 3);
  const { different } = JSON.parse(narrower.stdout) as ReplayReport;
  assert.equal(different[0]?.requester, 'jane');
  const extra = await run(changed(workloadSpec(), 'requests.rules.0.when', 'request.extra == {}'));
  assert.equal(extra.code, 4);
  writeFileSync(records, 'nonsense\n');
  assert.equal((await run(workloadSpec())).code, 1);
});
