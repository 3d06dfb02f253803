// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { DEFAULT_PROPAGATION_SECONDS } from '../../../issuance/propagation-gate.ts';
import { OUTPUTS } from '../../../operations/report.ts';
import type { ChangeOptions } from './change.ts';
import type { ShowOptions } from './show.ts';
import type { TaintOptions } from './taint.ts';
import { durationFlag, gather, positiveFlag } from '../../../app/flag-values.ts';
import { addUserOptions } from '../../../app/user-client.ts';

const DEFAULT_TIMEOUT_SECONDS = 1800;
/** One a second: a Deployment of a hundred pods is through in less than two minutes. */
const DEFAULT_RATE = 60;

const EXIT_CODES = `
Exit code: 0 done, or nothing to do; 3 refused, nothing was written; 4 pods are left;
1 something went wrong; 2 the CA signed until the timeout.`;

/**
 * `countersign authority show | prepare | activate | taint | revoke`: what people do about a signer's
 * CAs, with their own rights. `countersign authority` alone runs the component.
 */
export function addAuthorityVerbs(authority: Command): void {
  // The component's own flags end where a verb begins: both have --kubeconfig and --propagation.
  authority.enablePositionalOptions();
  addShow(authority);
  const prepare = verb(
    authority,
    'prepare <signer>',
    'make and publish a successor of the CA that signs',
  );
  addOrderOptions(prepare).action(async (name: string, options: ChangeOptions) => {
    const { runChange } = await import('./change.ts');
    process.exitCode = await runChange('prepare', [name, undefined], options);
  });
  const activate = verb(authority, 'activate <signer> [fingerprint]', 'let the prepared CA sign');
  addOrderOptions(activate).action(
    async (name: string, fingerprint: string | undefined, options: ChangeOptions) => {
      const { runChange } = await import('./change.ts');
      process.exitCode = await runChange('activate', [name, fingerprint], options);
    },
  );
  addTaint(authority);
  const revoke = verb(
    authority,
    'revoke <signer> <fingerprint>',
    'end the trust in a CA: it leaves the bundle',
  );
  addOrderOptions(revoke).action(
    async (name: string, fingerprint: string, options: ChangeOptions) => {
      const { runChange } = await import('./change.ts');
      process.exitCode = await runChange('revoke', [name, fingerprint], options);
    },
  );
  // Last: what is made before it does not inherit its leniency.
  refuseOtherVerbs(authority);
}

/** To commander a word that is no verb is an argument too many, of which nobody learns what to write. */
function refuseOtherVerbs(authority: Command): void {
  authority.allowExcessArguments(true).hook('preAction', (_command, action) => {
    const [other] = action === authority ? action.args : [];
    if (other === undefined) return;
    const verbs = authority.commands.map((each) => each.name()).join(', ');
    authority.error(`error: "${other}" is no verb of authority; there are ${verbs}`);
  });
}

function verb(authority: Command, usage: string, description: string): Command {
  return authority.command(usage).description(description);
}

function addShow(authority: Command): void {
  const show = verb(authority, 'show [signer]', 'show the CAs of a ClusterSigner, or of all');
  addLookOptions(show).action(async (name: string | undefined, options: ShowOptions) => {
    const command = await import('./show.ts');
    await command.show(name, options);
  });
}

function addTaint(authority: Command): void {
  const taint = verb(
    authority,
    'taint <signer> <fingerprint>',
    'replace a CA that can no longer be relied upon, say how long its leaves live, and who mounts them',
  )
    .option('-n, --namespace <name>', 'look for pods there only (repeatable)', gather, [])
    .option('--restart', 'evict the pods that may hold its leaves, once it signs no more', false)
    .addOption(
      new Option('--rate <n>', 'evictions a minute').argParser(positiveFlag).default(DEFAULT_RATE),
    )
    .addOption(
      new Option(
        '--timeout <duration>',
        'how long to wait for the successor and for disruption budgets',
      )
        .argParser(durationFlag)
        .default(DEFAULT_TIMEOUT_SECONDS, '30m'),
    )
    .option('--bare-pods', 'evict also pods that nobody makes anew', false);
  addOrderOptions(taint).action(
    async (name: string, fingerprint: string, options: TaintOptions) => {
      const { taintAuthority } = await import('./taint.ts');
      process.exitCode = await taintAuthority([name, fingerprint], options);
    },
  );
}

function addOrderOptions(command: Command): Command {
  return addLookOptions(
    command
      .option('--force', 'give the order in spite of what speaks against it', false)
      .option('--dry-run', 'let the API server check everything, and change nothing', false),
  ).addHelpText('after', EXIT_CODES);
}

function addLookOptions(command: Command): Command {
  return addUserOptions(
    command
      .addOption(
        new Option('-o, --output <format>', 'for people or for programs')
          .choices(OUTPUTS)
          .default('text'),
      )
      .addOption(
        new Option('--propagation <duration>', 'the flag that the components run with')
          .argParser(durationFlag)
          .default(DEFAULT_PROPAGATION_SECONDS, '10m'),
      ),
  );
}
