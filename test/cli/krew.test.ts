// SPDX-License-Identifier: Apache-2.0
/**
 * The manifest of krew names the archive that is made, and the archive holds what the manifest
 * says.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '../..');
const OUT = 'dist/krew-test';
const BUNDLE = join(ROOT, 'dist/countersign.mjs');
after(() => rmSync(join(ROOT, OUT), { recursive: true, force: true }));

interface Manifest {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly version: string;
    readonly shortDescription: string;
    readonly platforms: readonly {
      readonly uri: string;
      readonly sha256: string;
      readonly bin: string;
      readonly files: readonly { readonly from: string }[];
    }[];
  };
}

function build(): { readonly manifest: Manifest; readonly archive: string } {
  assert.ok(existsSync(BUNDLE), 'run make dist/countersign.mjs');
  const args = ['build/krew.ts', '--out', OUT, '--uri', 'https://get.example/x.tar.gz'];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return {
    manifest: parse(readFileSync(join(ROOT, OUT, 'countersign.yaml'), 'utf8')) as Manifest,
    archive: join(ROOT, OUT, `kubectl-countersign-${packageJson.version}.tar.gz`),
  };
}

test('the manifest has the SHA-256 of the archive, which is the same each time', () => {
  const { manifest, archive } = build();
  const [platform] = manifest.spec.platforms;
  const sha256 = createHash('sha256').update(readFileSync(archive)).digest('hex');
  assert.equal(platform?.sha256, sha256);
  assert.equal(platform.uri, 'https://get.example/x.tar.gz');
  // krew: a semantic version behind a v.
  assert.equal(manifest.spec.version, `v${packageJson.version}`);
  assert.equal(build().manifest.spec.platforms[0]?.sha256, sha256);
});

test('the archive has every file of the manifest, and an executable program', () => {
  const { manifest, archive } = build();
  const { stdout } = spawnSync('tar', ['--list', '--verbose', '--file', archive], {
    encoding: 'utf8',
  });
  const [platform] = manifest.spec.platforms;
  for (const { from } of platform?.files ?? [])
    assert.match(stdout, new RegExp(` ${from}/?$`, 'm'));
  assert.match(stdout, /^-rwxr-xr-x .* kubectl-countersign$/m);
  // krew's rules for names: the program is kubectl- and the plugin's name.
  assert.equal(platform?.bin, `kubectl-${manifest.metadata.name}`);
  assert.ok(manifest.spec.shortDescription.length <= 50);
});

test('the program of the archive runs where krew links to it', () => {
  const { archive } = build();
  const [store, bin] = [join(ROOT, OUT, 'store'), join(ROOT, OUT, 'bin')];
  for (const place of [store, bin]) mkdirSync(place);
  assert.equal(spawnSync('tar', ['--extract', '--file', archive], { cwd: store }).status, 0);
  const link = join(bin, 'kubectl-countersign');
  symlinkSync(join(store, 'kubectl-countersign'), link);
  const { stdout, stderr } = spawnSync(process.execPath, [link, '--help'], { encoding: 'utf8' });
  assert.match(stdout, /^Usage: kubectl countersign /m, stderr);
});

test('the program names the Node.js that it needs to one without getBuiltinModule', () => {
  assert.ok(existsSync(BUNDLE), 'run make dist/countersign.mjs');
  // Node 18, which Debian 12 has, lacks it.
  const old = 'data:text/javascript,delete process.getBuiltinModule';
  const args = ['--import', old, BUNDLE, '--version'];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.match(stderr, /^countersign: Node\.js \S+ is too old: use 24\.17 or later[^\n]*\n$/);
  assert.equal(status, 1);
});
