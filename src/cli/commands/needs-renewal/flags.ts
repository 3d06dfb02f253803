// SPDX-License-Identifier: Apache-2.0
import { InvalidArgumentError, Option, type Command } from 'commander';
import { daysFlag, portFlag } from '../../../app/flag-values.ts';
import type { Threshold } from '../../../inspecting/renewal.ts';
import { outputOption } from '../../list-options.ts';
import { addUserOptions } from '../../user-client.ts';
import type { NeedsRenewalOptions } from './run.ts';

const HELP = `
Examples:
  countersign needs-renewal tls.crt                    has it passed 66% of its life?
  countersign needs-renewal tls.crt --expires-in 12h   does it expire within 12 hours?
  countersign needs-renewal tls.crt --expires-in 75%   has it passed 75% of its life?
  countersign needs-renewal secret/web-tls -n team-a
  countersign needs-renewal pod/web -n team-a --port 8443
  if countersign needs-renewal tls.crt; then renew; fi

Exit codes (those of step certificate needs-renewal):
  0  one of them needs renewal     2    there is no such thing, or no certificate in it
  1  none does                     255  any other error`;

/** What `step` takes when nothing is said. */
const DEFAULT_THRESHOLD: Threshold = { elapsedPercent: 66 };

/** Adds `countersign needs-renewal`: for scripts, as `step` has it. */
export function addNeedsRenewalCommand(root: Command): void {
  const command = root
    .command('needs-renewal <source...>')
    .description('say by the exit code whether certificates need renewal: files, servers, objects')
    .option('-n, --namespace <name>', 'namespace of objects', 'default')
    .addOption(
      new Option(
        '--expires-in <percent|duration>',
        'share of the life that passed, or what is left',
      )
        .argParser(thresholdFlag)
        .default(DEFAULT_THRESHOLD, '66%'),
    )
    .option('--bundle', 'judge every certificate of a chain, not its leaf alone', false)
    .option('--port <number>', 'pod/NAME: also ask this port of the pod what it serves', portFlag)
    .option('--server-name <name>', 'server name to ask for (SNI; default: the host of the URL)')
    .option('--password-file <file>', 'file with the password of PKCS#12')
    .addOption(outputOption())
    .addHelpText('before', HELP);
  addUserOptions(command).action(async (sources: string[], options: NeedsRenewalOptions) => {
    const { needsRenewal } = await import('./run.ts');
    process.exitCode = await needsRenewal(sources, options);
  });
}

/** `75%`, `12h`, `7d`. @throws InvalidArgumentError */
function thresholdFlag(text: string): Threshold {
  const digits = /^(\d{1,4})%$/.exec(text)?.[1];
  if (digits === undefined) return { leftSeconds: daysFlag(text) };
  if (Number(digits) <= 100) return { elapsedPercent: Number(digits) };
  throw new InvalidArgumentError('write at most 100%');
}
