// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { format, resolveConfig } from 'prettier';
import { LEDGER_COMMANDS_PAGE, renderLedgerCommands } from '../../build/ledger-commands.ts';

test('docs/reference/ledger-commands.md is what make ledger-docs writes: each verb, its flags and exit codes', async () => {
  const options = { ...(await resolveConfig(LEDGER_COMMANDS_PAGE)), parser: 'markdown' };
  const page = await readFile(LEDGER_COMMANDS_PAGE, 'utf8');
  assert.equal(page, await format(renderLedgerCommands(), options));
});
