// SPDX-License-Identifier: Apache-2.0
/** Writes docs/reference/ledger-commands.md. test/cli/ledger-page.test.ts compares it. */
import { writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { LEDGER_COMMANDS_PAGE, renderLedgerCommands } from './ledger-commands.ts';

const options = { ...(await resolveConfig(LEDGER_COMMANDS_PAGE)), parser: 'markdown' };
await writeFile(LEDGER_COMMANDS_PAGE, await format(renderLedgerCommands(), options));
