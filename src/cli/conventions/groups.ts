// SPDX-License-Identifier: Apache-2.0
/** The order of `countersign --help`: everyday commands first, components last. */
import type { Command } from 'commander';

/** Heading → commands, in printed order. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Everyday:': [
    'check',
    'explain',
    'console',
    'inspect',
    'issued',
    'needs-renewal',
    'lint',
    'completion',
  ],
  'Installation:': ['install', 'uninstall', 'images', 'manifests', 'rbac'],
  'Requests and rules:': ['request', 'approve', 'deny', 'revoke', 'policy', 'conformance'],
  'CAs and accounts:': [
    'authority',
    'ceremony',
    'fleet',
    'key-holder',
    'refresh',
    'account-key',
    'persist-record',
  ],
  'Records:': ['ledger'],
};
const COMPONENTS = 'Components (they run in pods):';

/** Puts each command below its heading. Commands without a heading are components. */
export function applyGroups(root: Command): void {
  for (const [heading, names] of Object.entries(GROUPS)) {
    for (const name of names)
      root.commands.find((each) => each.name() === name)?.helpGroup(heading);
  }
  const grouped = Object.values(GROUPS).flat();
  for (const each of root.commands) if (!grouped.includes(each.name())) each.helpGroup(COMPONENTS);
}

/** Returns the commands of the root in the order of its help, by their groups. */
export function sortedByGroup(commands: readonly Command[]): Command[] {
  const order = Object.values(GROUPS).flat();
  const rank = (command: Command): number => {
    const index = order.indexOf(command.name());
    return index === -1 ? order.length : index;
  };
  return commands.toSorted((a, b) => rank(a) - rank(b));
}
