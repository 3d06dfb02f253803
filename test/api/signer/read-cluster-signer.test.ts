// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import * as limits from '#api/signer/cluster-signer-limits.ts';
import type { ClusterSignerSpec } from '#api/signer/cluster-signer.ts';
import { SignerError } from '#base/errors.ts';
import {
  changed,
  clusterSigner,
  without,
  workloadSpec,
} from '../../support/signers/cluster-signer.ts';
import { readClusterSigner } from '#api/signer/read-signer.ts';

function read(spec: unknown): ClusterSignerSpec {
  return readClusterSigner(clusterSigner(spec)).spec;
}

test('omitted fields get the defaults of the CRD', () => {
  const spec = read(without(workloadSpec(), 'profile'));
  assert.deepEqual(spec.profile, {
    keyTypes: ['ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519', 'RSA3072', 'RSA4096'],
    usages: ['digital signature', 'client auth', 'server auth'],
    maxDuration: '24h',
    backdate: '1m',
  });
  assert.equal(spec.authority.managed?.keyType, 'ECDSAP256');
  assert.equal(spec.authority.managed.duration, '8760h');
  assert.equal(spec.pods?.refreshAfterPercent, 50);
});

test('absent sections stay absent: by default no request is served', () => {
  const rest = without(workloadSpec(), 'pods', 'requests', 'trustBundle');
  assert.deepEqual(Object.keys(read(rest)).sort(), ['authority', 'profile', 'signerName']);
});

test('metadata and status are kept as they are, unknown fields included', () => {
  const plain = clusterSigner(workloadSpec());
  const metadata = { ...plain.metadata, managedFields: [] };
  const status = { observedGeneration: 3 };
  const found = readClusterSigner({ ...plain, metadata, status });
  assert.deepEqual(found.metadata, metadata);
  assert.deepEqual(found.status, status);
});

const many = (count: number): string[] => Array.from({ length: count }, () => 'true');
const rule = (name: string) => ({ name, when: 'true', allow: {} });
const secret = { namespace: 'keys', name: 'ca' };
const { MAX_RULES, MAX_NAME_EXPRESSIONS, MAX_BUNDLE_LABELS } = limits;

