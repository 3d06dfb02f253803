// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { directoryFault } from '#ledger/database/directory-fault.ts';
import { openSqlite } from '#ledger/index.ts';

const DIRECTORY = '/var/lib/countersign';
const VOLUME = { uid: 0, gid: 0, mode: 0o40755 };
const NONROOT = { uid: 65_532, groups: [65_532] };

function faultOf(owner: typeof VOLUME, identity: typeof NONROOT): string | undefined {
  return directoryFault(DIRECTORY, { stat: () => owner, identity: () => identity });
}

test('of a volume of root, the error names the directory, both users and the value', () => {
  assert.equal(
    faultOf(VOLUME, NONROOT),
    'the user 65532 (groups 65532) may not write the directory /var/lib/countersign, which belongs to the user 0 and the group 0 with mode 0755; give the volume to this user, or set podSecurityContext.fsGroup of the ledger to a group of its pod',
  );
});

// POSIX.1-2017 §4.5: the owner's bits, else the group's, else those of others. Never two of them.
const writable: readonly [law: string, owner: object, identity: object, isWritable: boolean][] = [
  ['root', {}, { uid: 0 }, true],
  ['the owner', { uid: 65_532, mode: 0o40700 }, {}, true],
  ['a group, as fsGroup makes it', { gid: 7, mode: 0o42775 }, { groups: [65_532, 7] }, true],
  ['others', { mode: 0o41777 }, {}, true],
  ['the owner of a directory that only others write', { uid: 65_532, mode: 0o40577 }, {}, false],
  ['a group without search', { gid: 65_532, mode: 0o40760 }, {}, false],
];
for (const [law, owner, identity, isWritable] of writable) {
  test(`${law}: ${isWritable ? 'no fault' : 'a fault'}`, () => {
    const fault = faultOf({ ...VOLUME, ...owner }, { ...NONROOT, ...identity });
    assert.equal(fault === undefined, isWritable, fault);
  });
}

test('without the directory, the error of the ledger says that a volume is missing', (t) => {
  const parent = mkdtempSync(join(tmpdir(), 'ledger-'));
  t.after(() => {
    rmSync(parent, { recursive: true });
  });
  const directory = join(parent, 'data');
  assert.throws(() => openSqlite(join(directory, 'ledger.db')), {
    code: 'LEDGER_UNAVAILABLE',
    disposition: 'retry',
    message: `the database of the ledger cannot be used: SQLite: unable to open database file: the directory ${directory} does not exist; mount a volume there. No record is lost; retrying`,
  });
});
