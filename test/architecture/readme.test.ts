// SPDX-License-Identifier: Apache-2.0
/** README.md fits a minute: its length, its picture, and the sources of its comparison. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { COUNTERSIGN_IMAGES } from '../cluster/real-pods/images.ts';
import { readmeBlock, readmeCommands, RUN_BY, SHOWN } from '../real-pods/readme-commands.ts';

const ROOT = join(import.meta.dirname, '../..');
const MAX_LINES = 120;
/** GitHub shows README.md in a column of about 830 pixels. */
const COLUMN_PX = 830;
const MIN_TEXT_PX = 12;
/** WCAG 2.2, success criterion 1.4.3: text that is not large. */
const MIN_CONTRAST = 4.5;

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function cellsOf(line: string): readonly string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((each) => each.trim());
}

/** Rows below a heading, the header first, without the line of dashes. */
function tableBelow(text: string, heading: string): readonly (readonly string[])[] {
  const section = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.filter((line) => !/^\|[\s|-]+$/.test(line)).map(cellsOf);
}

test(`README.md has at most ${MAX_LINES} lines`, () => {
  assert.ok(read('README.md').split('\n').length - 1 <= MAX_LINES);
});

test('each command of README.md is run by a test', () => {
  const commands = readmeCommands();
  assert.ok(commands.length >= 8, commands.join('\n'));
  const run = [...Object.keys(SHOWN), ...Object.keys(RUN_BY)];
  const isRun = (command: string): boolean =>
    run.some((each) => command === each || command.startsWith(`${each} `));
  assert.deepEqual(
    commands.filter((command) => !isRun(command)),
    [],
  );
  const isUsed = (each: string): boolean =>
    commands.some((command) => command === each || command.startsWith(`${each} `));
  assert.deepEqual(
    run.filter((each) => !isUsed(each)),
    [],
  );
  for (const [command, [file, words]] of Object.entries(RUN_BY))
    assert.ok(read(file).includes(words), `${command}: ${file} has no ${words}`);
});

test('README.md builds, pushes and installs the image that clusters of tests have', () => {
  const [build = '', push = ''] = readmeCommands().filter((each) => each.startsWith('docker '));
  const [, built = ''] = / -t (\S+) \.$/.exec(build) ?? [];
  assert.ok(COUNTERSIGN_IMAGES.includes(built), built);
  assert.equal(push, `docker push ${built}`);
  const [repository = ''] = built.split(':');
  assert.match(readmeBlock('helm install'), new RegExp(`image\\.repository=${repository}\\s`));
});

test('the files that README.md names in a pod are those of the example', () => {
  const pod = read('deploy/examples/pod.yaml');
  const [, mount = ''] = /mountPath: (\S+)/.exec(pod) ?? [];
  const paths = [...pod.matchAll(/\b(?:credentialBundleP|p)ath: (\S+)/g)];
  assert.equal(paths.length, 2);
  for (const [, path = ''] of paths) assert.ok(read('README.md').includes(`\`${mount}/${path}\``));
});

test('each cell of the comparison in README.md has its source', () => {
  const [[, ...tools] = [], ...rows] = tableBelow(read('README.md'), 'How it compares');
  assert.ok(rows.length >= 6 && tools.length === 6);
  const page = read('docs/reference/comparison.md');
  for (const [feature = '', ...cells] of rows) {
    const [, ...sourced] = tableBelow(page, feature);
    assert.deepEqual(
      sourced.map(([tool, cell]) => `${tool}: ${cell}`),
      tools.flatMap((tool, index) => (cells[index] === '' ? [] : [`${tool}: ${cells[index]}`])),
      feature,
    );
    for (const [tool = '', , source = ''] of sourced) assert.ok(source.length > 5, tool);
  }
});

test('each source of another tool is a link to a commit or an issue, read on a date', () => {
  const page = read('docs/reference/comparison.md');
  const targets = new Map(
    [...page.matchAll(/^\[([\w-]+)\]: (https:\S+)$/gm)].map(([, name = '', url = '']) => [
      name,
      url,
    ]),
  );
  assert.match(page, /read on 20\d\d-\d\d-\d\d\b/);
  const features = tableBelow(read('README.md'), 'How it compares').slice(1);
  for (const [feature = ''] of features.filter(([name]) => name !== 'With Countersign'))
    for (const [tool = '', , source = ''] of tableBelow(page, feature).slice(1)) {
      if (tool === 'Countersign' || source === 'As above') continue;
      const names = [...source.matchAll(/\]\[([\w-]+)\]/g)].map(([, name = '']) => name);
      const urls = [...source.matchAll(/\]\((https:[^)]+)\)/g)].map(([, url = '']) => url);
      urls.push(...names.map((name) => targets.get(name) ?? ''));
      assert.ok(urls.length > 0, `${feature}, ${tool}: no link`);
      for (const url of urls)
        assert.match(
          url,
          /^https:\/\/github\.com\/[\w-]+\/[\w-]+\/(?:issues\/\d+$|(?:tree|blob)\/[0-9a-f]{40}\b)/,
        );
    }
});

test('the light and the dark picture differ in colours only, and load nothing', () => {
  const pictures = ['light', 'dark'].map((each) => read(`docs/how-it-works-${each}.svg`));
  const [light = '', dark = ''] = pictures.map((each) => each.replaceAll(/#[0-9a-f]{6}/g, '#'));
  assert.equal(light, dark);
  assert.notEqual(pictures[0], pictures[1]);
  assert.doesNotMatch(light, /href|@import|@font-face|url\((?!#)|<script|<image/);
});

/** WCAG 2.2, relative luminance of `#rrggbb`. */
function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrastOf(one: string, other: string): number {
  const [light = 0, dark = 0] = [one, other].map(luminanceOf).sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

/** Colour by class of a picture's style sheet. */
function fillsOf(picture: string): ReadonlyMap<string, string> {
  const rules = picture.matchAll(/^\.(\w+) \{ fill: (#[0-9a-f]{6});/gm);
  return new Map([...rules].map(([, name = '', colour = '']) => [name, colour]));
}

for (const theme of ['light', 'dark'])
  test(`the text of the ${theme} picture is legible in the column of README.md`, () => {
    const picture = read(`docs/how-it-works-${theme}.svg`);
    const [, width = ''] = /viewBox="0 0 (\d+) \d+"/.exec(picture) ?? [];
    const scale = Math.min(1, COLUMN_PX / Number(width));
    const sizes = [...picture.matchAll(/font-size[:=]"? ?(\d+)/g)].map(([, size]) => Number(size));
    assert.ok(sizes.length > 0);
    for (const size of sizes) assert.ok(size * scale >= MIN_TEXT_PX, `${size} units`);
    const fills = fillsOf(picture);
    for (const text of ['name', 'note'])
      for (const ground of ['ground', 'panel', 'plain', 'ours']) {
        const contrast = contrastOf(fills.get(text) ?? '', fills.get(ground) ?? '');
        assert.ok(contrast >= MIN_CONTRAST, `${text} on ${ground}: ${contrast.toFixed(1)}`);
      }
  });