/** What is put where, the field that the message must name, and what it must say. */
const refused: [law: string, path: string, value: unknown, field: string, says: RegExp][] = [
  ['a field is missing', 'signerName', undefined, 'spec.signerName', /expected string/],
  ['a type is wrong', 'pods.uris', 'x', 'spec.pods.uris', /expected array/],
  ['an unknown field is not ignored', 'pods.alow', 'x', 'spec.pods', /Unrecognized key: "alow"/],
  ['null is not absent', 'pods', null, 'spec.pods', /received null/],
  ['an item has its index', 'profile.keyTypes.1', 'DSA', 'spec.profile.keyTypes[1]', /"ED25519"/],
  ['no key type is left', 'profile.keyTypes', [], 'spec.profile.keyTypes', />=1/],
  ['cert sign', 'profile.usages', ['cert sign'], 'spec.profile.usages[0]', /"client auth"/],
  ['crl sign', 'profile.usages', ['crl sign'], 'spec.profile.usages[0]', /"client auth"/],
  ['any lifts all limits', 'profile.usages', ['any'], 'spec.profile.usages[0]', /"client auth"/],
  [
    'a usage of a rule that the profile lacks',
    'requests.rules.0.allow.usages',
    ['client auth', 'key encipherment'],
    'spec.requests.rules[0].allow.usages',
    /"key encipherment", which spec\.profile\.usages does not allow; add it to spec\.profile\.usages/,
  ],
  ['in rules too', 'requests.rules.0.allow.usages', ['any'], 'spec.requests.rules[0]', /auth/],
  ['no signer name', 'signerName', 'workload', 'spec.signerName', /exactly one slash/],
  ['a name of Kubernetes', 'signerName', 'a.kubernetes.io/x', 'spec.signerName', /your own/],
  [
    'a name of a namespaced signer',
    'signerName',
    'signers.countersign.dev/team-a.web',
    'spec.signerName',
    /reserved for the derived names of Signers/,
  ],
  [
    'a name of an AcmeSigner',
    'signerName',
    'acmesigners.acme.countersign.dev/team-a.web',
    'spec.signerName',
    /reserved for the derived names of AcmeSigners/,
  ],
  [
    'two authorities',
    'authority.secret',
    secret,
    'spec.authority',
    /set managed, secret or keyHolder/,
  ],
  ['no authority', 'authority', {}, 'spec.authority', /set managed, secret or keyHolder/],
  [
    'renewal before birth',
    'authority.managed.renewBefore',
    '8760h',
    'renewBefore',
    /not less than/,
  ],
  ['a CA of two leaves', 'authority.managed.duration', '47h', 'managed.duration', /at least 48h/],
  ['a day is no unit', 'profile.maxDuration', '1d', 'spec.profile.maxDuration', /explain/],
  ['an endless duration', 'profile.maxDuration', '9999999h', 'maxDuration', /a hundred years/],
  ['far backdate', 'profile.backdate', '4m1s', 'spec.profile.backdate', /at most 4m/],
  ['a pod leaf too short', 'profile.maxDuration', '59m', 'maxDuration', /set at least 1h/],
  ['a pod leaf too long', 'profile.maxDuration', '2184h1s', 'maxDuration', /set at most 2184h/],
  ['pods without any name', 'pods.uris', [], 'spec.pods', /gives the leaf no name/],
  [
    'an annotation without its select',
    'pods.services',
    { annotation: 'example.com/service' },
    'spec.pods.services',
    /exactly where select is FromAnnotation/,
  ],
  [
    'a select without its annotation',
    'pods.services',
    { select: 'FromAnnotation' },
    'spec.pods.services',
    /exactly where select is FromAnnotation/,
  ],
  [
    'a form twice',
    'pods.services',
    { forms: ['Service', 'Service'] },
    'spec.pods.services.forms',
    /list each once/,
  ],
  [
    'a form that nobody knows',
    'pods.services',
    { forms: ['Wildcard'] },
    'spec.pods.services.forms[0]',
    /FullyQualified/,
  ],
  ['no form', 'pods.services', { forms: [] }, 'spec.pods.services.forms', />=1/],
  [
    'a cluster domain with a root',
    'pods.services',
    { clusterDomain: 'cluster.local.' },
    'clusterDomain',
    /pattern/,
  ],
  ['a label twice', 'pods.labels', ['app', 'app'], 'spec.pods.labels', /list each once/],
  ['a share above all', 'pods.refreshAfterPercent', 100, 'refreshAfterPercent', /<=99/],
  ['half a percent', 'pods.refreshAfterPercent', 1.5, 'refreshAfterPercent', /expected int/],
  ['twin rules', 'requests.rules', [rule('a'), rule('a')], 'spec.requests.rules', /rename one/],
  ['a rule with a title', 'requests.rules.0.name', 'A b', 'spec.requests.rules[0].name', /pattern/],
  [
    'more rules than are run',
    'requests.rules',
    many(MAX_RULES + 1).map((_, index) => rule(`r${index}`)),
    'spec.requests.rules',
    /<=32 items/,
  ],
  ['many URIs', 'pods.uris', many(MAX_NAME_EXPRESSIONS + 1), 'spec.pods.uris', /<=16 items/],
  ['a book', 'pods.allow', 'x'.repeat(2_049), 'spec.pods.allow', /<=2048/],
  ['an empty expression', 'pods.allow', '', 'spec.pods.allow', />=1/],
  ['a key without domain', 'pods.annotations.0.key', 'role', 'annotations[0].key', /pattern/],
  ['a key that is none', 'trustBundle.labels', { 'a b': 'x' }, 'trustBundle.labels', /Invalid key/],
  ['a label of two words', 'trustBundle.labels', { a: 'x y' }, 'trustBundle.labels.a', /pattern/],
  [
    'more labels than are put',
    'trustBundle.labels',
    Object.fromEntries(many(MAX_BUNDLE_LABELS + 1).map((_, index) => [`l${index}`, 'x'])),
    'spec.trustBundle.labels',
    /more than 32 labels/,
  ],
  ['SHA-1', 'authority.managed.distrusted', ['sha1:00'], 'distrusted[0]', /pattern/],
  ['a CA name without room', 'authority.managed.commonName', 'x'.repeat(53), 'commonName', /<=52/],
  ['a CA name with a bell', 'authority.managed.commonName', 'a\u0007', 'commonName', /pattern/],
];

