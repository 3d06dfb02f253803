// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { warningsOf } from '#operations/show/warnings.ts';
import { unexpectedAnchors, type SignerState } from '#operations/signer-state.ts';
import { at, HOUR, print, state } from './signer-states.ts';

const served = { a: 60, b: 60 };

/** attester publishes none of these (src/ca/rotation/distrusted-cas.ts). */
const distrusts: Readonly<Record<string, SignerState>> = {
  'of a Distrusted entry': state({ authorities: { a: 'Active', b: 'Distrusted' }, served }),
  'of an entry that the spec distrusts': state({
    authorities: { a: 'Active', b: 'Retiring' },
    managed: { distrusted: [print('b')] },
    served,
  }),
  'of no entry that the spec distrusts': state({ managed: { distrusted: [print('b')] }, served }),
  'kept for an earlier ClusterSigner': state({
    managed: { distrusted: [print('b')] },
    retained: { b: at(HOUR) },
    served,
  }),
  'of the certifier of a distrusted CA': state({
    authorities: { a: 'Active', b: 'Retiring', c: 'Distrusted' },
    authorityFields: { crossSignedBy: print('b') },
    managed: { distrusted: [print('c')] },
    served,
  }),
};

for (const [which, of] of Object.entries(distrusts)) {
  test(`a distrusted anchor ${which} is unexpected, with one warning`, () => {
    assert.deepEqual(unexpectedAnchors(of), [{ fingerprint: print('b'), isDistrusted: true }]);
    const warnings = warningsOf(of).filter((text) => text.includes('is distrusted and still'));
    assert.equal(warnings.length, 1);
  });
}

test('the anchors of CAs that no record distrusts are expected', () => {
  const authorities = { a: 'Active', b: 'Retiring', c: 'Distrusted' } as const;
  assert.deepEqual(unexpectedAnchors(state({ authorities, served })), []);
});
