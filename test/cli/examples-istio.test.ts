// SPDX-License-Identifier: Apache-2.0
/** examples/istio: what its rules say of requests as istiod makes them, and as nobody should. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parseAllDocuments, stringify } from 'yaml';
import { CN, O, made, type Wanted } from '../ca/policy/request.ts';
import { countersign, type CommandResult } from '../support/cluster/countersign.ts';

const directory = mkdtempSync(join(tmpdir(), 'examples-istio-'));
after(() => rmSync(directory, { recursive: true }));

const shipped = readFileSync(join(import.meta.dirname, '../../examples/istio/istio.yaml'), 'utf8');
const [first] = parseAllDocuments(shipped);
const signer = join(directory, 'signer.yaml');
writeFileSync(signer, stringify(first?.toJS()));

const ISTIOD = 'system:serviceaccount:istio-system:istiod';
const ID = 'spiffe://cluster.local/ns/shop/sa/web';

function judged(name: string, wanted: Wanted, user = ISTIOD): Promise<CommandResult> {
  const csr = join(directory, `${name}.csr`);
  writeFileSync(csr, Buffer.from(made(wanted).csr.spec.request, 'base64'));
  // kubernetesSign of security/pkg/pki/ra/k8s_ra.go
  const usages = ['digital signature', 'key encipherment', 'server auth', 'client auth'];
  const flags = usages.flatMap((usage) => ['--usage', usage]);
  return countersign([
    'policy',
    'test',
    '--signer-file',
    signer,
    '--csr',
    csr,
    '--user',
    user,
    ...flags,
  ]);
}

// GenCSRTemplate of security/pkg/pki/util/generate_csr.go writes an empty organization for a
// sidecar; ztunnel writes none.
for (const [what, subject] of [
  ['sidecar', [[O, '']]],
  ['ztunnel', []],
] as const) {
  test(`a workload that istiod asks for is approved, by the request of a ${what}`, async () => {
    const { code, stdout } = await judged(what, { subject, uris: [ID] });
    assert.equal(code, 0, stdout);
  });
}

test('nobody else gets such a certificate', async () => {
  const { code, stdout } = await judged('jane', { subject: [], uris: [ID] }, 'jane');
  assert.equal(code, 3, stdout);
  assert.match(stdout, /istiod-only/);
});

for (const [what, wanted] of [
  ['another trust domain', { subject: [], uris: ['spiffe://example.com/ns/shop/sa/web'] }],
  ['two identities', { subject: [], uris: [ID, 'spiffe://cluster.local/ns/a/sa/b'] }],
  ['no identity', { subject: [[CN, 'web']] }],
  ['another path', { subject: [], uris: ['spiffe://cluster.local/ns/shop/sa/web/x'] }],
] as [string, Wanted][]) {
  test(`${what} is denied`, async () => {
    const { code, stdout } = await judged(what.replaceAll(' ', '-'), wanted);
    assert.equal(code, 3, stdout);
    assert.match(stdout, /one-workload|neither a subject nor a subject alternative name/);
  });
}
