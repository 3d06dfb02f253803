// SPDX-License-Identifier: Apache-2.0
/** `check` judges pending requests as the signer does, and reads nothing more for that. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { withApproval } from '#api/request/csr.ts';
import { readRequests } from '#diagnose/check/reading/read-requests.ts';
import { encodePem } from '#pki/der/pem.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';
import { csrOf, derOf, specOf, type Wanted } from '../../ca/policy/request.ts';
import { state } from '../../operations/signer-states.ts';
import { signersOf } from './well.ts';

const START = Date.parse('2026-11-21T06:00:00Z');
const SPEC = specOf({ copy: ['dnsNames', 'commonName'] });
const GOOD = csrOf(encodePem('CERTIFICATE REQUEST', derOf({})), {});
/** RFC 5480 §3: an ECDSA key cannot encipher keys, and the leaf would have no usage. */
const USELESS = of({ usages: ['key encipherment'] });

function of(wanted: Wanted): CertificateSigningRequest {
  return csrOf(encodePem('CERTIFICATE REQUEST', derOf(wanted)), wanted);
}

function named(csr: CertificateSigningRequest, index: number): CertificateSigningRequest {
  const creationTimestamp = new Date(START + index * 1000).toISOString();
  return { ...csr, metadata: { ...csr.metadata, name: `csr-${index}`, creationTimestamp } };
}

async function readOf(
  items: readonly CertificateSigningRequest[],
  spec = SPEC,
): Promise<{ failing: readonly string[]; asked: readonly string[] }> {
  const client = recordedClient();
  client.answer(({ path }) => {
    const found = path.endsWith('/certificatesigningrequests') ? items : [];
    const kind = 'CertificateSigningRequestList';
    return {
      apiVersion: 'certificates.k8s.io/v1',
      kind,
      metadata: {},
      items: found,
      resources: [],
    };
  });
  const signers = { value: signersOf({ ...state(), signer: { ...state().signer, spec } }) };
  const acme = { value: { signers: [], invalid: [], orders: { value: [] } } };
  const read = await readRequests(client, signers, acme);
  assert.ok('value' in read);
  const failing = read.value.filter(({ wouldFail }) => wouldFail !== undefined);
  return {
    failing: failing.map(({ object }) => object.replace(/.*\//, '')),
    asked: client.requests.map(({ path }) => path),
  };
}

test('a pending request that its signer would fail is found, approved or not', async () => {
  const approval = { type: 'Approved', reason: 'Person', message: '' } as const;
  const approved = withApproval(named(USELESS, 2), approval, START);
  const { failing } = await readOf([named(GOOD, 0), named(USELESS, 1), approved]);
  assert.deepEqual([...failing].sort(), ['csr-1', 'csr-2']);
});

test('the newest fifty are judged, whatever the order of the list', async () => {
  const all = Array.from({ length: 60 }, (_none, index) => named(USELESS, index));
  const { failing } = await readOf(
    all.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
  );
  assert.equal(failing.length, 50);
  for (const old of ['csr-0', 'csr-9']) assert.ok(!failing.includes(old));
});

test('no Secret is read for it, and no request by itself', async () => {
  const { asked } = await readOf([named(USELESS, 0)]);
  for (const path of asked) assert.doesNotMatch(path, /secrets|certificatesigningrequests\/./);
});

test('a signer that no longer compiles is no fault of its requests', async () => {
  const rules = [
    { name: 'x', when: 'this is not CEL', allow: { usages: ['server auth'] as const } },
  ];
  const { failing } = await readOf([named(USELESS, 0)], specOf({ rules }));
  assert.deepEqual(failing, []);
});
