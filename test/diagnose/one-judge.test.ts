// SPDX-License-Identifier: Apache-2.0
/**
 * Each way to judge a request says the same: the approver, the signer, `explain`, `approve`,
 * `policy test`, `lint`, `inspect` and `request`.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { withApproval } from '#api/request/csr.ts';
import { REQUEST_FIELDS, type KeyUsage } from '#base/vocabulary.ts';
import { compileProfile } from '#ca/issuance/profile.ts';
import { compilePolicy } from '#ca/policy/compile-policy.ts';
import {
  requireAcceptable,
  requireAcceptedBySigner,
  type RequestToCreate,
} from '#cli/commands/request/request-object.ts';
import { explainSigningRequest } from '#diagnose/explain/certificate-signing-request.ts';
import { API_LINTS } from '#diagnose/lint/api-rules.ts';
import { lintRequest } from '#diagnose/lint/lint-request.ts';
import { compileFailureJudge } from '#diagnose/request-refusals.ts';
import { readMaterial } from '#diagnose/inspect/read-material.ts';
import { encodePem } from '#pki/der/pem.ts';
import { decide as decideApproval } from '#requests/approver/decide.ts';
import { decide as decideSigning } from '#requests/signer/decide.ts';
import { SignerError } from '#base/errors.ts';
import { TRUE, bits, extension, oid, seq, tlv } from '../support/pki/der.ts';
import { privateKey } from '../support/pki/keys.ts';
import { recordedClient } from '../support/kube/recorded-client.ts';
import { state } from '../operations/signer-states.ts';
import { CN, O, OU, csrOf, derOf, specOf, type Wanted } from '../ca/policy/request.ts';

const KEY_USAGE = '2.5.29.15';
const BASIC_CONSTRAINTS = '2.5.29.19';
const TLS = ['digital signature', 'key encipherment', 'server auth'];

/** A signer that copies each field, with these rules or for a person. */
const SPEC = specOf({ copy: REQUEST_FIELDS });
const ALLOW = Object.fromEntries(REQUEST_FIELDS.map((field) => [field, 'true']));
const RULED = specOf({
  copy: REQUEST_FIELDS,
  rules: [{ name: 'all', when: 'true', allow: { ...ALLOW, usages: ['server auth'] } }],
});

interface Row extends Wanted {
  /** Who refuses it: every signer, this signer, or nobody. */
  readonly by: 'all' | 'spec' | 'nobody';
}

const dns = (by: Row['by'], ...dnsNames: readonly string[]): Row => ({ by, dnsNames });
const subject = (by: Row['by'], ...names: readonly (readonly [string, string])[]): Row => ({
  by,
  subject: names,
});
const usages = (by: Row['by'], ...all: readonly string[]): Row => ({ by, usages: all });

