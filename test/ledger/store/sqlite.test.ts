// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { openSqlite } from '../../../src/ledger/database/sqlite.ts';
import { storeLaws } from '../../support/ledger/store-laws.ts';

const root = mkdtempSync(join(tmpdir(), 'ledger-sqlite-'));
after(() => rmSync(root, { recursive: true, force: true }));

storeLaws((name) => Promise.resolve(openSqlite(join(root, `${name}.db`))));
