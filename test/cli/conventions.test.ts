// SPDX-License-Identifier: Apache-2.0
/** What holds for every command that people run, now and for those to come. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { before, test } from 'node:test';
import { countersign, MAIN } from '../support/cluster/countersign.ts';

interface DescribedCommand {
  readonly path: string;
  readonly flags: readonly string[];
  readonly help: string;
}

let all: readonly DescribedCommand[];
/** Those that people run: a component has the flags of its log. */
let people: readonly DescribedCommand[];

before(async () => {
  const { stdout, code, stderr } = await countersign(['__commands']);
  assert.equal(code, 0, stderr);
  all = JSON.parse(stdout) as readonly DescribedCommand[];
  const isGroup = ({ path }: DescribedCommand): boolean =>
    all.some((each) => each.path.startsWith(`${path} `));
  people = all.filter((each) => !each.flags.includes('--log-format') && !isGroup(each));
});

test('there are commands', () => {
  assert.ok(people.length > 25, `${people.length}`);
  assert.ok(people.some(({ path }) => path === 'authority show'));
  assert.ok(!people.some(({ path }) => path === 'signer'));
});

test('the help of each command begins with examples', () => {
  const others = people.filter(({ help }) => !/^\s*Examples:\n {2}\S/.test(help));
  assert.deepEqual(
    others.map(({ path }) => path),
    [],
  );
});

test('the help of no command shows an empty list as a default', () => {
  const wrong = all.filter(({ help }) => /default:\s+\[\]/.test(help));
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  );
});

test('each example names a command that there is, and flags that it has', () => {
  const wrong = people.flatMap(({ help }) => {
    const [, examples = ''] = /Examples:\n((?: {2}.*\n)+)/.exec(help) ?? [];
    return examples.split('\n').flatMap((line) => {
      const [, typed] =
        /countersign ([^|#>;]*)/.exec(
          line.replace(/ {3,}.*/, (rest) => (/^ +[^-]/.test(rest) ? '' : rest)),
        ) ?? [];
      return typed === undefined ? [] : wrongIn(typed);
    });
  });
  assert.deepEqual(wrong, []);
});

function wrongIn(typed: string): readonly string[] {
  const words = typed.trim().split(/\s+/);
  const command = [words.slice(0, 2).join(' '), words[0] ?? '']
    .map((path) => all.find((each) => each.path === path))
    .find((each) => each !== undefined);
  if (command === undefined) return [`no command: ${typed}`];
  const flags = words
    .filter((word) => word.startsWith('--'))
    .map((word) => word.split('=')[0] ?? '');
  return flags
    .filter((flag) => flag !== '--help' && !command.flags.includes(flag))
    .map((flag) => `${command.path} has no ${flag}`);
}

/** Commands that call no API server, and why. */
const WITHOUT_CLUSTER = new Set([
  'images',
  'manifests',
  'completion',
  // It is where the database is, and no component needs to run.
  'ledger migrate',
  // By a file and a key, for who has no cluster.
  'ledger verify-proof',
  // It reads a cluster only to be told which names there are.
  'rbac',
  'policy test',
  'cert-manager-operator release',
  // An offline machine has no cluster.
  ...['root', 'intermediate', 'cross', 'crl', 'verify'].map((verb) => `ceremony ${verb}`),
]);

test('each command that calls an API server takes --kubeconfig, --context and --as', () => {
  const wanted = ['--kubeconfig', '--context', '--as', '--as-group'];
  const others = people.filter(
    ({ path, flags }) =>
      !WITHOUT_CLUSTER.has(path) && !wanted.every((each) => flags.includes(each)),
  );
  assert.deepEqual(
    others.map(({ path }) => path),
    [],
  );
});

/** Commands whose result has a form of its own. */
const WITH_OTHER_RESULT = new Map([
  ['completion', 'a script'],
  ['console', 'pages in the browser'],
  ['manifests', 'YAML of objects'],
  ['rbac', 'YAML of objects'],
  ['cert-manager-operator release', 'YAML of an object'],
  ['ledger prove', 'a C2SP tlog-proof'],
  ['authority csr', 'PEM of a PKCS#10 request'],
  ['ledger export', 'JSON Lines'],
  ['fleet join', 'a file with a Secret, and YAML for the spec of the member'],
  ['fleet leave', 'a sentence about what stays valid'],
  ...['root', 'intermediate', 'cross', 'crl'].map(
    (verb) => [`ceremony ${verb}`, 'files, and a signed transcript of them'] as const,
  ),
]);

/** Commands that list no objects, and make or change none: there is no name to print. */
const WITHOUT_NAMES = new Map([
  ...['check', 'explain', 'lint', 'needs-renewal', 'inspect'].map(
    (each) => [each, 'findings'] as const,
  ),
  ...['policy test', 'policy replay', 'conformance'].map((each) => [each, 'verdicts'] as const),
  ...['operator plan', 'cert-manager-operator plan'].map((each) => [each, 'a plan'] as const),
  ['ledger show', 'one record, whose name was given'],
  ['ceremony verify', 'findings'],
  ['ledger verify', 'findings'],
  ['ledger verify-proof', 'a record, whose proof was given'],
  ['ledger keys', 'keys, which are no objects'],
  ['ledger rotate-key', 'a key, which is no object'],
  ['ledger migrate', 'the version of a schema'],
  ['persist-record', 'a DNS record'],
  ['authority csr', 'a request, whose signer was given'],
]);

/** Commands whose table has more columns than fit. */
const WITH_WIDE = new Set(['authority show', 'issued', 'ledger search']);

const outputsOf = ({ help }: DescribedCommand): readonly string[] => {
  const [, choices = ''] = /-o, --output <[^]*?choices:([^)]*)\)/.exec(help) ?? [];
  return [...choices.replace(/default:.*/s, '').matchAll(/"(\w+)"/g)].map(([, word = '']) => word);
};

