// SPDX-License-Identifier: Apache-2.0
import { buildGoProgram } from '../go/build.ts';
import { exactRelease, isVersion, moduleDirectory, releaseOf, type Version } from './releases.ts';

/** The path of the program that is the whole control plane. */
export function buildControlPlane(version: Version, log: (line: string) => void): Promise<string> {
  const { moduleFile, buildTags } = releaseOf(version);
  const module = [moduleFile, moduleFile.replace(/\.mod$/, '.sum')];
  return buildGoProgram(
    {
      name: 'controlplane',
      variant: version,
      moduleDirectory,
      files: (name) => name.endsWith('.go') || module.includes(name),
      flags: [`-modfile=${moduleFile}`, `-tags=${buildTags}`],
      variables: versionVariables(version),
      words: `building Kubernetes ${exactRelease(version)}: minutes the first time`,
    },
    log,
  );
}

/** Without these the components report v0.0.0. */
function versionVariables(version: Version): Readonly<Record<string, string>> {
  const [gitMajor = '', gitMinor = ''] = version.split('.');
  const variables = { gitVersion: exactRelease(version), gitMajor, gitMinor };
  const packages = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'];
  return Object.fromEntries(
    packages.flatMap((path) =>
      Object.entries(variables).map(([name, value]) => [`${path}.${name}`, value]),
    ),
  );
}

if (import.meta.main) {
  const version = process.argv[2] ?? '1.37';
  if (!isVersion(version)) throw new Error(`${version}: no such version of the control plane`);
  console.log(await buildControlPlane(version, (line) => console.error(line)));
}
