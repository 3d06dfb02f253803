// SPDX-License-Identifier: Apache-2.0
/**
 * The usual requests of clients to the signer of docs/how-to/first-certificate.md: each is valid,
 * or its one message names all that is wrong.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { readClusterSigner } from '#api/signer/read-signer.ts';
import type { KubeObject } from '#api/object/object.ts';
import { compileFailureJudge } from '#diagnose/request-refusals.ts';
import { privateKey } from '../support/pki/keys.ts';
import { CN, O, made, type Wanted } from '../ca/policy/request.ts';

const FILE = join(import.meta.dirname, '../../deploy/examples/servers.yaml');
const { spec } = readClusterSigner(parse(readFileSync(FILE, 'utf8')) as KubeObject);
const judge = compileFailureJudge(spec);

/** kubeadm's certificates are RSA 2048 unless its configuration names another algorithm. */
const RSA = privateKey('RSA-2048');
const TLS = ['digital signature', 'key encipherment'];

const ROWS: Readonly<Record<string, readonly [Wanted, ...RegExp[]]>> = {
  'Go, a server with RSA': [{ key: RSA, usages: [...TLS, 'server auth'] }],
  'Go, a server with ECDSA': [{ usages: [...TLS, 'server auth'] }],
  'Go and kubeadm, a client with RSA': [
    { key: RSA, usages: [...TLS, 'client auth'] },
    /^spec\.usages contains "client auth"; .* add the others to spec\.profile\.usages/,
  ],
  'kubeadm, its administrators': [
    {
      key: RSA,
      subject: [
        [O, 'kubeadm:cluster-admins'],
        [CN, 'kubernetes-admin'],
      ],
      usages: [...TLS, 'client auth'],
    },
    /"kubeadm:cluster-admins"/,
    /"client auth"/,
  ],
};

for (const [what, [wanted, ...problems]] of Object.entries(ROWS)) {
  test(`${what}: ${problems.length === 0 ? 'valid' : 'refused with one message'}`, () => {
    const said = judge(made(wanted).csr)?.message;
    if (problems.length === 0) assert.equal(said, undefined);
    for (const problem of problems) assert.match(said ?? '', problem);
  });
}
