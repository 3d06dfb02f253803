// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { ANCHOR_CHOICES } from '#api/signer/cluster-signer.ts';
import type { ChangeOptions } from './change.ts';
import type { ShowOptions } from './show.ts';
import type { TaintOptions } from './taint.ts';
import type { CsrOptions, InstallChainOptions } from './upstream.ts';
import { durationFlag, fingerprintFlag, gather, positiveFlag } from '#app/flag-values.ts';
import { allNamespacesOption, outputOption, selectorOption } from '#cli/list-options.ts';
import { addUserOptions, propagationOption } from '#cli/user-options.ts';

/** Default timeout: longer than the propagation time, plus disruption budgets. */
const DEFAULT_TAINT_TIMEOUT_SECONDS = 1800;
/** Evictions a minute: a Deployment of a hundred pods is replaced in less than two minutes. */
const DEFAULT_RATE = 60;

const EXIT_CODES = `
Exit code: 0 done, or nothing to do; 1 an error; 2 the command line is wrong, or the CA still signed
at the timeout; 3 refused, nothing was written; 4 pods are left, or an account has its old key.`;

/**
 * Adds `countersign authority show | prepare | activate | taint | revoke | csr | install`, which
 * users run for a signer's CAs with their own permissions. `countersign authority` alone runs the
 * component.
 */
export function addAuthorityVerbs(authority: Command): void {
  // Flags before the verb belong to the component: both have --kubeconfig and --propagation.
  authority.enablePositionalOptions();
  addShow(authority);
  const prepare = verb(
    authority,
    'prepare <signer>',
    'create and publish a successor of the active CA, or a new key of an ACME account',
  );
  addAccountOptions(prepare).action(async (name: string, options: AccountOptions) => {
    if (await rolledOver('prepare', name, options)) return;
    const { runChange } = await import('./change.ts');
    process.exitCode = await runChange('prepare', [name, undefined], options);
  });
  const activate = verb(
    authority,
    'activate <signer> [fingerprint]',
    'make the prepared CA active, or the prepared key of an ACME account',
  );
  addAccountOptions(activate).action(
    async (name: string, fingerprint: string | undefined, options: AccountOptions) => {
      if (await rolledOver('activate', name, options)) return;
      const { runChange } = await import('./change.ts');
      process.exitCode = await runChange('activate', [name, fingerprint], options);
    },
  );
  addTaint(authority);
  const revoke = verb(
    authority,
    'revoke <signer> <fingerprint>',
    'distrust a CA: its anchor leaves the bundle, and verifiers reject its leaves',
  );
  addChangeOptions(revoke).action(
    async (name: string, fingerprint: string, options: ChangeOptions) => {
      const { runChange } = await import('./change.ts');
      process.exitCode = await runChange('revoke', [name, fingerprint], options);
    },
  );
  addUpstream(authority);
  // Keep this last: verbs added before it do not inherit that excess arguments are allowed.
  rejectUnknownVerbs(authority);
}

/** The flags of verbs that also change the key of an ACME account. */
interface AccountOptions extends ChangeOptions {
  readonly namespace?: string;
}

function addAccountOptions(command: Command): Command {
  const signers =
    '\n<signer> is the name of a ClusterSigner, or for the key of an ACME account acmeclustersigner/NAME or acmesigner/NAME.';
  return addChangeOptions(
    command.option('-n, --namespace <name>', 'namespace of an acmesigner'),
  ).addHelpText('after', signers);
}

/** @returns true if the name was that of an ACME signer, whose account now has a new key */
async function rolledOver(
  verb: 'prepare' | 'activate',
  name: string,
  options: AccountOptions,
): Promise<boolean> {
  // A ClusterSigner's name has no slash.
  if (!name.includes('/')) return false;
  const { isAcmeSignerName, runRollOver } = await import('../acme/roll-over.ts');
  if (!isAcmeSignerName(name)) return false;
  process.exitCode = await runRollOver(verb, name, options);
  return true;
}

