// SPDX-License-Identifier: Apache-2.0
/** What `countersign check --pre` says of a cluster on which the ledger could not run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LedgerFacts } from '#diagnose/check/facts.ts';
import type { Finding } from '#diagnose/check/finding.ts';
import { runChecks } from '#diagnose/check/run-checks.ts';
import { kubernetes, RELEASE } from './well.ts';

const WELL: LedgerFacts = {
  storageClasses: { value: [{ name: 'standard', isDefault: true }] },
};

function findings(changes: Partial<LedgerFacts>): readonly Finding[] {
  const ledger = { ...WELL, ...changes };
  const all = runChecks({ kubernetes, mayInstall: [], ledger, release: RELEASE });
  return all.filter(({ id }) => id === 'ledger-possible');
}

const lines = (changes: Partial<LedgerFacts>): readonly string[] =>
  findings(changes).map(
    ({ severity, why, remediation = '' }) => `${severity} ${why} → ${remediation}`,
  );

test('a default StorageClass is all that the ledger needs', () => {
  assert.deepEqual(
    findings({}).map(({ severity }) => severity),
    ['ok'],
  );
});

test('without a default StorageClass, names the existing ones or a database', () => {
  const others = { value: ['fast', 'slow'].map((name) => ({ name, isDefault: false })) };
  assert.match(
    lines({ storageClasses: others }).join('\n'),
    /^warning no StorageClass is the default: .*className to one of fast, slow/,
  );
  assert.match(
    lines({ storageClasses: { value: [] } }).join('\n'),
    /^warning no StorageClass is the default: .*the cluster has none.*ledger\.postgres\.secret/,
  );
});

test('what cannot be seen is said', () => {
  const [unseen] = findings({ storageClasses: { lacks: 'list storageclasses.storage.k8s.io' } });
  assert.equal(unseen?.severity, 'unseen');
});
