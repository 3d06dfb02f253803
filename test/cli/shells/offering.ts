// SPDX-License-Identifier: Apache-2.0
/**
 * A `countersign` whose only live name stands in the file NAME: it offers what the real one would,
 * and does nothing.
 */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { complete } from '#cli/commands/completion/candidates.ts';
import { SCRIPTS } from '#cli/commands/completion/scripts.ts';

const [command, ...words] = process.argv.slice(2);
const all = (): Promise<readonly string[]> =>
  Promise.resolve([readFileSync(process.env['NAME'] ?? '', 'utf8')]);

const root = new Command('countersign');
root.command('approve <kind/name...>').option('--signer <name>', 'signer');

if (command === 'completion') console.log(SCRIPTS[words[0] as keyof typeof SCRIPTS]);
else if (command === '__complete') {
  const { candidates, directive } = await complete(root, words, {
    objects: all,
    namespaces: all,
    contexts: all,
    signerNames: all,
    clusterSigners: all,
  });
  for (const { value, description = '' } of candidates) console.log(`${value}\t${description}`);
  console.log(`:${directive}`);
} else console.log(`RUNS<${[command, ...words].join('|')}>`);