const ROWS: Readonly<Record<string, Row>> = {
  'a plain name': { by: 'nobody' },
  'a DNS name': dns('nobody', 'a.example.com'),
  'a wildcard': dns('nobody', '*.example.com'),
  'several names': dns('nobody', 'a.example.com', 'b.example.com'),
  'a name of one label': dns('nobody', 'localhost'),
  'a Service': dns('nobody', 'my-svc.my-namespace.svc.cluster.local'),
  'upper case': dns('all', 'WEB01.Example.COM'),
  'one upper case letter': dns('all', 'a.example.com', 'a.Example.com'),
  'a trailing dot': dns('all', 'a.example.com.'),
  'a leading dot': dns('all', '.example.com'),
  'an empty label': dns('all', 'a..example.com'),
  'an underscore': dns('all', 'a_b.example.com'),
  'a space in a DNS name': dns('all', 'a b.example.com'),
  'a wildcard of a top-level domain': dns('all', '*.vault-internal'),
  'a wildcard inside': dns('all', 'a.*.example.com'),
  'a partial wildcard': dns('all', 'w*.example.com'),
  'two wildcards': dns('all', '*.*.example.com'),
  'a lone star': dns('all', '*'),
  'a label of 64 letters': dns('all', `${'a'.repeat(64)}.example.com`),
  'a name of 254 letters': dns('all', `${'a.'.repeat(126)}ab`),
  'an address as a DNS name': dns('all', '10.0.0.1'),
  'a label that begins with a hyphen': dns('all', '-a.example.com'),
  'a URL as a DNS name': dns('all', 'https://a.example.com'),
  'a port': dns('all', 'a.example.com:443'),
  'an address': { by: 'nobody', ipAddresses: [[10, 0, 0, 1]] },
  'an address of IPv6': { by: 'nobody', ipAddresses: [[32, 1, 13, 184, ...new Uint8Array(12)]] },
  'an IPv4-mapped address': {
    by: 'all',
    ipAddresses: [[...new Uint8Array(10), 255, 255, 10, 0, 0, 1]],
  },
  'a SPIFFE ID': { by: 'nobody', uris: ['spiffe://td/ns/a/sa/b'] },
  'a SPIFFE ID with dots': { by: 'all', uris: ['spiffe://td/ns/../b'] },
  'a URI in upper case': { by: 'all', uris: ['SPIFFE://td/ns/a'] },
  'an email address': { by: 'nobody', emails: ['jane@example.com'] },
  'an email address with an upper case domain': { by: 'all', emails: ['jane@Example.org'] },
  'an email address without a domain': { by: 'all', emails: ['jane'] },
  'a directory name as a SAN': { by: 'all', otherNames: [tlv(0x88, [0x2a, 0x03])] },
  'system:masters': subject('all', [O, 'system:masters'], [CN, 'jane']),
  'a node': subject('all', [O, 'system:nodes'], [CN, 'system:node:a']),
  'a ServiceAccount': subject('all', [CN, 'system:serviceaccount:a:b']),
  'kubeadm:cluster-admins': subject('all', [O, 'kubeadm:cluster-admins'], [CN, 'jane']),
  'system: in other case': subject('all', [CN, 'SYSTEM:admin']),
  'system: after a space': subject('all', [CN, ' system:admin']),
  'a UID of Kubernetes': subject('all', [CN, 'jane'], ['1.3.6.1.4.1.57683.2', '42']),
  'two common names': subject('all', [CN, 'jane'], [CN, 'joe']),
  'a space at the end': subject('all', [CN, 'jane ']),
  'an invisible character': subject('all', [CN, 'ja\u200bne']),
  'a decomposed letter': subject('all', [CN, 'jose\u0301']),
  'a group': subject('nobody', [O, 'dev'], [CN, 'jane']),
  'an organizational unit': subject('nobody', [OU, 'x'], [CN, 'jane']),
  'a country and a state': subject('nobody', ['2.5.4.6', 'DE'], ['2.5.4.8', 'BY'], [CN, 'jane']),
  'no name': subject('all'),
  'a CA': { by: 'all', extensions: [extension(BASIC_CONSTRAINTS, seq(TRUE), true)] },
  'CA:FALSE': { by: 'nobody', extensions: [extension(BASIC_CONSTRAINTS, seq())] },
  keyCertSign: { by: 'all', extensions: [extension(KEY_USAGE, bits([0x86], 1), true)] },
  'keyEncipherment for ECDSA': {
    by: 'nobody',
    extensions: [extension(KEY_USAGE, bits([0xa0], 5), true)],
  },
  'an unknown critical extension': {
    by: 'all',
    extensions: [extension('1.2.3.4', oid('1.2.3'), true)],
  },
  'an unknown extension': { by: 'nobody', extensions: [extension('1.2.3.4', oid('1.2.3'))] },
  'the usages of Kubernetes’ page': usages('nobody', ...TLS),
  'a usage outside the profile': usages('spec', 'digital signature', 'code signing'),
  'key encipherment alone': usages('all', 'key encipherment'),
  'cert sign': usages('all', 'cert sign', 'client auth'),
  'any usage': usages('all', 'any'),
  'usages without a purpose, where both purposes of TLS are allowed': usages(
    'nobody',
    'digital signature',
  ),
  'RSA with key encipherment': { by: 'spec', key: privateKey('RSA-3072'), usages: TLS },
  'a key type outside the profile': { by: 'spec', key: privateKey('RSA-3072') },
  'a short key': { by: 'all', key: privateKey('RSA-1024') },
};

