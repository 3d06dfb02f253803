// SPDX-License-Identifier: Apache-2.0
/** An upstream CA may backdate its certificates, so only the Secret says since when it has one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '#api/object/time.ts';
import { ACTIVATED_AT, INSTALLED_AT } from '#api/signer/rotation-annotations.ts';
import { NOW } from '../../../support/pki/chain.ts';
import { workload } from '../../../support/signers/workload-profile.ts';
import { A, BELOW, OURS, certificate, planOf, secret } from '../../../support/trust/ca-secrets.ts';

const MINUTE_MS = 60_000;

/** Returns the longest leaf of a CA below A that was activated a minute ago. */
function longestLeafOf(installedBefore: number): string | undefined {
  const activatedAt = NOW - MINUTE_MS;
  const { status } = planOf({
    signer: workload(),
    secret: {
      kind: 'found',
      secret: secret(
        BELOW,
        { 'ca.crt': certificate(A).toString() },
        {
          ...OURS,
          [INSTALLED_AT]: formatTime(activatedAt - installedBefore),
          [ACTIVATED_AT]: formatTime(activatedAt),
        },
      ),
    },
    bundle: undefined,
    isBundleKnown: true,
  });
  return status.authorities?.find(({ phase }) => phase !== 'Retiring')?.longestLeaf;
}

test('the first CA below another is new, however old its certificate is', () => {
  const ofProfile = workload().spec.profile.maxDuration;
  assert.equal(longestLeafOf(0), ofProfile);
});

test('a CA below another that waited as Prepared has lost its entry', () => {
  const life = BELOW.certificate.notAfter - BELOW.certificate.notBefore;
  assert.equal(longestLeafOf(10 * MINUTE_MS), `${life / 3_600_000}h`);
});
