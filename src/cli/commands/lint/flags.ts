// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { outputOption } from '#cli/list-options.ts';
import { addUserOptions } from '#cli/user-options.ts';
import type { LintOptions } from './run.ts';

const HELP = `
Examples:
  countersign lint request.yaml                 would the API server accept it?
  countersign lint jane.csr chain.pem           RFC 5280, and the requirements of Countersign
  countersign lint signer.yaml --strict         warnings fail, too
  kubectl get ctb NAME -o yaml | countersign lint -
  countersign lint secret/web-tls -n team-a -o json

Exit codes:
  0  nothing, or warnings          3  errors; with --strict warnings, too
  1  the API server refused        2  the command line is wrong, or there is nothing to lint`;

/** Adds `countersign lint`, which finds errors before the API server or a verifier does. */
export function addLintCommand(root: Command): void {
  const command = root
    .command('lint <source...>')
    .description('find violations of the API, RFC 5280 and Countersign before you submit')
    .option('-n, --namespace <name>', 'namespace of objects', 'default')
    .option('--strict', 'let warnings fail, too', false)
    .addOption(outputOption())
    .addHelpText('before', HELP);
  addUserOptions(command).action(async (sources: string[], options: LintOptions) => {
    const { lint } = await import('./run.ts');
    process.exitCode = await lint(sources, options);
  });
}
