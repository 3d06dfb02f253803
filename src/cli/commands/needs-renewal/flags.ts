// SPDX-License-Identifier: Apache-2.0
import { InvalidArgumentError, Option, type Command } from 'commander';
import { daysFlag, portFlag } from '#app/flag-values.ts';
import type { Threshold } from '#diagnose/inspect/renewal.ts';
import { outputOption } from '#cli/list-options.ts';
import { addUserOptions } from '#cli/user-options.ts';
import type { NeedsRenewalOptions } from './run.ts';

const HELP = `
Examples:
  countersign needs-renewal tls.crt                    has it passed 66% of its life?
  countersign needs-renewal tls.crt --expires-in 12h   does it expire within 12 hours?
  countersign needs-renewal tls.crt --expires-in 75%   has it passed 75% of its life?
  countersign needs-renewal secret/web-tls -n team-a
  countersign needs-renewal root.crl --expires-in 50%  is the ceremony of the next CRL due?
  countersign needs-renewal pod/web -n team-a --port 8443
  if countersign needs-renewal tls.crt; then renew; fi

Exit codes (those of step certificate needs-renewal):
  0  one of them needs renewal     2    there is no such thing, or no certificate in it
  1  none does                     255  any other error`;

/** The default of `step`. */
const DEFAULT_THRESHOLD: Threshold = { elapsedPercent: 66 };

/** Adds `countersign needs-renewal` for scripts, with the exit codes of `step`. */
export function addNeedsRenewalCommand(root: Command): void {
  const command = root
    .command('needs-renewal <source...>')
    .description('exit 0 if a certificate or CRL needs renewal: files, servers, objects')
    .option('-n, --namespace <name>', 'namespace of objects', 'default')
    .addOption(
      new Option(
        '--expires-in <percent|duration>',
        'elapsed share of the lifetime, or remaining time',
      )
        .argParser(thresholdFlag)
        .default(DEFAULT_THRESHOLD, '66%'),
    )
    .option('--bundle', 'check every certificate of a chain, not only its leaf', false)
    .option(
      '--port <number>',
      'pod/NAME: also read the certificate that this port of the pod serves',
      portFlag,
    )
    .option('--server-name <name>', 'server name to request (SNI; default: the host of the URL)')
    .option('--password-file <file>', 'file with the password of PKCS#12')
    .addOption(outputOption())
    .addHelpText('before', HELP);
  addUserOptions(command).action(async (sources: string[], options: NeedsRenewalOptions) => {
    const { needsRenewal } = await import('./run.ts');
    process.exitCode = await needsRenewal(sources, options);
  });
}

/**
 * Parses `75%`, `12h`, `7d`.
 *
 * @throws InvalidArgumentError
 */
function thresholdFlag(text: string): Threshold {
  const digits = /^(\d{1,4})%$/.exec(text)?.[1];
  if (digits === undefined) return { leftSeconds: daysFlag(text) };
  if (Number(digits) <= 100) return { elapsedPercent: Number(digits) };
  throw new InvalidArgumentError('write at most 100%');
}