for (const [law, path, value, field, says] of refused) {
  test(`refused, with its field: ${law}`, () => {
    assert.throws(
      () => read(changed(workloadSpec(), path, value)),
      (error: unknown) => {
        assert.ok(error instanceof SignerError);
        assert.equal(error.code, 'SPEC_INVALID');
        assert.equal(error.disposition, 'wait');
        assert.ok(error.message.startsWith('ClusterSigner "workload": spec'), error.message);
        assert.ok(error.message.includes(field), error.message);
        assert.match(error.message, says);
        return true;
      },
    );
  });
}

const accepted: [law: string, path: string, value: unknown][] = [
  ['exactly an hour, for pods', 'profile.maxDuration', '1h'],
  ['exactly 91 days, for pods', 'profile.maxDuration', '2184h'],
  ['exactly 4m of backdate', 'profile.backdate', '4m'],
  ['no backdate', 'profile.backdate', '0s'],
  ['a common name alone', 'pods', { allow: 'true', commonName: 'pod.name' }],
  ['the user’s own CA', 'authority', { secret }],
  ['a CA of exactly two leaves', 'authority.managed', { ...managed(), duration: '48h' }],
];

function managed(): object {
  return { secret, commonName: 'x'.repeat(52) };
}

for (const [law, path, value] of accepted) {
  test(`accepted: ${law}`, () => {
    read(changed(workloadSpec(), path, value));
  });
}

test('a signer without pods may backdate its leaves by 5m, as far as a new CA', () => {
  const spec = (backdate: string): Record<string, unknown> =>
    changed(without(workloadSpec(), 'pods'), 'profile.backdate', backdate);
  assert.equal(read(spec('5m')).profile.backdate, '5m');
  assert.throws(() => read(spec('5m1s')), /spec\.profile\.backdate: 5m1s .*set at most 5m/);
});

test('refuses a leaf that may have no name at first issue', () => {
  const only = (pods: object): unknown =>
    changed(workloadSpec(), 'pods', { allow: 'true', ...pods });
  assert.throws(() => read(only({ ipAddresses: ['pod.ip'] })), /address of the pod at first issue/);
  assert.throws(() => read(only({ services: { required: false } })), /set services.required/);
  assert.deepEqual(read(only({ services: {} })).pods?.services, {
    select: 'All',
    forms: ['ServiceNamespaceSvc', 'FullyQualified'],
    clusterDomain: 'cluster.local',
    required: true,
  });
});

test('without spec.pods, maxDuration may exceed 91 days or be below an hour', () => {
  const rest = without(changed(workloadSpec(), 'authority', { secret }), 'pods');
  read(changed(rest, 'profile.maxDuration', '8760h'));
  read(changed(rest, 'profile.maxDuration', '10m'));
  assert.throws(() => read(changed(rest, 'profile.maxDuration', '9m59s')), {
    code: 'SPEC_INVALID',
    message:
      /shorter than the API server allows for a leaf of a CertificateSigningRequest; set at least 10m/,
  });
});

for (const value of [undefined, null, 7, 'text', [], {}]) {
  test(`${inspect(value)} is not a spec`, () => {
    assert.throws(() => read(value), { code: 'SPEC_INVALID', disposition: 'wait' });
  });
}

test('all faults are listed up to a limit, and long values are cut', () => {
  const wrong = changed({ ...workloadSpec(), ['y'.repeat(9_999)]: 1 }, 'signerName', 7);
  assert.throws(
    () => read(wrong),
    ({ message }: Error) => {
      assert.match(message, /spec\.signerName.*spec: Unrecognized key/);
      return message.length < 1_000;
    },
  );
});
