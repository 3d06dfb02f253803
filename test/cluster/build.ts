// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { checkGo, goBuild } from './go.ts';
import { exactRelease, isVersion, moduleDirectory, releaseOf, type Version } from './releases.ts';

const cacheDirectory = join(import.meta.dirname, '../../.cache/controlplane');
const program = 'controlplane';

/** The path of the program that is the whole control plane; it is built only when it is missing. */
export async function buildControlPlane(
  version: Version,
  log: (line: string) => void,
): Promise<string> {
  const directory = `${version}-${hashOfSources(version)}`;
  const target = join(cacheDirectory, directory, program);
  if (existsSync(target)) return target;
  await checkGo();
  log(`building Kubernetes ${exactRelease(version)}: minutes the first time`);
  mkdirSync(cacheDirectory, { recursive: true });
  const building = join(cacheDirectory, `building-${version}-${process.pid}`);
  try {
    await goBuild(['-o', join(building, program), ...buildFlags(version), '.'], log);
    moveIntoPlace(building, join(cacheDirectory, directory));
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
  for (const other of readdirSync(cacheDirectory))
    if (other.startsWith(`${version}-`) && other !== directory)
      rmSync(join(cacheDirectory, other), { recursive: true, force: true });
  return target;
}

function hashOfSources(version: Version): string {
  const { moduleFile } = releaseOf(version);
  const used = [moduleFile, moduleFile.replace(/\.mod$/, '.sum')];
  const hash = createHash('sha256').update(buildFlags(version).join('\0'));
  for (const file of readdirSync(moduleDirectory).sort())
    if (file.endsWith('.go') || used.includes(file))
      hash.update(`\0${file}\0`).update(readFileSync(join(moduleDirectory, file)));
  return hash.digest('hex').slice(0, 12);
}

function buildFlags(version: Version): string[] {
  const [major = '', minor = ''] = version.split('.');
  const variables = { gitVersion: exactRelease(version), gitMajor: major, gitMinor: minor };
  // Without these the components report v0.0.0.
  const links = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((path) =>
    Object.entries(variables).map(([name, value]) => `-X ${path}.${name}=${value}`),
  );
  const { moduleFile, buildTags } = releaseOf(version);
  return [
    '-trimpath',
    `-modfile=${moduleFile}`,
    `-tags=${buildTags}`,
    `-ldflags=-s -w ${links.join(' ')}`,
  ];
}

function moveIntoPlace(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    // Somebody else built the same sources meanwhile.
    if (!existsSync(to)) throw error;
  }
}

if (import.meta.main) {
  const version = process.argv[2] ?? '1.37';
  if (!isVersion(version)) throw new Error(`${version}: no such version of the control plane`);
  console.log(await buildControlPlane(version, (line) => console.error(line)));
}
