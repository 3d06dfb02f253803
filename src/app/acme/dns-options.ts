// SPDX-License-Identifier: Apache-2.0
import { getServers } from 'node:dns';
import type { Command } from 'commander';
import { createExchange, type Exchange } from '../../acme/exchange.ts';
import { CHECK_LIMITS, createDnsClient } from '../../acme-solving/index.ts';
import { gather } from '../flag-values.ts';
import { VERSION } from '../version.ts';

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

/** What asks DNS servers, and servers that a signer names; `http` is to be closed. */
export function createDnsAccess({ resolver }: DnsOptions): {
  readonly ask: ReturnType<typeof createDnsClient>;
  readonly resolvers: readonly string[];
  readonly http: Exchange;
} {
  const http = createExchange({ userAgent: `countersign/${VERSION}`, limits: CHECK_LIMITS });
  const resolvers = resolver.length > 0 ? resolver : getServers();
  return { ask: createDnsClient(http), resolvers, http };
}
