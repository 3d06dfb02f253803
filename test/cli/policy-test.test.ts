// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { stringify } from 'yaml';
import { CN, made, type Wanted } from '../ca/policy/request.ts';
import { certificateRequest, servicesOfTeams } from '../support/requests/certificate-request.ts';
import { clusterSigner, workloadSpec, without } from '../support/signers/cluster-signer.ts';
import { countersign, type CommandResult } from '../support/cluster/countersign.ts';

const directory = mkdtempSync(join(tmpdir(), 'policy-test-'));
after(() => rmSync(directory, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const pem = (wanted: Wanted): string =>
  Buffer.from(made(wanted).csr.spec.request, 'base64').toString();

const signer = file('signer.yaml', stringify(clusterSigner(workloadSpec())));
const unruled = file(
  'unruled.yaml',
  stringify(clusterSigner({ ...workloadSpec(), requests: { copy: ['commonName'] } })),
);
const jane = file('jane.csr', pem({}));
const admin = file('admin.csr', pem({ subject: [[CN, 'system:admin']] }));
const object = file('jane.yaml', stringify(made({ usages: ['ocsp signing'] }).csr));

const run = (csr: string, ...more: readonly string[]): Promise<CommandResult> =>
  countersign(['policy', 'test', '--signer-file', signer, '--csr', csr, ...more]);

/** README and `countersign policy test --help`: 0 approve, 3 deny, 4 no opinion, 1 unreadable. */
const verdicts: [law: string, csr: string, flags: string[], code: number, stdout: RegExp][] = [
  [
    'whom a rule approves',
    jane,
    ['--user', 'jane'],
    0,
    /^APPROVE\n.*own-name: allows the whole request\n$/s,
  ],
  [
    'what a denial denies',
    jane,
    ['--user', 'robot:1'],
    3,
    /^DENY\n {2}no-robots: robots use podCertificate volumes\n {2}own-name: /,
  ],
  [
    'what no spec allows',
    admin,
    ['--user', 'system:admin'],
    3,
    /^DENY\n {2}the subject contains "system:admin"/,
  ],
  [
    'what this installation reserves',
    jane,
    ['--user', 'jane', '--reserved-prefix', 'jan'],
    3,
    /^DENY\n {2}the subject/,
  ],
  [
    'what no rule covers',
    jane,
    ['--user', 'joe'],
    4,
    /^NO OPINION\n.* {2}own-name: does not apply/s,
  ],
  [
    'a usage that no rule allows',
    jane,
    ['--user', 'jane', '--usage', 'server auth'],
    4,
    /^NO OPINION\n.*server auth/s,
  ],
  [
    'the usages of an object',
    object,
    ['--user', 'jane'],
    3,
    /^DENY\n {2}spec\.usages contains "ocsp signing"/,
  ],
  [
    'flags before the object’s own',
    object,
    ['--user', 'jane', '--usage', 'client auth'],
    0,
    /^APPROVE\n/,
  ],
  ['a file that is no request', signer, ['--user', 'jane'], 3, /^DENY\n {2}spec\.request: /],
];

for (const [law, csr, flags, code, stdout] of verdicts) {
  test(`the verdict and its exit code: ${law}`, async () => {
    const result = await run(csr, ...flags);
    assert.match(result.stdout, stdout);
    assert.deepEqual([result.code, result.stderr], [code, '']);
  });
}

const ACME = {
  apiVersion: 'acme.countersign.dev/v1alpha1',
  kind: 'AcmeClusterSigner',
  metadata: { name: 'public' },
  spec: {
    signerName: 'example.com/public',
    acme: {
      server: 'https://acme.example/directory',
      accountKey: { secret: { name: 'account' } },
      solvers: [{ name: 'web', http01: {} }],
    },
    requests: {
      copy: ['commonName', 'dnsNames', 'uris'],
      rules: [
        {
          name: 'all',
          when: 'true',
          allow: { dnsNames: 'true', uris: 'true', usages: ['server auth'] },
        },
      ],
    },
  },
};
const acme = file('acme.yaml', stringify(ACME));

test('tests an ACME signer’s rules, and refuses what no ACME server certifies', async () => {
  const judge = (csr: string): Promise<CommandResult> =>
    countersign([
      'policy',
      'test',
      '--signer-file',
      acme,
      '--csr',
      csr,
      '--user',
      'jane',
      '--usage',
      'server auth',
    ]);
  const allowed = await judge(file('name.csr', pem({ subject: [], dnsNames: ['a.example'] })));
  assert.match(allowed.stdout, /^APPROVE\n/, allowed.stderr);
  const uri = { subject: [], dnsNames: ['a.example'], uris: ['spiffe://a.example/b'] };
  const refused = await judge(file('uri.csr', pem(uri)));
  assert.match(refused.stdout, /^DENY\n.*uris, but an ACME server certifies only DNS names/);
  assert.equal(refused.code, 3);
});

const services = file('services.yaml', stringify(servicesOfTeams()));
const web = file('web.csr', pem({ subject: [], dnsNames: ['web.team-a.svc'] }));
const webObject = file('web.yaml', stringify(certificateRequest({ duration: '1m' })));
const CERT_MANAGER = ['--user', 'system:serviceaccount:cert-manager:cert-manager'];
const SERVER = ['--usage', 'digital signature', '--usage', 'server auth'];

/** The same for CertificateRequests, as the certificate-request component decides them. */
const ofCertManager: [law: string, csr: string, flags: string[], code: number, stdout: RegExp][] = [
  [
    'what a rule allows',
    web,
    ['--namespace', 'team-a', ...SERVER],
    0,
    /^APPROVE\n {2}a rule allows the whole request\n$/,
  ],
  [
    'what no rule allows of another namespace',
    web,
    ['--namespace', 'team-b', ...SERVER],
    4,
    /^NO OPINION\n.*services-of-a-team: .*"web\.team-a\.svc"/s,
  ],
  [
    'usages left out are cert-manager’s default, which has no purpose',
    web,
    ['--namespace', 'team-a'],
    4,
    /^NO OPINION\n.*spec\.usages has no purpose.*: request server auth as well\n/s,
  ],
  [
    'what can never be issued of an object',
    webObject,
    ['--namespace', 'team-a'],
    3,
    /^DENY\n {2}spec\.duration is "1m"/,
  ],
];

for (const [law, csr, flags, code, stdout] of ofCertManager) {
  test(`the verdict on a CertificateRequest: ${law}`, async () => {
    const args = ['--signer-file', services, '--csr', csr, ...CERT_MANAGER, ...flags];
    const result = await countersign(['policy', 'test', ...args]);
    assert.match(result.stdout, stdout);
    assert.deepEqual([result.code, result.stderr], [code, '']);
  });
}

test('a ClusterSigner without spec.certificateRequests ignores CertificateRequests', async () => {
  const { code, stdout } = await run(jane, '--user', 'jane', '--namespace', 'team-a');
  assert.equal(code, 4);
  assert.match(stdout, /^NO OPINION\n {2}.*does not serve CertificateRequests/);
});

test('without rules the verdict says that the approver leaves the request to others', async () => {
  const args = ['--signer-file', unruled, '--csr', jane, '--user', 'jane'];
  const { code, stdout } = await countersign(['policy', 'test', ...args]);
  assert.equal(code, 4);
  assert.match(stdout, /^NO OPINION\n {2}.*neither rules nor deny/);
});

const ofServices = servicesOfTeams() as { spec: object };
const unserved = file(
  'unserved.yaml',
  stringify({ ...ofServices, spec: without({ ...ofServices.spec }, 'requests') }),
);
test('without --namespace the verdict names the flag for cert-manager’s rules', async () => {
  const { code, stdout } = await countersign([
    'policy',
    'test',
    '--signer-file',
    unserved,
    '--csr',
    jane,
    '--user',
    'jane',
  ]);
  assert.equal(code, 4);
  assert.match(stdout, /^NO OPINION\n {2}there is no spec\.requests: .*\n {2}--namespace tests/);
});

const empty = file('empty.yaml', 'kind: CertificateSigningRequest\n');
const refused: [law: string, csr: string, flags: string[], code: number, stderr: RegExp][] = [
  [
    'a file that is not there',
    join(directory, 'none'),
    ['--user', 'jane'],
    1,
    /cannot open .*none: there is no such file \(ENOENT\) \(--csr\)/,
  ],
  ['an object without a request', empty, ['--user', 'jane'], 1, /empty\.yaml: .*no spec\.request/],
  ['no --user', jane, [], 2, /give --csr and --user, or --pod/],
  [
    'seconds that are none',
    jane,
    ['--user', 'jane', '--expiration-seconds', '1h'],
    2,
    /'--expiration-seconds <n>' argument '1h' is invalid\. write whole seconds/,
  ],
];

for (const [law, csr, flags, code, stderr] of refused) {
  test(`no verdict and no success: ${law}`, async () => {
    const result = await run(csr, ...flags);
    assert.match(result.stderr, stderr);
    assert.deepEqual([result.code, result.stdout], [code, '']);
  });
}
