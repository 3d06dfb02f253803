// SPDX-License-Identifier: Apache-2.0
/** What holds for every command that people run: help that begins with examples, and a sign of life. */
import { Help, type Command } from 'commander';
import { sayWhenSlow } from '../terminal.ts';

/** Examples of the commands whose flags have none beside them, by the words that lead to them. */
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
  'ledger erase': [
    'countersign ledger erase --user jane@example.com',
    'countersign ledger erase --user jane@example.com --yes',
  ],
  'ledger keys': ['countersign ledger keys'],
  'ledger rotate-key': [
    'countersign ledger rotate-key --yes',
    'countersign ledger rotate-key --finish --yes',
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
  'cert-manager-operator plan': ['countersign cert-manager-operator plan --file deployment.yaml'],
  'account-key': ['countersign account-key example.com/public'],
  'persist-record': ['countersign persist-record example.com/public www.example.com'],
};

/** An empty line between the examples and the rest. */
export const HELP_STYLE: Partial<Help> = {
  formatHelp: (command, helper) => `\n${Help.prototype.formatHelp.call(helper, command, helper)}`,
};

/** Gives each command its examples, and lets those that take long say so on a terminal. */
export function applyManners(root: Command): void {
  for (const [path, examples] of Object.entries(EXAMPLES)) {
    const lines = examples.map((each) => `  ${each}`);
    commandAt(root, path)?.addHelpText('before', ['', 'Examples:', ...lines].join('\n'));
  }
  root.hook('preAction', (_, action) => {
    // A component tells its own log; what completes a word is silent.
    const isForPeople = action.options.some(({ long }) => long === '--as');
    const { output } = action.opts<{ readonly output?: string }>();
    // Whoever asks for JSON has a program that waits.
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
