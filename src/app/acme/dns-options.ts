// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { CREDENTIAL_NAMESPACE } from '../../api/acme/index.ts';
import { parseNetwork, type Network } from '../../egress/networks.ts';
import { parseSolverGrant, type SolverGrant } from '../../acme-solving/http/grants.ts';
import { gather, parsedFlag } from '../flag-values.ts';

/** The flag of every component that asks DNS. */
export interface DnsOptions {
  readonly resolver: readonly string[];
}

/** Adds {@link DnsOptions}. */
export function addDnsOptions(command: Command): Command {
  return command.option(
    '--resolver <host:port>',
    'DNS resolver, or the https:// URL of one (repeatable; default: those of the system)',
    gather,
    [],
  );
}

/** The flags of components that call servers in the name of AcmeSigners. */
export interface NamespacedOptions {
  readonly namespacedSolver: readonly SolverGrant[];
  readonly namespacedNetwork: readonly Network[];
}

/** Adds {@link NamespacedOptions}. */
export function addNamespacedOptions(command: Command): Command {
  const each =
    <T>(parse: (text: string) => T) =>
    (text: string, before: readonly T[]): readonly T[] => [...before, parsedFlag(text, parse)];
  return command
    .addOption(
      new Option(
        '--namespaced-solver <member=address>',
        'what solvers of AcmeSigners may call: rfc2136=host:port, acmeDNS=url, webhook=group or nameserver=host:port (repeatable; default: none)',
      )
        .argParser(each(parseSolverGrant))
        .default([]),
    )
    .addOption(
      new Option(
        '--namespaced-network <network>',
        'network that servers of AcmeSigners may be in although it is no part of the Internet, such as 10.0.0.0/8 (repeatable)',
      )
        .argParser(each(parseNetwork))
        .default([]),
    );
}

/** The flags of the component that reads credentials of DNS. */
export interface CredentialOptions extends NamespacedOptions {
  readonly credentialNamespace: string;
}

/** Adds {@link CredentialOptions}. */
export function addCredentialOptions(command: Command): Command {
  return addNamespacedOptions(command).option(
    '--credential-namespace <name>',
    'namespace of the DNS credentials of AcmeClusterSigners; providers read Secrets there, so keep nothing else in it',
    CREDENTIAL_NAMESPACE,
  );
}
