// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { DEFAULT_PROPAGATION_SECONDS } from '#ca/issuance/propagation-gate.ts';
import { outputOption } from '#cli/list-options.ts';
import { addUserOptions } from '#cli/user-options.ts';
import type { Approval } from '#operations/deciding/decide-request.ts';
import type { DecideOptions } from './run.ts';

const EXIT_CODES = `
Exit codes:
  0  decided, or decided so before      3  decided otherwise, failed, or would fail: nothing is written
  1  one cannot be read or written      2  the command line is wrong

If one cannot be read, nothing is written. If one cannot be written, the others are decided and printed.`;

const EXAMPLES: Readonly<Record<Approval, string>> = {
  Approved: `
Examples:
  countersign approve csr/alice --dry-run                the verdicts of the rules, and your permission
  countersign approve csr/alice csr/bob --message 'seen their badges'
  countersign approve certificaterequest/tls-1 -n team-a
`,
  Denied: `
Examples:
  countersign deny csr/alice --message 'the name belongs to another user'
  countersign deny certificaterequest/tls-1 -n team-a
`,
};

/** Adds `countersign approve` and `countersign deny`. */
export function addApproveCommands(root: Command): void {
  add(root, 'approve', 'Approved', 'approve requests that wait for a person');
  add(root, 'deny', 'Denied', 'deny requests, for good');
}

function add(root: Command, name: string, decision: Approval, description: string): void {
  const command = root
    .command(`${name} <kind/name...>`)
    .description(`${description}: CSRs, and CertificateRequests of cert-manager`)
    .option('-n, --namespace <name>', 'namespace of CertificateRequests', 'default')
    .option(
      '--reason <word>',
      'reason of the condition, one CamelCase word',
      `Countersign${verb(name)}`,
    )
    .option('--message <text>', 'message of the condition: why', `countersign ${name}`)
    .option(
      '--dry-run',
      'print the verdicts of the rules, validate on the API server, and store nothing',
      false,
    )
    .addOption(outputOption(['name']));
  if (decision === 'Approved') {
    command.option('--force', 'approve a request even if its signer would fail it', false);
  }
  command.addHelpText('before', EXAMPLES[decision] + EXIT_CODES);
  addUserOptions(command).action(
    async (subjects: string[], options: Omit<DecideOptions, 'propagation'>) => {
      const { decideRequests } = await import('./run.ts');
      const all = { ...options, propagation: DEFAULT_PROPAGATION_SECONDS };
      process.exitCode = await decideRequests(decision, subjects, all);
    },
  );
}

function verb(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
