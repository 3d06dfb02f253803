// SPDX-License-Identifier: Apache-2.0
/** docs/explanation/request-journey.md, held against the imports of the files that it names. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import { closureOf, readSources, type Source } from './sources.ts';

const PAGE = join(import.meta.dirname, '../../docs/explanation/request-journey.md');
const ROW = /^\| (\d+) +\| `([^`]+)` +\| \[([^\]]+)\]\(\.\.\/\.\.\/src\/([^)]+)\) +\|/;
const KINDS = ['PodCertificateRequest', 'CertificateSigningRequest', 'CertificateRequest'];
/** A section that takes another way. */
const ORDER = 'ACME Order';

interface Step {
  readonly number: number;
  readonly folder: string;
  readonly name: string;
  readonly path: string;
}

const sources = readSources();
const byPath = new Map(sources.map((source) => [source.path, source]));
const page = readFileSync(PAGE, 'utf8');

function stepsOf(kind: string): readonly Step[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${kind}\n`)) ?? '';
  return section.split('\n').flatMap((line) => {
    const [, number, folder = '', name = '', path = ''] = ROW.exec(line) ?? [];
    return number === undefined ? [] : [{ number: Number(number), folder, name, path }];
  });
}

/** One of the two loads the other: it calls it, or is called by what was passed to it. */
function areConnected(a: string, b: string): boolean {
  return closureOf(a, sources).has(b) || closureOf(b, sources).has(a);
}

/**
 * A controller of the journey passes one to the other: its index.ts or a step in its folder imports
 * both.
 */
function areJoined(steps: readonly Step[], a: string, b: string): boolean {
  const ofController = steps.filter(({ path }) =>
    /^(?:requests\/(?:signer|pcr-issuer|certificate-request)|acme\/acme)\//.test(path),
  );
  const files = ofController.flatMap(({ folder, path }) => [path, posix.join(folder, 'index.ts')]);
  const imported = new Set(files.flatMap(importsOf));
  return [a, b].every((path) => imported.has(path) || importedBySome(imported, path));
}

function importsOf(path: string): Source['imports'] {
  return byPath.get(path)?.imports ?? [];
}

function importedBySome(files: ReadonlySet<string>, path: string): boolean {
  return [...files].some((file) => importsOf(file).includes(path));
}

for (const kind of [...KINDS, ORDER]) {
  const steps = stepsOf(kind);

  test(`the journey of ${kind} names files that exist, each once, in order`, () => {
    assert.ok(steps.length >= 20, `${steps.length} steps`);
    assert.deepEqual(
      steps.map(({ number }) => number),
      steps.map((_step, index) => index + 1),
    );
    for (const { folder, name, path } of steps) {
      assert.ok(byPath.has(path), `src/${path} does not exist`);
      assert.equal(path, posix.join(folder, name));
    }
    assert.equal(new Set(steps.map(({ path }) => path)).size, steps.length);
  });

  test(`each step of the journey of ${kind} reaches the next one`, () => {
    const gaps = steps.slice(1).flatMap(({ path }, index) => {
      const before = steps[index]?.path ?? '';
      const isGap = !areConnected(before, path) && !areJoined(steps, before, path);
      return isGap ? [`${before} → ${path}`] : [];
    });
    assert.deepEqual(gaps, []);
  });
}

test('the three journeys share the steps that know no kind', () => {
  const shared = (kind: string): readonly string[] =>
    stepsOf(kind)
      .map(({ path }) => path)
      .filter((path) => /^(?:kube|requests\/(?:loop|ca))\//.test(path));
  const [first, ...others] = KINDS.map(shared);
  for (const each of others) assert.deepEqual(each, first);
});
