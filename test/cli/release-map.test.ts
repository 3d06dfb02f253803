// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { parse } from 'yaml';
import { RELEASE_KEY } from '#api/operator/cert-manager-deployment.ts';
import { RELEASES } from '#install/cert-manager-operator/releases.ts';
import { releaseSum, unpackRelease } from '#install/cert-manager-operator/release.ts';
import { MAIN } from '../support/cluster/countersign.ts';

const directory = mkdtempSync(join(tmpdir(), 'release-map-'));
after(() => {
  rmSync(directory, { recursive: true });
});

const TEXT = `# As it was published.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: cert-manager
  namespace: cert-manager
  labels: {app.kubernetes.io/version: "v1.21.99"}
`;

function release(args: readonly string[], input = ''): ReturnType<typeof spawnSync> {
  const argv = [MAIN, 'cert-manager-operator', 'release', ...args];
  return spawnSync(process.execPath, argv, { input, encoding: 'utf8' });
}

async function allowed(): Promise<string> {
  const objects = await unpackRelease(gzipSync(TEXT));
  assert.ok(!('reason' in objects));
  return `--allow-release=1.21.99=${releaseSum(objects)}`;
}

test('one command makes the ConfigMap of a release from its file as it was published', async () => {
  const file = join(directory, 'cert-manager.yaml');
  writeFileSync(file, TEXT);
  writeFileSync(`${file}.gz`, gzipSync(TEXT));
  const flag = await allowed();
  const said = release([file, flag]);
  assert.equal(said.status, 0, String(said.stderr));
  const map = parse(String(said.stdout)) as {
    readonly kind: string;
    readonly metadata: object;
    readonly binaryData: Readonly<Record<string, string>>;
  };
  assert.equal(map.kind, 'ConfigMap');
  assert.deepEqual(map.metadata, {
    name: 'cert-manager-1.21.99',
    namespace: 'countersign-cert-manager',
  });
  const bytes = Buffer.from(map.binaryData[RELEASE_KEY] ?? '', 'base64');
  assert.equal(gunzipSync(bytes).toString(), TEXT);
  // Compressed, and from stdin, it is the same.
  assert.equal(release([`${file}.gz`, flag]).stdout, said.stdout);
  assert.equal(release(['-', flag], TEXT).stdout, said.stdout);
});

test('a file that the operator would refuse makes no ConfigMap, and says its sum', async () => {
  const said = release(['-', await allowed()], TEXT.replace('name: cert-manager\n', '$&  a: b\n'));
  assert.equal(said.status, 3);
  assert.equal(said.stdout, '');
  assert.match(
    String(said.stderr),
    /ManifestUnknown: .*not cert-manager "1\.21\.99".* sum [0-9a-f]{64}/,
  );
});

test('the file of an unconfirmed release makes a ConfigMap once the user gives its sum', () => {
  const [version] =
    Object.entries(RELEASES.rows).find(([, { state }]) => state === 'unconfirmed') ?? [];
  assert.ok(version !== undefined);
  const text = TEXT.replace('1.21.99', version);
  const said = release(['-'], text);
  assert.equal(said.status, 3);
  assert.equal(said.stdout, '');
  const [flag = ''] = /--allow-release \S+=[0-9a-f]{64}$/m.exec(String(said.stderr)) ?? [];
  assert.match(String(said.stderr), /^refused: ReleaseUnconfirmed: /);
  const given = release(['-', ...flag.split(' ')], text);
  assert.equal(given.status, 0, String(given.stderr));
  assert.match(String(given.stdout), new RegExp(`name: cert-manager-${version}$`, 'm'));
});

test('a file that names no version is a wrong command line', () => {
  const said = release(['-'], 'apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n');
  assert.equal(said.status, 2, String(said.stderr));
  assert.match(String(said.stderr), /names no version of cert-manager/);
});
