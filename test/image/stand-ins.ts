// SPDX-License-Identifier: Apache-2.0
/** Local base images for a machine that reaches no public registry of images. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RootFileSystem } from './root-file-system.ts';
import { layRuntime, NODE } from './runtime.ts';
import { run } from './run.ts';
import { buildah, workDirectory } from './store.ts';
import { findProgram } from './tools.ts';

const NODE_PLACE = '/usr/local/node';
const NPM_PLACE = '/usr/local/lib/node_modules/npm';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** Every stamp in an image is the epoch: the same files are the same bytes. */
export const SAME_BYTES = ['--timestamp', '0', '--identity-label=false'];

/**
 * Stands in for a distroless Node: Node, the libraries it needs, the user nonroot. No certificates:
 * Node brings its own, and those of this machine are nobody else's business.
 */
export async function buildRuntimeStandIn(): Promise<string> {
  const root = new RootFileSystem(workDirectory('runtime'));
  await layRuntime(root);
  await run('strip', [join(root.directory, 'nodejs/bin/node')]);
  return commit(root, 'runtime', 'USER 65532:65532');
}

/** Stands in for node:24-slim: the shell and `env` that RUN and npm ask for. Node is mounted. */
export async function buildBuilderStandIn(): Promise<string> {
  const root = new RootFileSystem(workDirectory('builder'));
  await root.copyProgram('/bin/sh', '/bin/sh');
  await root.copyProgram('/usr/bin/env', '/usr/bin/env');
  await root.copyProgram(NODE, '/usr/local/node/node');
  rmSync(join(root.directory, '/usr/local/node/node'));
  root.write(
    '/usr/local/bin/npm',
    `#!/bin/sh\nexec node ${NPM_PLACE}/bin/npm-cli.js "$@"\n`,
    0o755,
  );
  const settings = ['prefer-offline=true', 'update-notifier=false'];
  // From where this machine has its packages.
  settings.push(`registry=${await npmSetting('registry')}`);
  if (existsSync(CERTIFICATES)) {
    root.copy(CERTIFICATES, CERTIFICATES);
    settings.push(`cafile=${CERTIFICATES}`);
  }
  root.write('/usr/local/etc/npmrc', `${settings.join('\n')}\n`);
  root.write('/etc/passwd', 'root:x:0:0:root:/root:/bin/sh\n');
  for (const path of ['/dev', '/proc', '/sys', '/root']) root.makeDirectory(path);
  root.makeDirectory('/tmp', 0o1777);
  const path = `${NODE_PLACE}:/usr/local/bin:/usr/bin:/bin`;
  return commit(
    root,
    'builder',
    `ENV HOME=/root PATH=${path} npm_config_globalconfig=/usr/local/etc/npmrc`,
  );
}

/**
 * The flags that mount Node and npm as this machine has them: copied into a layer they would be
 * copied again by every step. What npm has fetched before is not fetched again.
 */
export async function builderVolumes(): Promise<string[]> {
  // …/npm/bin/npm-cli.js
  const npm = join(findProgram('npm') ?? '', '../..');
  if (!existsSync(join(npm, 'node_modules')))
    throw new Error(`${npm}: want npm in one folder, as Node’s own releases have it`);
  const volumes = [
    `${dirname(NODE)}:${NODE_PLACE}:ro`,
    `${npm}:${NPM_PLACE}:ro`,
    `${await npmSetting('cache')}:/root/.npm`,
  ];
  return volumes.flatMap((volume) => ['--volume', volume]);
}

async function npmSetting(name: string): Promise<string> {
  return (await run('npm', ['config', 'get', name])).trim();
}

async function commit(root: RootFileSystem, name: string, instruction: string): Promise<string> {
  const file = workDirectory(`${name}.Dockerfile`);
  const image = `localhost/countersign-${name}:stand-in`;
  writeFileSync(file, `FROM scratch\nCOPY . /\n${instruction}\n`);
  await buildah(['build', ...SAME_BYTES, '--file', file, '--tag', image, root.directory]);
  rmSync(root.directory, { recursive: true, force: true });
  return image;
}
