// SPDX-License-Identifier: Apache-2.0
/** The pages about ceremonies do what they say. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { countersign } from '../../support/cluster/countersign.ts';

const ROOT = join(import.meta.dirname, '../../..');
const howTo = readFileSync(join(ROOT, 'docs/how-to/offline-root.md'), 'utf8');
const reference = readFileSync(join(ROOT, 'docs/reference/ceremony.md'), 'utf8');
const source = readFileSync(join(ROOT, 'src/ca/ceremony/ceremony-file.ts'), 'utf8');

const folder = mkdtempSync(join(tmpdir(), 'ceremony-pages-'));
after(() => {
  rmSync(folder, { recursive: true });
});

function blocks(language: string): readonly string[] {
  return [...howTo.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(
    ([, text = '']) => text,
  );
}

/** Runs a line of the how-to as a script would. */
async function run(line: string): Promise<void> {
  const words = line.split(' ').slice(1);
  const [, verb, file = '', ...more] = words;
  const passphrases = ['--passphrase-file', join(folder, 'pass'), '--yes'];
  const made = verb === 'intermediate' ? ['--new-passphrase-file', join(folder, 'pass')] : [];
  const isSigning = verb !== 'verify' && !more.includes('--dry-run');
  const args = more.filter((each) => !/^--ca-fingerprint$|^sha256:…$/.test(each));
  const signing = isSigning ? [...passphrases, ...made] : [];
  const { code, stderr } = await countersign([
    'ceremony',
    verb ?? '',
    join(folder, file),
    ...args,
    ...signing,
  ]);
  assert.equal(code, 0, `${line}: ${stderr}`);
}

test('the steps of the how-to work in their order, and OpenSSL agrees', async () => {
  const [first = '', second = ''] = blocks('yaml');
  writeFileSync(join(folder, 'ceremony.yaml'), first);
  writeFileSync(join(folder, 'pass'), 'correct horse battery', { mode: 0o600 });
  const lines = blocks('sh').flatMap((block) => block.trim().split('\n'));
  const ours = lines.filter((line) => line.startsWith('countersign ceremony '));
  assert.deepEqual(
    ours.map((line) => line.split(' ')[2]),
    ['root', 'root', 'intermediate', 'crl', 'verify'],
  );
  for (const line of ours) await run(line);
  const judged = lines.filter((line) => /^openssl (?:verify|crl|x509|dgst) /.test(line));
  assert.equal(judged.length, 4);
  // The chain of the page begins in 2027.
  const timed = (line: string): string =>
    line.replace(/^openssl verify /, 'openssl verify -attime 1800000000 ');
  const said = judged.map((line) =>
    execFileSync('sh', ['-c', `${timed(line)} 2>&1`], { cwd: folder, encoding: 'utf8' }),
  );
  assert.deepEqual(said, ['intermediate-1.crt: OK\n', 'verify OK\n', '', 'Verified OK\n']);
  writeFileSync(join(folder, 'next.yaml'), second);
  await run('countersign ceremony crl next.yaml');
  await run('countersign ceremony verify next.yaml');
});

/** Names of fields in a text that are between backticks in the first cells of a table. */
function documented(): ReadonlySet<string> {
  const [, section = ''] = /^## The file$([^]*?)^## /m.exec(reference) ?? [];
  const cells = section.split('\n').flatMap((line) => /^\| (`.*?) +\|/.exec(line)?.[1] ?? []);
  const paths = cells.flatMap((cell) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path),
  );
  return new Set(paths.flatMap((path) => path.replaceAll('[]', '').split('.')));
}

/** Names of fields in the schemas of ceremony-file.ts. */
function inSource(): ReadonlySet<string> {
  const code = source.slice(
    source.indexOf('const pathLength'),
    source.indexOf('/** The file of a ceremony. Times'),
  );
  const named = [...code.matchAll(/(?:[{,]|^)\s*(\w+): (?!'|\[)/gm)].map(([, name = '']) => name);
  const short = [...code.matchAll(/^ {2}(pathLength|key),$|\b(subject),/gm)].map(
    ([, a, b]) => a ?? b ?? '',
  );
  return new Set([...named, ...short].filter((name) => name !== 'message'));
}

test('docs/reference/ceremony.md has the fields of the file, and no other', () => {
  assert.ok(inSource().size > 25, [...inSource()].join());
  assert.deepEqual([...documented()].sort(), [...inSource()].sort());
});
