// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { DEFAULT_SECRET_NAMESPACE, OWN_TLS_SIGNER } from '#api/signer/own-tls.ts';
import { durationFlag, gather } from '#app/flag-values.ts';
import { DEFAULT_PROPAGATION_SECONDS } from '#ca/issuance/propagation-gate.ts';

/** Default namespace of the components. */
export const DEFAULT_NAMESPACE = 'countersign-system';

/** Flags of commands that users run with their own permissions. */
export interface UserOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly as?: string;
  readonly asGroup: readonly string[];
  /** Flags of `countersign ledger`. */
  readonly ledgerUrl?: string;
  readonly ledgerNamespace?: string;
}

/** Adds the flags of {@link UserOptions} to a subcommand. */
export function addUserOptions(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig (default: KUBECONFIG, then ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--as <user>', 'impersonate this user')
    .option('--as-group <name>', 'impersonate this group (repeatable)', gather, []);
}

/** Adds the flags of the ledger's address. */
export function addLedgerPlace(command: Command): Command {
  return command
    .option(
      '--ledger-url <url>',
      'https://host:port of the ledger, such as of kubectl port-forward (default: through the API server)',
    )
    .option('--ledger-namespace <name>', 'namespace of the components', DEFAULT_NAMESPACE);
}

/** Returns the option for the propagation time of the components. */
export function propagationOption(): Option {
  const help = 'the value of --propagation that the components run with';
  return new Option('--propagation <duration>', help)
    .argParser(durationFlag)
    .default(DEFAULT_PROPAGATION_SECONDS, '10m');
}

/** Adds the flags that name an installation: the place that `countersign check` reads. */
export function addInstallationPlace(command: Command): Command {
  return command
    .option('-n, --namespace <name>', 'namespace of the components', DEFAULT_NAMESPACE)
    .option('--secret-namespace <name>', 'namespace of the CA Secrets', DEFAULT_SECRET_NAMESPACE)
    .option(
      '--serving-signer <name>',
      'signer name whose CA signs the certificates of the components’ own ports',
      OWN_TLS_SIGNER,
    );
}
