// SPDX-License-Identifier: Apache-2.0
/**
 * Conventions of all commands for users: help that begins with examples, and a progress message.
 */
import { Help, Option, type Command } from 'commander';
import { sayWhenSlow } from '../terminal.ts';
import { sortedByGroup } from './groups.ts';

/** Examples of commands whose flags.ts has none, by their words. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  'authority show': [
    'countersign authority show',
    'countersign authority show workload people -o yaml',
  ],
  'authority prepare': ['countersign authority prepare workload --dry-run'],
  'authority activate': ['countersign authority activate workload sha256:1f3c9a20'],
  'authority taint': [
    'countersign authority taint workload sha256:1f3c9a20 --dry-run',
    'countersign authority taint workload sha256:1f3c9a20 --restart --rate 10',
  ],
  'authority csr': ['countersign authority csr workload > workload.csr'],
  'authority install': [
    'countersign authority install workload --chain chain.pem --trust-everything-below --root-fingerprint sha256:…',
    'countersign authority install workload --chain next.pem --dry-run',
  ],
  'authority revoke': ['countersign authority revoke workload sha256:1f3c9a20 --dry-run'],
  'ledger search': [
    'countersign ledger search --pod team-a/web-0',
    'countersign ledger search --signer example.com/workload --expires-in 7d -o csv',
  ],
  'ledger show': ['countersign ledger show 1-42', 'countersign ledger show 1-42 -o pem'],
  'ledger prove': ['countersign ledger prove 1-42 > proof.txt'],
  'ledger verify': [
    'countersign ledger verify',
    'countersign ledger verify --checkpoint kept-elsewhere.txt',
  ],
  'ledger verify-proof': [
    "countersign ledger verify-proof proof.txt --key 'ledger.example.com/2026+1f3c9a20+AbC…'",
  ],
  'ledger erase': [
    'countersign ledger erase --user jane@example.com',
    'countersign ledger erase --user jane@example.com --yes',
  ],
  'ledger keys': ['countersign ledger keys'],
  'ledger rotate-key': [
    'countersign ledger rotate-key --yes',
    'countersign ledger rotate-key --complete --yes',
  ],
  'ledger migrate': ['countersign ledger migrate --data /var/lib/countersign --schema 3'],
  'ledger export': ['countersign ledger export --file records.jsonl'],
  'policy test': [
    'countersign policy test --signer-file signer.yaml --csr jane.csr --user jane --group dev',
    'countersign policy test --signer-file signer.yaml --pod pod.yaml',
  ],
  'policy replay': ['countersign policy replay --signer-file new.yaml --since 30d'],
  rbac: ['countersign rbac --help', 'countersign rbac --from-cluster > roles.yaml'],
  conformance: ['countersign conformance --kind csr --signer example.com/people'],
  'refresh plan': ['countersign refresh plan', 'countersign refresh plan --namespace team-a'],
  'operator plan': ['countersign operator plan --file countersign.yaml'],
  'cert-manager-operator release': [
    'countersign cert-manager-operator release cert-manager.yaml | kubectl apply --server-side -f -',
  ],
  'cert-manager-operator plan': ['countersign cert-manager-operator plan --file deployment.yaml'],
  'account-key': ['countersign account-key example.com/public'],
  'persist-record': ['countersign persist-record example.com/public www.example.com'],
};

/** Help with an empty line between the examples and the rest, and without empty defaults. */
export const HELP_STYLE: Partial<Help> = {
  formatHelp: (command, helper) => `\n${Help.prototype.formatHelp.call(helper, command, helper)}`,
  visibleCommands(command) {
    const visible = Help.prototype.visibleCommands.call(this, command);
    if (command.parent !== null) return visible;
    return sortedByGroup(visible.filter((each) => each.name() !== 'help'));
  },
  optionDescription(option) {
    // A flag that collects values starts with an empty list, not with a default.
    const defaultValue: unknown = option.defaultValue;
    const isEmpty = Array.isArray(defaultValue) && defaultValue.length === 0;
    if (!isEmpty || option.defaultValueDescription !== undefined)
      return Help.prototype.optionDescription.call(this, option);
    const plain = new Option(option.flags, option.description);
    if (option.argChoices !== undefined) plain.choices(option.argChoices);
    return Help.prototype.optionDescription.call(this, plain);
  },
  // Keep the order of the groups, not of the table.
  groupItems(_unsorted, visible, groupOf) {
    // `call` loses the type parameter of the method.
    return Help.prototype.groupItems.call(this, visible, visible, groupOf as never) as never;
  },
};

/** Adds the examples to each command, and a progress message on a terminal to slow ones. */
export function applyConventions(root: Command): void {
  for (const [path, examples] of Object.entries(EXAMPLES)) {
    const lines = examples.map((each) => `  ${each}`);
    commandAt(root, path)?.addHelpText('before', ['', 'Examples:', ...lines].join('\n'));
  }
  root.hook('preAction', (_, action) => {
    // A component has its own log, and completion is silent.
    const isForPeople = action.options.some(({ long }) => long === '--as');
    const { output } = action.opts<{ readonly output?: string }>();
    // JSON and YAML are for programs.
    if (isForPeople && output !== 'json' && output !== 'yaml') sayWhenSlow(action.name());
  });
}

function commandAt(root: Command, path: string): Command | undefined {
  return path
    .split(' ')
    .reduce<Command | undefined>(
      (command, word) => command?.commands.find((each) => each.name() === word),
      root,
    );
}
