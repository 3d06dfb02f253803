// SPDX-License-Identifier: Apache-2.0
/** What `authority` says of CRLs while the CA Secret of their signer does not exist. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '#api/object/time.ts';
import type { AuthorityPhase } from '#api/signer/cluster-signer.ts';
import type { ServingFault } from '#api/serving/report.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { createCrls } from '#trust/authority/crl/index.ts';
import { recordedComponent } from '../../../support/component/recorded-component.ts';
import { NOW } from '../../../support/pki/chain.ts';
import { workload } from '../../../support/signers/workload-profile.ts';
import { A, fingerprintOf } from '../../../support/trust/ca-secrets.ts';

const CRL = { 'profile.crl': { validity: '24h' } };
const DAY = 86_400_000;

/** The reasons of the Events and of the faults for a signer whose status has these CAs. */
async function reasonsFor(phases: readonly AuthorityPhase[]): Promise<readonly string[]> {
  const keys: string[] = [];
  const faults: ServingFault[] = [];
  const component = recordedComponent({
    queue: { charge: () => undefined, add: (key: string) => keys.push(key) } as never,
    serving: {
      report: (_: unknown, fault: ServingFault) => faults.push(fault),
      retract: () => undefined,
    },
  });
  const authorities = phases.map((phase) => ({
    fingerprint: fingerprintOf(A),
    phase,
    notBefore: formatTime(NOW - DAY),
    notAfter: formatTime(NOW + 365 * DAY),
    longestLeaf: '24h',
  }));
  const signer = workload(CRL, { status: { authorities } });
  const crls = createCrls({
    component: component,
    open: openLocalAuthority,
    version: '1.2.3',
    observed: () => ({ kind: 'missing' }),
  });
  crls.serve([signer]);
  for (const key of keys) await crls.handle(key);
  await crls.stop();
  return [...component.notes, ...faults].map(({ reason }) => reason);
}

for (const phases of [[], ['Prepared']] as const)
  test(`before a CA could sign a leaf, no CRL is missed: ${phases.join() || 'no CA'}`, async () => {
    assert.deepEqual(await reasonsFor(phases), []);
  });

for (const phase of ['Active', 'Retiring'] as const)
  test(`a CA that is ${phase} and whose Secret is gone has no more CRLs`, async () => {
    assert.deepEqual(await reasonsFor([phase]), ['CrlNotSigned', 'CrlNotSigned']);
  });
