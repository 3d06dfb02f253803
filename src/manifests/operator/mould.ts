// SPDX-License-Identifier: Apache-2.0
import moulds from './moulds.json' with { type: 'json' };

/**
 * The flags of each component, and whether they take a value, as a version's own `--help` lists them. A `boolean` of Go may.
 */
export type Mould = Readonly<
  Record<string, Readonly<Record<string, 'value' | 'switch' | 'boolean'>>>
>;

/** Minor version → its mould: this minor version and the one before. `make deploy` writes that of this one. */
export const MOULDS: Readonly<Record<string, Mould>> = moulds as Readonly<Record<string, Mould>>;

/** What the manifests set, and what would lead a component away from this cluster or this installation. */
const OURS: ReadonlySet<string> = new Set([
  ...['--help', '--kubeconfig', '--context', '--lease-namespace', '--no-leases'],
  '--secret-namespace',
  ...['--listen', '--listen-https', '--serving-certificate', '--namespaced-signers'],
  ...['--serving-namespace', '--serving-signer'],
  // Which file is sent as a token, and to whom: a ServiceAccount's own token is a file as well.
  ...['--ledger', '--ledger-token', '--ledger-ca', '--ledger-name'],
]);

/** What the mould says of a list of arguments. */
export interface CheckedArguments {
  /** Flags that the version does not know. */
  readonly unknown: readonly string[];
  /** What is wrong whatever the version. */
  readonly faults: readonly string[];
}

/**
 * Passes arguments through the mould of a component. A value is written behind `=`, so that no argument stands alone: a
 * word by itself could be a verb.
 *
 * @param flags - of the component; undefined: the version has no such component
 * @param ours - flags that the installation sets
 */
export function checkArguments(
  flags: Mould[string] | undefined,
  given: readonly string[],
  ours: ReadonlySet<string> = OURS,
): CheckedArguments {
  const unknown: string[] = [];
  const faults: string[] = [];
  for (const argument of given) {
    const { name } = partsOf(argument);
    const takes = flags?.[name];
    const fault = faultOf(argument, takes, ours);
    if (fault !== undefined) faults.push(fault);
    else if (takes === undefined) unknown.push(name);
  }
  return { unknown, faults };
}

function faultOf(
  argument: string,
  takes: Mould[string][string] | undefined,
  ours: ReadonlySet<string>,
): string | undefined {
  const { name, value } = partsOf(argument);
  if (!/^--[a-z][a-z0-9-]*$/.test(name)) return `${argument} is not --flag or --flag=value`;
  if (ours.has(name)) return `${name} is set by the installation`;
  if (takes === 'value' && value === undefined) return `write ${name}=<value>`;
  if (takes === 'switch' && value !== undefined) return `${name} takes no value`;
  return undefined;
}

function partsOf(argument: string): { readonly name: string; readonly value?: string } {
  const at = argument.indexOf('=');
  if (at < 0) return { name: argument };
  return { name: argument.slice(0, at), value: argument.slice(at + 1) };
}
