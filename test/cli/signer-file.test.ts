// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSignerFile } from '../../src/cli/commands/policy/signer-file.ts';

const minimal = `apiVersion: countersign.dev/v1alpha1
kind: ClusterSigner
metadata: {name: corp}
spec:
  signerName: example.com/corp
  authority: {secret: {namespace: countersign-keys, name: corp-ca}}
`;

test('a file holds one ClusterSigner, and what it leaves out has its default', () => {
  const signer = parseSignerFile(minimal, 'corp.yaml');
  assert.equal(signer.metadata.name, 'corp');
  assert.equal(signer.spec.profile.maxDuration, '24h');
});

test('a file holds one Signer, whose name is derived from its namespace', () => {
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
  ['a YAML error has its line', 'spec: [', /^corp\.yaml: .* at line 1, column 8/s],
  ['two objects are one too many', `${minimal}---\n${minimal}`, /holds several objects; keep one/],
  ['nothing is no object', '', /^corp\.yaml: holds no object$/],
  ['another kind', minimal.replace('ClusterSigner', 'Issuer'), /holds no ClusterSigner/],
  ['a kind that every object has', minimal.replace('ClusterSigner', 'toString'), /holds no/],
  [
    'another version',
    minimal.replace('v1alpha1', 'v9'),
    /write apiVersion: countersign\.dev\/v1al/,
  ],
  ['no name', minimal.replace('{name: corp}', '{}'), /has no metadata\.name/],
  [
    'a fault of the spec has its field',
    minimal.replace('example.com/corp', 'corp'),
    /^corp\.yaml: ClusterSigner "corp": spec\.signerName: .*exactly one slash/,
  ],
  [
    'aliases that multiply are refused',
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
