#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
/** `countersign`: one binary for all commands, and the exit code of its failures. */
import { messageOf } from '#base/errors.ts';
import { requireNode, VERSION } from '#app/version.ts';
import { LEDGER_THREAD } from '#ledger/store/thread-argument.ts';
import { endWithReader, printProgress, printText } from './terminal.ts';

const EXIT_FAILED = 1;

try {
  requireNode(process.versions.node);
  if (await isLedgerThread(process.argv)) await import('#ledger/store/worker.ts');
  else {
    endWithReader();
    await run(process.argv);
  }
} catch (error) {
  printProgress(`countersign: ${messageOf(error)}`);
  process.exit(EXIT_FAILED);
}

/** Reports whether this is a thread of the ledger's database, which runs this program. */
async function isLedgerThread([, , word]: readonly string[]): Promise<boolean> {
  // Other commands do not load what Node has for threads.
  if (word !== LEDGER_THREAD) return false;
  const { isMainThread } = await import('node:worker_threads');
  return !isMainThread;
}

async function run(argv: readonly string[]): Promise<void> {
  const [, , flag = '', ...more] = argv;
  // Scripts ask for the version often, and it needs no table of commands.
  if (['-V', '--version'].includes(flag) && more.length === 0) {
    printText(`${VERSION}\n`);
    return;
  }
  const { program } = await import('./program.ts');
  const { EXIT_USAGE, isUsage, nextAfter, plainMessage } =
    await import('./conventions/usage-errors.ts');
  const root = program(argv[1] ?? '', (code) => process.exit(code), argv[2]);
  const typed = argv.slice(2);
  try {
    await root.parseAsync(argv);
  } catch (error) {
    printProgress(`countersign: ${plainMessage(error, typed)}`);
    const next = nextAfter(error, root, typed);
    if (next !== undefined) printProgress(`next: ${next}`);
    process.exit(isUsage(error) ? EXIT_USAGE : EXIT_FAILED);
  }
}
