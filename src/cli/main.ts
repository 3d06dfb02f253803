// SPDX-License-Identifier: Apache-2.0
/** `countersign`: one binary for all commands, which ends with what a failure means. */
import { isMainThread } from 'node:worker_threads';
import { messageOf } from '../errors.ts';
import { requireNode } from '../app/version.ts';
import { endWithReader, printProgress } from './terminal.ts';

const EXIT_FAILED = 1;

try {
  requireNode(process.versions.node);
  if (isMainThread) endWithReader();
  // The threads of the ledger's database are this program again.
  if (isMainThread) await run(process.argv);
  else await import('../ledger/store/worker.ts');
} catch (error) {
  printProgress(`countersign: ${messageOf(error)}`);
  process.exit(EXIT_FAILED);
}

async function run(argv: readonly string[]): Promise<void> {
  const { program } = await import('./program.ts');
  const { EXIT_USAGE, isUsage, nextAfter } = await import('./manners/usage-errors.ts');
  const root = program(argv[1] ?? '', (code) => process.exit(code));
  try {
    await root.parseAsync(argv);
  } catch (error) {
    printProgress(`countersign: ${messageOf(error)}`);
    const next = nextAfter(error, root, argv.slice(2));
    if (next !== undefined) printProgress(`next: ${next}`);
    process.exit(isUsage(error) ? EXIT_USAGE : EXIT_FAILED);
  }
}
