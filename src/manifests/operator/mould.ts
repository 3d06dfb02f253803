// SPDX-License-Identifier: Apache-2.0
import type { Refusal } from '../../installing/desired.ts';
import { quoteList } from '../../quote.ts';
import moulds from './moulds.json' with { type: 'json' };

/**
 * The flags of each component, and whether they take a value, as a version's own `--help` lists them. A `boolean` of Go may.
 */
export type Mould = Readonly<
  Record<string, Readonly<Record<string, 'value' | 'switch' | 'boolean'>>>
>;

/** Minor version → its mould: this minor version and the one before. `make deploy` writes that of this one. */
export const MOULDS: Readonly<Record<string, Mould>> = moulds as Readonly<Record<string, Mould>>;

/** Flags that a writer of a spec may not set, or only where an administrator lets them. */
export interface KeptFlags {
  /** Never: the installation sets them, or they lead a component away from this cluster. */
  readonly never: ReadonlySet<string>;
  /** Only in the danger zone: they decide whom a component calls, whom it trusts, or which Secrets it reads. */
  readonly dangerous: ReadonlySet<string>;
}

const KEPT: KeptFlags = {
  never: new Set([
    ...['--help', '--kubeconfig', '--context', '--lease-namespace', '--no-leases'],
    '--secret-namespace',
    ...['--listen', '--listen-https', '--serving-certificate', '--namespaced-signers'],
    ...['--serving-namespace', '--serving-signer'],
    // Which file is sent as a token, and to whom: a ServiceAccount's own token is a file as well.
    ...['--ledger', '--ledger-token', '--ledger-ca', '--ledger-name'],
    // Who may append, under which name, and where the records are: a log in another place is a log that nobody looks at.
    ...['--appender', '--origin', '--data', '--database-url', '--listen-ledger'],
    ...['--database', '--database-password', '--database-ca'],
    // What leaves the cluster, and where to; two of them name files that are sent.
    ...['--checkpoint-webhook', '--checkpoint-webhook-secret', '--checkpoint-object'],
    ...['--checkpoint-ca', '--witness'],
    // They take permissions that an installation has or has not.
    ...['--acme-account-keys', '--renew-certificates', '--listen-challenges', '--listen-crl'],
    '--ca-bundle-of',
    // Which files sign what is sent, and where cursors are.
    ...['--target-secrets', '--target-ca'],
    // It takes a permission that an installation has or has not.
    ...['--look-at-pods', '--ledger-facts'],
    // Which files prove who serves a bundle, and where the Services lead.
    ...['--listen-web', '--web-certificate', '--listen-spiffe', '--svid'],
  ]),
  dangerous: new Set([
    // Whether anything is recorded.
    '--ledger-mode',
    // Whether a certificate without a record is seen.
    '--monitor-patience',
    // Whether records, and all of them, are kept.
    ...['--retention', '--omit'],
    // Whose names may be proved how, what writers of AcmeSigners may have called, and who answers for DNS.
    ...['--http01-zone', '--namespaced-server', '--namespaced-solver', '--namespaced-network'],
    ...['--resolver', '--self-check-network', '--self-check-ports'],
    // Whose anchors other trust domains take for those of which trust domain, and how the server proves itself.
    ...['--trust-domain', '--profile'],
    // Whom it asks, whose word stands for which trust domain, and how long.
    ...['--federate', '--ended-trust-domain', '--own-trust-domain', '--federation-files', '--keep'],
    '--federation-network',
    // Whom a component tells what happens, in which networks, and whether it tells everything.
    ...['--target', '--target-events', '--target-network', '--handshake', '--source'],
    // Which Secrets are read.
    ...['--credential-namespace', '--secret', '--monitored-secret'],
  ]),
};

/** What the mould says of a list of arguments. */
export interface CheckedArguments {
  /** Flags that the version does not know. */
  readonly unknown: readonly string[];
  /** What is wrong whatever the version. */
  readonly faults: readonly string[];
  /** Flags that only the danger zone may have. */
  readonly dangerous: readonly string[];
}

/**
 * Passes arguments through the mould of a component. A value is written behind `=`, so that no argument stands alone: a
 * word by itself could be a verb.
 *
 * @param flags - of the component; undefined: the version has no such component
 * @param kept - flags that are not the writer's to set
 */
export function checkArguments(
  flags: Mould[string] | undefined,
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
  takes: Mould[string][string] | undefined,
  never: ReadonlySet<string>,
): string | undefined {
  const { name, value } = partsOf(argument);
  if (!/^--[a-z][a-z0-9-]*$/.test(name)) return `${argument} is not --flag or --flag=value`;
  if (never.has(name)) return `${name} is set by the installation`;
  if (takes === 'value' && value === undefined) return `write ${name}=<value>`;
  if (takes === 'switch' && value !== undefined) return `${name} takes no value`;
  return undefined;
}

function partsOf(argument: string): { readonly name: string; readonly value?: string } {
  const at = argument.indexOf('=');
  if (at < 0) return { name: argument };
  return { name: argument.slice(0, at), value: argument.slice(at + 1) };
}

/**
 * Refuses arguments outside the danger zone by what was found of them.
 *
 * @param at - their place in the spec
 * @param stranger - what a message says of flags that the version does not know
 */
export function refuseChecked(
  at: string,
  { faults, dangerous, unknown }: CheckedArguments,
  stranger: (flags: string) => string,
): Refusal | undefined {
  if (faults.length > 0)
    return { reason: 'InvalidArgument', message: `${at}: ${quoteList(faults)}` };
  if (dangerous.length > 0) {
    const message = `${at}: ${quoteList(dangerous)} may be in spec.dangerZone.extraArgs only, which an administrator allows by the operator’s flag --allow-danger-zone: by such a flag the writer of a spec decides whom a component calls or trusts, or what it reads`;
    return { reason: 'InvalidArgument', message };
  }
  if (unknown.length === 0) return undefined;
  return { reason: 'UnknownArgument', message: `${at}: ${stranger(quoteList(unknown))}` };
}