/** Changes of the text, whose result each way shares, whatever it is. */
const TEXTS: Readonly<Record<string, (pem: string) => string>> = {
  'text before the block': (pem) => `Certificate Request:\n    Data:\n${pem}`,
  'text after the block': (pem) => `${pem}made by hand\n`,
  'a byte order mark': (pem) => `\u00ef\u00bb\u00bf${pem}`,
  'two blocks': (pem) => pem + pem,
  'the old label': (pem) => pem.replaceAll('CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST'),
  'lines of 76': (pem) => {
    const [first = '', ...lines] = pem.trimEnd().split('\n');
    const body = lines.slice(0, -1).join('');
    return [first, ...(body.match(/.{1,76}/g) ?? []), lines.at(-1), ''].join('\n');
  },
};

const NOW = Date.parse('2026-11-21T06:00:00Z');
const secrets = { pkcs12Password: () => Promise.reject(new Error('no password')) };

/** What the components do: undefined where the request can get a certificate. */
function byApprover(csr: CertificateSigningRequest, spec = SPEC): string | undefined {
  const plan = decideApproval({ csr, policy: compilePolicy(spec), reservedPrefixes: [] });
  return plan.kind === 'unissuable' || plan.kind === 'deny' ? plan.message : undefined;
}

function bySigner(csr: CertificateSigningRequest, spec = SPEC): string | undefined {
  const approval = { type: 'Approved', reason: 'Person', message: '' } as const;
  const plan = decideSigning({
    csr: withApproval(csr, approval, NOW),
    profile: compileProfile(spec),
    authority: new SignerError({
      code: 'AUTHORITY_MISSING',
      disposition: 'authority',
      message: '',
    }),
    reservedPrefixes: [],
    now: NOW,
  });
  assert.notEqual(plan.kind, 'ignore');
  return plan.kind === 'fail' ? plan.message : undefined;
}

function byExplain(csr: CertificateSigningRequest, spec = SPEC): string | undefined {
  const signer = { ...state().signer, spec };
  const seen = { signerName: spec.signerName, signer, unusable: undefined };
  const { wouldFail: faults, summary, remediation } = explainSigningRequest(csr, seen);
  const wouldFail = faults?.join('; ');
  if (wouldFail !== undefined) {
    assert.equal(summary, `if approved, it fails: ${wouldFail}`);
    assert.doesNotMatch(remediation.join('\n'), /certificate approve/);
  }
  return wouldFail;
}

/** `countersign request`: what it refuses to create, with the signer's spec at hand. */
async function byRequest(csr: CertificateSigningRequest, spec = SPEC): Promise<string | undefined> {
  const object = csr as RequestToCreate;
  const client = recordedClient();
  const items = [{ ...state().signer, spec }];
  const list = { apiVersion: 'countersign.dev/v1alpha1', kind: 'ClusterSignerList', items };
  client.answer(() => ({ ...list, metadata: { resourceVersion: '1' } }));
  try {
    await requireAcceptedBySigner(client, object);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof SignerError && error.code === 'USAGE', String(error));
    return error.message.replace('nothing is requested, because it would fail: ', '');
  }
}

/** What every signer refuses, as the ways say it that know no spec. */
async function withoutSpec(
  csr: CertificateSigningRequest,
  der: Uint8Array,
): Promise<Readonly<Record<string, boolean>>> {
  const pem = Buffer.from(csr.spec.request, 'base64').toString('latin1');
  const manifest = API_LINTS.get('CertificateSigningRequest')?.(csr, 'x') ?? [];
  const [found] = await readMaterial({ source: 'x', bytes: Buffer.from(pem, 'latin1') }, secrets);
  return {
    'lint of the object': manifest.some(({ severity }) => severity === 'error'),
    'lint of the file': lintRequest({ der, pem }, 'x').some(({ severity }) => severity === 'error'),
    inspect: found?.what.kind === 'request' && found.what.refusedBecause !== undefined,
    request: threw(() => {
      requireAcceptable(csr as RequestToCreate);
    }),
  };
}

function threw(run: () => void): boolean {
  try {
    run();
    return false;
  } catch {
    return true;
  }
}

