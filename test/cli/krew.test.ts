// SPDX-License-Identifier: Apache-2.0
/** The manifest of krew names the archive that is made, and the archive holds what the manifest says. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '../..');
const OUT = 'dist/krew-test';
const BUNDLE = join(ROOT, 'dist/countersign.mjs');
const hadBundle = existsSync(BUNDLE);
after(() => {
  rmSync(join(ROOT, OUT), { recursive: true, force: true });
  if (!hadBundle) rmSync(BUNDLE, { force: true });
});

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
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  if (!existsSync(BUNDLE)) writeFileSync(BUNDLE, '#!/usr/bin/env node\n', { mode: 0o755 });
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

test('every file that the manifest names is in the archive, and the program is executable', () => {
  const { manifest, archive } = build();
  const { stdout } = spawnSync('tar', ['--list', '--verbose', '--file', archive], {
    encoding: 'utf8',
  });
  const [platform] = manifest.spec.platforms;
  for (const { from } of platform?.files ?? []) assert.match(stdout, new RegExp(` ${from}$`, 'm'));
  assert.match(stdout, /^-rwxr-xr-x .* kubectl-countersign$/m);
  // krew's rules for names: the program is kubectl- and the plugin's name.
  assert.equal(platform?.bin, `kubectl-${manifest.metadata.name}`);
  assert.ok(manifest.spec.shortDescription.length <= 50);
});
