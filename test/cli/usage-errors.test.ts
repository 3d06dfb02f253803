// SPDX-License-Identifier: Apache-2.0
/** A wrong command line, for every command that people run, now and for those to come. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Command, Option } from 'commander';
import { program } from '#cli/program.ts';
import { countersign } from '../support/cluster/countersign.ts';
import { openSilentServer, type SilentServer } from '../support/cluster/silent-server.ts';

interface Ended {
  /** undefined: the command line is right, and the command would run now. */
  readonly code?: number;
  readonly stdout: string;
  readonly stderr: string;
}

let silent: SilentServer;
before(async () => {
  silent = await openSilentServer();
});
after(() => silent.close());

class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/** Every command line is judged by a table of its own: options keep what they were given. */
async function typed(words: readonly string[]): Promise<Ended> {
  let [stdout, stderr] = ['', ''];
  const root = program('countersign', (code) => {
    throw new Exit(code);
  });
  for (const command of [root, ...below(root)]) {
    command.configureOutput({
      writeOut: (text) => (stdout += text),
      writeErr: (text) => (stderr += text),
    });
    if (command.commands.length === 0) command.action(() => undefined);
  }
  try {
    await root.parseAsync(['node', 'countersign', ...words]);
    return { stdout, stderr };
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    return { code: error.code, stdout, stderr };
  }
}

function below(command: Command): readonly Command[] {
  return command.commands.flatMap((each) => [each, ...below(each)]);
}

function pathOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()];
}

const isComponent = ({ options }: Command): boolean =>
  options.some(({ long }) => long === '--log-format');
const people = below(
  program('countersign', (code) => {
    throw new Exit(code);
  }),
).filter(
  (each) => each.commands.length === 0 && !isComponent(each) && !each.name().startsWith('_'),
);

const long = ({ long: name }: Option): string => name ?? '';
const takesValue = ({ required, optional }: Option): boolean => required || optional;
const isRepeatable = ({ description }: Option): boolean => description.includes('(repeatable');
/**
 * How the API server is called: an alias may set it, and the last value counts, as kubectl has it.
 */
const isOfTheCall = (option: Option): boolean =>
  ['--kubeconfig', '--context', '--timeout'].includes(long(option));
/** A value of an option that it takes. */
const valueOf = ({ argChoices }: Option): string => argChoices?.[0] ?? 'x';
/** What stands in for it in the help says that not every text is a value. */
const isMeasured = ({ flags }: Option): boolean =>
  /<(?:duration|count|n|number|seconds|days|port)>/.test(flags);

/** The shortest command line that is right. */
function rightWords(command: Command): readonly string[] {
  const given = command.registeredArguments
    .filter(({ required }) => required)
    .map(({ argChoices }) => argChoices?.[0] ?? 'x');
  const mandatory = command.options
    .filter((each) => each.mandatory)
    .flatMap((each) => [long(each), valueOf(each)]);
  return [...pathOf(command), ...given, ...mandatory];
}

/**
 * Exit code 2, one line that says what happened, one with what to type next, and nothing else
 * anywhere.
 */
function assertUsage(command: Command, ended: Ended, says: RegExp): void {
  const next = `next: countersign ${pathOf(command).join(' ')} --help\n`;
  assert.equal(ended.code, 2, ended.stderr);
  assert.equal(ended.stdout, '');
  const [, happened = ''] = /^(error: .*\n(?:\(Did you mean .*\)\n)?)/.exec(ended.stderr) ?? [];
  assert.equal(ended.stderr, happened + next);
  assert.match(happened, says);
}

test('there are commands', () => {
  assert.ok(people.length > 25, `${people.length}`);
});

test('the help distinguishes repeatable flags from flags with one value', () => {
  const gathers = ({ variadic, defaultValue }: Option): boolean =>
    variadic || ['[]', '{}'].includes(JSON.stringify(defaultValue));
  const wrong = people.flatMap((command) =>
    command.options
      .filter((each) => takesValue(each) && gathers(each) !== isRepeatable(each))
      .map((each) => `${pathOf(command).join(' ')} ${each.flags}`),
  );
  assert.deepEqual(wrong, []);
});

/** What the ledger's own grammar judges, once the command runs. */
const OF_LEDGER: readonly [words: string, says: RegExp][] = [
  ['ledger search --expires-in soon', /expiresIn is "soon"; write a duration/],
  ['ledger search --since yesterday', /since is "yesterday"; write a time/],
  ['ledger search --kind lost', /kind is "lost"; use one of issued/],
  ['ledger search --serial xyz', /serial is "xyz", which is not in hexadecimal/],
  ['ledger export --expires-in soon', /expiresIn is/],
  ['ledger erase --user jane --expires-in soon', /expiresIn is/],
];

for (const [words, says] of OF_LEDGER) {
  test(`an error of usage before the ledger is asked: ${words}`, async () => {
    const { code, stdout, stderr } = await countersign([
      ...words.split(' '),
      '--kubeconfig',
      silent.kubeconfig,
    ]);
    assert.equal(code, 2, stderr);
    assert.equal(stdout, '');
    const [happened = '', next = '', ...more] = stderr.split('\n');
    assert.match(happened, says);
    assert.match(next, /^next: countersign ledger \w+ --help$/);
    assert.deepEqual(more, ['']);
  });
}

for (const command of people) {
  const right = rightWords(command);
  describe(pathOf(command).join(' '), () => {
    test('the shortest right command line is no error', async () => {
      assert.deepEqual(await typed(right), { stdout: '', stderr: '' });
    });

    test('an unknown flag', async () => {
      assertUsage(command, await typed([...right, '--bogus']), /unknown option '--bogus'/);
    });

    test('an argument or a flag that must be there', async () => {
      const bare = pathOf(command);
      if (bare.length === right.length) assert.equal((await typed(bare)).code, undefined);
      else
        assertUsage(command, await typed(bare), /missing required argument|required option '.*'/);
    });

    if (!command.registeredArguments.some(({ variadic }) => variadic)) {
      test('a word too many', async () => {
        const words = [...right, ...command.registeredArguments.map(() => 'x'), 'word'];
        assertUsage(command, await typed(words), /too many arguments|is invalid for argument/);
      });
    }

    for (const option of command.options.filter(takesValue)) {
      if (option.required)
        test(`${long(option)} without its value`, async () => {
          const words = [...right, long(option)];
          assertUsage(command, await typed(words), /argument missing|is given twice/);
        });

      const isOfLedger = OF_LEDGER.some(([words]) =>
        words.startsWith(`${pathOf(command).join(' ')} `),
      );
      if (option.argChoices !== undefined || (isMeasured(option) && !isOfLedger))
        test(`a wrong value of ${long(option)}`, async () => {
          const words = [...pathOf(command), `${long(option)}=nonsense`];
          assertUsage(command, await typed(words), /argument 'nonsense' is invalid\./);
        });

      test(`${long(option)} twice`, async () => {
        const once = [long(option), option.argChoices?.[0] ?? (isMeasured(option) ? '1m' : 'x')];
        const words = [...right, ...once, ...once];
        if (isRepeatable(option) || isOfTheCall(option))
          assert.doesNotMatch((await typed(words)).stderr, /twice/);
        else assertUsage(command, await typed(words), /is given twice|is invalid/);
      });
    }
  });
}