test('each command that has a result prints it as JSON and as YAML', () => {
  const others = people
    .filter(({ path }) => !WITH_OTHER_RESULT.has(path))
    .filter((each) => !['json', 'yaml'].every((form) => outputsOf(each).includes(form)));
  assert.deepEqual(
    others.map(({ path }) => path),
    [],
  );
});

test('each command about objects prints names, and a wide table where it has one', () => {
  const named = people.filter((each) => outputsOf(each).includes('name')).map(({ path }) => path);
  const wide = people.filter((each) => outputsOf(each).includes('wide')).map(({ path }) => path);
  const expected = people
    .map(({ path }) => path)
    .filter((path) => !WITH_OTHER_RESULT.has(path) && !WITHOUT_NAMES.has(path));
  assert.deepEqual(named, expected);
  assert.deepEqual(new Set(wide), WITH_WIDE);
});

test('a namespace is -n, and where it only narrows, -A says that it is left out', () => {
  const spelled = people.filter(
    ({ flags, help }) => flags.includes('--namespace') && !help.includes('-n, --namespace'),
  );
  assert.deepEqual(
    spelled.map(({ path }) => path),
    [],
  );
  const narrowing = people.filter(({ help }) =>
    /-n, --namespace <name> +(?:only \w+\s+of|look for pods in)\s+this\s+namespace/.test(help),
  );
  assert.ok(narrowing.length >= 5, narrowing.map(({ path }) => path).join());
  assert.deepEqual(
    narrowing.filter(({ flags }) => !flags.includes('--all-namespaces')).map(({ path }) => path),
    [],
  );
});

test('-n beside -A is refused', async () => {
  const { code, stderr } = await countersign(['issued', '-n', 'team-a', '-A']);
  assert.equal(code, 2);
  assert.match(stderr, /cannot be used with/);
});

const errors: [args: readonly string[], code: number, next: RegExp][] = [
  [['lint', '/nowhere'], 2, /^next: countersign lint --help$/m],
  [['inspect', 'https://localhost:1'], 2, /^next: countersign inspect --help$/m],
  [['explain', 'pod/x', '--kubeconfig', '/nowhere'], 1, /^next: kubectl config get-contexts/m],
  [['needs-renewal', '/nowhere'], 2, /name a file/],
  [['bogus'], 2, /^next: countersign --help$/m],
  [['ledger', 'show', '1-1', '--bogus'], 2, /^next: countersign ledger show --help$/m],
  [['issued', '--expires-in', 'soon'], 2, /^next: countersign issued --help$/m],
];

for (const [args, code, next] of errors) {
  test(`an error says what to type next: ${args.join(' ')}`, async () => {
    const result = await countersign(args);
    assert.equal(result.code, code, result.stderr);
    assert.match(result.stderr, next);
    assert.equal(result.stdout, '');
  });
}

test('nothing is colored where no terminal reads it', async () => {
  const { stdout, stderr } = await countersign(['check', '--kubeconfig', '/nowhere']);
  assert.ok(!`${stdout}${stderr}`.includes('\u001B'));
});

test('a command whose reader leaves ends without a word, as others end of SIGPIPE', async () => {
  const child = spawn(process.execPath, [MAIN, '__commands'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.once('data', () => child.stdout.destroy());
  const [, stderr] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
  assert.equal(stderr, '');
  assert.equal(child.exitCode, 141);
});
