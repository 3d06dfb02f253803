// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { gather } from '../flag-values.ts';

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

/** The flag of the component that reads credentials of DNS. */
export interface CredentialOptions {
  readonly credentialNamespace: string;
}

/** Adds {@link CredentialOptions}. */
export function addCredentialOptions(command: Command): Command {
  return command.option(
    '--credential-namespace <name>',
    'namespace of the DNS credentials of AcmeClusterSigners; providers read Secrets there, so keep nothing else in it',
    'countersign-dns',
  );
}
