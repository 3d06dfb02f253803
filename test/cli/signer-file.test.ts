// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSignerFile } from '#cli/commands/policy/signer-file.ts';

const minimal = `apiVersion: countersign.dev/v1alpha1
kind: ClusterSigner
metadata: {name: corp}
spec:
  signerName: example.com/corp
  authority: {secret: {namespace: countersign-keys, name: corp-ca}}
`;

test('a file with one ClusterSigner is read, with defaults for absent fields', () => {
  const signer = parseSignerFile(minimal, 'corp.yaml');
  assert.equal(signer.metadata.name, 'corp');
  assert.equal(signer.spec.profile.maxDuration, '24h');
});

test('a file with one Signer is read, with a signer name derived from its namespace', () => {
  const text = `apiVersion: countersign.dev/v1alpha1
kind: Signer
metadata: {name: web, namespace: team-a}
spec: {authority: {secret: {name: team-ca}}}
`;
  const { spec } = parseSignerFile(text, 'web.yaml');
  assert.equal(spec.signerName, 'signers.countersign.dev/team-a.web');
  const elsewhere = parseSignerFile(text.replace(', namespace: team-a', ''), 'web.yaml');
  assert.equal(elsewhere.spec.signerName, 'signers.countersign.dev/default.web');
});

const refused: [law: string, text: string, message: RegExp][] = [
  ['a YAML error, with its line', 'spec: [', /^corp\.yaml: .* at line 1, column 8/s],
  ['two objects in one file', `${minimal}---\n${minimal}`, /holds several objects; keep one/],
  ['an empty file', '', /^corp\.yaml: holds no YAML mapping; write one ClusterSigner or Signer$/],
  [
    'another kind',
    minimal.replace('ClusterSigner', 'Issuer'),
    /is neither a ClusterSigner nor a Signer/,
  ],
  [
    'a kind that is a property of every JavaScript object',
    minimal.replace('ClusterSigner', 'toString'),
    /is neither a ClusterSigner nor/,
  ],
  [
    'another version',
    minimal.replace('v1alpha1', 'v9'),
    /write apiVersion: countersign\.dev\/v1al/,
  ],
  ['no metadata.name', minimal.replace('{name: corp}', '{}'), /has no metadata\.name/],
  [
    'an invalid spec, with its field',
    minimal.replace('example.com/corp', 'corp'),
    /^corp\.yaml: ClusterSigner "corp": spec\.signerName: .*exactly one slash/,
  ],
  [
    'aliases that multiply',
    `a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\n`,
    /alias/,
  ],
];

for (const [law, text, message] of refused) {
  test(`refused: ${law}`, () => {
    assert.throws(() => parseSignerFile(text, 'corp.yaml'), {
      code: 'SPEC_INVALID',
      disposition: 'wait',
      message,
    });
  });
}
