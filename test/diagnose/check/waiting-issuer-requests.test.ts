// SPDX-License-Identifier: Apache-2.0
/** `check` finds CertificateRequests of cert-manager that this installation has to answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import type { Condition } from '#api/request/conditions.ts';
import type { WaitingRequest } from '#diagnose/check/facts.ts';
import type { ReadResult } from '#diagnose/check/finding.ts';
import { readRequests } from '#diagnose/check/reading/read-requests.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { state } from '../../operations/signer-states.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';
import {
  APPROVED,
  DENIED,
  certificateRequest,
} from '../../support/requests/certificate-request.ts';
import { signersOf } from './well.ts';

const CERT_MANAGER = '/apis/cert-manager.io/v1';

/** Reads the requests where cert-manager has these, or is not installed. */
async function read(
  items: readonly CertificateRequest[] | 'absent' | 'forbidden',
): Promise<ReadResult<readonly WaitingRequest[]>> {
  const client = recordedClient();
  client.answer(({ path }) => {
    const isOwn = path === `${CERT_MANAGER}/certificaterequests`;
    const fails = isOwn && typeof items === 'string';
    if (fails) throw new KubeError({ status: 403, what: 'a list', body: {} });
    const isServed = path === CERT_MANAGER && items !== 'absent';
    return {
      apiVersion: 'v1',
      kind: 'List',
      metadata: {},
      items: isOwn ? items : [],
      resources: isServed ? [{ name: 'certificaterequests' }] : [],
    };
  });
  const acme = { value: { signers: [], invalid: [], orders: { value: [] } } };
  return readRequests(client, { value: signersOf(state()) }, acme);
}

function request(
  conditions: readonly Condition[],
  issuerRef: Partial<CertificateRequest['spec']['issuerRef']> = {},
): CertificateRequest {
  const made = certificateRequest({ conditions });
  return { ...made, spec: { ...made.spec, issuerRef: { ...made.spec.issuerRef, ...issuerRef } } };
}

const ready = (reason: string, status: Condition['status'] = 'False'): Condition => ({
  type: 'Ready',
  status,
  reason,
  message: `${reason}: because`,
});

test('an approved CertificateRequest without an answer waits, with the cause in Ready', async () => {
  const approved = { ...APPROVED, lastTransitionTime: '2026-11-21T06:10:00Z' };
  const found = await read([request([approved, ready('Pending')])]);
  assert.deepEqual(found, {
    value: [
      {
        object: 'certificaterequest/web-1',
        namespace: 'team-a',
        signerName: 'example.com/workload',
        since: Date.parse('2026-11-21T06:10:00Z'),
        waitsForApproval: false,
        cause: 'Pending: because',
      },
    ],
  });
});

test('one that names a signer that does not exist waits as well', async () => {
  const found = await read([request([APPROVED], { name: 'typo' })]);
  assert.ok('value' in found);
  assert.deepEqual(
    found.value.map(({ signerName }) => signerName),
    ['ClusterSigner typo'],
  );
});

const ANSWERED: readonly (readonly [string, CertificateRequest])[] = [
  ['unapproved', request([])],
  ['denied', request([APPROVED, DENIED])],
  ['failed', request([APPROVED, ready('Failed')])],
  ['issued', request([APPROVED, ready('Issued', 'True')])],
  ['of another issuer', request([APPROVED], { group: 'cert-manager.io', kind: 'Issuer' })],
  ['of an ACME signer', request([APPROVED], { group: 'acme.countersign.dev' })],
];

for (const [what, one] of ANSWERED) {
  test(`a CertificateRequest that is ${what} waits for no component of this check`, async () => {
    assert.deepEqual(await read([one]), { value: [] });
  });
}

test('without cert-manager its requests need no permission', async () => {
  assert.deepEqual(await read('absent'), { value: [] });
});

test('a user who may not list CertificateRequests is told so', async () => {
  assert.deepEqual(await read('forbidden'), { lacks: 'list certificaterequests.cert-manager.io' });
});
