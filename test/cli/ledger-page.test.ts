// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { format, resolveConfig } from 'prettier';
import { LEDGER_COMMANDS_PAGE, renderLedgerCommands } from '../../build/ledger-commands.ts';

test('docs/reference/ledger-commands.md is the output of make ledger-docs', async () => {
  const options = { ...(await resolveConfig(LEDGER_COMMANDS_PAGE)), parser: 'markdown' };
  const page = await readFile(LEDGER_COMMANDS_PAGE, 'utf8');
  assert.equal(page, await format(renderLedgerCommands(), options));
});
