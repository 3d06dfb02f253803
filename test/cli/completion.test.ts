// SPDX-License-Identifier: Apache-2.0
/**
 * Completions: what cobra's protocol says, in the words of this program, and what a real bash makes
 * of it.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Argument, Command, Option } from 'commander';
import { complete, type LiveNames } from '#cli/commands/completion/candidates.ts';
import { MAIN } from '../support/cluster/countersign.ts';

const NAMES: LiveNames = {
  objects: (kind) => Promise.resolve([`${kind}-1`, 'web']),
  namespaces: () => Promise.resolve(['team-a', 'team-b']),
  contexts: () => Promise.resolve(['kind', 'prod']),
  signerNames: () => Promise.resolve(['example.com/workload']),
  clusterSigners: () => Promise.resolve(['workload']),
};

const root = new Command('countersign');
root.command('__complete [words...]', { hidden: true });
root.command('explain <kind/name>').option('-n, --namespace <name>', 'namespace');
root
  .command('inspect <source...>')
  .option('--bundle <source>', 'anchors')
  .option('--server-name <name>', 'name')
  .addOption(new Option('-o, --output <format>', 'format').choices(['json', 'jsonl', 'text']))
  .addOption(new Option('--secret-flag', 'hidden').hideHelp());
root.command('request').option('--signer <name>', 'signer').option('--context <name>', 'context');
const authority = root.command('authority');
authority.command('prepare <signer>').description('make the next CA');
root
  .command('ceremony')
  .command('verify')
  .argument('<file>', 'file')
  .addArgument(new Argument('[verbs...]', 'verbs').choices(['root', 'crl']));

// RFC of it: cobra's shell completions; 1 error, 2 no space, 4 no files.
const laws: [typed: string, candidates: string, directive: number][] = [
  ['', 'explain inspect request authority ceremony', 4],
  ['in', 'inspect', 4],
  ['authority ', 'prepare', 4],
  ['authority prepare ', 'workload', 4],
  ['ceremony verify ', '', 0],
  ['ceremony verify c.yaml ', 'root crl', 4],
  ['ceremony verify c.yaml root c', 'crl', 4],
  ['explain ', 'pod/ csr/ pcr/ certificaterequest/ secret/ signer/ order/', 6],
  ['explain pod/', 'pod/pod-1 pod/web', 4],
  ['explain -n team-a pod/w', 'pod/web', 4],
  ['explain -n ', 'team-a team-b', 4],
  ['explain --namespace=team-', '--namespace=team-a --namespace=team-b', 4],
  ['inspect po', 'pod/', 2],
  ['inspect ./po', '', 0],
  ['inspect --bundle ', '', 0],
  ['inspect --server-name ', '', 4],
  ['inspect -o js', 'json jsonl', 4],
  ['inspect --se', '--server-name', 4],
  ['request --signer ex', 'example.com/workload', 4],
  ['request --context ', 'kind prod', 4],
  ['explain configmap/', '', 4],
];

for (const [typed, candidates, directive] of laws) {
  test(`"${typed}" may become ${candidates === '' ? 'nothing of ours' : candidates}`, async () => {
    const found = await complete(root, typed.split(' '), NAMES);
    assert.equal(found.candidates.map(({ value }) => value).join(' '), candidates);
    assert.equal(found.directive, directive);
  });
}

test('a name that a shell would interpret is not offered, whatever knows it', async () => {
  const hostile = [
    '$(touch x)',
    '`id`',
    'a;id',
    "a'b",
    'a b',
    '-f',
    '~',
    '*',
    '!1',
    'a\\',
    '#',
    '\u001b[2J',
  ];
  const all = (): Promise<readonly string[]> => Promise.resolve([...hostile, 'ok-1']);
  const names = {
    objects: all,
    namespaces: all,
    contexts: all,
    signerNames: all,
    clusterSigners: all,
  };
  for (const [typed, value] of [
    ['explain csr/', 'csr/-f csr/ok-1'],
    ['explain -n ', 'ok-1'],
    ['explain --namespace=', '--namespace=ok-1'],
    ['request --signer ', 'ok-1'],
    ['request --context ', 'ok-1'],
    ['authority prepare ', 'ok-1'],
  ] as const) {
    const { candidates } = await complete(root, typed.split(' '), names);
    assert.equal(candidates.map((each) => each.value).join(' '), value, typed);
  }
});

let directory: string;
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'completion-'));
  const program = join(directory, 'countersign');
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`, { mode: 0o755 });
  symlinkSync(program, join(directory, 'kubectl-countersign'));
  writeFileSync(join(directory, 'chain.pem'), '');
});
after(() => {
  rmSync(directory, { recursive: true });
});

/** What bash puts into COMPREPLY for a line, with the cursor at its end. */
function bash(line: string): readonly string[] {
  const script = `cd "${directory}"; source <(countersign completion bash)
COMP_LINE='${line}' COMP_POINT=${line.length} COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
_countersign; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = { ...process.env, PATH: `${directory}:${process.env['PATH'] ?? ''}` };
  const { stdout, status, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8', env });
  assert.equal(status, 0, stderr);
  return stdout.trimEnd().split('\n');
}

test('bash completes a command, a kind, a flag, a value and a file', () => {
  assert.deepEqual(bash('countersign nee'), ['needs-renewal']);
  assert.deepEqual(bash('countersign explain cs'), ['csr/']);
  assert.deepEqual(bash('countersign issued --exp'), ['--expires-in', '--expired']);
  // The shell replaces what is behind the equals sign.
  assert.deepEqual(bash('countersign issued --output=w'), ['wide']);
  assert.deepEqual(bash('countersign inspect cha'), ['chain.pem']);
});

test('kubectl asks its own program for completions of kubectl countersign', () => {
  const env = { ...process.env, PATH: `${directory}:${process.env['PATH'] ?? ''}` };
  const script = spawnSync(join(directory, 'countersign'), ['completion', 'kubectl'], { env });
  const shim = join(directory, 'kubectl_complete-countersign');
  writeFileSync(shim, script.stdout, { mode: 0o755 });
  const { stdout } = spawnSync('kubectl', ['__complete', 'countersign', 'appr'], {
    env,
    encoding: 'utf8',
  });
  assert.match(stdout, /^approve\tapprove requests that wait for a person/m);
  assert.match(stdout, /^:4$/m);
});

for (const shell of ['zsh', 'fish']) {
  test(`the script for ${shell} asks for completions`, () => {
    const { stdout, status } = spawnSync(process.execPath, [MAIN, 'completion', shell], {
      encoding: 'utf8',
    });
    assert.equal(status, 0);
    assert.match(stdout, /__complete/);
    assert.doesNotMatch(stdout, /@\{/);
  });
}
