// SPDX-License-Identifier: Apache-2.0
/**
 * Makes the archive and the manifest of the kubectl plugin from the bundle. `--uri` is the future
 * URL of the archive. The same sources give the same archive, and therefore the same SHA-256.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../package.json' with { type: 'json' };

const { values } = parseArgs({
  options: { uri: { type: 'string' }, out: { type: 'string', default: 'dist/krew' } },
});
const root = join(import.meta.dirname, '..');
const out = join(root, values.out);
const archive = `kubectl-countersign-${packageJson.version}.tar.gz`;

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
copyFileSync(join(root, 'dist/countersign.mjs'), join(out, 'kubectl-countersign'));
cpSync(join(root, 'dist/countersign'), join(out, 'countersign'), { recursive: true });
copyFileSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
// Omits the users, modes and times of this machine.
const { status, stderr } = spawnSync(
  'tar',
  [
    '--create',
    '--sort=name',
    '--mtime=@0',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u+rwX,go+rX,go-w',
    '--use-compress-program=gzip -n9',
    '--file',
    archive,
    'LICENSE',
    'countersign',
    'kubectl-countersign',
  ],
  { cwd: out, encoding: 'utf8' },
);
if (status !== 0) throw new Error(`tar: ${stderr}`);

const sha256 = createHash('sha256')
  .update(readFileSync(join(out, archive)))
  .digest('hex');
const manifest = readFileSync(join(root, 'deploy/krew/countersign.yaml'), 'utf8')
  .replace(/^(?:# (?!SPDX).*\n)+/m, '')
  .replace('<version>', `v${packageJson.version}`)
  .replace('<uri>', values.uri ?? `https://example.com/${archive}`)
  .replace('<sha256>', sha256);
writeFileSync(join(out, 'countersign.yaml'), manifest);