describe('each way says the same of a request', () => {
  for (const [what, row] of Object.entries(ROWS)) {
    test(what, async () => {
      const { by, ...wanted } = row;
      const der = derOf(wanted);
      const csr = csrOf(encodePem('CERTIFICATE REQUEST', der), wanted);
      const said = bySigner(csr);
      assert.equal(said !== undefined, by !== 'nobody', said);
      assert.equal(byApprover(csr), said);
      assert.equal(byExplain(csr), said);
      assert.equal(await byRequest(csr), said);
      const ruled = byApprover(csr, RULED);
      assert.equal(ruled === undefined, said === undefined);
      assert.ok(said === undefined || ruled?.startsWith(said), ruled);
      const ways = await withoutSpec(csr, der);
      for (const [way, refuses] of Object.entries(ways)) {
        // A file has no spec.usages.
        const knows = wanted.usages === undefined || !['lint of the file', 'inspect'].includes(way);
        if (knows) assert.equal(refuses, by === 'all', way);
      }
    });
  }
});

const PURPOSES: Readonly<
  Record<string, { readonly profile: readonly KeyUsage[]; readonly refused: boolean }>
> = {
  'no purpose': { profile: [], refused: false },
  'client auth alone': { profile: ['client auth'], refused: true },
  'server auth alone': { profile: ['server auth'], refused: true },
  'a purpose that is none of TLS': { profile: ['code signing'], refused: true },
  'both purposes of TLS': { profile: ['client auth', 'server auth'], refused: false },
};

/** RFC 5280 §4.2.1.12: a leaf without extendedKeyUsage is valid for every purpose. */
describe('each way judges usages without a purpose by the purposes of the profile', () => {
  for (const [what, { profile, refused }] of Object.entries(PURPOSES)) {
    test(what, async () => {
      const limited = { ...SPEC.profile, usages: ['digital signature', ...profile] as const };
      const spec = { ...SPEC, profile: limited };
      const wanted = { usages: ['digital signature'] };
      const csr = csrOf(encodePem('CERTIFICATE REQUEST', derOf(wanted)), wanted);
      const said = bySigner(csr, spec);
      assert.equal(said !== undefined, refused, said);
      if (refused) assert.match(said ?? '', /has no purpose/);
      assert.equal(byApprover(csr, spec), said);
      assert.equal(byExplain(csr, spec), said);
      assert.equal(await byRequest(csr, spec), said);
      assert.equal(compileFailureJudge(spec)(csr)?.message, said, 'check');
    });
  }
});

describe('each way reads the same text', () => {
  for (const [what, change] of Object.entries(TEXTS)) {
    test(what, async () => {
      const der = derOf({});
      const csr = csrOf(change(encodePem('CERTIFICATE REQUEST', der)));
      const said = bySigner(csr);
      assert.equal(byApprover(csr), said);
      assert.equal(byExplain(csr), said);
      assert.equal(await byRequest(csr), said);
      if (what === 'two blocks') return;
      const { 'lint of the object': _, ...ways } = await withoutSpec(csr, der);
      for (const [way, refuses] of Object.entries(ways)) {
        assert.equal(refuses, said !== undefined, way);
      }
    });
  }
});

test('all problems are in one message, of the request and of the nearest rule', () => {
  const csr = csrOf(
    encodePem(
      'CERTIFICATE REQUEST',
      derOf({
        key: privateKey('P-256'),
        dnsNames: ['*.vault-internal', '*.vault', 'ok.example.com'],
        extensions: [extension(KEY_USAGE, bits([0xf0], 4))],
      }),
    ),
    { usages: ['digital signature', 'server auth'] },
  );
  assert.match(
    byApprover(csr, RULED) ?? '',
    /"\*\.vault-internal".*"\*\.vault".*besides, rule all: allow\.usages does not allow "digital signature".*nonRepudiation \("content commitment"\)/,
  );
});

test('problems of several kinds are in one message', () => {
  const wanted = { dnsNames: ['A.example.com'], usages: ['digital signature', 'code signing'] };
  const csr = csrOf(encodePem('CERTIFICATE REQUEST', derOf(wanted)), wanted);
  const said = bySigner(csr) ?? '';
  for (const problem of [/"A\.example\.com"/, /"code signing"/]) assert.match(said, problem);
});
