// SPDX-License-Identifier: Apache-2.0
import type { Refusal } from '../reconcile/desired.ts';
import { quoteList } from '#base/quote.ts';
import flagSchemas from './flag-schemas.json' with { type: 'json' };
import * as messages from './messages.ts';

/**
 * Flags of each component and their kinds, from a version's own `--help`. A Go `boolean` may have a
 * value.
 */
export type FlagSchema = Readonly<
  Record<string, Readonly<Record<string, 'value' | 'switch' | 'boolean'>>>
>;

/**
 * Minor version → its flag schema, for this minor version and the previous one. `make deploy`
 * writes that of this one.
 */
export const FLAG_SCHEMAS: Readonly<Record<string, FlagSchema>> = flagSchemas as Readonly<
  Record<string, FlagSchema>
>;

/** Flags that a writer of a spec may not set, or only if an administrator allows it. */
export interface KeptFlags {
  /**
   * Flags that are never allowed: the installation sets them, or they lead a component away from
   * this cluster.
   */
  readonly never: ReadonlySet<string>;
  /**
   * Flags for the danger zone only. They choose the servers that a component calls and trusts, or
   * the Secrets that it reads.
   */
  readonly dangerous: ReadonlySet<string>;
}

const KEPT: KeptFlags = {
  never: new Set([
    '--help',
    '--kubeconfig',
    '--context',
    '--lease-namespace',
    '--no-leases',
    '--secret-namespace',
    '--listen',
    '--listen-https',
    '--serving-certificate',
    '--namespaced-signers',
    '--serving-namespace',
    '--serving-signer',
    // Choose the file to send as a token, and its recipient. A ServiceAccount's own token is a file
    // too.
    '--ledger',
    '--ledger-token',
    '--ledger-ca',
    '--ledger-name',
    '--upstream-vault',
    '--vault',
    // Chooses where a component writes files.
    '--kept-chains',
    // Choose who may append, the log's name, and the place of the records. A log in another place
    // would go unnoticed.
    '--appender',
    '--origin',
    '--data',
    '--database-url',
    '--listen-ledger',
    '--database',
    '--database-password',
    '--database-ca',
    // Choose the data that leaves the cluster, and its destination. Two of them name files to send.
    '--checkpoint-webhook',
    '--checkpoint-webhook-secret',
    '--checkpoint-object',
    '--checkpoint-ca',
    '--witness',
    // Need permissions that only some installations have.
    '--acme-account-keys',
    '--renew-certificates',
    '--listen-challenges',
    '--listen-crl',
    '--ca-bundle-of',
    // Choose the files that sign events, and the place of cursors.
    '--target-secrets',
    '--target-ca',
    // Need permissions that only some installations have.
    '--read-pods',
    '--ledger-facts',
    '--aggregated-api',
    // Choose the files of the server's certificate, and the destination of the Services.
    '--listen-web',
    '--web-certificate',
    '--listen-spiffe',
    '--svid',
  ]),
  dangerous: new Set([
    // Chooses the socket whose holder signs.
    '--key-holder',
    // Decides whether components record.
    '--ledger-mode',
    // Decides whether a certificate without a record is detected.
    '--unrecorded-grace-period',
    // Decide whether the ledger keeps complete records.
    '--retention',
    '--omit',
    // Choose provable names and their method, destinations for AcmeSigners, and the DNS servers.
    '--http01-zone',
    '--namespaced-server',
    '--namespaced-solver',
    '--namespaced-network',
    '--resolver',
    '--self-check-network',
    '--self-check-ports',
    // Choose the anchors that other trust domains get for a trust domain, and the server's
    // certificate.
    '--trust-domain',
    '--profile',
    // Choose the endpoint of each trust domain, the domains, and how long bundles stay.
    '--federate',
    '--ended-trust-domain',
    '--own-trust-domain',
    '--federation-files',
    '--keep',
    '--federation-network',
    // Choose the targets of notifications, their networks, and whether they get every event.
    '--target',
    '--target-events',
    '--target-network',
    '--handshake',
    '--source',
    // Choose the Secrets that are read.
    '--credential-namespace',
    '--secret',
    '--monitored-secret',
  ]),
};

/** Result of checking arguments against the flag schema. */
export interface CheckedArguments {
  /** Flags that the version does not know. */
  readonly unknown: readonly string[];
  /** Faults that do not depend on the version. */
  readonly faults: readonly string[];
  /** Flags that are allowed only in the danger zone. */
  readonly dangerous: readonly string[];
}

/**
 * Checks arguments against the flag schema of a component. A value must follow `=`, because a
 * separate word could be a verb.
 *
 * @param flags - of the component, or undefined if the version has no such component
 * @param kept - flags that the writer may not set
 */
export function checkArguments(
  flags: FlagSchema[string] | undefined,
  given: readonly string[],
  kept: KeptFlags = KEPT,
): CheckedArguments {
  const unknown: string[] = [];
  const faults: string[] = [];
  const dangerous: string[] = [];
  for (const argument of given) {
    const { name } = partsOf(argument);
    const takes = flags?.[name];
    const fault = faultOf(argument, takes, kept.never);
    if (fault !== undefined) faults.push(fault);
    else if (takes === undefined) unknown.push(name);
    if (kept.dangerous.has(name)) dangerous.push(name);
  }
  return { unknown, faults, dangerous };
}

function faultOf(
  argument: string,
  takes: FlagSchema[string][string] | undefined,
  never: ReadonlySet<string>,
): string | undefined {
  const { name, value } = partsOf(argument);
  if (!/^--[a-z][a-z0-9-]*$/.test(name)) return messages.notAFlag(argument);
  if (never.has(name)) return messages.setByInstallation(name);
  if (takes === 'value' && value === undefined) return messages.valueMissing(name);
  if (takes === 'switch' && value !== undefined) return messages.valueNotTaken(name);
  return undefined;
}

function partsOf(argument: string): { readonly name: string; readonly value?: string } {
  const at = argument.indexOf('=');
  if (at < 0) return { name: argument };
  return { name: argument.slice(0, at), value: argument.slice(at + 1) };
}

/**
 * Rejects arguments outside the danger zone by the result of the check.
 *
 * @param at - their place in the spec
 * @param stranger - returns the message for flags that the version does not know
 */
export function refuseChecked(
  at: string,
  { faults, dangerous, unknown }: CheckedArguments,
  stranger: (flags: string) => string,
): Refusal | undefined {
  if (faults.length > 0)
    return { reason: 'InvalidArgument', message: `${at}: ${quoteList(faults)}` };
  if (dangerous.length > 0) {
    const message = messages.dangerousArguments(at, dangerous);
    return { reason: 'InvalidArgument', message };
  }
  if (unknown.length === 0) return undefined;
  return { reason: 'UnknownArgument', message: `${at}: ${stranger(quoteList(unknown))}` };
}