/**
 * Prints the valid verbs, because commander reports an unknown subcommand as "too many arguments".
 */
function rejectUnknownVerbs(authority: Command): void {
  authority.allowExcessArguments(true).hook('preAction', (_command, action) => {
    const [unknown] = action === authority ? action.args : [];
    if (unknown === undefined) return;
    const verbs = authority.commands.map((each) => each.name()).join(', ');
    authority.error(`error: unknown verb "${unknown}" of authority; use one of ${verbs}`);
  });
}

function verb(authority: Command, usage: string, description: string): Command {
  return authority.command(usage).description(description);
}

function addShow(authority: Command): void {
  const show = verb(
    authority,
    'show [signers...]',
    'show the CAs of ClusterSigners, or of all: by their name or by their signer name',
  )
    .addOption(selectorOption('ClusterSigners'))
    .addOption(outputOption(['wide', 'name']));
  addReadOptions(show).action(async (names: readonly string[], options: ShowOptions) => {
    const command = await import('./show.ts');
    await command.show(names, options);
  });
}

/** Adds the verbs for a CA whose certificate another CA signs. */
function addUpstream(authority: Command): void {
  const csr = verb(authority, 'csr <signer>', 'print the request that the upstream CA must sign');
  addReadOptions(csr).action(async (name: string, options: CsrOptions) => {
    const { printCsr } = await import('./upstream.ts');
    await printCsr(name, options);
  });
  const install = verb(
    authority,
    'install <signer>',
    'check the chain of the upstream CA, and write it into the ClusterSigner',
  )
    .requiredOption(
      '--chain <file>',
      'the CA, its issuers in order, the root last (PEM); - is stdin',
    )
    .addOption(
      new Option(
        '--root-fingerprint <fingerprint>',
        'sha256:… of the root, unless this signer knows it',
      ).argParser(fingerprintFlag),
    )
    .addOption(
      new Option('--anchor <certificate>', 'certificate that verifiers trust').choices(
        ANCHOR_CHOICES,
      ),
    )
    .option(
      '--trust-everything-below',
      'consent that verifiers accept every certificate below the anchor',
      false,
    );
  addChangeOptions(install).action(async (name: string, options: InstallChainOptions) => {
    const { runInstall } = await import('./upstream.ts');
    process.exitCode = await runInstall(name, options);
  });
}

function addTaint(authority: Command): void {
  const taint = verb(
    authority,
    'taint <signer> <fingerprint>',
    'replace a CA that you no longer trust, and list the pods that may hold its leaves',
  )
    .option(
      '-n, --namespace <name>',
      'look for pods in this namespace only (repeatable)',
      gather,
      [],
    )
    .addOption(allNamespacesOption())
    .option(
      '--restart',
      'evict the pods that may hold its leaves, once it has stopped signing',
      false,
    )
    .addOption(
      new Option('--rate <n>', 'evictions a minute').argParser(positiveFlag).default(DEFAULT_RATE),
    )
    .addOption(
      new Option(
        '--timeout <duration>',
        'how long to wait for the successor, and for disruption budgets',
      )
        .argParser(durationFlag)
        .default(DEFAULT_TAINT_TIMEOUT_SECONDS, '30m'),
    )
    .option('--bare-pods', 'evict also pods without a controller, which nothing replaces', false);
  addChangeOptions(taint).action(
    async (name: string, fingerprint: string, options: TaintOptions) => {
      const { taintAuthority } = await import('./taint.ts');
      process.exitCode = await taintAuthority([name, fingerprint], options);
    },
  );
}

function addChangeOptions(command: Command): Command {
  return addReadOptions(
    command
      .addOption(outputOption(['name']))
      .option(
        '--force',
        'write the change in spite of refusals; those without an override stand',
        false,
      )
      .option(
        '--dry-run',
        'let the API server check permissions and admission, and change nothing',
        false,
      ),
  ).addHelpText('after', EXIT_CODES);
}

function addReadOptions(command: Command): Command {
  return addUserOptions(command.addOption(propagationOption()));
}
